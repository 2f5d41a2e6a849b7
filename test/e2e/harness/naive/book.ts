// The expected book of a slot: reads every account of the cluster and sorts every order. Shares only the IDL with the pipeline.
// Its input is accounts. test/support/processors/book/naive.ts is the expected book of the engine, whose input is log messages.

import { PublicKey } from '@solana/web3.js';
import bs58 from 'bs58';
import { rpcCall } from '../../../support/processes/processes.ts';
import { type NaiveAccount, NaiveChain, variant } from './chain.ts';
import { type Fields, type NaiveOracle, naiveCurve } from './curve.ts';

const NODES_OFFSET = 9648;
const NODE_BYTES = 104;
const OPEN = 1;
const ASK = 2;
const REDUCE_ONLY_NODE = 8;
const PLACED_ON_CLOB = 64;
const AMM_FILL_PAUSED = 2;
const EXCHANGE_AMM_PAUSED = 4;
const ORACLE_STALE_SLOTS = 160n;
const VAMM_ORDERS = 100;
const BASE = 1_000_000_000n;
const PRICE = 1_000_000n;

type Side = 'bids' | 'asks';

export interface NaiveLevel {
  readonly price: string;
  readonly size: string;
  readonly sources: Record<string, string>;
}
export interface NaiveOrder {
  readonly price: string;
  readonly size: string;
  readonly maker: string;
  readonly orderId: number;
}
export interface NaiveBook {
  readonly marketType: 'perp' | 'spot';
  readonly marketIndex: number;
  readonly symbol: string;
  readonly l2: Record<Side, NaiveLevel[]>;
  /** Sorted by price, then maker and id: order inside a price is checked separately. */
  readonly l3: Record<Side, NaiveOrder[]>;
  /** Queue of the market-level order account: `maker:orderId` in walk order. */
  readonly clobQueue: Record<Side, string[]>;
  /** Every member of `oracleData`; null for a spot market, which is not compared. */
  readonly oracleData: Readonly<Record<string, string | boolean>> | null;
  /** Of `mmOracleData`: the oracle in force. */
  readonly mmOracleData: Readonly<Record<string, string>> | null;
}

interface Order {
  readonly side: Side;
  readonly price: bigint;
  readonly size: bigint;
  readonly visibleSize: bigint;
  readonly maker: string;
  readonly orderId: number;
}

const big = (value: unknown) => BigInt(String(value));
const num = (value: unknown) => Number(String(value));
const text = (bytes: unknown) =>
  Buffer.from(bytes as number[])
    .toString('utf8')
    .replaceAll('\0', '')
    .trim();

/** Every market's book as the accounts of the cluster say, at the slot it stands at. */
export async function naiveBooks(
  rpcUrl: string,
  commitment: 'processed' | 'confirmed' = 'confirmed',
): Promise<{ slot: number; books: NaiveBook[] }> {
  const slot = await rpcCall<number>(rpcUrl, 'getSlot', [{ commitment }]);
  const chain = new NaiveChain();
  for (const owner of chain.programIds) {
    const accounts = await rpcCall<{ pubkey: string; account: { data: [string, string] } }[]>(
      rpcUrl,
      'getProgramAccounts',
      [owner, { encoding: 'base64', commitment }],
    );
    for (const { pubkey, account } of accounts)
      chain.put({ pubkey, owner, data: Buffer.from(account.data[0], 'base64') });
  }
  return { slot, books: booksOf(chain, slot) };
}

