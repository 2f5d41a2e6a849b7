// Reads of all accounts, repeated until one is believed. Sessions of every source share it.

import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../../platform/index.ts';
import { type FullRead, UnbelievableRead, type WholeRead } from './account-reader.ts';
import { BEHIND, RpcError } from './errors.ts';

/** Wait between the node's answer at a silence and the verdict: data in the socket of a busy process count as received. */
export const SILENCE_SETTLE_MS = 250;
/** Milliseconds between two looks at a condition. */
const POLL_MS = 20;
/** Pause between two reads while they fail; it doubles up to the longest. */
const READ_AGAIN_MIN_MS = 1_000;
const READ_AGAIN_MAX_MS = 60_000;
/** Reads that are repeated because they are older than the subscriptions, or refused because the nodes are. */
const OLD_READS_MAX = 3;

export interface FullReading {
  read(): Promise<WholeRead>;
  /** `isWhole` is false for a read that is not believed: it closes no account. */
  deliver(read: WholeRead, isWhole: boolean): Promise<void>;
  readonly logger: Logger;
  /** Ends the reading. */
  readonly signal: AbortSignal;
}

/** Resolves when a read was believed and delivered, or at the end of the session. */
export async function readUntilBelieved({ read, deliver, logger, signal }: FullReading): Promise<void> {
  for (let attempt = 0; !signal.aborted; attempt++) {
    try {
      await deliver(await read(), true);
      return;
    } catch (error) {
      if (signal.aborted) return;
      logger.warn({ err: error, attempt }, 'accounts not read');
      if (error instanceof UnbelievableRead) await deliver(error.read, false);
    }
    if (await pauseUnlessOver(signal, Math.min(READ_AGAIN_MAX_MS, READ_AGAIN_MIN_MS * 2 ** attempt))) return;
  }
}

/**
 * Reads at the slot of the subscriptions or later: they deliver later changes only. `fromSlot` can be ahead of a chain that stands
 * still, so after some tries any read counts.
 */
export function readSince<R extends Pick<FullRead, 'slots'>>(
  fromSlot: () => number,
  read: (minSlot: number) => Promise<R>,
): () => Promise<R> {
  let old = 0;
  return async () => {
    for (;;) {
      const answer = await read(old < OLD_READS_MAX ? fromSlot() : 0).catch((error: unknown) => {
        if (error instanceof RpcError && error.code === BEHIND) old += 1;
        throw error;
      });
      if (Math.min(...answer.slots) >= fromSlot() || old++ >= OLD_READS_MAX) return answer;
    }
  };
}

/** Waits until the condition holds, but not longer than its patience. True when the session ended meanwhile. */
export async function waitFor(holds: () => boolean, patienceMs: number, signal: AbortSignal): Promise<boolean> {
  const untilMs = performance.now() + patienceMs;
  while (!holds() && performance.now() < untilMs) if (await pauseUnlessOver(signal, POLL_MS)) return true;
  return signal.aborted;
}

/** True when the session ended meanwhile. */
export async function pauseUnlessOver(signal: AbortSignal, ms: number): Promise<boolean> {
  return delay(ms, false, { signal, ref: false }).catch(() => true);
}
