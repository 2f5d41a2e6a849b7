// Reads the entries of consumer groups. Loading a group again reads only the new records of its partition, because some readers
// look twice a second at a small group beside large ones.

import { partitionOf, type Topic } from '../../../schemas/index.ts';
import { GroupEntries } from './group-entries.ts';
import type { KafkaReader } from './reader.ts';

/** Of all kept groups together. A group that does not fit is read from the beginning of its partition each time. */
const KEPT_BYTES_MAX = 16 * 1024 * 1024;
/** Kafka removes tombstones after a day (delete.retention.ms), and a reader that returns later would miss deletions. */
const KEPT_MS = 600_000;

interface Kept {
  readonly entries: GroupEntries;
  /** Offset of the next read. */
  next: bigint;
  /** Monotonic milliseconds. */
  readAtMs: number;
}

export class GroupReader {
  readonly #reader: Pick<KafkaReader, 'bounds' | 'read'>;
  readonly #topic: Topic;
  readonly #name: string;
  readonly #belongs: (group: string, key: string) => boolean;
  readonly #kept = new Map<string, Kept>();
  /** The newest read of each group; settles without an error. */
  readonly #reads = new Map<string, Promise<unknown>>();

  /** `name` is the name of `topic` on the broker. `belongs` says whether a record's key is one of the group. */
  constructor(
    reader: Pick<KafkaReader, 'bounds' | 'read'>,
    topic: Topic,
    name: string,
    belongs: (group: string, key: string) => boolean,
  ) {
    this.#reader = reader;
    this.#topic = topic;
    this.#name = name;
    this.#belongs = belongs;
  }

  /** Everything that was committed before the call. A later call changes the result. */
  entries(group: string): Promise<GroupEntries> {
    const read = (this.#reads.get(group) ?? Promise.resolve()).then(() => this.#read(group));
    const settled = read
      .catch(() => {})
      .then(() => {
        if (this.#reads.get(group) === settled) this.#reads.delete(group);
      });
    this.#reads.set(group, settled);
    return read;
  }

  async #read(group: string): Promise<GroupEntries> {
    const partition = partitionOf(this.#topic, group);
    const { next: end } = await this.#reader.bounds(this.#name, partition);
    const read = this.#take(group, end);
    while (read.next < end) {
      const { records, next } = await this.#reader.read(this.#name, partition, read.next);
      for (const record of records) if (this.#belongs(group, record.key)) read.entries.take(record);
      if (records.length === 0) break;
      read.next = next;
    }
    this.#keep(group, read);
    return read.entries;
  }

  /** The kept entries, or none when they are too old or the topic was made anew. A failed read keeps nothing. */
  #take(group: string, end: bigint): Kept {
    const nowMs = performance.now();
    for (const [name, { readAtMs }] of this.#kept) if (nowMs - readAtMs > KEPT_MS) this.#kept.delete(name);
    const kept = this.#kept.get(group);
    this.#kept.delete(group);
    if (kept === undefined || kept.next > end) return { entries: new GroupEntries(), next: 0n, readAtMs: nowMs };
    kept.readAtMs = nowMs;
    return kept;
  }

  #keep(group: string, read: Kept): void {
    let { bytes } = read.entries;
    for (const { entries } of this.#kept.values()) bytes += entries.bytes;
    if (bytes <= KEPT_BYTES_MAX) this.#kept.set(group, read);
  }
}
