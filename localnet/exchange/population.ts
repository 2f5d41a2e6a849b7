// The traders of the simulated exchange: roles, markets and initial deposits.

import { changeTokens } from './balances.ts';
import { deriveKey, exchangeAddress, keyBytes, NO_KEY, text, userAddress } from './keys.ts';
import { PERP_LISTINGS, paddedName } from './markets.ts';
import { ORDERS_PER_USER, type Stored, USER_VAULT_OWNED, type User, type UserStats } from './model.ts';
import { below } from './random.ts';
import { type Role, type Settings, spotAt, type Trader, type World } from './world.ts';

/** Limit of a maker's orders. The rest of its 32 entries is room for replacements. */
const ORDERS_PER_MAKER = 20;
/** Share of the order target that follows the oracle instead of a fixed price. */
export const OFFSET_SHARE = 0.25;
/** Minimum number of takers, even when the option asks for fewer accounts. */
const OTHERS_MIN = 20;
/** Traders that open their account in a block instead of at genesis. */
export const NEWCOMERS = 6;
/** Roles of traders that do not quote, assigned in rotation. */
const OTHER_ROLES: readonly Role[] = ['taker', 'gambler', 'taker', 'trigger', 'saver', 'taker', 'gambler', 'saver'];

/** One wallet in this number has a referrer. */
const REFERRED_EVERY = 6;
/** Bit of `UserStats.referrer_status`. */
const STATUS_REFERRED = 2;

const QUOTE = 1_000_000n;
/** Quote deposits by role, 1e6. */
const PURSE: Readonly<Record<Role, bigint>> = {
  fixedMaker: 20_000_000n * QUOTE,
  offsetMaker: 20_000_000n * QUOTE,
  taker: 400_000n * QUOTE,
  trigger: 250_000n * QUOTE,
  gambler: 15_000n * QUOTE,
  saver: 60_000n * QUOTE,
  // Manager and depositors fund a vault.
  vault: 0n,
  guest: 0n,
};

/** Makers of each kind that a market needs for its order target. */
export function makersPerMarket(ordersPerMarket: number): { fixed: number; offset: number } {
  return {
    fixed: Math.max(1, Math.ceil((ordersPerMarket * (1 - OFFSET_SHARE)) / ORDERS_PER_MAKER)),
    offset: Math.max(1, Math.ceil((ordersPerMarket * OFFSET_SHARE) / ORDERS_PER_MAKER)),
  };
}

export function populate(world: World, settings: Settings): void {
  const { fixed, offset } = makersPerMarket(settings.ordersPerMarket);
  for (const market of PERP_LISTINGS.keys()) {
    for (let maker = 0; maker < fixed; maker++) addNewAuthority(world, settings.seed, 'fixedMaker', market);
    for (let maker = 0; maker < offset; maker++) addNewAuthority(world, settings.seed, 'offsetMaker', market);
  }
  const makers = world.traders.length;
  const others = Math.max(OTHERS_MIN, settings.accounts - makers) - NEWCOMERS;
  for (let index = 0; index < others; index++) addOther(world, settings.seed, index);
  for (const trader of world.traders) fund(world, trader);
}

/** Adds a trader that does not quote. Every fourth is another sub-account of the previous wallet. */
export function addOther(world: World, seed: number, index: number): Trader {
  const role = OTHER_ROLES[index % OTHER_ROLES.length] ?? 'taker';
  const market = index % PERP_LISTINGS.length;
  const previous = world.traders.at(-1);
  if (index % 4 === 3 && previous?.alive) {
    const { number_of_sub_accounts_created: next } = statsFor(world, previous.account.authority).account;
    return addTrader(world, role, market, previous.account.authority, next);
  }
  return addNewAuthority(world, seed, role, market);
}

function addNewAuthority(world: World, seed: number, role: Role, market: number): Trader {
  return addTrader(world, role, market, deriveKey(seed, `authority-${world.traders.length}`), 0);
}

/** The trading account of a vault. Its authority is the vault. */
export function addVaultTrader(world: World, vault: string, manager: string, homeMarket: number): Trader {
  const trader = addTrader(world, 'vault', homeMarket, vault, 0);
  trader.account.delegate = manager;
  trader.account.status = USER_VAULT_OWNED;
  return trader;
}