/** Every market's book at a slot, from the accounts as that slot left them. */
export function booksOf(chain: NaiveChain, slot: number): NaiveBook[] {
  const users = chain.all('User');
  const oracles = new Map(chain.all('PythLazerOracle').map(({ pubkey, fields }) => [pubkey, fields]));
  const state = chain.all('State')[0]?.fields ?? {};
  const exchangeStatus = num(state.exchange_status ?? 0);
  const guardRail = big((state.oracle_guard_rails as Fields | undefined)?.oracle_twap_5min_percent_divergence ?? 0);
  const perps = chain.all('PerpMarket').map(({ fields }) => {
    const oracle = oracleOf(fields, oracles, guardRail);
    const marketIndex = num(fields.market_index);
    const queue = clobQueue(chain.clobAccounts.get(String(fields.clob_market)), chain.exchangeId, users);
    const orders = [...userOrders(users, 'perp', marketIndex, oracle.price), ...queue.bids, ...queue.asks];
    const vamm = vammLevels(fields, oracle, BigInt(slot), exchangeStatus);
    const oracleData = {
      price: String(oracle.price),
      slot: String(oracle.slot),
      confidence: String(oracle.confidence),
      hasSufficientNumberOfDataPoints: true,
      twap: String(oracle.price),
      twapConfidence: String(oracle.price),
    };
    return {
      ...bookOf('perp', fields, orders, vamm),
      clobQueue: { bids: queue.bids.map(identity), asks: queue.asks.map(identity) },
      oracleData,
      mmOracleData: {
        price: String(oracle.quoting.price),
        slot: String(oracle.quoting.slot),
        confidence: String(oracle.quoting.confidence),
      },
    };
  });
  const spots = chain.all('SpotMarket').map(({ fields }) => {
    // Spot markets of the cluster have no floating orders.
    const orders = userOrders(users, 'spot', num(fields.market_index), 0n);
    return {
      ...bookOf('spot', fields, orders, { bids: [], asks: [] }),
      clobQueue: { bids: [], asks: [] },
      oracleData: null,
      mmOracleData: null,
    };
  });
  return [...perps, ...spots];
}

function bookOf(
  marketType: 'perp' | 'spot',
  market: Fields,
  orders: readonly Order[],
  vamm: Record<Side, readonly Slice[]>,
): Omit<NaiveBook, 'clobQueue' | 'oracleData' | 'mmOracleData'> {
  const l3 = (side: Side) => orders.filter((order) => order.side === side && order.size > 0n).sort(byPrice(side));
  return {
    marketType,
    marketIndex: num(market.market_index),
    symbol: text(market.name),
    l2: { bids: merge('bids', orders, vamm.bids), asks: merge('asks', orders, vamm.asks) },
    l3: { bids: l3('bids').map(published), asks: l3('asks').map(published) },
  };
}

const identity = ({ maker, orderId }: Order) => `${maker}:${orderId}`;
const published = ({ price, size, maker, orderId }: Order): NaiveOrder => ({
  price: String(price),
  size: String(size),
  maker,
  orderId,
});

/** Best price first; ties by maker and id, so that two lists can be compared. */
export function byPrice(side: Side) {
  return (a: Pick<Order, 'maker' | 'orderId'> & { price: bigint | string }, b: typeof a) => {
    const order = big(a.price) < big(b.price) ? -1 : big(a.price) > big(b.price) ? 1 : 0;
    if (order !== 0) return side === 'bids' ? -order : order;
    return a.maker < b.maker ? -1 : a.maker > b.maker ? 1 : a.orderId - b.orderId;
  };
}

/** `oracle`: the price that floating orders follow. */
function userOrders(
  users: readonly NaiveAccount[],
  marketType: 'perp' | 'spot',
  marketIndex: number,
  oracle: bigint,
): Order[] {
  return users.flatMap(({ pubkey, fields, openOrders }) =>
    openOrders
      .filter(
        (order) =>
          variant(order.market_type) === marketType &&
          num(order.market_index) === marketIndex &&
          (num(order.bit_flags) & PLACED_ON_CLOB) === 0 &&
          isVisible(order),
      )
      .map((order) => {
        const side: Side = variant(order.direction) === 'long' ? 'bids' : 'asks';
        const offset = big(order.oracle_price_offset);
        const floating = oracle + offset;
        const filled = big(order.base_asset_amount_filled);
        const amount = big(order.base_asset_amount);
        const cap = order.reduce_only ? reducible(fields, marketIndex, side, amount) : amount;
        return {
          side,
          price: offset === 0n ? big(order.price) : floating < 1n ? 1n : floating,
          size: amount - filled,
          visibleSize: cap - filled,
          maker: pubkey,
          orderId: num(order.order_id),
        };
      }),
  );
}

/** This layout has no auctions: limit orders are visible at once, trigger limits after their trigger, all others take. */
function isVisible(order: Fields): boolean {
  const type = variant(order.order_type);
  return type === 'limit' || (type === 'triggerlimit' && variant(order.trigger_condition).startsWith('triggered'));
}

