// Indicative quotes as resting orders of one market: priced, and held behind the firm touch (reference 2.7).

import bs58 from 'bs58';
import type { QuoteSide, ViewOrder } from '../../../schemas/index.ts';
import type { Side } from '../ladder.ts';
import { isBetter } from '../levels.ts';
import { FLOATING, RESTING } from '../orders.ts';
import type { MakerSet } from './board.ts';

/** The maker shown for every indicative order (reference 1.5). */
export const INDICATIVE_MAKER = 'inDNdu3ML4vG5LNExqcwuCQtLcCU8KfK5YM2qYV3JJz';
const MAKER_BYTES = bs58.decode(INDICATIVE_MAKER);

/** Indicative orders are younger than any firm one: they stand last in their list at a price. */
const YOUNGEST = Number.MAX_SAFE_INTEGER;
const PRICE_MAX = BigInt(Number.MAX_SAFE_INTEGER);

/** What the firm book says before any quote is put into it; prices 1e6, null where unknown or empty. */
export interface FirmBook {
  /** Best of resting orders and vAMM. */
  readonly bestBid: number | null;
  readonly bestAsk: number | null;
  /** Exchange oracle: where a floating quote is shown. */
  readonly oracle: bigint | null;
  /** Market-maker oracle: where a floating quote is compared with the touch. */
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

/** Compares orders of a side as the walk meets them: price, then `rank`. */
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

// Compared with the touch by the market-maker oracle and shown by the exchange oracle. Where the two differ, what is
// shown is held behind the touch once more: an indicative quote never improves it.
function floatingPrice(side: Side, offset: bigint, firm: FirmBook): Placed | null {
  const { oracle, mmOracle } = firm;
  if (oracle === null) return null;
  const compared = whole(floored((mmOracle ?? oracle) + offset));
  const shown = whole(floored(oracle + offset));
  if (compared === null || shown === null) return null;
  const held = behind(side, compared, firm);
  if (held !== compared) return { price: held, isFloating: false };
  return { price: behind(side, shown, firm), isFloating: true };
}

function behind(side: Side, price: number, { bestBid, bestAsk }: FirmBook): number {
  const touch = side === 'bid' ? bestBid : bestAsk;
  return touch !== null && isBetter(side, price, touch) ? touch : price;
}

function floored(price: bigint): bigint {
  return price < 1n ? 1n : price;
}

/** A price the book can hold: positive and below 2^53; null otherwise. */
function whole(price: bigint): number | null {
  return price > 0n && price <= PRICE_MAX ? Number(price) : null;
}
