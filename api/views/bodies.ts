// Renders the JSON of L2, L3 and empty books for REST and the gateway. Prices are 1e6 and sizes 1e9, as decimal strings.
// Source: docs/internals/order-book-server.md, "L2 and L3 bodies".

import { type Level, levelSize, type Quotes } from '../../processors/book/index.ts';
import type { BookViewHead, Cause, MarketView, ViewOracle, ViewOrder } from '../../schemas/index.ts';
import { base58, signatureBase58 } from '../http/base58.ts';

export interface Sides<T> {
  readonly bids: readonly T[];
  readonly asks: readonly T[];
}

/** A published book, or a published book with indicative quotes laid over it. */
export interface ServedBook {
  /** Equal versions of one object mean equal books. */
  readonly version: number;
  readonly head: BookViewHead;
  /** Wall-clock milliseconds; `ts` of the body. */
  readonly publishedAtMs: number;
  readonly view: {
    l2(depth?: number): Sides<Level>;
    l3(): Sides<ViewOrder>;
    grouped(group: number): Sides<Level>;
    /** Best prices, mark and spreads; null when a side is empty. */
    quotes(): Quotes | null;
  };
}

interface LevelBody {
  readonly price: string;
  readonly size: string;
  readonly sources: Readonly<Record<string, string>>;
}

interface OracleBody {
  readonly price: string;
  readonly slot: string;
  readonly confidence: string;
  readonly hasSufficientNumberOfDataPoints: boolean;
  readonly twap?: string;
  readonly twapConfidence?: string;
  readonly maxPrice?: string;
  readonly isMMOracleActive?: boolean;
}

/** Contains only sources that the level has. */
function levelBody(level: Level): LevelBody {
  const { price, dlob, vamm, indicative = 0n } = level;
  const sources: Record<string, string> = {};
  if (indicative > 0n) sources.indicative = indicative.toString();
  if (dlob > 0n) sources.dlob = dlob.toString();
  if (vamm > 0n) sources.vamm = vamm.toString();
  return { price: String(price), size: levelSize(level).toString(), sources };
}

function orderBody({ price, size, maker, orderId }: ViewOrder) {
  return { price: String(price), size: size.toString(), maker: base58(maker), orderId };
}

function oracleBody(oracle: ViewOracle): OracleBody {
  const { price, slot, confidence, hasSufficientNumberOfDataPoints, twap, twapConfidence, maxPrice } = oracle;
  return {
    price: price.toString(),
    slot: slot.toString(),
    confidence: confidence.toString(),
    hasSufficientNumberOfDataPoints,
    ...(twap === null ? {} : { twap: twap.toString() }),
    ...(twapConfidence === null ? {} : { twapConfidence: twapConfidence.toString() }),
    ...(maxPrice === null ? {} : { maxPrice: maxPrice.toString() }),
  };
}

/** Oracle members of every body; absent while the oracle is unknown. `oracle` is a JSON number, raw 1e6. */
function oracleMembers(book: ServedBook) {
  const { oracle, mmOracle, isMmOracleActive } = book.head;
  return {
    ...(oracle ? { oracle: Number(oracle.price), oracleData: oracleBody(oracle) } : {}),
    ...(mmOracle ? { mmOracleData: { ...oracleBody(mmOracle), isMMOracleActive: isMmOracleActive } } : {}),
  };
}

function headMembers(book: ServedBook, market: MarketView) {
  return {
    marketName: market.symbol.toUpperCase(),
    marketType: market.marketType,
    marketIndex: market.marketIndex,
    ts: book.publishedAtMs,
    slot: book.head.slot,
  };
}

/** Mark, best prices and spreads. With an empty side only the mark, which is then the exchange oracle. */
function quoteMembers(book: ServedBook) {
  const quotes = book.view.quotes();
  if (quotes) {
    return {
      markPrice: quotes.markPrice.toString(),
      bestBidPrice: quotes.bestBidPrice.toString(),
      bestAskPrice: quotes.bestAskPrice.toString(),
      spreadPct: quotes.spreadPct.toString(),
      spreadQuote: quotes.spreadQuote.toString(),
    };
  }
  const { oracle } = book.head;
  return oracle ? { markPrice: oracle.price.toString() } : {};
}

/** L2 JSON of the given levels. All other members describe the whole book. */
export function l2Json(book: ServedBook, market: MarketView, levels: Sides<Level>): string {
  return JSON.stringify({
    bids: levels.bids.map(levelBody),
    asks: levels.asks.map(levelBody),
    ...headMembers(book, market),
    ...quoteMembers(book),
    ...oracleMembers(book),
    marketSlot: book.head.marketSlot,
  });
}

/** The transaction that last wrote an order; null where unknown. */
export function causeBody(cause: Cause | null | undefined) {
  if (!cause) return null;
  const { slot, signature, index } = cause;
  return { slot, signature: signatureBase58(signature), index };
}

/** L3 JSON: every visible resting order of a positive size, without quotes. `hasCause`: with the causes of orders. */
export function l3Json(book: ServedBook, market: MarketView, hasCause = false): string {
  const { bids, asks } = book.view.l3();
  const body = (order: ViewOrder) =>
    hasCause ? { ...orderBody(order), cause: causeBody(order.cause) } : orderBody(order);
  return JSON.stringify({
    bids: bids.filter(({ size }) => size > 0n).map(body),
    asks: asks.filter(({ size }) => size > 0n).map(body),
    ...headMembers(book, market),
    ...oracleMembers(book),
    marketSlot: book.head.marketSlot,
  });
}

/**
 * The body for a known market without a published book: empty sides, the oracle of the registry and the newest slot. Records
 * of older versions contain only the oracle's price; `confidence` is then 0, with too few data points.
 */
export function emptyBookJson(market: MarketView, newestSlot: number | null, nowMs: number): string {
  const slot = Math.max(newestSlot ?? 0, market.slot);
  const known = market.oracle ?? barePrice(market);
  const oracle = known ? { oracle: Number(known.price), oracleData: oracleBody(known) } : {};
  return JSON.stringify({
    bids: [],
    asks: [],
    marketName: market.symbol.toUpperCase(),
    marketType: market.marketType,
    marketIndex: market.marketIndex,
    ts: nowMs,
    slot,
    ...oracle,
    marketSlot: slot,
  });
}

function barePrice({ oraclePrice, slot }: MarketView): ViewOracle | null {
  if (oraclePrice === null) return null;
  const unknown = { twap: null, twapConfidence: null, maxPrice: null };
  const said = { confidence: 0n, hasSufficientNumberOfDataPoints: false };
  return { price: oraclePrice, slot: BigInt(slot), ...said, ...unknown };
}
