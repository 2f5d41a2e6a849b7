// Which backfills to run: pure rules over requests and coverage.

import type { Backfill, StreamCoverage } from '../../schemas/index.ts';
import type { SlotRange } from '../source.ts';

/** A wider hole waits for an operator: `slotbook backfill`. */
export const HOLE_SLOTS_MAX = 20_000;
/** Ranges closer than this are one request. */
const NEAR_SLOTS = 50;
/** Begin of the ids of requests for holes. */
const HOLES_PREFIX = 'holes-';
/** Pause before a failed request for a hole is asked again. It doubles with each failure. */
export const AGAIN_MIN_MS = 60_000;
/** Longest such pause: an hour costs a node little, and a hole is not urgent. */
export const AGAIN_MAX_MS = 3_600_000;

export const holesId = ({ fromSlot, toSlot }: SlotRange): string => `${HOLES_PREFIX}${fromSlot}-${toSlot}`;

/** Whether ingest asked for it by itself. */
export const isForHoles = ({ id }: Pick<Backfill, 'id'>): boolean => id.startsWith(HOLES_PREFIX);

/** The slots of open holes that no request covers yet, as few ranges. A failed request of an operator covers none. */
export function rangesToCover(
  coverages: readonly StreamCoverage[],
  requests: Iterable<Pick<Backfill, 'id' | 'fromSlot' | 'toSlot' | 'state'>>,
): readonly SlotRange[] {
  const asked = [...requests].filter((one) => one.state !== 'cancelled' && (one.state !== 'failed' || isForHoles(one)));
  const open = coverages
    .flatMap(({ holes }) => holes)
    .filter(({ fromSlot, toSlot, isLost }) => {
      const isAsked = asked.some((one) => one.fromSlot <= fromSlot && one.toSlot >= toSlot);
      return !isLost && !isAsked && toSlot - fromSlot <= HOLE_SLOTS_MAX;
    })
    .sort((a, b) => a.fromSlot - b.fromSlot);
  const ranges: { fromSlot: number; toSlot: number }[] = [];
  for (const { fromSlot, toSlot } of open) {
    const last = ranges.at(-1);
    if (last && fromSlot <= last.toSlot + NEAR_SLOTS) last.toSlot = Math.max(last.toSlot, toSlot);
    else ranges.push({ fromSlot, toSlot });
  }
  return ranges;
}

/** The request to work on: one that runs already, or the oldest. */
export function nextRequest(requests: Iterable<Backfill>): Backfill | null {
  const pending = [...requests].filter(({ state }) => state === 'asked' || state === 'running');
  return pending.find(({ state }) => state === 'running') ?? pending[0] ?? null;
}
