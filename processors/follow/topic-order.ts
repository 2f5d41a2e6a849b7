// Takes batches of several topics one at a time, roughly in chain order: the batch that begins earliest goes first.
// Without it a short topic runs months ahead of a long one whenever a role reads its log from the beginning.

/** Longest wait for a topic that should have more: an offset may never come (control records, compaction). */
export const WAIT_MS = 2_000;

interface WaitingBatch {
  readonly slot: number;
  start(): void;
}

interface TopicQueue {
  waiting: WaitingBatch | null;
  /** Records still to come, by partition. */
  readonly remaining: Map<number, bigint>;
}

export class TopicOrder {
  readonly #queues = new Map<string, TopicQueue>();
  #isBusy = false;
  #isClosed = false;
  #timer: NodeJS.Timeout | undefined;

  /** Says how many records of a topic's partition are still to come. */
  expect(topic: string, partition: number, records: bigint): void {
    this.#queue(topic).remaining.set(partition, records);
  }

  /**
   * Runs a task when it is first in order; false when the order is closed. `slot` is the chain slot at which its batch
   * begins. One call at a time for each topic. A task that fails closes the order: its reducer is ahead of the committed
   * state, so no other batch may follow.
   */
  async run(topic: string, slot: number, task: () => Promise<void>): Promise<boolean> {
    if (this.#isClosed) return false;
    const queue = this.#queue(topic);
    await new Promise<void>((start) => {
      queue.waiting = { slot, start };
      this.#next();
    });
    if (this.#isClosed) return false;
    try {
      await task();
    } catch (error) {
      this.close();
      throw error;
    }
    this.#isBusy = false;
    this.#next();
    return true;
  }

  /** Starts no more tasks, and answers every waiting `run` with false. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    for (const queue of this.#queues.values()) {
      queue.waiting?.start();
      queue.waiting = null;
    }
  }

  #next(): void {
    if (this.#isClosed || this.#isBusy) return;
    const queues = [...this.#queues.values()];
    if (queues.every(({ waiting }) => waiting === null)) return;
    clearTimeout(this.#timer);
    if (queues.some(isExpected)) this.#timer = setTimeout(() => this.#startFirst(), WAIT_MS);
    else this.#startFirst();
  }

  #startFirst(): void {
    if (this.#isClosed || this.#isBusy) return;
    let first: TopicQueue | null = null;
    for (const queue of this.#queues.values()) {
      if (queue.waiting !== null && queue.waiting.slot < (first?.waiting?.slot ?? Number.POSITIVE_INFINITY)) {
        first = queue;
      }
    }
    if (first?.waiting == null) return;
    const { waiting } = first;
    first.waiting = null;
    this.#isBusy = true;
    waiting.start();
  }

  #queue(topic: string): TopicQueue {
    let queue = this.#queues.get(topic);
    if (!queue) {
      queue = { waiting: null, remaining: new Map() };
      this.#queues.set(topic, queue);
    }
    return queue;
  }
}

/** A topic that has no batch ready although more records are to come. */
function isExpected({ waiting, remaining }: TopicQueue): boolean {
  if (waiting !== null) return false;
  for (const records of remaining.values()) if (records > 0n) return true;
  return false;
}
