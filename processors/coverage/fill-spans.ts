// Parts of orders that were filled by fills which are not stored: between which amounts, and between which fill numbers.

import type { StatePiece } from '../follow/pieces.ts';
import { PieceMap } from './piece-map.ts';

/** Orders with such parts, about 500 bytes each; the one that changed longest ago is forgotten first. */
const SPAN_ORDERS_MAX = 10_000;
/** Parts of one order; the oldest are forgotten first. */
const ORDER_SPANS_MAX = 16;

/** Filled total of an order. Base 1e9, quote 1e6; null where an account state of an older version says no quote. */
export interface Point {
  readonly base: bigint;
  readonly quote: bigint | null;
}

/** The part of an order from one point to the next. The numbers of its fills lie between the two, both exclusive. */
export interface FillSpan {
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

export class FillSpans {
  /** By order. */
  readonly #spans = new PieceMap<readonly FillSpan[]>({
    prefix: 'spans:',
    max: SPAN_ORDERS_MAX,
    save: (spans) => spans.map(savedOf),
    load: (saved) => (saved as Saved[]).map(spanOf),
    forgotten: (key, spans) => this.#indexed(key, spans[0]?.market, []),
  });
  /** Orders by market that wait for a later number. */
  readonly #waiting = new Map<string, Set<string>>();
  /** By market, made when it is asked for. */
  #byMarket: ReadonlyMap<string, readonly (readonly [string, FillSpan])[]> | null = null;

  has(key: string): boolean {
    return this.#spans.has(key);
  }

  /** The spans of a market, each with the key of its order. */
  of(market: string): readonly (readonly [string, FillSpan])[] {
    this.#byMarket ??= this.#grouped();
    return this.#byMarket.get(market) ?? [];
  }

  add(key: string, span: FillSpan): void {
    this.#set(key, [...(this.#spans.get(key) ?? []), span].slice(-ORDER_SPANS_MAX));
  }

  delete(key: string): void {
    this.#set(key, []);
  }

  /** Takes a record or state that came late out of the spans of its order. */
  split(key: string, fill: Fill): void {
    const spans = this.#spans.get(key);
    if (!spans) return;
    const rest = spans.flatMap((span) => partsOf(span, fill));
    if (rest.length !== spans.length || rest.some((span, at) => span !== spans[at])) this.#set(key, rest);
  }

  /** Fills up to `slot` have numbers below `beforeId`. Call it for each later slot of the market. */
  bound(market: string, slot: number, beforeId: number): void {
    for (const key of [...(this.#waiting.get(market) ?? [])]) {
      const spans = this.#spans.get(key) ?? [];
      if (spans.every((span) => span.beforeId !== null || span.slot >= slot)) continue;
      this.#set(
        key,
        spans.map((span) => (span.beforeId === null && span.slot < slot ? { ...span, beforeId } : span)),
      );
    }
  }

  takeChanges(): StatePiece[] {
    return this.#spans.takeChanges();
  }

  restore(name: string, text: string): boolean {
    const key = this.#spans.restore(name, text);
    if (key === null) return false;
    const spans = this.#spans.get(key) ?? [];
    this.#indexed(key, spans[0]?.market, spans);
    return true;
  }

  #grouped(): ReadonlyMap<string, readonly (readonly [string, FillSpan])[]> {
    const grouped = new Map<string, (readonly [string, FillSpan])[]>();
    for (const [key, spans] of this.#spans.entries()) {
      for (const span of spans) own(grouped, span.market).push([key, span]);
    }
    return grouped;
  }

  #set(key: string, spans: readonly FillSpan[]): void {
    const market = (spans[0] ?? this.#spans.get(key)?.[0])?.market;
    if (spans.length > 0) this.#spans.set(key, spans);
    else this.#spans.delete(key);
    this.#indexed(key, market, spans);
  }

  /** The spans of an order are all of one market. */
  #indexed(key: string, market: string | undefined, spans: readonly FillSpan[]): void {
    this.#byMarket = null;
    if (market === undefined) return;
    const keys = this.#waiting.get(market) ?? new Set();
    this.#waiting.set(market, keys);
    if (spans.some(({ beforeId }) => beforeId === null)) keys.add(key);
    else keys.delete(key);
  }
}

function own<T>(lists: Map<string, T[]>, key: string): T[] {
  const list = lists.get(key) ?? [];
  lists.set(key, list);
  return list;
}

/** Remains of a span around a late record: the parts before and after it. Amounts that contradict the span leave nothing. */
function partsOf(span: FillSpan, fill: Fill): readonly FillSpan[] {
  if (span.isSum) return restOf(span, fill);
  const [low, high] = [span.from.base, span.to.base];
  if (fill.to.base <= low || fill.from.base >= high) return [span];
  if (fill.from.base < low || fill.to.base > high) return [];
  const slot = Math.min(span.slot, fill.slot);
  const before = { ...span, to: fill.from, beforeId: smaller(span.beforeId, fill.beforeId), slot };
  const after = { ...span, from: fill.to, afterId: Math.max(span.afterId, fill.afterId) };
  return [before, after].filter(({ from, to }) => to.base > from.base);
}

function restOf(span: FillSpan, { from, to, afterId }: Fill): readonly FillSpan[] {
  const isOther = afterId <= span.afterId || (span.beforeId !== null && afterId >= span.beforeId);
  if (isOther || to.base === from.base) return [span];
  const rest = {
    base: span.to.base - (to.base - from.base),
    quote: difference(span.to.quote, difference(to.quote, from.quote)),
  };
  return rest.base > 0n ? [{ ...span, to: rest }] : [];
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

const savedOf = ({ market, orderId, direction, from, to, afterId, beforeId, slot, isSum }: FillSpan): Saved => [
  ...([market, orderId, direction] as const),
  ...([String(from.base), textOf(from.quote), String(to.base), textOf(to.quote)] as const),
  ...([afterId, beforeId, slot, isSum] as const),
];

function spanOf([market, orderId, direction, fromBase, fromQuote, toBase, toQuote, ...rest]: Saved): FillSpan {
  const [afterId, beforeId, slot, isSum] = rest;
  const from = { base: BigInt(fromBase), quote: amountOf(fromQuote) };
  const to = { base: BigInt(toBase), quote: amountOf(toQuote) };
  return { market, orderId, direction, from, to, afterId, beforeId, slot, isSum };
}
