// One stream: a market at one level, depth, conflation and checksum. Whatever the number of its subscribers, each of its
// messages is made once. `prevSeq` of a message is the `seq` of the one before it in this stream.

import { finish, type Steps } from '../../../processors/book/index.ts';
import type { BookPosition, BookViewDiff } from '../../../schemas/index.ts';
import type { PublishedBook } from '../../views/published-book.ts';
import { Changes } from './changes.ts';
import { Filling } from './filling.ts';
import { ENTRY_BYTES_MIN, FILLS_KEPT, RESUME_DIFFS_MAX } from './limits.ts';
import type { OlderDiffs } from './log-history.ts';
import type { FeedMetrics } from './metrics.ts';
import { isWholeByTicks, type StreamSpec } from './request.ts';
import type { Ring } from './ring.ts';
import type { SharedTop } from './shared.ts';
import type { Shown } from './shown.ts';
import {
  type Body,
  checksumOf,
  diffFrame,
  EMPTY_BODY,
  EMPTY_LINES,
  type StreamHead,
  type StreamState,
  snapshotFrame,
} from './text.ts';
import { bookBody, EMPTY_WINDOW, snapshotBytes, type Window, windowAfter } from './window.ts';

/** What a stream needs to know of its market. */
export interface StreamMarket {
  readonly key: string;
  readonly marketType: 'perp' | 'spot';
  readonly marketIndex: number;
  readonly ring: Ring;
  /** What its streams of a level have in common. */
  readonly shared: Readonly<Record<'l2' | 'l3', SharedTop>>;
  /** What its book showed before the newest change; null when no stream needs it. */
  shown(level: 'l2' | 'l3'): Shown | null;
  /** The sound published book; null before the first and while it has a hole. */
  book(): PublishedBook | null;
  /** True while nothing of it was ever published. */
  isUnpublished(): boolean;
  symbol(): string;
}

/**
 * How a client that stands at a position is brought to where the stream stands: the frames; more is to be gathered for them than
 * one turn is for; `wait` for a moment; `older` changes than the ring's are needed; or it cannot be done.
 */
export type Fill = readonly Buffer[] | Filling | 'wait' | 'older' | 'lost';

export class Stream {
  readonly name: string;
  /** Names the stream in its diffs, for as long as this gateway has it. */
  readonly streamId: number;
  readonly spec: StreamSpec;
  readonly market: StreamMarket;
  /** Changed since the last message, not yet told. */
  isDirty = false;
  /** Subscribers, joined or joining. */
  holders = 0;
  readonly #metrics: FeedMetrics;
  #isBroken = false;
  #sent: StreamState | null = null;
  #window: Window = EMPTY_WINDOW;
  readonly #pending: Changes;
  #snapshot: Buffer | null = null;
  #estimate: number | null = null;
  /** By the sequence that they begin after: frames from there to `sent`, and what is gathered for them. */
  readonly #fills = new Map<number, readonly Buffer[]>();
  readonly #fillings = new Map<number, Filling>();

  constructor(name: string, streamId: number, spec: StreamSpec, market: StreamMarket, metrics: FeedMetrics) {
    this.name = name;
    this.streamId = streamId;
    this.spec = spec;
    this.market = market;
    this.#metrics = metrics;
    this.#pending = new Changes(spec.level);
    const book = market.book();
    if (book) this.#begin(book);
  }

  /** What the newest message brought subscribers to; null before the first book. */
  get sent(): BookPosition | null {
    return this.#sent;
  }

