// Account snapshots, which are made of events alone, against the accounts of the simulated chain that emitted the events.

import bs58 from 'bs58';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tokensOf } from '../../localnet/exchange/balances.ts';
import { createExchange } from '../../localnet/exchange/index.ts';
import type { Trader, World } from '../../localnet/exchange/world.ts';
import type { TruthEvent } from '../../localnet/ledger-types.ts';
import { DAY, HistoryStage, NOW } from '../support/api/history-stage.ts';

const SLOTS = 400;
const SLOT_MS = 1_780_000;
const BASE_SCALE = 1_000_000_000n;
/** Divisions of flipped positions, one each. */
const ROUNDING = 10n;
/** The interest since the last deposit record of a token is unknown until the next one, thousandths. */
const INTEREST_PER_MILLE = 2n;
/** So is the interest on a borrow that a liquidation has paid back since then. */
const PAID_BACK_PER_MILLION = 10n;

const TABLES: Readonly<Record<string, string>> = {
  OrderActionRecord: 'order_action',
  DepositRecord: 'deposit',
  SwapRecord: 'swap',
  SettlePnlRecord: 'settle_pnl',
  FundingPaymentRecord: 'funding_payment',
  LiquidationRecord: 'liquidation',
  SpotInterestRecord: 'spot_interest',
  NewUserRecord: 'new_user',
};
/** The owner of every account in this test, so that one request returns them all. */
const OWNER = 'w'.repeat(32);

/** Rows are inserted as text, so keys and signatures are stored as the first characters of their base58 text. */
const stored = (value: unknown): unknown =>
  typeof value === 'string' && value.length >= 32 && value.length <= 44 ? value.slice(0, 32) : value;
const address = (key: string): string => bs58.encode(Buffer.from(key.slice(0, 32)));

function row({ signature, index, slot, data }: TruthEvent): Record<string, unknown> {
  const { name: _, ...members } = flat(data);
  return { ...members, user_authority: OWNER, signature: signature.slice(0, 64), event_index: index, slot };
}

function flat(data: Readonly<Record<string, unknown>>, prefix = ''): Record<string, unknown> {
  const members = Object.entries(data).map(([name, value]) =>
    value !== null && typeof value === 'object' && !Array.isArray(value)
      ? flat(value as Readonly<Record<string, unknown>>, `${prefix}${name}_`)
      : { [prefix + name]: stored(value) },
  );
  return Object.assign({}, ...members);
}

let stage: HistoryStage;
let world: World;
let events: readonly TruthEvent[];
let accounts: ReadonlyMap<Trader, AccountState>;

beforeAll(async () => {
  const exchange = createExchange({
    seed: 7,
    genesisTime: NOW - 10 * DAY,
    slotMs: SLOT_MS,
    slotBurst: 24,
    activity: 0.6,
    accounts: 50,
    ordersPerMarket: 24,
    keepEvents: true,
    rarities: true,
    announce: true,
  });
  for (let slot = 0; slot < SLOTS; slot++) exchange.nextBlock();
  world = exchange.snapshot() as World;
  events = exchange.events(0, Number.MAX_SAFE_INTEGER);
  stage = await HistoryStage.open();
  for (const [name, table] of Object.entries(TABLES)) {
    const rows = events.filter((event) => event.name === name).map(row);
    if (rows.length > 0) await stage.store(table, rows);
  }
  accounts = await newest();
});

afterAll(() => stage?.close());

const big = (value: unknown): bigint => BigInt(String(value ?? 0));
const distance = (a: bigint, b: bigint): bigint => (a > b ? a - b : b - a);

/** Amounts that no record of the account itself has: fees of builders, rewards for filling others. */
function withoutRecord(trader: Trader): bigint {
  let sum = 0n;
  for (const { name, data } of events) {
    if (name !== 'OrderActionRecord' || data.action !== 'fill') continue;
    if (data.filler === trader.key) sum += big(data.filler_reward);
    if (data.taker === trader.key) sum -= big(data.builder_fee);
  }
  return sum;
}

