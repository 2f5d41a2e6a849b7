// Parts of orders that were filled by fills which are not stored: between which amounts, and between which fill numbers.

import type { StatePiece } from '../follow/reducer-role.ts';
import { PieceMap } from './piece-map.ts';

/** Orders with such parts, about 500 bytes each; the one that changed longest ago is forgotten first. */
const GAP_ORDERS_MAX = 10_000;
/** Parts of one order; the oldest are forgotten first. */
const ORDER_GAPS_MAX = 16;

/** What an order has filled so far. Base 1e9, quote 1e6; null where an account state of an older version says no quote. */
export interface Point {
  readonly base: bigint;
  readonly quote: bigint | null;
}

/** The part of an order from one point to the next. The numbers of its fills lie between the two, both exclusive. */
export interface FillGap {
  readonly market: string;
  readonly orderId: number;
  readonly direction: string;
  readonly from: Point;
  readonly to: Point;
  readonly afterId: number;
  /** Null until a later number of the market is known. */
  readonly beforeId: number | null;
  /** The fills are not later than this slot. */
  readonly slot: number;
  /** A sum of an older version: `from` is zero, whatever was filled before. */
  readonly isSum: boolean;
}

/** A record or a state of an order: filled before and after its own fill, which may be none. */
export interface Fill {
  readonly from: Point;
  readonly to: Point;
  readonly slot: number;
  readonly afterId: number;
  readonly beforeId: number | null;
}

type Saved = readonly [
  ...[market: string, orderId: number, direction: string],
  ...[fromBase: string, fromQuote: string | null, toBase: string, toQuote: string | null],
  ...[afterId: number, beforeId: number | null, slot: number, isSum: boolean],
];

export class FillGaps {
  /** By order. */
  readonly #gaps = new PieceMap<readonly FillGap[]>({
    prefix: 'gaps:',
    max: GAP_ORDERS_MAX,
    save: (gaps) => gaps.map(savedOf),
    load: (saved) => (saved as Saved[]).map(gapOf),
    forgotten: (key, gaps) => this.#indexed(key, gaps[0]?.market, []),
  });
  /** Orders by market that wait for a later number. */
  readonly #waiting = new Map<string, Set<string>>();
  /** By market, made when it is asked for. */
  #byMarket: ReadonlyMap<string, readonly (readonly [string, FillGap])[]> | null = null;

  has(key: string): boolean {
    return this.#gaps.has(key);
  }

  /** The gaps of a market, each with the key of its order. */
  of(market: string): readonly (readonly [string, FillGap])[] {
    this.#byMarket ??= this.#grouped();
    return this.#byMarket.get(market) ?? [];
  }

  add(key: string, gap: FillGap): void {
    this.#set(key, [...(this.#gaps.get(key) ?? []), gap].slice(-ORDER_GAPS_MAX));
  }

  delete(key: string): void {
    this.#set(key, []);
  }

  /** Takes a record or state that came late out of the gaps of its order. */
  split(key: string, fill: Fill): void {
    const gaps = this.#gaps.get(key);
    if (!gaps) return;
    const rest = gaps.flatMap((gap) => partsOf(gap, fill));
    if (rest.length !== gaps.length || rest.some((gap, at) => gap !== gaps[at])) this.#set(key, rest);
  }

  /** Fills up to `slot` have numbers below `beforeId`. Call it for each later slot of the market. */
  bound(market: string, slot: number, beforeId: number): void {
    for (const key of [...(this.#waiting.get(market) ?? [])]) {
      const gaps = this.#gaps.get(key) ?? [];
      if (gaps.every((gap) => gap.beforeId !== null || gap.slot >= slot)) continue;
      this.#set(
        key,
        gaps.map((gap) => (gap.beforeId === null && gap.slot < slot ? { ...gap, beforeId } : gap)),
      );
    }
  }

  takeChanges(): StatePiece[] {
    return this.#gaps.takeChanges();
  }

  restore(name: string, text: string): boolean {
    const key = this.#gaps.restore(name, text);
    if (key === null) return false;
    const gaps = this.#gaps.get(key) ?? [];
    this.#indexed(key, gaps[0]?.market, gaps);
    return true;
  }

  #grouped(): ReadonlyMap<string, readonly (readonly [string, FillGap])[]> {
    const grouped = new Map<string, (readonly [string, FillGap])[]>();
    for (const [key, gaps] of this.#gaps.entries()) {
      for (const gap of gaps) own(grouped, gap.market).push([key, gap]);
    }
    return grouped;
  }

  #set(key: string, gaps: readonly FillGap[]): void {
    const market = (gaps[0] ?? this.#gaps.get(key)?.[0])?.market;
    if (gaps.length > 0) this.#gaps.set(key, gaps);
    else this.#gaps.delete(key);
    this.#indexed(key, market, gaps);
  }

  /** The gaps of an order are all of one market. */
  #indexed(key: string, market: string | undefined, gaps: readonly FillGap[]): void {
    this.#byMarket = null;
    if (market === undefined) return;
    const keys = this.#waiting.get(market) ?? new Set();
    this.#waiting.set(market, keys);
    if (gaps.some(({ beforeId }) => beforeId === null)) keys.add(key);
    else keys.delete(key);
  }
}