function reducible(user: Fields, marketIndex: number, side: Side, amount: bigint): bigint {
  const position = (user.perp_positions as Fields[]).find(
    (candidate) => num(candidate.market_index) === marketIndex && num(candidate.open_orders) > 0,
  );
  const base = position ? big(position.base_asset_amount) : 0n;
  const room = side === 'bids' ? (base < 0n ? -base : 0n) : base > 0n ? base : 0n;
  return room < amount ? room : amount;
}

function clobQueue(
  data: Buffer | undefined,
  exchangeId: string,
  users: readonly NaiveAccount[],
): Record<Side, Order[]> {
  if (!data) return { bids: [], asks: [] };
  const owners = new Map(
    users.map(({ pubkey, fields }) => [`${fields.authority}:${num(fields.sub_account_id)}`, pubkey]),
  );
  const nodes: (Order & { bookId: bigint })[] = [];
  for (let at = NODES_OFFSET; at + NODE_BYTES <= data.length; at += NODE_BYTES) {
    const flags = data.readUInt8(at + 96);
    if ((flags & OPEN) === 0) continue;
    const authority = bs58.encode(data.subarray(at, at + 32));
    const subAccount = data.readUInt16LE(at + 98);
    const maker = owners.get(`${authority}:${subAccount}`) ?? userAddress(exchangeId, authority, subAccount);
    const size = data.readBigUInt64LE(at + 40);
    const side: Side = (flags & ASK) === 0 ? 'bids' : 'asks';
    const orderId = data.readUInt32LE(at + 100);
    const owner = users.find(({ pubkey }) => pubkey === maker)?.fields;
    const marketIndex = data.readUInt16LE(168);
    const reduceOnly = (flags & REDUCE_ONLY_NODE) !== 0;
    nodes.push({
      side,
      price: data.readBigUInt64LE(at + 32),
      size,
      visibleSize: reduceOnly && owner ? reducible(owner, marketIndex, side, size) : size,
      maker,
      orderId,
      bookId: data.readBigUInt64LE(at + 64),
    });
  }
  const ofSide = (side: Side) =>
    nodes
      .filter((node) => node.side === side)
      .sort((a, b) =>
        a.price === b.price
          ? Number(a.bookId - b.bookId)
          : Number(side === 'bids' ? b.price - a.price : a.price - b.price),
      );
  return { bids: ofSide('bids'), asks: ofSide('asks') };
}

function userAddress(exchangeId: string, authority: string, subAccount: number): string {
  const index = Buffer.alloc(2);
  index.writeUInt16LE(subAccount);
  const seeds = [Buffer.from('user'), bs58.decode(authority), index];
  return PublicKey.findProgramAddressSync(seeds, new PublicKey(exchangeId))[0].toBase58();
}

interface Oracle {
  /** Exchange oracle, 1e6. */
  readonly price: bigint;
  readonly slot: bigint;
  readonly confidence: bigint;
  /** Market-maker oracle when it is in force, else the exchange oracle. */
  readonly quoting: NaiveOracle;
}

function oracleOf(market: Fields, oracles: ReadonlyMap<string, Fields>, guardRail: bigint): Oracle {
  const account = oracles.get(String(market.oracle));
  if (!account) throw new Error(`no oracle account ${String(market.oracle)}`);
  const multiple =
    variant(market.oracle_source) === 'pythlazer1k'
      ? 1000n
      : variant(market.oracle_source) === 'pythlazer1m'
        ? PRICE
        : 1n;
  const scaled = (value: unknown) => (big(value) * PRICE) / (10n ** BigInt(Math.abs(num(account.exponent))) / multiple);
  const price = scaled(account.price);
  const confidence = scaled(account.conf);
  const ts = big(account.publish_time) / PRICE;
  const slot = big(account.posted_slot);
  const stats = market.market_stats as Fields;
  const mmPrice = big(stats.mm_oracle_price);
  const mmSlot = big(stats.mm_oracle_slot);
  const twap5 = big((stats.historical_oracle_data as Fields).last_oracle_price_twap_5min);
  const apart = (a: bigint, b: bigint) => (b === 0n ? 0n : ((a > b ? a - b : b - a) * PRICE) / (b < 0n ? -b : b));
  const sequence = big(stats.mm_oracle_sequence_id);
  const published = big(account.publish_time);
  const comparable = sequence > 0n && published > 0n && apart(sequence, published) <= PRICE / 10_000n;
  const isRecent = comparable ? sequence >= published : mmSlot >= slot;
  const bound = guardRail > PRICE / 2n ? guardRail : PRICE / 2n;
  const inForce = mmPrice !== 0n && apart(mmPrice, twap5) < bound && isRecent && apart(mmPrice, price) <= PRICE / 100n;
  if (!inForce) return { price, slot, confidence, quoting: { price, confidence, slot, ts } };
  const gap = mmPrice > price ? mmPrice - price : price - mmPrice;
  return { price, slot, confidence, quoting: { price: mmPrice, confidence: confidence + gap, slot: mmSlot, ts } };
}

