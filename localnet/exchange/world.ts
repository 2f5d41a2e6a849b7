// The whole state of the exchange between two slots, as plain data: its structured clone is a snapshot.

import type { TruthEvent } from '../ledger-types.ts';
import type { Clob } from './clob.ts';
import type { Clock } from './clock.ts';
import type { SpotListing, StoredPerp, StoredSpot } from './markets.ts';
import { PERP_LISTINGS, type PerpListing, SPOT_LISTINGS } from './markets.ts';
import type { FeeTier, Order, PythLazerOracle, Stored, User, UserStats } from './model.ts';
import { ORDERS_PER_USER } from './model.ts';
import type { Rng } from './random.ts';
import type { Guests } from './submitted/guests.ts';
import type { VaultBook } from './vault-model.ts';

export interface ExchangeOptions {
  readonly seed: number;
  /** User accounts at genesis; more when the order target needs more makers. Default 60. */
  readonly accounts?: number;
  /** Target of resting orders per perp market. Default 60. */
  readonly ordersPerMarket?: number;
  /** Unix seconds of the first block. */
  readonly genesisTime: number;
  /** Average chain time per slot. Default 400. */
  readonly slotMs?: number;
  /** Slots per burst; 1, the default, spaces them evenly. */
  readonly slotBurst?: number;
  /** Adds rare events: uncovered losses, position transfers, trades with oneself. Default false. */
  readonly rarities?: boolean;
  /** The first block records the accounts and deposits of the genesis. Default false. */
  readonly announce?: boolean;
  /** Keeps every emitted event for `events()`, so memory grows with time. Default false: counts only. */
  readonly keepEvents?: boolean;
  /** Scales the transactions per slot. Default 1, about 20 a slot. */
  readonly activity?: number;
}

export type Settings = Required<ExchangeOptions>;

/** A trader's role; each account has one. A guest's wallet is outside the simulation and acts by submitted transactions alone. */
export type Role = 'fixedMaker' | 'offsetMaker' | 'taker' | 'trigger' | 'gambler' | 'saver' | 'vault' | 'guest';

export interface Trader extends Stored<User> {
  readonly id: number;
  readonly role: Role;
  /** Perp market that a maker quotes; other roles change markets. */
  readonly homeMarket: number;
  alive: boolean;
}

export interface StoredOracle extends Stored<PythLazerOracle> {
  readonly feedId: number;
  /** Listed price, exponent -8 like `account.price`: the walk reverts to it. */
  readonly anchor: number;
  readonly stable: boolean;
}

export interface FeeStructure {
  fee_tiers: FeeTier[];
  filler_reward_structure: {
    time_based_reward_lower_bound: bigint;
    reward_numerator: number;
    reward_denominator: number;
  };
  flat_filler_fee: bigint;
  amm_fee_numerator: number;
  if_fee_numerator: number;
}

export interface StateAccount {
  cold_admin: string;
  warm_admin: string;
  pause_admin: string;
  hot_amm_crank: string;
  signer: string;
  perp_fee_structure: FeeStructure;
  spot_fee_structure: FeeStructure;
  oracle_guard_rails: Record<string, bigint>;
  number_of_authorities: bigint;
  number_of_sub_accounts: bigint;
  liquidation_margin_buffer_ratio: number;
  number_of_markets: number;
  number_of_spot_markets: number;
  signer_nonce: number;
  default_market_order_time_in_force: number;
  initial_pct_to_liquidate: number;
  max_number_of_sub_accounts: number;
  slot_duration_ms: number;
  sol_spot_market_index: number;
}

/** Key of an order in all sets below: trader id and entry of its account, packed. Sets searched each slot also hold the order. */
export type OrderKey = number;

export interface StakeAccount {
  readonly authority: string;
  shares: bigint;
  /** Requested shares, 0 without a request. */
  requested: bigint;
}

/** The liquidity pool: value and shares 1e6, and the counters of its records. */
export interface LpPool {
  readonly key: string;
  aum: bigint;
  supply: bigint;
  nextId: bigint;
  lastSlot: number;
  /** Unix seconds. */
  lastTs: number;
}

