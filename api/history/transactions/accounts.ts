// Reads the exchange's accounts for a transaction: markets with their oracles, and a user with its positions.

import { PublicKey } from '@solana/web3.js';
import { variantName } from '../../../schemas/index.ts';
import { type ExchangeProgram, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from './program.ts';

export interface PerpMarket {
  readonly index: number;
  readonly symbol: string;
  readonly key: PublicKey;
  readonly oracle: PublicKey;
  readonly quoteSpotIndex: number;
  /** The program writes the oracle of a market that trades before its launch. */
  readonly isPrelaunch: boolean;
  /** Initial margin, 1e4. */
  readonly marginRatioInitial: number;
  /** Last oracle price that the market used, 1e6. */
  readonly oraclePrice: bigint;
}

export interface SpotMarket {
  readonly index: number;
  readonly symbol: string;
  readonly key: PublicKey;
  /** Null: the quote asset of a deployment without an oracle for it. */
  readonly oracle: PublicKey | null;
  readonly mint: PublicKey;
  readonly vault: PublicKey;
  readonly decimals: number;
  readonly tokenProgram: PublicKey;
  readonly isToken2022: boolean;
}

export interface Markets {
  readonly perps: readonly PerpMarket[];
  readonly spots: readonly SpotMarket[];
}

export interface UserAccount {
  readonly key: PublicKey;
  readonly authority: PublicKey;
  readonly subAccountId: number;
  /** Markets of open positions, in the order of their entries. */
  readonly spotIndexes: readonly { readonly index: number; readonly hasOrders: boolean }[];
  readonly perpIndexes: readonly number[];
  /** Whether an open order pays a builder. */
  readonly hasBuilderOrder: boolean;
}

type Fields = Readonly<Record<string, unknown>>;

const TOKEN_2022_FLAG = 1;
const BUILDER_ORDER_FLAG = 16;
const OPEN_STATUS = 'open';
/** Position flags that keep a position without amounts: liquidation and bankruptcy. */
const BUSY_POSITION_FLAGS = 2 | 4 | 8;

export function perpMarketOf(program: ExchangeProgram, key: PublicKey, data: Buffer): PerpMarket {
  const market = program.decode('PerpMarket', data);
  // Older deployments keep the oracle inside the curve.
  const amm = market.amm as Fields;
  const stats = (market.market_stats ?? amm) as Fields;
  const history = stats.historical_oracle_data as Fields;
  return {
    index: Number(market.market_index),
    symbol: nameOf(market.name),
    key,
    oracle: (market.oracle ?? amm.oracle) as PublicKey,
    quoteSpotIndex: Number(market.quote_spot_market_index),
    isPrelaunch: variantOf(market.oracle_source ?? amm.oracle_source) === 'prelaunch',
    marginRatioInitial: Number(market.margin_ratio_initial),
    oraclePrice: BigInt(String(history.last_oracle_price)),
  };
}

export function spotMarketOf(program: ExchangeProgram, key: PublicKey, data: Buffer): SpotMarket {
  const market = program.decode('SpotMarket', data);
  const oracle = market.oracle as PublicKey;
  const isToken2022 = (Number(market.token_program_flag) & TOKEN_2022_FLAG) !== 0;
  return {
    index: Number(market.market_index),
    symbol: nameOf(market.name),
    key,
    oracle: oracle.equals(PublicKey.default) ? null : oracle,
    mint: market.mint as PublicKey,
    vault: market.vault as PublicKey,
    decimals: Number(market.decimals),
    tokenProgram: isToken2022 ? TOKEN_2022_PROGRAM : TOKEN_PROGRAM,
    isToken2022,
  };
}

export function userOf(program: ExchangeProgram, key: PublicKey, data: Buffer): UserAccount {
  const user = program.decode('User', data);
  const spots = (user.spot_positions as readonly Fields[]).filter(
    (position) => !isZero(position, 'scaled_balance') || !isZero(position, 'open_orders'),
  );
  const perps = (user.perp_positions as readonly Fields[]).filter(isHeld);
  const orders = user.orders as readonly Fields[];
  return {
    key,
    authority: user.authority as PublicKey,
    subAccountId: Number(user.sub_account_id),
    spotIndexes: spots.map((position) => ({
      index: Number(position.market_index),
      hasOrders: !isZero(position, 'open_asks') || !isZero(position, 'open_bids'),
    })),
    perpIndexes: perps.map((position) => Number(position.market_index)),
    hasBuilderOrder: orders.some(
      (order) => variantOf(order.status) === OPEN_STATUS && (Number(order.bit_flags) & BUILDER_ORDER_FLAG) !== 0,
    ),
  };
}

/** A free entry has no amounts, no orders, and no flag of a running liquidation. */
function isHeld(position: Fields): boolean {
  const amounts = [
    'base_asset_amount',
    'quote_asset_amount',
    'open_orders',
    'isolated_position_scaled_balance',
    'lp_shares',
  ];
  return (
    amounts.some((name) => !isZero(position, name)) || (Number(position.position_flag ?? 0) & BUSY_POSITION_FLAGS) !== 0
  );
}

function isZero(fields: Fields, name: string): boolean {
  return fields[name] === undefined || String(fields[name]) === '0';
}

function variantOf(value: unknown): string {
  return typeof value === 'object' && value !== null ? variantName(Object.keys(value)[0] ?? '') : '';
}

function nameOf(bytes: unknown): string {
  return Buffer.from(bytes as readonly number[])
    .toString('utf8')
    .replace(/[\0 ]+$/, '');
}