function own<T>(lists: Map<string, T[]>, key: string): T[] {
  const list = lists.get(key) ?? [];
  lists.set(key, list);
  return list;
}

/** What a late record leaves of a gap: the parts before and after it. Amounts that contradict the gap leave nothing. */
function partsOf(gap: FillGap, fill: Fill): readonly FillGap[] {
  if (gap.isSum) return restOf(gap, fill);
  const [low, high] = [gap.from.base, gap.to.base];
  if (fill.to.base <= low || fill.from.base >= high) return [gap];
  if (fill.from.base < low || fill.to.base > high) return [];
  const slot = Math.min(gap.slot, fill.slot);
  const before = { ...gap, to: fill.from, beforeId: smaller(gap.beforeId, fill.beforeId), slot };
  const after = { ...gap, from: fill.to, afterId: Math.max(gap.afterId, fill.afterId) };
  return [before, after].filter(({ from, to }) => to.base > from.base);
}

function restOf(gap: FillGap, { from, to, afterId }: Fill): readonly FillGap[] {
  const isOther = afterId <= gap.afterId || (gap.beforeId !== null && afterId >= gap.beforeId);
  if (isOther || to.base === from.base) return [gap];
  const rest = {
    base: gap.to.base - (to.base - from.base),
    quote: difference(gap.to.quote, difference(to.quote, from.quote)),
  };
  return rest.base > 0n ? [{ ...gap, to: rest }] : [];
}

/** Null when one of both is unknown. */
export function difference(one: bigint | null, other: bigint | null): bigint | null {
  return one === null || other === null ? null : one - other;
}

function smaller(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.min(one, other);
}

const textOf = (amount: bigint | null): string | null => (amount === null ? null : String(amount));
const amountOf = (text: string | null): bigint | null => (text === null ? null : BigInt(text));

const savedOf = ({ market, orderId, direction, from, to, afterId, beforeId, slot, isSum }: FillGap): Saved => [
  ...([market, orderId, direction] as const),
  ...([String(from.base), textOf(from.quote), String(to.base), textOf(to.quote)] as const),
  ...([afterId, beforeId, slot, isSum] as const),
];

function gapOf([market, orderId, direction, fromBase, fromQuote, toBase, toQuote, ...rest]: Saved): FillGap {
  const [afterId, beforeId, slot, isSum] = rest;
  const from = { base: BigInt(fromBase), quote: amountOf(fromQuote) };
  const to = { base: BigInt(toBase), quote: amountOf(toQuote) };
  return { market, orderId, direction, from, to, afterId, beforeId, slot, isSum };
}
