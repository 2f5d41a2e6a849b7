// Reads of all accounts, repeated until one is believed. Sessions of every source share it.

import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../../platform/index.ts';
import { type FullRead, UnbelievableRead } from './account-reader.ts';

/** Pause between two reads while they fail; it doubles up to the longest. */
const READ_AGAIN_MIN_MS = 1_000;
const READ_AGAIN_MAX_MS = 60_000;

export interface FullReading {
  read(): Promise<FullRead>;
  /** `isWhole` is false for a read that is not believed: it closes no account. */
  deliver(read: FullRead, isWhole: boolean): Promise<void>;
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

/** True when the session ended meanwhile. */
export async function pauseUnlessOver(signal: AbortSignal, ms: number): Promise<boolean> {
  return delay(ms, false, { signal, ref: false }).catch(() => true);
}
