// How a process becomes the writer of a role. It takes over at once when there is no writer, and from a writer that was killed
// on this machine or has an older version. Otherwise it asks, and stands by while the writer answers.

import { setTimeout as delay } from 'node:timers/promises';
import {
  type Asked,
  type Begun,
  type Candidate,
  compareCandidates,
  compareVersions,
  isGone,
  markRecord,
  type RoleMarks,
} from './marks.ts';
import type { LeaseTimes } from './times.ts';
import type { MarkWatch } from './watch.ts';

/** A writer that did not answer in time, or a process of this machine that is dead. */
export interface Silence {
  readonly writer: bigint;
  /** Offset of the ask without an answer; null when there was none. */
  readonly ask: bigint | null;
}

export interface CandidacyOptions {
  readonly watch: MarkWatch;
  readonly role: string;
  readonly self: Candidate;
  readonly times: LeaseTimes;
  readonly signal: AbortSignal;
  /** Called each time a writer refuses. */
  readonly onStandby: (writer: Begun) => void;
}

/**
 * Resolves when the process may begin: with the silent or dead writer, or null when there is none or it has an older version.
 * Rejects when the signal aborts or the log fails.
 */
export async function awaitTurn(options: CandidacyOptions): Promise<Silence | null> {
  const { watch, role, self, times, signal, onStandby } = options;
  const marks = watch.of(role);
  await watch.fresh();
  for (;;) {
    signal.throwIfAborted();
    const { writer } = marks;
    if (writer !== null && isGone(writer.by)) return { writer: writer.epoch, ask: null };
    if (writer === null || compareVersions(self.version, writer.by?.version ?? null) > 0) return null;
    const ask = await watch.put(markRecord(role, 'asks', null, self));
    const isSame = () => marks.writer?.epoch === writer.epoch;
    const lives = () => isSame() && !isGone(writer.by);
    await waitWhile(() => lives() && !marks.isRefused(ask), times.silentMs, options);
    // Reads marks since the last check: a late answer, or the log's absence.
    await watch.fresh();
    if (!lives()) continue;
    if (marks.isRefused(ask)) {
      onStandby(writer);
      await waitWhile(lives, times.askMs, options);
    } else if (!isOutranked(marks, self, ask, times.silentMs)) {
      return { writer: writer.epoch, ask };
    }
  }
}

/**
 * A newer process with a recent ask goes first. A dead one stops asking. An ask behind our own is recent however late this process
 * looks: the newer one still waits, or is about to begin.
 */
function isOutranked(marks: RoleMarks, self: Candidate, ask: bigint, withinMs: number): boolean {
  const sinceMs = performance.now() - withinMs;
  const isRecent = ({ offset, readAtMs }: Asked) => offset > ask || readAtMs >= sinceMs;
  return marks.asked.some((one) => isRecent(one) && compareCandidates(one.by, self) > 0);
}

async function waitWhile(holds: () => boolean, forMs: number, { signal, times }: CandidacyOptions): Promise<void> {
  const untilMs = performance.now() + forMs;
  for (let leftMs = forMs; leftMs > 0 && holds(); leftMs = untilMs - performance.now()) {
    await delay(Math.min(leftMs, times.lookMs), undefined, { signal });
  }
}
