// Fill quality of the markets of one partition: events in, views out. Time is the newest event time seen.

import { type ChainEvent, type FillQualityView, type MarketRef, parseMarketKey } from '../../schemas/index.ts';
import { secondsOf, takerFillOf } from './fill.ts';
import { FillWindow, WINDOW_SECONDS } from './window.ts';

/** Event seconds after which an unchanged market is published again, so that the time of its means stays fresh. */
export const REFRESH_SECONDS = 5;

const CLOCK = 'clock';
const PUBLISHED = 'published:';
const MINUTE = 'minute:';

interface Market {
  readonly ref: MarketRef;
  readonly window: FillWindow;
  /** Event time of the newest view, null before the first. */
  publishedSeconds: number | null;
}

export interface StatePiece {
  readonly name: string;
  /** null deletes the piece. */
  readonly bytes: Uint8Array | null;
}

export class FillQuality {
  readonly #markets = new Map<string, Market>();
  readonly #published = new Set<string>();
  #nowSeconds = 0;
  #savedSeconds = 0;
  readonly #deleted: string[] = [];

  /**
   * Applies one event and returns the views to publish. Fills older than the window do not count.
   * Throws FillError, with nothing changed, when a fill cannot be valued.
   */
  apply(event: ChainEvent): FillQualityView[] {
    const fill = takerFillOf(event);
    const before = this.#nowSeconds;
    this.#nowSeconds = Math.max(before, secondsOf(event) ?? 0);
    if (fill !== null && fill.seconds > this.#nowSeconds - WINDOW_SECONDS) {
      const market = this.#market(fill.marketKey);
      market.window.add(fill);
      if (market.publishedSeconds === null) return [this.#view(fill.marketKey, market), ...this.#due()];
    }
    return this.#nowSeconds > before ? this.#due() : [];
  }

  /** Pieces of state changed since the last call. */
  takeChanges(): StatePiece[] {
    // By name, so that a market deleted and added again between two calls is written once.
    const pieces = new Map(this.#deleted.splice(0).map((name) => [name, null as Uint8Array | null]));
    if (this.#savedSeconds !== this.#nowSeconds) pieces.set(CLOCK, text(this.#nowSeconds));
    this.#savedSeconds = this.#nowSeconds;
    for (const [key, { window, publishedSeconds }] of this.#markets) {
      for (const { minute, bytes } of window.takeChanges()) pieces.set(`${MINUTE}${key}:${minute}`, bytes);
      if (this.#published.delete(key)) pieces.set(PUBLISHED + key, text(publishedSeconds ?? 0));
    }
    return [...pieces].map(([name, bytes]) => ({ name, bytes }));
  }

  /** Restores pieces of `takeChanges`, in any order. */
  restore(pieces: Iterable<{ readonly name: string; readonly bytes: Uint8Array }>): void {
    for (const { name, bytes } of pieces) {
      if (name === CLOCK) this.#nowSeconds = this.#savedSeconds = number(bytes);
      else if (name.startsWith(PUBLISHED)) this.#market(name.slice(PUBLISHED.length)).publishedSeconds = number(bytes);
      else if (name.startsWith(MINUTE)) {
        this.#market(name.slice(MINUTE.length, name.lastIndexOf(':'))).window.restore(bytes);
      }
    }
  }

  #market(key: string): Market {
    let market = this.#markets.get(key);
    if (!market) {
      market = { ref: parseMarketKey(key), window: new FillWindow(), publishedSeconds: null };
      this.#markets.set(key, market);
    }
    return market;
  }

  #due(): FillQualityView[] {
    const views: FillQualityView[] = [];
    const due = [...this.#markets].filter(
      ([, { publishedSeconds: at }]) => at === null || this.#nowSeconds - at >= REFRESH_SECONDS,
    );
    // By key: a restart restores markets in another order.
    due.sort(([left], [right]) => (left < right ? -1 : 1));
    for (const [key, market] of due) views.push(this.#view(key, market));
    return views;
  }

  /** The current view. A market with an empty window is published once more and then deleted. */
  #view(key: string, market: Market): FillQualityView {
    const { window, ref } = market;
    window.advance(this.#nowSeconds);
    market.publishedSeconds = this.#nowSeconds;
    if (window.isEmpty) this.#delete(key, market);
    else this.#published.add(key);
    return { ...ref, updatedAtMs: this.#nowSeconds * 1000, cohorts: window.cohorts() };
  }

  #delete(key: string, { window }: Market): void {
    this.#markets.delete(key);
    this.#published.delete(key);
    for (const { minute } of window.takeChanges()) this.#deleted.push(`${MINUTE}${key}:${minute}`);
    this.#deleted.push(PUBLISHED + key);
  }
}

function text(value: number): Uint8Array {
  return Buffer.from(String(value), 'utf8');
}

function number(bytes: Uint8Array): number {
  return Number(Buffer.from(bytes).toString('utf8'));
}
