// Prices indicative quotes as resting orders, behind the firm touch (docs/internals/book-rules.md, "Indicative quotes").

import bs58 from 'bs58';
import type { QuoteSide, ViewOrder } from '../../../schemas/index.ts';
import type { Side } from '../ladder.ts';
import { isBetter } from '../levels.ts';
import { FLOATING, RESTING } from '../orders.ts';
import type { MakerSet } from './board.ts';

/** The published maker of every indicative order. */
export const INDICATIVE_MAKER = 'inDNdu3ML4vG5LNExqcwuCQtLcCU8KfK5YM2qYV3JJz';
const MAKER_BYTES = bs58.decode(INDICATIVE_MAKER);

/** Indicative orders are younger than any firm one: they are last in their list at a price. */
const YOUNGEST = Number.MAX_SAFE_INTEGER;
const PRICE_MAX = BigInt(Number.MAX_SAFE_INTEGER);

/** The firm book without quotes; prices 1e6, null where unknown or empty. */
export interface FirmBook {
  /** Best of resting orders and vAMM. */
  readonly bestBid: number | null;
  readonly bestAsk: number | null;
  /** Exchange oracle: decides the published price of a floating quote. */
  readonly oracle: bigint | null;
  /** Market-maker oracle: decides whether a floating quote crosses the touch. */
  readonly mmOracle: bigint | null;
}

export interface IndicativeOrders {
  /** Best first; floating before fixed at equal prices, then in the order of their ids. */
  readonly bids: readonly ViewOrder[];
  readonly asks: readonly ViewOrder[];
}

/** Orders of the given sets. Ids count from 0 over all quotes, bid before ask. */
export function indicativeOrders(sets: readonly MakerSet[], firm: FirmBook): IndicativeOrders {
  const bids: ViewOrder[] = [];
  const asks: ViewOrder[] = [];
  let orderId = 0;
  for (const { quotes } of sets) {
    for (const { isOracleOffset, bid, ask } of quotes) {
      const bidOrder = bid && orderOf('bid', bid, isOracleOffset, firm, orderId);
      if (bidOrder) orderId = bids.push(bidOrder) + asks.length;
      const askOrder = ask && orderOf('ask', ask, isOracleOffset, firm, orderId);
      if (askOrder) orderId = asks.push(askOrder) + bids.length;
    }
  }
  return { bids: bids.sort(walkOrder('bid')), asks: asks.sort(walkOrder('ask')) };
}

/** Sorts orders of a side in walk order: price, then `rank`. */
export function walkOrder(side: Side): (left: ViewOrder, right: ViewOrder) => number {
  return (left, right) => {
    if (left.price !== right.price) return isBetter(side, left.price, right.price) ? -1 : 1;
    for (let at = 0; at < left.rank.length; at++) {
      const difference = (left.rank[at] ?? 0) - (right.rank[at] ?? 0);
      if (difference !== 0) return difference;
    }
    return 0;
  };
}

function orderOf(
  side: Side,
  { price, size }: QuoteSide,
  isOracleOffset: boolean,
  firm: FirmBook,
  orderId: number,
): ViewOrder | null {
  if (size <= 0n) return null;
  const placed = isOracleOffset ? floatingPrice(side, price, firm) : fixedPrice(side, price, firm);
  if (!placed) return null;
  const rank = [placed.isFloating ? FLOATING : RESTING, YOUNGEST, orderId];
  return { price: placed.price, size, maker: MAKER_BYTES, orderId, source: 'user', rank };
}

interface Placed {
  readonly price: number;
  readonly isFloating: boolean;
}

function fixedPrice(side: Side, price: bigint, firm: FirmBook): Placed | null {
  const wanted = whole(price);
  return wanted === null ? null : { price: behind(side, wanted, firm), isFloating: false };
}

// The market-maker oracle decides whether it crosses the touch, the exchange oracle its published price. Where the two
// differ, the published price is clamped behind the touch again: an indicative quote never improves it.
function floatingPrice(side: Side, offset: bigint, firm: FirmBook): Placed | null {
  const { oracle, mmOracle } = firm;
  if (oracle === null) return null;
  const compared = whole(floored((mmOracle ?? oracle) + offset));
  const published = whole(floored(oracle + offset));
  if (compared === null || published === null) return null;
  const held = behind(side, compared, firm);
  if (held !== compared) return { price: held, isFloating: false };
  return { price: behind(side, published, firm), isFloating: true };
}

function behind(side: Side, price: number, { bestBid, bestAsk }: FirmBook): number {
  const touch = side === 'bid' ? bestBid : bestAsk;
  return touch !== null && isBetter(side, price, touch) ? touch : price;
}

function floored(price: bigint): bigint {
  return price < 1n ? 1n : price;
}

/** A price that a book can publish: positive and below 2^53; null otherwise. */
function whole(price: bigint): number | null {
  return price > 0n && price <= PRICE_MAX ? Number(price) : null;
}
