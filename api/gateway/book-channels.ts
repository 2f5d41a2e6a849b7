// Publishes grouped books on change. All channels share one tick, so changes of many markets leave together. The first change
// after a quiet tick leaves at once. Each book is serialised once per channel and version, for replays and the stream alike.

import { marketKey } from '../../schemas/index.ts';
import { l2Json, type ServedBook } from '../views/bodies.ts';
import type { BookReader } from '../views/book-reader.ts';
import { envelope } from './envelope.ts';
import type { Fanout } from './fanout.ts';
import type { GatewayMetrics } from './metrics.ts';
import type { ResolvedChannel } from './requests.ts';

interface BookChannel {
  readonly channel: ResolvedChannel;
  readonly key: string;
  rendered: Rendering | null;
}

interface Rendering {
  /** The rendered book: the published one, or the object that lays quotes over it. */
  readonly book: ServedBook;
  readonly version: number;
  readonly tickSize: bigint;
  readonly frame: Buffer;
}

export interface BookChannelsOptions {
  readonly reader: BookReader;
  readonly fanout: Fanout;
  readonly metrics: GatewayMetrics;
  /** Tick length, milliseconds. A channel sends at most one message a tick. 0 = every batch. */
  readonly tickMs: number;
}

function isIndicative({ kind }: ResolvedChannel): boolean {
  return kind === 'orderbook_indicative';
}

export class BookChannels {
  readonly #options: BookChannelsOptions;
  /** By market key. The listed markets bound it, so entries stay and keep their last rendering. */
  readonly #byMarket = new Map<string, Map<string, BookChannel>>();
  readonly #unlisten: readonly (() => void)[];
  /** Channels whose book changed since their last message. */
  readonly #dirty = new Set<BookChannel>();
  /** Number of the last tick that sent messages, counted from 0 of the monotonic clock. */
  #tick = -1;
  #timer: NodeJS.Timeout | null = null;

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
      found = { channel, key, rendered: null };
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
    for (const key of keys) {
      for (const entry of this.#byMarket.get(key)?.values() ?? []) {
        if (this.#options.fanout.has(entry.channel.name) && concerns(entry.channel)) this.#dirty.add(entry);
      }
    }
    if (this.#dirty.size > 0 && !this.#timer) this.#sendWhenDue();
  }

  #sendWhenDue(): void {
    const { tickMs } = this.#options;
    if (tickMs === 0) {
      this.#send();
      return;
    }
    const nowMs = performance.now();
    const tick = Math.floor(nowMs / tickMs);
    if (tick > this.#tick) {
      this.#tick = tick;
      this.#send();
      return;
    }
    const next = this.#tick + 1;
    this.#timer = setTimeout(
      () => {
        this.#timer = null;
        // A timer may fire a fraction of a millisecond early, or more than a tick late.
        this.#tick = Math.max(next, Math.floor(performance.now() / tickMs));
        this.#send();
      },
      next * tickMs - nowMs,
    );
  }

  /** Sends all changed books, those of one connection in one write. */
  #send(): void {
    const { fanout } = this.#options;
    const frames: { name: string; frame: Buffer }[] = [];
    for (const entry of this.#dirty) {
      const { name } = entry.channel;
      const frame = fanout.has(name) ? this.#frame(entry) : null;
      if (frame) frames.push({ name, frame });
    }
    this.#dirty.clear();
    if (frames.length > 0) fanout.sendLatest(frames);
  }
}
