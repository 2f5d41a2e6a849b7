// Parts of the stream at processed for tests: news without books, blocks of a chain with forks, a writer whose log goes away.

import type { ProcessedBooks } from '../../../ingest/forks/books.ts';
import type { OpenConnection } from '../../../ingest/forks/feed.ts';
import type { ForkStates } from '../../../ingest/forks/states.ts';
import type { NewRecord } from '../../../platform/index.ts';
import type { Topic } from '../../../schemas/index.ts';

/** News reaches the states at once. */
export function appliedAtOnce(forks: () => ForkStates): Pick<ProcessedBooks, 'news' | 'account'> {
  return {
    news: (step) => step(forks()),
    account: (update, step) => {
      forks().account(update);
      step(forks());
    },
  };
}

/** A connection without news. */
export const silentConnection: OpenConnection = ({ signal }) => ({
  run: () => new Promise((resolve) => signal.addEventListener('abort', () => resolve('stopped'))),
});

interface LinkedBlock {
  /** From 1 on, the index in the list plus 1. */
  readonly slot: number;
  /** 0: the genesis. */
  readonly parent: number;
}

/** The blocks from the genesis to the one of slot `tip`. */
export function chainTo<B extends LinkedBlock>(all: readonly B[], tip: number): B[] {
  const path: B[] = [];
  for (let block = all[tip - 1]; block; block = all[block.parent - 1]) path.unshift(block);
  return path;
}

/** Takes records of one topic. While it is away, appends wait. */
export class WaitingWriter {
  readonly written: NewRecord[] = [];
  readonly #topic: Topic;
  readonly #waiting: (() => void)[] = [];
  #isAway = false;

  constructor(topic: Topic) {
    this.#topic = topic;
  }

  async append(topic: Topic, records: readonly NewRecord[]): Promise<void> {
    if (topic !== this.#topic) throw new Error(`records of ${topic.name}`);
    if (this.#isAway) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.written.push(...records);
  }

  away(is: boolean): void {
    this.#isAway = is;
    if (!is) for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
