// One stream: a market at one level, depth, conflation and checksum. Each message is rendered once for all subscribers.
// `prevSeq` of a message is the `seq` of the stream's previous message.

import { finish, type Steps } from '../../../processors/book/index.ts';
import type { BookVersion, BookViewDiff } from '../../../schemas/index.ts';
import type { PublishedBook } from '../../views/published-book.ts';
import { Backfill } from './backfill.ts';
import { Changes } from './changes.ts';
import type { BackfillResult, FeedStream } from './feed-stream.ts';
import { BACKFILLS_KEPT, ENTRY_BYTES_MIN, RESUME_DIFFS_MAX } from './limits.ts';
import type { FeedMetrics } from './metrics.ts';
import type { OlderDiffs } from './older-diffs.ts';
import type { PublishedKeys } from './published-keys.ts';
import { isConflatedWhole, type StreamSpec } from './request.ts';
import type { Ring } from './ring.ts';
import type { SharedTop } from './shared-top.ts';
import {
  type Body,
  checksumOf,
  diffFrame,
  EMPTY_BODY,
  EMPTY_LINES,
  firstReverted,
  type StreamHead,
  type StreamState,
  snapshotFrame,
} from './text.ts';
import { bookBody, EMPTY_WINDOW, snapshotBytes, type Window, windowAfter } from './window.ts';

/** The market as its streams see it. */
export interface StreamMarket {
  readonly key: string;
  readonly marketType: 'perp' | 'spot';
  readonly marketIndex: number;
  readonly ring: Ring;
  /** Work shared by the streams of a level. */
  readonly shared: Readonly<Record<'l2' | 'l3', SharedTop>>;
  /** Keys in the book before the newest change; null when no stream needs them. */
  publishedKeys(level: 'l2' | 'l3'): PublishedKeys | null;
  /** The published book; null before the first one and while its sequence has a gap. */
  book(): PublishedBook | null;
  /** Wall clock, milliseconds. */
  now(): number;
  /** True until the first book of the market is published. */
  isUnpublished(): boolean;
  /** Upper case; null while the market has no description. */
  symbol(): string | null;
}

const NOTHING_MISSED = { is: 'frames', frames: [] } as const;

export class Stream implements FeedStream<OlderDiffs, Backfill> {
  readonly name: string;
  /** Number of the stream in its diffs, for as long as this gateway has it open. */
  readonly streamId: number;
  readonly spec: StreamSpec;
  readonly market: StreamMarket;
  /** True when the book changed since the last message. */
  isDirty = false;
  /** Active and pending subscribers. */
  subscriberCount = 0;
  readonly #metrics: FeedMetrics;
  #isBroken = false;
  /** First abandoned slot that the changes since the last message undo; null without an undo. */
  #revert: number | null = null;
  #sent: StreamState | null = null;
  #window: Window = EMPTY_WINDOW;
  readonly #pending: Changes;
  #snapshot: Buffer | null = null;
  #estimatedBytes: number | null = null;
  /** By the client's sequence: finished frames from there to `sent`, and backfills being gathered. */
  readonly #backfillFrames = new Map<number, readonly Buffer[]>();
  readonly #backfills = new Map<number, Backfill>();

  constructor(name: string, streamId: number, spec: StreamSpec, market: StreamMarket, metrics: FeedMetrics) {
    this.name = name;
    this.streamId = streamId;
    this.spec = spec;
    this.market = market;
    this.#metrics = metrics;
    this.#pending = new Changes(spec.level);
    const book = market.book();
    if (book) this.#begin(book, book.publishedAtMs);
  }

  /** State after the newest message; null before the first book. */
  get sent(): StreamState | null {
    return this.#sent;
  }

