// Publishes grouped books on change: at once when a channel was quiet, else at most once per tick, each book serialised
// once per channel and version. A replay and the stream show the same rendering, so nobody sees an older book later.

import { marketKey } from '../../schemas/index.ts';
import { l2Json, type ServedBook } from '../views/bodies.ts';
import type { BookReader } from '../views/book-reader.ts';
import type { Fanout } from './fanout.ts';
import type { GatewayMetrics } from './metrics.ts';
import type { ResolvedChannel } from './requests.ts';

interface BookChannel {
  readonly channel: ResolvedChannel;
  readonly key: string;
  /** Published since `sentAtMs`, not yet sent. */
  dirty: boolean;
  /** Monotonic milliseconds of the last send. */
  sentAtMs: number;
  rendered: Rendering | null;
}

interface Rendering {
  /** What was rendered: the published book, or the object that lays quotes over it. */
  readonly book: ServedBook;
  readonly version: number;
  readonly tickSize: bigint;
  readonly frame: Buffer;
}

export interface BookChannelsOptions {
  readonly reader: BookReader;
  readonly fanout: Fanout;
  readonly metrics: GatewayMetrics;
  /** Least time between two messages of a channel, milliseconds; 0 = every batch. */
  readonly tickMs: number;
}

/** The data envelope of reference 3.4: `data` is JSON text inside JSON. */
export function envelope(name: string, json: string): Buffer {
  return Buffer.from(`{"channel":${JSON.stringify(name)},"data":${JSON.stringify(json)}}`);
}

function isIndicative({ kind }: ResolvedChannel): boolean {
  return kind === 'orderbook_indicative';
}

export class BookChannels {
  readonly #options: BookChannelsOptions;
  /** By market key; bounded by the listed markets, so entries stay and keep their last rendering. */
  readonly #byMarket = new Map<string, Map<string, BookChannel>>();
  readonly #unlisten: readonly (() => void)[];
  #timer: NodeJS.Timeout | null = null;
  #timerDueMs = Number.POSITIVE_INFINITY;

  constructor(options: BookChannelsOptions) {
    this.#options = options;
    const { reader } = options;
    this.#unlisten = [
      reader.onChange((keys) => this.#changed(keys, () => true)),
      reader.indicative.onChange((keys) => this.#changed(keys, isIndicative)),
    ];
  }

  stop(): void {
    for (const unlisten of this.#unlisten) unlisten();
    if (this.#timer) clearTimeout(this.#timer);
  }

  /** The newest book of a channel as a frame; null when none was published. */
  replay(channel: ResolvedChannel): Buffer | null {
    return this.#frame(this.#channel(channel));
  }

  #channel(channel: ResolvedChannel): BookChannel {
    const key = marketKey(channel.market);
    const channels = this.#byMarket.get(key) ?? new Map<string, BookChannel>();
    this.#byMarket.set(key, channels);
    let found = channels.get(channel.name);
    if (!found) {
      found = { channel, key, dirty: false, sentAtMs: Number.NEGATIVE_INFINITY, rendered: null };
      channels.set(channel.name, found);
    }
    return found;
  }

  #frame(entry: BookChannel): Buffer | null {
    const { reader, metrics } = this.#options;
    const published = reader.bookByKey(entry.key);
    const market = reader.markets.byKey(entry.key);
    if (!published || !market) return null;
    const { tickSize } = market;
    const book = isIndicative(entry.channel) ? reader.indicative.over(entry.key, published) : published;
    const { rendered } = entry;
    if (rendered?.book === book && rendered.version === book.version && rendered.tickSize === tickSize) {
      return rendered.frame;
    }
    published.view.tickSize = Number(tickSize);
    const json = l2Json(book, market, book.view.grouped(entry.channel.grouping));
    const frame = envelope(entry.channel.name, json);
    entry.rendered = { book, version: book.version, tickSize, frame };
    metrics.renderings.inc();
    return frame;
  }

  #changed(keys: ReadonlySet<string>, concerns: (channel: ResolvedChannel) => boolean): void {
    let waiting = false;
    for (const key of keys) {
      for (const entry of this.#byMarket.get(key)?.values() ?? []) {
        if (!this.#options.fanout.has(entry.channel.name) || !concerns(entry.channel)) continue;
        entry.dirty = true;
        waiting = true;
      }
    }
    if (waiting) this.#flush();
  }

  /** Sends every channel that is due and sets the timer for the next one. */
  #flush(): void {
    const { tickMs, fanout } = this.#options;
    const nowMs = performance.now();
    const frames: { name: string; frame: Buffer }[] = [];
    let nextDueMs = Number.POSITIVE_INFINITY;
    for (const entry of this.#dirty()) {
      const dueMs = entry.sentAtMs + tickMs;
      if (dueMs > nowMs) {
        nextDueMs = Math.min(nextDueMs, dueMs);
        continue;
      }
      entry.dirty = false;
      entry.sentAtMs = nowMs;
      const frame = this.#frame(entry);
      if (frame) frames.push({ name: entry.channel.name, frame });
    }
    if (frames.length > 0) fanout.sendInTurns(frames);
    this.#schedule(nextDueMs, nowMs);
  }

  *#dirty(): Iterable<BookChannel> {
    for (const channels of this.#byMarket.values()) {
      for (const entry of channels.values()) if (entry.dirty) yield entry;
    }
  }

  #schedule(dueMs: number, nowMs: number): void {
    if (this.#timer && this.#timerDueMs <= dueMs) return;
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    this.#timerDueMs = dueMs;
    if (dueMs === Number.POSITIVE_INFINITY) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#timerDueMs = Number.POSITIVE_INFINITY;
      this.#flush();
    }, dueMs - nowMs);
  }
}