  /** A change of the market, which is in its book already; `isCorrected`: so is what nobody has followed. */
  take(diff: BookViewDiff, isCorrected = false): void {
    if (this.#sent === null) this.#isBroken = true;
    this.isDirty = true;
    if (this.spec.depth !== null || this.#isBroken) return;
    const shown = isWholeByTicks(this.spec) && !isCorrected ? this.market.shown(this.spec.level) : null;
    if (shown) this.#pending.follow(diff, shown);
    else this.#pending.add(diff);
  }

  /** The book was replaced: the next message is a snapshot. */
  restart(): void {
    this.isDirty = true;
    this.#isBroken = true;
    this.#pending.clear();
  }

  /**
   * The message that brings subscribers up to the book; null when there is nothing to tell. A change that the stream does
   * not show is told when it moved the slot, or always with `always`.
   */
  flush(always = false): Buffer | null {
    const book = this.market.book();
    if (!book || (!this.isDirty && !always)) return null;
    this.isDirty = false;
    const before = this.#sent;
    if (this.#isBroken || before === null) {
      this.#begin(book);
      return this.snapshot();
    }
    const body = this.#change(book);
    const { epoch, seq, slot } = book.head;
    if (seq === before.seq) return null;
    const isEmpty = body.bids.length === 0 && body.asks.length === 0 && (body.gone?.length ?? 0) === 0;
    if (isEmpty && slot === before.slot && !always) return null;
    this.#sent = { epoch, seq, slot };
    this.#stale();
    const frame = diffFrame(this.streamId, this.#sent, before.seq, body, this.#checksum(book));
    // Of more entries than the book has the snapshot costs no more to make.
    const entries = body.bids.length + body.asks.length + (body.gone?.length ?? 0);
    const shown = isWholeByTicks(this.spec) ? this.market.shown(this.spec.level) : null;
    const told = shown && entries > shown.size ? this.#snapshotInstead(frame) : frame;
    if (told === frame) this.#metrics.renderings.inc({ type: 'diff' });
    return told;
  }

  /**
   * The book as subscribers have it, made once until it changes; null while it has a hole. One that was never published is empty,
   * in an epoch before all others. Not for a dirty stream.
   */
  snapshot(): Buffer | null {
    if (this.market.isUnpublished()) return this.#emptySnapshot();
    const book = this.market.book();
    if (!book || this.#sent === null) return null;
    if (this.#snapshot === null) {
      this.#metrics.renderings.inc({ type: 'snapshot' });
      const body = bookBody(book.view, this.spec.level, this.spec.depth);
      this.#snapshot = snapshotFrame(this.#head(), this.#sent, body, this.#checksum(book));
    }
    return this.#snapshot;
  }

  #emptySnapshot(): Buffer {
    if (this.#snapshot === null) {
      this.#metrics.renderings.inc({ type: 'snapshot' });
      const checksum = this.spec.checksumLevels === 0 ? null : checksumOf(EMPTY_LINES, 0);
      this.#snapshot = snapshotFrame(this.#head(), { epoch: 0, seq: 0, slot: 0 }, EMPTY_BODY, checksum);
    }
    return this.#snapshot;
  }

  /** Frames from a client's position to this stream's, `held`: as far as they were gathered. Not for a dirty stream. */
  fill({ epoch, seq }: BookPosition, older: OlderDiffs | null, held: Filling | null): Fill {
    const book = this.market.book();
    const { ring } = this.market;
    const sent = this.#sent;
    if (this.market.isUnpublished() && epoch === 0 && seq === 0) return [];
    if (!book || sent === null) return 'wait';
    if (epoch !== sent.epoch || epoch !== ring.epoch) return epoch > sent.epoch ? 'wait' : 'lost';
    if (seq > sent.seq) return 'wait';
    if (seq === sent.seq) return [];
    const known = this.#fills.get(seq);
    if (known) return known;
    const begun = held?.from === seq ? held : this.#fillings.get(seq);
    const canGoOn = (at: number): boolean => at >= ring.baseSeq || reaches(older, epoch, at, ring.baseSeq);
    const isGoingOn = begun !== undefined && (begun.isTooMuch || canGoOn(begun.at));
    if (!isGoingOn && !canGoOn(seq)) return 'older';
    const filling = isGoingOn ? begun : this.#newFilling(book, seq, sent.seq);
    if (this.#fillings.size >= FILLS_KEPT) this.#fillings.clear();
    this.#fillings.set(seq, filling);
    if (!filling.isShort(sent.seq, { ring, older })) return filling;
    finish(filling.gather({ ring, older }, () => sent.seq));
    if (filling.at < sent.seq && !filling.isTooMuch) return filling;
    const frames = this.#missed(book, sent, filling);
    if (this.#fills.size >= FILLS_KEPT) this.#fills.clear();
    this.#fills.set(seq, frames);
    this.#metrics.renderings.inc({ type: 'fill' });
    return frames;
  }

  /** Goes on with a filling up to where the stream stands, which may move on meanwhile; ends when it has begun anew. */
  gather(filling: Filling, { epoch }: BookPosition, older: OlderDiffs | null): Steps<void> {
    const { ring } = this.market;
    return filling.gather({ ring, older }, () => {
      const isSame = this.#sent?.epoch === epoch && ring.epoch === epoch;
      return isSame ? Math.min(this.#sent?.seq ?? 0, ring.baseSeq + ring.size) : 0;
    });
  }

  #newFilling(book: PublishedBook, from: number, until: number): Filling {
    const { depth, conflationMs, level } = this.spec;
    const mayBeEach = depth === null && conflationMs === 0 && until - from <= RESUME_DIFFS_MAX;
    const changesMax = Math.floor(this.#bookBytes(book) / ENTRY_BYTES_MIN[level]);
    return new Filling({ streamId: this.streamId, level, from, mayBeEach, changesMax });
  }

  #missed(book: PublishedBook, sent: StreamState, filling: Filling): readonly Buffer[] {
    const checksum = this.#checksum(book);
    const each = filling.each(checksum);
    if (each) return each;
    const snapshot = filling.isTooMuch ? this.snapshot() : null;
    if (snapshot) return [snapshot];
    const { level, depth } = this.spec;
    const { ring } = this.market;
    const { merged, from } = filling;
    // What lies between `sent` and here changed nothing that this stream shows.
    for (let seq = filling.at + 1; seq <= book.head.seq; seq += 1) merged.add(ring.diff(seq));
    const body = depth === null ? merged.body() : windowAfter(book.view, level, depth, merged);
    const frame = diffFrame(this.streamId, sent, from, body, checksum);
    return [frame.byteLength > this.#bookBytes(book) ? this.#snapshotInstead(frame) : frame];
  }

  /** The snapshot, unless a frame that does the same is shorter. */
  #snapshotInstead(frame: Buffer): Buffer {
    const snapshot = this.snapshot();
    return snapshot && snapshot.byteLength < frame.byteLength ? snapshot : frame;
  }

  /** Bytes of the snapshot, about when it was not made. */
  #bookBytes(book: PublishedBook): number {
    if (this.#snapshot) return this.#snapshot.byteLength;
    this.#estimate ??= snapshotBytes(book.view, this.spec.level, this.spec.depth);
    return this.#estimate;
  }

  #change(book: PublishedBook): Body {
    const { depth } = this.spec;
    if (depth === null) {
      const body = this.#pending.body();
      this.#pending.clear();
      return body;
    }
    const before = this.#window;
    this.#window = this.#newWindow(book, depth);
    return this.#shared.change(book, before, this.#window).body(depth);
  }

  #begin(book: PublishedBook): void {
    const { depth } = this.spec;
    const { epoch, seq, slot } = book.head;
    this.#sent = { epoch, seq, slot };
    this.#isBroken = false;
    this.#pending.clear();
    this.#window = depth === null ? EMPTY_WINDOW : this.#newWindow(book, depth);
    this.#stale();
  }

  get #shared(): SharedTop {
    return this.market.shared[this.spec.level];
  }

  #newWindow(book: PublishedBook, depth: number): Window {
    return this.#shared.window(book, depth, this.spec.conflationMs);
  }

  #stale(): void {
    this.#snapshot = null;
    this.#estimate = null;
    this.#fills.clear();
    this.#fillings.clear();
  }

  #checksum(book: PublishedBook): number | null {
    const { depth, checksumLevels } = this.spec;
    if (checksumLevels === 0) return null;
    return this.#shared.checksum(book, depth === null ? checksumLevels : Math.min(depth, checksumLevels));
  }

  #head(): StreamHead {
    const { name, streamId, spec, market } = this;
    const { marketType, marketIndex } = market;
    return { name, streamId, market: market.symbol(), level: spec.level, marketType, marketIndex };
  }
}

function reaches(older: OlderDiffs | null, epoch: number, after: number, joins: number): boolean {
  return older !== null && older.epoch === epoch && older.after <= after && older.until >= joins;
}
