// The indicative quotes that count at a moment: the newest set of each maker in each market, while it is fresh
// (docs/internals/book-rules.md, "Indicative quotes"). Time is a parameter.

import { keyText, type MakerQuote, type MakerQuotes, marketKey } from '../../../schemas/index.ts';

/** A set counts when it arrived strictly less than this long ago. */
export const QUOTE_FRESH_MS = 1000;
/** Makers kept per market; the predecessor has a handful. One more is rejected until another's quotes lapse. */
export const MAX_MAKERS_PER_MARKET = 64;

/** Quotes of one maker in one market. */
export interface MakerSet {
  readonly maker: Uint8Array;
  /** First moment at which the set no longer counts, Unix milliseconds. */
  readonly lapsesAtMs: number;
  readonly quotes: readonly MakerQuote[];
}

/** Preferred makers take room from others when a market is full. */
export type IsPreferred = (maker: Uint8Array) => boolean;

/** `same`: only its age changed. `full`: rejected, because MAX_MAKERS_PER_MARKET fresh makers make no room. */
export type Put = 'changed' | 'same' | 'full';

const NONE: readonly MakerSet[] = [];

export class QuoteBoard {
  /** By market key, then by maker. */
  readonly #markets = new Map<string, Map<string, MakerSet>>();
  readonly #isPreferred: IsPreferred;

  /** A preferred maker replaces another one; absent: none is preferred. */
  constructor(isPreferred: IsPreferred = () => false) {
    this.#isPreferred = isPreferred;
  }

  /** Puts a maker's set. `nowMs` bounds its time from above, so that a maker's clock that is ahead gains nothing. */
  put({ maker, quotes, receivedAtMs, ...market }: MakerQuotes, nowMs: number): Put {
    const key = marketKey(market);
    const makers = this.#markets.get(key) ?? new Map<string, MakerSet>();
    const name = keyText(maker);
    const before = makers.get(name);
    const lapsesAtMs = Math.min(receivedAtMs, nowMs) + QUOTE_FRESH_MS;
    if (quotes.length === 0 || lapsesAtMs <= nowMs) {
      makers.delete(name);
      return before ? 'changed' : 'same';
    }
    if (!before && makers.size >= MAX_MAKERS_PER_MARKET) {
      dropLapsed(makers, nowMs);
      if (makers.size >= MAX_MAKERS_PER_MARKET && !this.#makeRoom(makers, maker)) return 'full';
    }
    this.#markets.set(key, makers);
    makers.set(name, { maker, lapsesAtMs, quotes });
    const wasFresh = before !== undefined && before.lapsesAtMs > nowMs;
    return wasFresh && isSame(before.quotes, quotes) ? 'same' : 'changed';
  }

  /** Whether a set of the maker would count at `nowMs`. */
  hasRoom(key: string, maker: Uint8Array, nowMs: number): boolean {
    const makers = this.#markets.get(key);
    if (!makers || makers.size < MAX_MAKERS_PER_MARKET || makers.has(keyText(maker))) return true;
    if ([...makers.values()].some(({ lapsesAtMs }) => lapsesAtMs <= nowMs)) return true;
    return this.#whoMakesRoom(makers, maker) !== null;
  }

  #makeRoom(makers: Map<string, MakerSet>, maker: Uint8Array): boolean {
    const leaving = this.#whoMakesRoom(makers, maker);
    if (leaving) makers.delete(keyText(leaving));
    return leaving !== null;
  }

  /** The maker that a preferred one replaces: the other maker that lapses first; null when there is none. */
  #whoMakesRoom(makers: ReadonlyMap<string, MakerSet>, maker: Uint8Array): Uint8Array | null {
    if (!this.#isPreferred(maker)) return null;
    const others = [...makers.values()].filter((set) => !this.#isPreferred(set.maker));
    return others.sort((left, right) => left.lapsesAtMs - right.lapsesAtMs)[0]?.maker ?? null;
  }

  /** The sets that count, by maker key, so that every replica numbers quotes equally. */
  fresh(key: string, nowMs: number): readonly MakerSet[] {
    const makers = this.#markets.get(key);
    if (!makers || makers.size === 0) return NONE;
    return [...makers.entries()]
      .filter(([, { lapsesAtMs }]) => lapsesAtMs > nowMs)
      .sort(([left], [right]) => (left < right ? -1 : 1))
      .map(([, set]) => set);
  }

  /** Removes lapsed sets; returns the keys of their markets. */
  lapse(nowMs: number): Set<string> {
    const changed = new Set<string>();
    for (const [key, makers] of this.#markets) {
      if (dropLapsed(makers, nowMs)) changed.add(key);
      if (makers.size === 0) this.#markets.delete(key);
    }
    return changed;
  }

  /** When the next set lapses, Unix milliseconds; null when there is none. */
  nextLapseMs(): number | null {
    let next = Number.POSITIVE_INFINITY;
    for (const makers of this.#markets.values()) {
      for (const { lapsesAtMs } of makers.values()) next = Math.min(next, lapsesAtMs);
    }
    return Number.isFinite(next) ? next : null;
  }
}

function dropLapsed(makers: Map<string, MakerSet>, nowMs: number): boolean {
  const { size } = makers;
  for (const [name, { lapsesAtMs }] of makers) if (lapsesAtMs <= nowMs) makers.delete(name);
  return makers.size < size;
}

function isSame(left: readonly MakerQuote[], right: readonly MakerQuote[]): boolean {
  return left.length === right.length && left.every((quote, index) => isSameQuote(quote, right[index]));
}

function isSameQuote(left: MakerQuote, right: MakerQuote | undefined): boolean {
  return (
    left.isOracleOffset === right?.isOracleOffset &&
    left.bid?.price === right.bid?.price &&
    left.bid?.size === right.bid?.size &&
    left.ask?.price === right.ask?.price &&
    left.ask?.size === right.ask?.size
  );
}
