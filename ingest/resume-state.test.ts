import { describe, expect, it } from 'vitest';
import { OffsetHistory } from './resume-state.ts';
import { RESUME_MARGIN_SLOTS } from './source.ts';

const START = 7n;
const RESUME_SLOT = 1_000;
/** One event a slot from `fromSlot` on, all in partition 0. */
function historyOf(fromSlot: number, toSlot: number): OffsetHistory {
  const history = new OffsetHistory(new Map([[0, START]]), fromSlot - 1);
  for (let slot = fromSlot; slot <= toSlot; slot++)
    history.reached(slot, () => new Map([[0, offsetOf(fromSlot, slot)]]));
  return history;
}

const offsetOf = (fromSlot: number, slot: number) => START + BigInt(slot - fromSlot);
const resume = (slot: number) => ({ slot, signatures: {}, chain: '' });

describe('the offsets of a resume point', () => {
  it('lie before every event that the source repeats, and not far before', () => {
    const offset = historyOf(1, RESUME_SLOT).offsetsFor(resume(RESUME_SLOT), Number.POSITIVE_INFINITY).get(0);
    const firstRepeated = offsetOf(1, RESUME_SLOT - RESUME_MARGIN_SLOTS);
    expect(offset).toBeLessThanOrEqual(firstRepeated);
    expect(offset).toBeGreaterThan(firstRepeated - 20n);
  });

  it('lie before every event whose slot is not compared with the final chain yet', () => {
    const history = historyOf(1, RESUME_SLOT);
    for (const waiting of [300, 400, 900, RESUME_SLOT]) {
      const offset = history.offsetsFor(resume(RESUME_SLOT), waiting).get(0);
      const first = offsetOf(1, Math.min(waiting, RESUME_SLOT - RESUME_MARGIN_SLOTS));
      expect(offset).toBeLessThanOrEqual(first);
      expect(offset).toBeGreaterThan(first - 20n);
    }
  });

  it('are those of the start while events wait that an earlier process wrote', () => {
    const history = historyOf(500, RESUME_SLOT);
    expect(history.offsetsFor(resume(RESUME_SLOT), 450)).toEqual(new Map([[0, START]]));
  });
});