interface Slice {
  readonly price: bigint;
  readonly size: bigint;
}

function vammLevels(market: Fields, oracle: Oracle, slot: bigint, exchangeStatus: number): Record<Side, Slice[]> {
  const none = { bids: [], asks: [] };
  if ((num(market.paused_operations) & AMM_FILL_PAUSED) !== 0 || (exchangeStatus & EXCHANGE_AMM_PAUSED) !== 0)
    return none;
  if (slot - oracle.quoting.slot > ORACLE_STALE_SLOTS) return none;
  const curve = naiveCurve(market, oracle.quoting);
  const { k, peg } = curve;
  const step = big(market.order_step_size);
  const tick = big(market.order_tick_size);
  const least = big((market.market_stats as Fields).min_order_size);
  const majors = num(market.market_index) <= 2;
  const tops = majors ? [5_000n, 10_000n, 20_000n, 50_000n] : [500n, 1_000n, 2_000n, 5_000n];
  const side = (which: Side): Slice[] => {
    const reserve = curve.base;
    const depth = which === 'bids' ? curve.max - reserve : reserve - curve.min;
    if (depth <= 0n || depth / 2n < step || depth < 2n * least) return [];
    let { base, quote } = curve[which];
    const levels: Slice[] = [];
    let used = 0n;
    let size = depth / BigInt(VAMM_ORDERS - tops.length);
    while (levels.length < VAMM_ORDERS && size > 0n) {
      let take = size;
      const top = tops[levels.length];
      if (top !== undefined) {
        const wanted = (top * PRICE * 1000n * PRICE) / oracle.quoting.price;
        take = wanted - (wanted % step);
        if (take > depth - used) take = depth - used;
      }
      if (take === 0n) break;
      const nextBase = which === 'bids' ? base + take : base - take;
      const nextQuote = k / nextBase;
      const moved = quote > nextQuote ? quote - nextQuote : nextQuote - quote;
      const paid = which === 'bids' ? (moved * peg) / BASE : ((moved + 1n) * peg) / BASE + 1n;
      const exact = (paid * BASE) / take;
      const down = exact - (exact % tick);
      const price = which === 'bids' || down === exact ? down : down + tick;
      [base, quote] = [nextBase, nextQuote];
      if (top !== undefined) {
        used += take;
        size = (depth - used) / BigInt(VAMM_ORDERS - tops.length);
      }
      levels.push({ price, size: take });
    }
    return levels;
  };
  return { bids: side('bids'), asks: side('asks') };
}

function merge(side: Side, orders: readonly Order[], vamm: readonly Slice[]): NaiveLevel[] {
  const levels = new Map<bigint, Record<string, bigint>>();
  const add = (price: bigint, source: string, size: bigint) => {
    const level = levels.get(price) ?? {};
    level[source] = (level[source] ?? 0n) + size;
    levels.set(price, level);
  };
  for (const order of orders)
    if (order.side === side && order.visibleSize > 0n) add(order.price, 'dlob', order.visibleSize);
  for (const { price, size } of vamm) add(price, 'vamm', size);
  return [...levels]
    .sort(([a], [b]) => (side === 'bids' ? Number(b - a) : Number(a - b)))
    .map(([price, sources]) => ({
      price: String(price),
      size: String(Object.values(sources).reduce((sum, size) => sum + size, 0n)),
      sources: Object.fromEntries(Object.entries(sources).map(([source, size]) => [source, String(size)])),
    }));
}