/** Oracle price of the account's last fill in a market. */
function lastPrice(trader: Trader, marketIndex: number): bigint {
  const last = events.findLast(
    ({ name, data }) =>
      name === 'OrderActionRecord' &&
      data.action === 'fill' &&
      data.market_index === marketIndex &&
      (data.taker === trader.key || data.maker === trader.key),
  );
  return big(last?.data.oracle_price);
}

interface AccountState {
  readonly trading: Readonly<Record<string, string>>;
  readonly assets: readonly { readonly marketIndex: number; readonly balance: string; readonly withdrawals: string }[];
}

/** The newest snapshots of every account that was ever active, by its trader. */
async function newest(): Promise<ReadonlyMap<Trader, AccountState>> {
  const answer = await stage.app.inject(`/authority/${bs58.encode(Buffer.from(OWNER))}/snapshots/overview?days=100`);
  const { trade, earn } = answer.json<{ products: Record<'trade' | 'earn', Account[]> }>().products;
  const last = (accounts: readonly Account[], trader: Trader) =>
    accounts.find(({ accountId }) => accountId === address(trader.key))?.snapshots.at(-1);
  const states = world.traders.flatMap((trader): [Trader, AccountState][] => {
    const trading = last(trade, trader) as AccountState['trading'] | undefined;
    const { assets = [] } = (last(earn, trader) ?? {}) as Partial<AccountState>;
    return trading ? [[trader, { trading, assets }]] : [];
  });
  return new Map(states);
}

interface Account {
  readonly accountId: string;
  readonly snapshots: readonly object[];
}

describe('snapshots of accounts after days of exchange life', () => {
  it('have the settled P&L and the funding of the accounts', () => {
    expect(accounts.size).toBeGreaterThan(40);
    for (const [trader, { trading }] of accounts) {
      expect([trader.key, trading.cumulativeSettledPnl, trading.cumulativeFunding]).toEqual([
        trader.key,
        String(trader.account.settled_perp_pnl),
        String(trader.account.cumulative_perp_funding),
      ]);
    }
  });

  it('have the positions and the unsettled P&L of the accounts', () => {
    for (const [trader, { trading }] of accounts) {
      let [worth, entries, quote] = [0n, 0n, 0n];
      for (const position of trader.account.perp_positions) {
        worth += (position.base_asset_amount * lastPrice(trader, position.market_index)) / BASE_SCALE;
        entries += position.quote_entry_amount;
        quote += position.quote_asset_amount;
      }
      const unrealized = distance(big(trading.unrealizedPnl), worth + entries);
      const unsettled = distance(big(trading.unsettledPnl) + withoutRecord(trader), worth + quote);
      expect([trader.key, unrealized <= ROUNDING, unsettled <= ROUNDING]).toEqual([trader.key, true, true]);
    }
  });

  it('have the token balances of the accounts', () => {
    let compared = 0;
    const liquidated = new Set(events.flatMap(({ name, data }) => (name === 'LiquidationRecord' ? [data.user] : [])));
    for (const [trader, { assets }] of accounts) {
      for (const spot of world.spots) {
        const held = tokensOf(trader, spot);
        const found = assets.find(({ marketIndex }) => marketIndex === spot.account.market_index);
        const paidBack = liquidated.has(trader.key)
          ? (big(found?.withdrawals) * PAID_BACK_PER_MILLION) / 1_000_000n
          : 0n;
        const allowed = ((held < 0n ? -held : held) * INTEREST_PER_MILLE) / 1000n + paidBack + ROUNDING;
        const isNear = distance(big(found?.balance), held) <= allowed;
        expect([trader.key, spot.account.market_index, isNear]).toEqual([trader.key, spot.account.market_index, true]);
        if (found) compared++;
      }
    }
    expect(compared).toBeGreaterThan(40);
  });
});
