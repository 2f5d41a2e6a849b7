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
} from '../../schemas/index.ts';
import type { EventLog } from './port.ts';
import { TopicTail } from './topic-tail.ts';

/** The newest final block time in the log; null where none is known, as for a capture. */
export async function readFinality(log: EventLog): Promise<ChainFinality | null> {
  let newest: ChainFinality | null = null;
  await new TopicTail(log, TOPICS.finality).read(({ value: bytes }) => {
    const { name, value } = decodeMessage(bytes);
    if (name === 'ChainFinality' && value.slot > (newest?.slot ?? -1)) newest = value;
  });
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
    await this.#tail.read(({ value }) => {
      const message = decodeMessage(value);
      if (message.name === 'StreamCoverage') this.#take(message.value);
      else if (message.name === 'AccountsCoverage') this.#accounts.set(message.value.stream, message.value);
    });
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
    await this.#tail.read(({ value }) => {
      const message = decodeMessage(value);
      if (message.name === 'Backfill') this.#newest.set(message.value.id, message.value);
    });
    return this.#newest;
  }
}