  /** Takes a change that the book has applied. `isCorrected`: the book was also corrected outside the changes. */
  apply(diff: BookViewDiff, isCorrected = false): void {
    if (this.#sent === null) this.#isBroken = true;
    this.isDirty = true;
    this.#revert = firstReverted(this.#revert, diff.revert);
    if (this.spec.depth !== null || this.#isBroken) return;
    const published = isConflatedWhole(this.spec) && !isCorrected ? this.market.publishedKeys(this.spec.level) : null;
    if (published) this.#pending.addPublished(diff, published);
    else this.#pending.add(diff);
  }

  /** Call when the book was replaced: the next message is a snapshot. */
  restart(): void {
    this.isDirty = true;
    this.#isBroken = true;
    this.#pending.clear();
  }

  /**
   * The message that brings subscribers to the current book; null when there is none. A change outside the stream's window yields
   * an empty diff when it moved the slot, or always with `always`.
   */
  flush(always = false): Buffer | null {
    const book = this.market.book();
    if (!book || (!this.isDirty && !always)) return null;
    this.isDirty = false;
    const before = this.#sent;
    if (this.#isBroken || before === null) {
      this.#begin(book, this.market.now());
      return this.snapshot();
    }
    const body = this.#change(book);
    const { epoch, seq, slot } = book.head;
    if (seq === before.seq) return null;
    const isEmpty = body.bids.length === 0 && body.asks.length === 0 && (body.gone?.length ?? 0) === 0;
    const revert = this.#revert;
    if (isEmpty && slot === before.slot && revert === null && !always) return null;
    this.#revert = null;
    this.#sent = { epoch, seq, slot, ts: this.market.now() };
    this.#invalidate();
    const frame = diffFrame(this.streamId, this.#sent, before.seq, body, this.#checksum(book), revert);
    // With more entries than the book has, the snapshot is the cheaper message.
    const entries = body.bids.length + body.asks.length + (body.gone?.length ?? 0);
    const published = isConflatedWhole(this.spec) ? this.market.publishedKeys(this.spec.level) : null;
    const message = published && entries > published.size ? this.#snapshotInstead(frame) : frame;
    if (message === frame) this.#metrics.renderings.inc({ type: 'diff' });
    return message;
  }

  /**
   * The book as subscribers have it, rendered once per state; null while its sequence has a gap or its market has no description.
   * A market never published gives an empty book of epoch 0. Not for a dirty stream.
   */
  snapshot(): Buffer | null {
    const symbol = this.market.symbol();
    if (symbol === null) return null;
    if (this.market.isUnpublished()) return this.#emptySnapshot(symbol);
    const book = this.market.book();
    if (!book || this.#sent === null) return null;
    if (this.#snapshot === null) {
      this.#metrics.renderings.inc({ type: 'snapshot' });
      const body = bookBody(book.view, this.spec);
      this.#snapshot = snapshotFrame(this.#head(symbol), this.#sent, body, this.#checksum(book));
    }
    return this.#snapshot;
  }

  #emptySnapshot(symbol: string): Buffer {
    if (this.#snapshot === null) {
      this.#metrics.renderings.inc({ type: 'snapshot' });
      const checksum = this.spec.checksumLevels === 0 ? null : checksumOf(EMPTY_LINES, 0);
      const state = { epoch: 0, seq: 0, slot: 0, ts: this.market.now() };
      this.#snapshot = snapshotFrame(this.#head(symbol), state, EMPTY_BODY, checksum);
    }
    return this.#snapshot;
  }

  /** A client may hold a newer sequence than a stream whose window did not change since. */
  catchUp({ epoch, seq }: BookVersion): Buffer | null {
    if (!this.#sent || epoch !== this.#sent.epoch || seq <= this.#sent.seq) return null;
    const head = this.market.book()?.head;
    return head && seq <= head.seq ? this.flush(true) : null;
  }

  /** How a client gets from its version to the stream's. `ownBackfill`: its backfill so far. Not for a dirty stream. */
  backfill(
    { epoch, seq }: BookVersion,
    older: OlderDiffs | null,
    ownBackfill: Backfill | null,
  ): BackfillResult<Backfill> {
    const book = this.market.book();
    const { ring } = this.market;
    const sent = this.#sent;
    if (this.market.isUnpublished() && epoch === 0 && seq === 0) return NOTHING_MISSED;
    if (!book || sent === null) return { is: 'wait' };
    if (epoch !== sent.epoch || epoch !== ring.epoch) return { is: epoch > sent.epoch ? 'wait' : 'lost' };
    if (seq > sent.seq) return { is: 'wait' };
    if (seq === sent.seq) return NOTHING_MISSED;
    const made = this.#backfillFrames.get(seq);
    if (made) return { is: 'frames', frames: made };
    const begun = ownBackfill?.from === seq ? ownBackfill : this.#backfills.get(seq);
    const canContinue = (at: number): boolean => at >= ring.baseSeq || reaches(older, epoch, at, ring.baseSeq);
    const continues = begun !== undefined && (begun.exceedsBook || canContinue(begun.at));
    if (!continues && !canContinue(seq)) return { is: 'older' };
    const backfill = continues ? begun : this.#newBackfill(book, seq, sent.seq);
    if (this.#backfills.size >= BACKFILLS_KEPT) this.#backfills.clear();
    this.#backfills.set(seq, backfill);
    if (!backfill.fitsOneTurn(sent.seq, { ring, older })) return { is: 'gather', backfill };
    finish(backfill.gather({ ring, older }, () => sent.seq));
    if (backfill.at < sent.seq && !backfill.exceedsBook) return { is: 'gather', backfill };
    const frames = this.#framesOf(book, sent, backfill);
    if (this.#backfillFrames.size >= BACKFILLS_KEPT) this.#backfillFrames.clear();
    this.#backfillFrames.set(seq, frames);
    this.#metrics.renderings.inc({ type: 'fill' });
    return { is: 'frames', frames };
  }

  /** Gathers a backfill up to the stream's version, which may advance meanwhile. Ends when a new epoch begins. */
  gather(backfill: Backfill, { epoch }: BookVersion, older: OlderDiffs | null): Steps<void> {
    const { ring } = this.market;
    return backfill.gather({ ring, older }, () => {
      const isSame = this.#sent?.epoch === epoch && ring.epoch === epoch;
      return isSame ? Math.min(this.#sent?.seq ?? 0, ring.baseSeq + ring.size) : 0;
    });
  }

  #newBackfill(book: PublishedBook, from: number, until: number): Backfill {
    const { depth, conflationMs, level, hasCause } = this.spec;
    const allowsSingles = depth === null && conflationMs === 0 && until - from <= RESUME_DIFFS_MAX;
    const changesMax = Math.floor(this.#bookBytes(book) / ENTRY_BYTES_MIN[level]);
    return new Backfill({
      streamId: this.streamId,
      level,
      hasCause,
      from,
      allowsSingles,
      changesMax,
      now: () => this.market.now(),
    });
  }

  #framesOf(book: PublishedBook, sent: StreamState, backfill: Backfill): readonly Buffer[] {
    const checksum = this.#checksum(book);
    const singles = backfill.singleFrames(checksum);
    if (singles) return singles;
    const snapshot = backfill.exceedsBook ? this.snapshot() : null;
    if (snapshot) return [snapshot];
    const { level, depth, hasCause } = this.spec;
    const { ring } = this.market;
    const { merged, from } = backfill;
    // Changes between `sent` and the head changed nothing in this stream's window.
    for (let seq = backfill.at + 1; seq <= book.head.seq; seq += 1) merged.add(ring.diff(seq));
    const body = depth === null ? merged.body(hasCause) : windowAfter(book.view, level, depth, merged);
    const state = { ...sent, ts: this.market.now() };
    const frame = diffFrame(this.streamId, state, from, body, checksum, merged.revert);
    return [frame.byteLength > this.#bookBytes(book) ? this.#snapshotInstead(frame) : frame];
  }

  /** The snapshot if it is shorter than an equivalent frame, else the frame. */
  #snapshotInstead(frame: Buffer): Buffer {
    const snapshot = this.snapshot();
    return snapshot && snapshot.byteLength < frame.byteLength ? snapshot : frame;
  }

  /** Bytes of the snapshot, estimated until it is rendered. */
  #bookBytes(book: PublishedBook): number {
    if (this.#snapshot) return this.#snapshot.byteLength;
    this.#estimatedBytes ??= snapshotBytes(book.view, this.spec.level, this.spec.depth);
    return this.#estimatedBytes;
  }

  #change(book: PublishedBook): Body {
    const { depth } = this.spec;
    if (depth === null) {
      const body = this.#pending.body(this.spec.hasCause);
      this.#pending.clear();
      return body;
    }
    const before = this.#window;
    this.#window = this.#newWindow(book, depth);
    return this.#shared.change(book, before, this.#window).body(depth);
  }

  #begin(book: PublishedBook, ts: number): void {
    const { depth } = this.spec;
    const { epoch, seq, slot } = book.head;
    this.#sent = { epoch, seq, slot, ts };
    this.#isBroken = false;
    this.#revert = null;
    this.#pending.clear();
    this.#window = depth === null ? EMPTY_WINDOW : this.#newWindow(book, depth);
    this.#invalidate();
  }

  get #shared(): SharedTop {
    return this.market.shared[this.spec.level];
  }

  #newWindow(book: PublishedBook, depth: number): Window {
    return this.#shared.window(book, depth, this.spec.conflationMs);
  }

  #invalidate(): void {
    this.#snapshot = null;
    this.#estimatedBytes = null;
    this.#backfillFrames.clear();
    this.#backfills.clear();
  }

  #checksum(book: PublishedBook): number | null {
    const { depth, checksumLevels } = this.spec;
    if (checksumLevels === 0) return null;
    return this.#shared.checksum(book, depth === null ? checksumLevels : Math.min(depth, checksumLevels));
  }

  #head(market: string): StreamHead {
    const { name, streamId, spec } = this;
    const { marketType, marketIndex } = this.market;
    return { name, streamId, market, level: spec.level, marketType, marketIndex };
  }
}

function reaches(older: OlderDiffs | null, epoch: number, after: number, reaching: number): boolean {
  return older !== null && older.epoch === epoch && older.after <= after && older.until >= reaching;
}
