// One market of the `book` channel: its ring of newest changes and its streams.

import type { MarketRef, MarketType } from '../../../schemas/index.ts';
import type { AppliedRecord, BookReader } from '../../views/book-reader.ts';
import type { PublishedBook } from '../../views/published-book.ts';
import { CHECKSUM_LEVELS, KIND_COST, KINDS_COST_MAX } from './limits.ts';
import type { FeedMetrics } from './metrics.ts';
import { PublishedKeys } from './published-keys.ts';
import { isConflatedWhole, type StreamSpec, streamName } from './request.ts';
import { Ring, type RingSpace } from './ring.ts';
import { SharedTop } from './shared-top.ts';
import { Stream, type StreamMarket } from './stream.ts';

export class MarketFeed implements StreamMarket {
  readonly key: string;
  readonly marketType: MarketType;
  readonly marketIndex: number;
  readonly ring: Ring;
  readonly streams = new Map<string, Stream>();
  readonly shared = { l2: this.#sharedTop('l2'), l3: this.#sharedTop('l3') };
  /** Keys in the book before the newest change, kept while a conflated stream of the whole book needs them. */
  readonly #publishedKeys: Record<'l2' | 'l3', PublishedKeys | null> = { l2: null, l3: null };
  /** Version of the book after the newest change. */
  #version = 0;
  readonly #reader: BookReader;
  readonly #metrics: FeedMetrics;
  /** Cost of the open streams, see KINDS_COST_MAX. */
  #cost = 0;

  /** Numbers the streams of this gateway. */
  readonly #nextStreamId: () => number;

  constructor(
    key: string,
    { marketType, marketIndex }: MarketRef,
    reader: BookReader,
    metrics: FeedMetrics,
    nextStreamId: () => number,
    rings: RingSpace = { bytes: 0 },
  ) {
    this.ring = new Ring(rings);
    this.key = key;
    this.marketType = marketType;
    this.marketIndex = marketIndex;
    this.#reader = reader;
    this.#metrics = metrics;
    this.#nextStreamId = nextStreamId;
    const head = this.book()?.head;
    if (head) this.ring.reset(head.epoch, head.seq, null);
    this.#version = this.book()?.version ?? 0;
  }

  book(): PublishedBook | null {
    const book = this.#reader.bookByKey(this.key);
    return book && !book.view.isStale ? book : null;
  }

  now(): number {
    return this.#reader.now();
  }

  isUnpublished(): boolean {
    return this.#reader.bookByKey(this.key) === null;
  }

  symbol(): string | null {
    return this.#reader.markets.byKey(this.key)?.symbol.toUpperCase() ?? null;
  }

  /** True when the stream exists or may be opened. */
  admits(spec: StreamSpec): boolean {
    const cost = kindCost(spec);
    return cost === 0 || this.#cost + cost <= KINDS_COST_MAX || this.streams.has(streamName(this, spec));
  }

  /** The stream of these choices, opened when needed. Call only when `admits` allows it. */
  stream(spec: StreamSpec): Stream {
    const name = streamName(this, spec);
    const known = this.streams.get(name);
    if (known) return known;
    if (isConflatedWhole(spec))
      this.#publishedKeys[spec.level] ??= new PublishedKeys(spec.level, this.book()?.view ?? null);
    const stream = new Stream(name, this.#nextStreamId(), spec, this, this.#metrics);
    this.streams.set(name, stream);
    this.#cost += kindCost(spec);
    this.#metrics.streams.inc();
    return stream;
  }

  release(stream: Stream): void {
    if (this.streams.get(stream.name) !== stream) return;
    this.streams.delete(stream.name);
    this.#cost -= kindCost(stream.spec);
    this.#metrics.streams.dec();
    const { level } = stream.spec;
    const isNeeded = (spec: StreamSpec): boolean => spec.level === level && isConflatedWhole(spec);
    if (![...this.#specs()].some(isNeeded)) this.#publishedKeys[level] = null;
  }

  publishedKeys(level: 'l2' | 'l3'): PublishedKeys | null {
    return this.#publishedKeys[level];
  }

  /** Takes a record that the book has just applied. */
  apply({ message, bytes, offset }: AppliedRecord): void {
    const { epoch, seq } = message;
    const { version = 0 } = this.book() ?? {};
    const isCorrected = version !== this.#version + 1;
    this.#version = version;
    const isKnown = epoch === this.ring.epoch && seq === this.ring.baseSeq && this.ring.size === 0;
    if (isKnown) {
      // This record opened the market: its streams already began with the resulting book.
      this.ring.reset(epoch, seq, offset);
      return;
    }
    const follows = epoch === this.ring.epoch && seq === this.ring.baseSeq + this.ring.size + 1;
    const isWhole = !('gone' in message && follows);
    // A correction between two changes may show levels or orders that the keys do not have.
    if (isWhole || isCorrected) this.#rebuildPublishedKeys();
    if ('gone' in message && follows) {
      this.ring.push(seq, offset, bytes);
      for (const stream of this.streams.values()) stream.apply(message, isCorrected);
      this.#publishedKeys.l2?.apply(message);
      this.#publishedKeys.l3?.apply(message);
      return;
    }
    this.ring.reset(epoch, seq, offset);
    for (const stream of this.streams.values()) stream.restart();
  }

  #rebuildPublishedKeys(): void {
    for (const level of ['l2', 'l3'] as const) {
      if (this.#publishedKeys[level]) this.#publishedKeys[level] = new PublishedKeys(level, this.book()?.view ?? null);
    }
  }

  #sharedTop(level: 'l2' | 'l3'): SharedTop {
    return new SharedTop(level, () => this.#specs());
  }

  *#specs(): Generator<StreamSpec> {
    for (const { spec } of this.streams.values()) yield spec;
  }
}

/** Cost of a kind of stream, counted against KINDS_COST_MAX. */
function kindCost({ depth, conflationMs, checksumLevels }: StreamSpec): number {
  if (depth === null && (checksumLevels === 0 || checksumLevels === CHECKSUM_LEVELS)) return 0;
  if (conflationMs > 0) return KIND_COST.conflated;
  return KIND_COST.unconflated + Math.ceil((depth ?? 0) / KIND_COST.depthStep);
}
