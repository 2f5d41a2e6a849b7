// Following topics in the background: a role or a read model starts a TopicFollower, waits for `done` and calls `stop`.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Topic } from '../../schemas/index.ts';
import type { EventLog, FollowFrom, LogBatch } from './port.ts';

/** Pause before a failed log is read again. */
const RETRY_MS = 1000;

export interface FollowedTopic {
  readonly log: EventLog;
  readonly topic: Topic;
  readonly from: ReadonlyMap<number, FollowFrom>;
  /** Upper bound of records in one batch; the log's own default when absent. */
  readonly maxRecords?: number;
  /** Handles one batch; the next batch waits for it. An error it throws ends the following. */
  readonly take: (batch: LogBatch) => void | Promise<void>;
  /** Called when the log fails; reading then goes on behind the last batch taken. Without it a failing log ends the following. */
  readonly onLogFailure?: (error: unknown) => void;
}

/** Follows one topic. Resolves when the signal aborts; rejects with the error of `take`, or of the log without `onLogFailure`. */
export async function followTopic(followed: FollowedTopic, signal: AbortSignal): Promise<void> {
  const { onLogFailure } = followed;
  const from = new Map(followed.from);
  while (!signal.aborted) {
    try {
      await takeAll(followed, from, signal);
      return;
    } catch (error) {
      if (error instanceof TakeError) throw error.cause;
      if (signal.aborted) return;
      if (!onLogFailure) throw error;
      onLogFailure(error);
      await sleep(RETRY_MS, undefined, { signal }).catch(() => {});
    }
  }
}

/** Marks an error of `take`, which no retry of the log can heal. */
class TakeError extends Error {}

async function takeAll(
  { log, topic, maxRecords, take }: FollowedTopic,
  from: Map<number, FollowFrom>,
  signal: AbortSignal,
): Promise<void> {
  for await (const batch of log.follow({ topic, from, signal, ...(maxRecords === undefined ? {} : { maxRecords }) })) {
    try {
      const taking = take(batch);
      if (taking) await taking;
    } catch (cause) {
      throw new TakeError('take failed', { cause });
    }
    const last = batch.records.at(-1);
    if (last) from.set(batch.partition, last.offset + 1n);
    if (signal.aborted) return;
  }
}

/** Follows topics until `stop`, or until one of them fails: a failure ends all of them. */
export class TopicFollower {
  readonly #stopping = new AbortController();
  readonly #loops: Promise<void>[] = [];
  #failure: { readonly error: unknown } | null = null;

  /** Aborts when following ends, for whatever reason. */
  get signal(): AbortSignal {
    return this.#stopping.signal;
  }

  /** Begins to follow one more topic. */
  follow(followed: FollowedTopic): void {
    this.run((signal) => followTopic(followed, signal));
  }

  /** Runs a loop that ends with the signal and needs more than batches, for example pages. */
  run(loop: (signal: AbortSignal) => Promise<void>): void {
    const running = loop(this.signal).catch((error: unknown) => {
      if (!this.signal.aborted) this.fail(error);
    });
    this.#loops.push(running);
  }

  /** Ends following with an error from work beside the batches. The first error counts. */
  fail(error: unknown): void {
    this.#failure ??= { error };
    this.#stopping.abort();
  }

  /** Settles when every loop has ended; rejects with the first failure. */
  get done(): Promise<void> {
    const ended = this.#ended();
    ended.catch(() => {}); // The waiter of `done` gets the failure; alone it must not end the process.
    return ended;
  }

  /** Resolves when every loop has ended. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#loops);
  }

  async #ended(): Promise<void> {
    await Promise.all(this.#loops);
    if (this.#failure) throw this.#failure.error;
  }
}
