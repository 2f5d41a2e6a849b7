// Fill quality of the markets of one partition: events in, views out. Time is the newest event time seen.

import { type ChainEvent, type FillQualityView, type MarketRef, parseMarketKey } from '../../schemas/index.ts';
import { secondsOf, takerFillOf } from './fill.ts';
import { FillWindow, WINDOW_SECONDS } from './window.ts';

/** A market is told again when this much event time has passed; also keeps the time of its means fresh. */
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
  /** null: the piece is gone. */
  readonly bytes: Uint8Array | null;
}

export class FillQuality {
  private readonly markets = new Map<string, Market>();
  private readonly published = new Set<string>();
  private nowSeconds = 0;
  private savedSeconds = 0;
  private readonly gone: string[] = [];

  /**
   * Takes one event in; returns the views to publish. Fills that are older than the window count for nothing.
   * Throws FillError, with nothing changed, when a fill cannot be valued.
   */
  apply(event: ChainEvent): FillQualityView[] {
    const fill = takerFillOf(event);
    const before = this.nowSeconds;
    this.nowSeconds = Math.max(before, secondsOf(event) ?? 0);
    if (fill !== null && fill.seconds > this.nowSeconds - WINDOW_SECONDS) {
      const market = this.market(fill.marketKey);
      market.window.add(fill);
      if (market.publishedSeconds === null) return [this.view(fill.marketKey, market), ...this.due()];
    }
    return this.nowSeconds > before ? this.due() : [];
  }

  /** Pieces of state changed since the last call. */
  takeChanges(): StatePiece[] {
    // By name, so that a market forgotten and met again between two calls is written once.
    const pieces = new Map(this.gone.splice(0).map((name) => [name, null as Uint8Array | null]));
    if (this.savedSeconds !== this.nowSeconds) pieces.set(CLOCK, text(this.nowSeconds));
    this.savedSeconds = this.nowSeconds;
    for (const [key, { window, publishedSeconds }] of this.markets) {
      for (const { minute, bytes } of window.takeChanges()) pieces.set(`${MINUTE}${key}:${minute}`, bytes);
      if (this.published.delete(key)) pieces.set(PUBLISHED + key, text(publishedSeconds ?? 0));
    }
    return [...pieces].map(([name, bytes]) => ({ name, bytes }));
  }

  /** Takes back pieces given by `takeChanges`, in any order. */
  restore(pieces: Iterable<{ readonly name: string; readonly bytes: Uint8Array }>): void {
    for (const { name, bytes } of pieces) {
      if (name === CLOCK) this.nowSeconds = this.savedSeconds = number(bytes);
      else if (name.startsWith(PUBLISHED)) this.market(name.slice(PUBLISHED.length)).publishedSeconds = number(bytes);
      else if (name.startsWith(MINUTE)) {
        this.market(name.slice(MINUTE.length, name.lastIndexOf(':'))).window.restore(bytes);
      }
    }
  }

  private market(key: string): Market {
    let market = this.markets.get(key);
    if (!market) {
      market = { ref: parseMarketKey(key), window: new FillWindow(), publishedSeconds: null };
      this.markets.set(key, market);
    }
    return market;
  }

  private due(): FillQualityView[] {
    const views: FillQualityView[] = [];
    const due = [...this.markets].filter(
      ([, { publishedSeconds: at }]) => at === null || this.nowSeconds - at >= REFRESH_SECONDS,
    );
    // By key: a restart brings markets back in another order.
    due.sort(([left], [right]) => (left < right ? -1 : 1));
    for (const [key, market] of due) views.push(this.view(key, market));
    return views;
  }

  /** The view as of now. A market whose window ran empty is told once more and then forgotten. */
  private view(key: string, market: Market): FillQualityView {
    const { window, ref } = market;
    window.advance(this.nowSeconds);
    market.publishedSeconds = this.nowSeconds;
    if (window.isEmpty) this.forget(key, market);
    else this.published.add(key);
    return { ...ref, updatedAtMs: this.nowSeconds * 1000, cohorts: window.cohorts() };
  }

  private forget(key: string, { window }: Market): void {
    this.markets.delete(key);
    this.published.delete(key);
    for (const { minute } of window.takeChanges()) this.gone.push(`${MINUTE}${key}:${minute}`);
    this.gone.push(PUBLISHED + key);
  }
}

function text(value: number): Uint8Array {
  return Buffer.from(String(value), 'utf8');
}

function number(bytes: Uint8Array): number {
  return Number(Buffer.from(bytes).toString('utf8'));
}
