// Reads compacted topics of one partition: the newest record of each key.

import {
  type AccountsCoverage,
  type Backfill,
  type ChainFinality,
  decodeMessage,
  isAccountStream,
  type StreamCoverage,
  streamKey,
  TOPICS,
  type Topic,
} from '../../schemas/index.ts';
import { PartitionTail } from './partition-tail.ts';
import type { EventLog } from './port.ts';

const READ_RECORDS = 1_000;

/** Follows one topic by calls: each returns the records since the last one. */
class TopicTail {
  readonly #log: EventLog;
  readonly #topic: Topic;
  #tail: PartitionTail | null = null;

  /** `topic` has one partition. */
  constructor(log: EventLog, topic: Topic) {
    this.#log = log;
    this.#topic = topic;
  }

  async read(): Promise<readonly Uint8Array[]> {
    this.#tail ??= await this.#open();
    const values: Uint8Array[] = [];
    for (;;) {
      const records = await this.#tail.read(READ_RECORDS);
      if (records.length === 0) return values;
      for (const { value } of records) values.push(value);
    }
  }

  async #open(): Promise<PartitionTail> {
    // A log that no new ingest has opened lacks the topic.
    await this.#log.ensureTopics([this.#topic]);
    const { earliest } = await this.#log.bounds(this.#topic, 0);
    return new PartitionTail(this.#log, this.#topic, 0, earliest);
  }
}

/** The newest final block time in the log; null where none is known, as for a capture. */
export async function readFinality(log: EventLog): Promise<ChainFinality | null> {
  let newest: ChainFinality | null = null;
  for (const bytes of await new TopicTail(log, TOPICS.finality).read()) {
    const { name, value } = decodeMessage(bytes);
    if (name === 'ChainFinality' && value.slot > (newest?.slot ?? -1)) newest = value;
  }
  return newest;
}

/** Coverage of every numbered stream, by stream. A log without the role `coverage` has none. */
export class CoverageTail {
  readonly #tail: TopicTail;
  readonly #newest = new Map<string, StreamCoverage>();
  readonly #accounts = new Map<string, AccountsCoverage>();

  constructor(log: EventLog) {
    this.#tail = new TopicTail(log, TOPICS.coverageViews);
  }

  /** Streams of markets, and those of accounts with missing records. */
  async read(): Promise<readonly StreamCoverage[]> {
    for (const bytes of await this.#tail.read()) {
      const message = decodeMessage(bytes);
      if (message.name === 'StreamCoverage') this.#take(message.value);
      else if (message.name === 'AccountsCoverage') this.#accounts.set(message.value.stream, message.value);
    }
    return this.known;
  }

  /** The streams as of the last `read`. */
  get known(): readonly StreamCoverage[] {
    return [...this.#newest.values()].sort((a, b) => (streamKey(a) < streamKey(b) ? -1 : 1));
  }

  /** Totals of the streams of accounts, as of the last `read`. */
  get accounts(): readonly AccountsCoverage[] {
    return [...this.#accounts.values()];
  }

  #take(view: StreamCoverage): void {
    if (isAccountStream(view.stream) && view.missing === 0) this.#newest.delete(streamKey(view));
    else this.#newest.set(streamKey(view), view);
  }
}

/** Every backfill, in the order of their requests. */
export class BackfillTail {
  readonly #tail: TopicTail;
  readonly #newest = new Map<string, Backfill>();

  constructor(log: EventLog) {
    this.#tail = new TopicTail(log, TOPICS.backfills);
  }

  async read(): Promise<ReadonlyMap<string, Backfill>> {
    for (const bytes of await this.#tail.read()) {
      const message = decodeMessage(bytes);
      if (message.name === 'Backfill') this.#newest.set(message.value.id, message.value);
    }
    return this.#newest;
  }
}
