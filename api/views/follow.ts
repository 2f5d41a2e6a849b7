// Following a topic for as long as the process lives: when the log goes away, readers keep what they have and go on from
// where they were once it is back.

import { setTimeout as sleep } from 'node:timers/promises';
import type { EventLog, LogBatch, Logger } from '../../platform/index.ts';
import type { Topic } from '../../schemas/index.ts';

/** Pause before a failed log is asked again. */
const RETRY_MS = 1000;

/** Whether what a topic held when following began has been read. */
export class CatchUp {
  /** By partition: the end it had; null before following began. */
  #goals: Map<number, bigint> | null = null;

  /** `from`: where each partition is read from; `next`: the end it has now. */
  begin(partitions: Iterable<{ readonly partition: number; readonly from: bigint; readonly next: bigint }>): void {
    this.#goals = new Map();
    for (const { partition, from, next } of partitions) if (from < next) this.#goals.set(partition, next);
  }

  /** A batch was taken in. */
  took({ partition, records }: LogBatch): void {
    const goal = this.#goals?.get(partition);
    const last = records.at(-1);
    if (goal !== undefined && last && last.offset + 1n >= goal) this.#goals?.delete(partition);
  }

  /** True until what this partition held was read. */
  isBehind(partition: number): boolean {
    return this.#goals?.has(partition) ?? true;
  }

  get isDone(): boolean {
    return this.#goals?.size === 0;
  }
}

export interface Following {
  readonly log: EventLog;
  readonly logger: Logger;
  readonly topic: Topic;
  readonly from: ReadonlyMap<number, bigint>;
  readonly signal: AbortSignal;
  /** Handles one batch; what it throws is not the log's failure and ends the following. */
  readonly take: (batch: LogBatch) => void;
}

/** Resolves when the signal aborts; rejects with what `take` throws. */
export async function followAlways({ log, logger, topic, from, signal, take }: Following): Promise<void> {
  const next = new Map(from);
  while (!signal.aborted) {
    let fault: unknown;
    try {
      for await (const batch of log.follow({ topic, from: next, signal })) {
        try {
          take(batch);
        } catch (error) {
          fault = error;
          throw error;
        }
        const last = batch.records.at(-1);
        if (last) next.set(batch.partition, last.offset + 1n);
      }
    } catch (error) {
      if (fault !== undefined) throw fault;
      if (signal.aborted) return;
      logger.error({ topic: topic.name, error: String(error) }, 'the log cannot be followed, trying again');
      await sleep(RETRY_MS, undefined, { signal }).catch(() => {});
    }
  }
}