/** The account of a wallet outside the simulation. `name` has 32 bytes. */
export function addGuest(world: World, authority: string, subAccountId: number, name: readonly number[]): Trader {
  const trader = addTrader(world, 'guest', 0, authority, subAccountId);
  trader.account.name = [...name];
  return trader;
}

function addTrader(world: World, role: Role, homeMarket: number, authority: string, subAccountId: number): Trader {
  const id = world.traders.length;
  const trader: Trader = {
    key: userAddress(authority, subAccountId),
    type: 'User',
    id,
    role,
    homeMarket,
    alive: true,
    // Some accounts have extra zero bytes, as if later layouts had grown them.
    grown: id % 5 === 2 ? 64 : 0,
    account: newUser(authority, subAccountId, `${role} ${id}`, world.slot),
  };
  world.traders.push(trader);
  world.traderIds.set(`${authority}/${subAccountId}`, id);
  const stats = statsFor(world, authority).account;
  stats.number_of_sub_accounts++;
  stats.number_of_sub_accounts_created++;
  const { account: state } = world.state;
  state.number_of_sub_accounts++;
  if (subAccountId === 0) state.number_of_authorities++;
  return trader;
}

function newUser(authority: string, subAccountId: number, name: string, slot: number): User {
  return {
    authority,
    delegate: NO_KEY,
    name: paddedName(name),
    spot_positions: [],
    perp_positions: [],
    orders: Array.from({ length: ORDERS_PER_USER }, () => null),
    total_deposits: 0n,
    total_withdraws: 0n,
    total_social_loss: 0n,
    settled_perp_pnl: 0n,
    cumulative_spot_fees: 0n,
    cumulative_perp_funding: 0n,
    liquidation_margin_freed: 0n,
    last_active_slot: BigInt(slot),
    next_order_id: 1,
    max_margin_ratio: 0,
    next_liquidation_id: 1,
    sub_account_id: subAccountId,
    status: 0,
    is_margin_trading_enabled: true,
    idle: false,
    has_open_order: false,
    open_orders: 0,
    open_auctions: 0,
    has_open_auction: false,
    pool_id: 0,
  };
}

function statsFor(world: World, authority: string): Stored<UserStats> {
  const isReferred = world.stats.size % REFERRED_EVERY === REFERRED_EVERY - 1;
  return world.stats.get(authority) ?? addStats(world, authority, isReferred);
}

export function addStats(world: World, authority: string, isReferred: boolean): Stored<UserStats> {
  const made: Stored<UserStats> = {
    key: exchangeAddress(text('user_stats'), keyBytes(authority)),
    type: 'UserStats',
    grown: 0,
    account: {
      authority,
      referrer: isReferred ? world.builder.authority : NO_KEY,
      fees: { total_fee_paid: 0n, total_fee_rebate: 0n, total_token_discount: 0n, total_referee_discount: 0n },
      maker_volume_30d: 0n,
      taker_volume_30d: 0n,
      filler_volume_30d: 0n,
      last_maker_volume_30d_ts: BigInt(world.now),
      last_taker_volume_30d_ts: BigInt(world.now),
      last_filler_volume_30d_ts: BigInt(world.now),
      if_staked_quote_asset_amount: 0n,
      number_of_sub_accounts: 0,
      number_of_sub_accounts_created: 0,
      referrer_status: isReferred ? STATUS_REFERRED : 0,
      accelerated_referral_status: 0,
    },
  };
  world.stats.set(authority, made);
  return made;
}

/** Gives the wallet a referrer, who earns a part of its fees. */
export function markReferred(stats: UserStats, referrer: string): void {
  stats.referrer = referrer;
  stats.referrer_status |= STATUS_REFERRED;
}

/** Genesis deposits. Savers also deposit SOL and BTC for borrowers. */
function fund(world: World, trader: Trader): void {
  deposit(world, trader, 0, PURSE[trader.role]);
  if (trader.role !== 'saver') return;
  deposit(world, trader, 1, BigInt(200 + below(world.rng, 800)) * 1_000_000_000n);
  deposit(world, trader, 2, BigInt(50 + below(world.rng, 200)) * 1_000_000n);
}

function deposit(world: World, trader: Trader, spotIndex: number, tokens: bigint): void {
  changeTokens(trader, spotAt(world, spotIndex), tokens);
  trader.account.total_deposits += spotIndex === 0 ? tokens : 0n;
}

export function purseOf(role: Role): bigint {
  return PURSE[role];
}
