// The expected rankings of claimable P&L: reads every account of the cluster at a stopped slot with Anchor's own coder
// (docs/internals/accounts.md, "Positions and P&L"). Shares only the IDL with the pipeline.

import { BorshAccountsCoder, type Idl } from '@coral-xyz/anchor';
import { loadDefinition } from '../../../../schemas/index.ts';
import { rpcCall } from '../../../support/processes/processes.ts';

const BASE = 10n ** 9n;
const FUNDING_BUFFER = 1000n;
const RANKED = 20;

type Fields = Record<string, unknown>;

export interface NaiveUser {
  readonly userPubKey: string;
  readonly pnl: number;
}
export interface NaiveRanking {
  readonly marketIndex: number;
  readonly gainers: readonly NaiveUser[];
  readonly losers: readonly NaiveUser[];
}

const big = (value: unknown) => BigInt(String(value));
const fieldsOf = (value: unknown) => value as Fields;

/** Rankings of all perp markets as the accounts of the cluster say. */
export async function naiveRankings(rpcUrl: string): Promise<NaiveRanking[]> {
  const [exchange] = loadDefinition('velocity').programs;
  if (!exchange) throw new Error('the definition lacks a program');
  const coder = new BorshAccountsCoder(exchange.idl as unknown as Idl);
  const accounts = await rpcCall<{ pubkey: string; account: { data: [string, string] } }[]>(
    rpcUrl,
    'getProgramAccounts',
    [exchange.programId, { encoding: 'base64', commitment: 'confirmed' }],
  );
  const decoded = (name: string) => {
    const discriminator = Buffer.from(coder.accountDiscriminator(name));
    return accounts
      .map(({ pubkey, account }) => ({ pubkey, data: Buffer.from(account.data[0], 'base64') }))
      .filter(({ data }) => data.subarray(0, 8).equals(discriminator))
      .map(({ pubkey, data }) => ({ pubkey, fields: coder.decode(name, data) as Fields }));
  };
  const oracles = new Map(decoded('PythLazerOracle').map(({ pubkey, fields }) => [pubkey, fields]));
  const quote = decoded('SpotMarket').find(({ fields }) => Number(fields.market_index) === 0)?.fields ?? {};
  const users = decoded('User');
  return decoded('PerpMarket').map(({ fields: market }) => {
    const marketIndex = Number(market.market_index);
    const oracle = oraclePrice(oracles.get(String(market.oracle)));
    const ranked = users.flatMap(({ pubkey, fields }) =>
      (fields.perp_positions as Fields[])
        .filter((held) => Number(held.market_index) === marketIndex && isOpen(held))
        .map((held) => ({ user: pubkey, pnl: claim(held, market, quote, oracle) })),
    );
    const sorted = ranked.filter(({ pnl }) => pnl !== 0n).sort(byPnlThenKey);
    const rows = sorted.map(({ user, pnl }) => ({ userPubKey: user, pnl: Number(pnl) / 1e6 }));
    return { marketIndex, gainers: rows.slice(0, RANKED), losers: rows.slice(-RANKED).reverse() };
  });
}

function byPnlThenKey(a: { user: string; pnl: bigint }, b: { user: string; pnl: bigint }): number {
  if (a.pnl === b.pnl) return a.user < b.user ? -1 : 1;
  return a.pnl > b.pnl ? -1 : 1;
}

function isOpen(held: Fields): boolean {
  return big(held.base_asset_amount) !== 0n || big(held.quote_asset_amount) !== 0n;
}

/** 1e6 from a price of exponent -8. */
function oraclePrice(oracle: Fields | undefined): bigint {
  if (Number(oracle?.exponent) !== -8) throw new Error(`an oracle of exponent ${oracle?.exponent}`);
  return big(oracle?.price) / 100n;
}

function claim(held: Fields, market: Fields, quote: Fields, oracle: bigint): bigint {
  const base = big(held.base_asset_amount);
  const cash = big(held.quote_asset_amount);
  const rate = big(base > 0n ? market.cumulative_funding_rate_long : market.cumulative_funding_rate_short);
  const funding =
    base === 0n ? 0n : -(((rate - big(held.last_cumulative_funding_rate)) * base) / BASE / FUNDING_BUFFER);
  const pnl = (base * oracle) / BASE + cash + funding;
  if (pnl <= 0n) return pnl;
  const amm = fieldsOf(market.amm);
  const netPnl =
    (big(amm.base_asset_amount_with_amm) * oracle) / BASE +
    big(market.quote_asset_amount) +
    big(market.net_unsettled_funding_pnl);
  const interest = big(quote.cumulative_deposit_interest);
  const scale = 10n ** (19n - big(quote.decimals));
  const tokens = (pool: unknown) => (big(fieldsOf(pool).scaled_balance) * interest) / scale;
  const imbalance = netPnl - (tokens(market.pnl_pool) + tokens(amm.fee_pool) / 5n);
  const surplus = cash - big(held.quote_entry_amount);
  const limit = (surplus > 0n ? surplus : 0n) + (imbalance < 0n ? -imbalance : 0n);
  return pnl < limit ? pnl : limit;
}