export interface World {
  readonly rng: Rng;
  /** Whether rare events happen, with a random sequence of their own. */
  readonly rare: { readonly on: boolean; readonly rng: Rng };
  readonly clock: Clock;
  slot: number;
  /** Unix seconds of the current slot. */
  now: number;
  readonly state: Stored<StateAccount>;
  readonly perps: StoredPerp[];
  readonly spots: StoredSpot[];
  /** By feed id. */
  readonly oracles: Map<number, StoredOracle>;
  readonly traders: Trader[];
  /** Trader id by `authority/sub-account`. */
  readonly traderIds: Map<string, number>;
  readonly stats: Map<string, Stored<UserStats>>;
  /** Order accounts by perp market. */
  readonly clobs: Map<number, Clob>;
  /** Limit orders that rest in user accounts, per perp market. */
  readonly resting: Map<OrderKey, Order>[];
  /** Untriggered trigger orders. */
  readonly triggers: Set<OrderKey>;
  /** Orders with an expiry. */
  readonly expiring: Map<OrderKey, Order>;
  /** Reduce-only orders, which become pointless without a position. */
  readonly reduceOnly: Set<OrderKey>;
  /** Orders in their auction, with the slot of its end. */
  readonly auctions: Map<OrderKey, number>;
  /** Copies of removed book orders, with the slot of their release and the reason. */
  readonly staleShadows: Map<OrderKey, { dueSlot: number; expired: boolean }>;
  /** Insurance vault in quote units and its stakers. */
  readonly insurance: { vault: bigint; stakes: StakeAccount[] };
  readonly lpPool: LpPool;
  /** Vaults in the order in which they were opened. */
  readonly vaults: VaultBook[];
  /** The wallet of the builder and referrer: its accrued and paid rewards, 1e6. */
  readonly builder: { authority: string; pending: bigint; paid: bigint };
  /** Accrued and paid rewards of other referrers, by wallet. */
  readonly referrers: Map<string, { pending: bigint; paid: bigint }>;
  /** Accounts of wallets outside the simulation. */
  readonly guests: Guests;
  readonly events: TruthEvent[];
  readonly eventCounts: Record<string, number>;
}

export function orderKey(trader: Trader, index: number): OrderKey {
  return trader.id * ORDERS_PER_USER + index;
}

export interface FoundOrder {
  readonly trader: Trader;
  readonly index: number;
  readonly order: Order;
}

/** The order of a key. Throws when the entry is free: keys must not outlive their orders. */
export function orderAt(world: World, key: OrderKey): FoundOrder {
  const trader = traderById(world, Math.floor(key / ORDERS_PER_USER));
  const index = key % ORDERS_PER_USER;
  const order = trader.account.orders[index];
  if (!order) throw new Error(`no order in slot ${index} of ${trader.key}`);
  return { trader, index, order };
}

export function traderById(world: World, id: number): Trader {
  return at(world.traders, id, 'trader');
}

export function traderOf(world: World, authority: string, subAccountId: number): Trader {
  const id = world.traderIds.get(`${authority}/${subAccountId}`);
  if (id === undefined) throw new Error(`no user account of ${authority}`);
  return traderById(world, id);
}

export function statsOf(world: World, trader: Trader): Stored<UserStats> {
  const stats = world.stats.get(trader.account.authority);
  if (!stats) throw new Error(`no statistics of ${trader.account.authority}`);
  return stats;
}

export function perpAt(world: World, index: number): StoredPerp {
  return at(world.perps, index, 'perp market');
}

export function spotAt(world: World, index: number): StoredSpot {
  return at(world.spots, index, 'spot market');
}

export function perpListing(index: number): PerpListing {
  return at(PERP_LISTINGS, index, 'perp listing');
}

function spotListing(index: number): SpotListing {
  return at(SPOT_LISTINGS, index, 'spot listing');
}

export function oracleOf(world: World, feedId: number): StoredOracle {
  const oracle = world.oracles.get(feedId);
  if (!oracle) throw new Error(`no oracle of feed ${feedId}`);
  return oracle;
}

/** Lazer prices have 8 decimals; the program uses 6. */
const LAZER_TO_PRICE = 100n;

/** Oracle price of a perp market, 1e6. */
export function perpPrice(world: World, index: number): bigint {
  return oracleOf(world, perpListing(index).feedId).account.price / LAZER_TO_PRICE;
}

/** Oracle price of a spot market, 1e6. */
export function spotPrice(world: World, index: number): bigint {
  return oracleOf(world, spotListing(index).feedId).account.price / LAZER_TO_PRICE;
}

function at<T>(list: readonly T[], index: number, what: string): T {
  const found = list[index];
  if (found === undefined) throw new RangeError(`no ${what} ${index}`);
  return found;
}
