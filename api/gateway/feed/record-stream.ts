// A stream of records that the log has numbered without a hole: fills, order changes. The newest stand in memory, older ones in
// the log. Each message is rendered once.

import type { Steps } from '../../../processors/book/index.ts';
import type { BookVersion } from '../../../schemas/index.ts';
import type { BackfillResult, FeedStream, SentState } from './feed-stream.ts';
import type { LogPlace } from './log-search.ts';
import type { OlderRecords } from './older-records.ts';
import { BACKFILL_RECORDS_AT_ONCE, FRAMES_KEPT, RESUME_RECORDS_MAX } from './record-limits.ts';
import { Ring, type RingSpace } from './ring.ts';

/** Content of a stream: its records, and the state that its snapshots show. */
export interface RecordContent<R extends SentState> {
  readonly name: string;
  readonly streamId: number;
  /** Where the records stand in their topic. */
  readonly place: LogPlace;
  /** The message of a snapshot after the record with the number `sent`; null while it cannot be made. */
  renderSnapshot(sent: SentState): string | null;
  /** The message of a record. */
  renderRecord(record: R): string;
  /** The record in a value of the topic; null for another one. */
  read(bytes: Uint8Array): R | null;
  /** Applies a new record to the state. */
  apply(record: R): void;
  /** A later epoch begins: its first record follows. */
  restart(): void;
}

interface Frame {
  readonly seq: number;
  readonly bytes: Buffer;
}

/** The number before the first record. */
export const NO_RECORDS: SentState = { epoch: 0, seq: 0, slot: 0 };

export class RecordStream<R extends SentState, C extends RecordContent<R>> implements FeedStream<OlderRecords, never> {
  readonly content: C;
  readonly name: string;
  readonly streamId: number;
  readonly market: LogPlace & { readonly ring: Ring };
  /** A record is published at once. */
  readonly isDirty = false;
  subscriberCount = 0;
  #head: SentState = NO_RECORDS;
  #snapshot: Buffer | null = null;
  /** Rendered messages by sequence modulo FRAMES_KEPT: a later one takes the place of an earlier one. */
  readonly #frames = new Map<number, Frame>();

  constructor(content: C, rings: RingSpace) {
    const { name, streamId, place } = content;
    this.content = content;
    this.name = name;
    this.streamId = streamId;
    this.market = { ...place, ring: new Ring(rings) };
  }

  /** The number of the newest record. */
  get sent(): SentState {
    return this.#head;
  }

  /** Begins after a record that is already published. */
  beginAt({ epoch, seq, slot }: SentState): void {
    this.#head = { epoch, seq, slot };
    this.market.ring.reset(epoch, seq, null);
    this.#frames.clear();
    this.#snapshot = null;
  }

  /** The messages of a new record; none for a repeated one. After a hole `prevSeq` shows it, and clients resume. */
  take(record: R, bytes: Uint8Array, offset: bigint): Buffer[] {
    const { epoch, seq, slot } = record;
    const { ring } = this.market;
    const before = this.#head;
    if (epoch < before.epoch || (epoch === before.epoch && seq <= before.seq)) return [];
    const begins = epoch !== before.epoch;
    if (begins || seq !== before.seq + 1) {
      ring.reset(epoch, seq - 1, null);
      this.#frames.clear();
    }
    const frames: Buffer[] = [];
    if (begins) {
      this.content.restart();
      // Clients leave the earlier epoch with a snapshot just before its first record.
      this.#head = { epoch, seq: seq - 1, slot: before.slot };
      this.#snapshot = null;
      const snapshot = this.subscriberCount > 0 ? this.snapshot() : null;
      if (snapshot) frames.push(snapshot);
    }
    ring.push(seq, offset, bytes);
    this.content.apply(record);
    this.#head = { epoch, seq, slot };
    this.#snapshot = null;
    if (this.subscriberCount > 0) frames.push(this.#frame(record));
    return frames;
  }

  snapshot(): Buffer | null {
    if (this.#snapshot === null) {
      const message = this.content.renderSnapshot(this.#head);
      this.#snapshot = message === null ? null : Buffer.from(message);
    }
    return this.#snapshot;
  }

  catchUp(): null {
    return null;
  }

  backfill({ epoch, seq }: BookVersion, older: OlderRecords | null): BackfillResult<never> {
    const head = this.#head;
    if (epoch !== head.epoch) return { is: epoch > head.epoch ? 'wait' : 'lost' };
    if (seq > head.seq) return { is: 'wait' };
    if (head.seq - seq > RESUME_RECORDS_MAX) return { is: 'lost' };
    const until = Math.min(head.seq, seq + BACKFILL_RECORDS_AT_ONCE);
    const frames: Buffer[] = [];
    for (let next = seq + 1; next <= until; next += 1) {
      const kept = this.#frames.get(next % FRAMES_KEPT);
      const frame = kept?.seq === next ? kept.bytes : this.#readBack(next, older);
      if (!frame) return { is: 'older' };
      frames.push(frame);
    }
    return { is: 'frames', frames, ...(until < head.seq && { until }) };
  }

  *gather(): Steps<void> {}

  #readBack(seq: number, older: OlderRecords | null): Buffer | null {
    const { ring } = this.market;
    const isOlder = older?.epoch === ring.epoch;
    const bytes = seq > ring.baseSeq ? ring.encoded(seq) : isOlder ? older.encoded(seq) : null;
    const record = bytes && this.content.read(bytes);
    return record ? this.#frame(record) : null;
  }

  #frame(record: R): Buffer {
    const bytes = Buffer.from(this.content.renderRecord(record));
    this.#frames.set(record.seq % FRAMES_KEPT, { seq: record.seq, bytes });
    return bytes;
  }
}
