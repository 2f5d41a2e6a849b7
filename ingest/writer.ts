// Appends to the log: retries while the log is unavailable, and writes each event once, even after a crash.

import { setTimeout as delay } from 'node:timers/promises';
import { type EventLog, type Logger, type NewRecord, readPages } from '../platform/index.ts';
import { type ChainEvent, decodeEvent, TOPICS, type Topic } from '../schemas/index.ts';
import { type EncodedEvent, eventId } from './decode/transaction.ts';

const RETRY_MIN_MS = 100;
const RETRY_MAX_MS = 5_000;
const READ_RECORDS = 5_000;
/** Bytes per call, far below the limit of a log. */
const CALL_BYTES_MAX = 1024 * 1024;

/** Next offset of each partition of `events`. */
export type NextOffsets = ReadonlyMap<number, bigint>;

export class LogWriter {
  readonly #log: EventLog;
  readonly #logger: Logger;
  readonly #signal: AbortSignal;
  readonly #ends = new Map<number, bigint>();
  #begins: NextOffsets = new Map();
  #newestSlot = -1;
  /** Ids of events that the log already has at or after the loaded offsets. */
  readonly #known = new Set<string>();
  /** Ids whose next append counts. */
  readonly #forgotten = new Set<string>();

  constructor(log: EventLog, logger: Logger, signal: AbortSignal) {
    this.#log = log;
    this.#logger = logger;
    this.#signal = signal;
  }

  /** Offsets at which `loadKnown` began to read. */
  get startOffsets(): NextOffsets {
    return this.#begins;
  }

  /** Newest slot among the known events; -1 without any. */
  get newestSlot(): number {
    return this.#newestSlot;
  }

  /** A copy of the next offsets. */
  get nextOffsets(): NextOffsets {
    return new Map(this.#ends);
  }

  /** Loads the ids of events in the log at or after `from`, and reports each. A partition without an offset is read from its start. */
  async loadKnown(from: NextOffsets, found: (event: ChainEvent) => void = () => {}): Promise<void> {
    for (let partition = 0; partition < TOPICS.events.partitions; partition++) {
      const { earliest } = await this.#log.bounds(TOPICS.events, partition);
      const wanted = from.get(partition);
      // Retention may have removed the saved offset.
      this.#ends.set(partition, wanted === undefined || wanted < earliest ? earliest : wanted);
    }
    this.#begins = this.nextOffsets;
    await this.#catchUp(found);
    if (this.#known.size > 0) this.#logger.info({ events: this.#known.size }, 'events already in the log');
  }

  /** The next append of this event writes it, although the log has it in another slot. Later appends do not. */
  forget(id: string): void {
    this.#known.delete(id);
    this.#forgotten.add(id);
  }

  /** Appends the events that the log does not have yet and returns them. Rejects only when the signal aborts. */
  async appendEvents(events: readonly EncodedEvent[]): Promise<readonly EncodedEvent[]> {
    const fresh = events.filter((event) => !this.#known.has(event.id));
    for (const part of parts(fresh)) {
      let todo: readonly EncodedEvent[] = part;
      await this.#retry(async (retry) => {
        // A failed append may have reached some partitions.
        if (retry) {
          await this.#catchUp();
          todo = todo.filter((event) => !this.#known.has(event.id));
        }
        if (todo.length === 0) return;
        const appended = await this.#log.append(TOPICS.events, todo);
        for (const { partition, last } of appended) this.#ends.set(partition, last + 1n);
      });
    }
    for (const { id } of fresh) if (this.#forgotten.delete(id)) this.#known.add(id);
    return fresh;
  }

  /** Appends records that may be duplicates: their readers take the newest. Rejects only when the signal aborts. */
  async append(topic: Topic, records: readonly NewRecord[]): Promise<void> {
    for (const part of parts(records)) {
      await this.#retry(async () => {
        await this.#log.append(topic, part);
      });
    }
  }

  /** Reads `events` from the known offsets to the end. */
  async #catchUp(found: (event: ChainEvent) => void = () => {}): Promise<void> {
    for (const [partition, end] of this.#ends) {
      const part = { log: this.#log, topic: TOPICS.events, partition, pageRecords: READ_RECORDS };
      for await (const records of readPages(part, end)) {
        for (const { value, offset } of records) {
          const event = decodeEvent(value);
          const { signature, eventIndex, slot } = event;
          found(event);
          this.#newestSlot = Math.max(this.#newestSlot, slot);
          this.#known.add(eventId(signature, eventIndex));
          this.#ends.set(partition, offset + 1n);
        }
      }
    }
  }

  /** Repeats the step until it succeeds. Meanwhile ingest waits and the resume point stays. */
  async #retry(step: (retry: boolean) => Promise<void>): Promise<void> {
    for (let attempt = 0; ; attempt++) {
      this.#signal.throwIfAborted();
      try {
        await step(attempt > 0);
        return;
      } catch (error) {
        this.#signal.throwIfAborted();
        this.#logger.warn({ err: error, attempt }, 'the log rejects records; retrying');
        await delay(Math.min(RETRY_MAX_MS, RETRY_MIN_MS * 2 ** attempt), undefined, { signal: this.#signal });
      }
    }
  }
}

/** Splits records into calls of bounded size, in order. */
function* parts<T extends { readonly value: Uint8Array }>(records: readonly T[]): Generator<readonly T[]> {
  let part: T[] = [];
  let bytes = 0;
  for (const record of records) {
    if (part.length > 0 && bytes + record.value.length > CALL_BYTES_MAX) {
      yield part;
      part = [];
      bytes = 0;
    }
    part.push(record);
    bytes += record.value.length;
  }
  if (part.length > 0) yield part;
}
