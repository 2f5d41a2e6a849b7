import { describe, expect, it } from 'vitest';
import { MemoryLog } from '../test/support/ingest/memory-log.ts';
import { loadResumeState, OffsetHistory, saveResumeState } from './resume-state.ts';
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

describe('the resume state', () => {
  it('is loaded as it was saved', async () => {
    const log = new MemoryLog();
    for (const oldestWaiting of [900, Number.POSITIVE_INFINITY]) {
      const state = { resume: resume(RESUME_SLOT), ends: new Map([[0, 12n]]), oldestWaiting };
      await saveResumeState(log, state);
      expect(await loadResumeState(log)).toEqual(state);
    }
  });

  it('of a version that did not save what waits is loaded as nothing waiting', async () => {
    const log = new MemoryLog();
    await saveResumeState(log, { resume: resume(RESUME_SLOT), ends: new Map([[0, 12n]]), oldestWaiting: 900 });
    const { state } = await log.load('ingest');
    const [[key, value] = ['', new Uint8Array()]] = state;
    const { oldestWaiting: _, ...earlier } = JSON.parse(Buffer.from(value).toString('utf8')) as Record<string, unknown>;
    await log.commit('ingest', { state: [{ key, value: Buffer.from(JSON.stringify(earlier)) }] });
    expect((await loadResumeState(log)).oldestWaiting).toBe(Number.POSITIVE_INFINITY);
  });
});
