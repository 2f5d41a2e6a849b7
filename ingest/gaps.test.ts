import { describe, expect, it } from 'vitest';
import { type ChainGap, decodeGaps, GAPS_GROUP, GAPS_KEY } from '../schemas/index.ts';
import { MemoryLog } from '../test/support/ingest/memory-log.ts';
import { GapList, withNotice, withProgress } from './gaps.ts';
import type { GapNotice } from './source.ts';

const notice = (fromSlot: number, toSlot: number, filled = false, isLasting = false): GapNotice => ({
  kind: 'gap',
  fromSlot,
  toSlot,
  filled,
  reason: 'not connected',
  isLasting,
});
const listOf = (...notices: readonly GapNotice[]): readonly ChainGap[] =>
  notices.reduce<readonly ChainGap[]>((gaps, one, index) => withNotice(gaps, one, index), []);
const short = (gaps: readonly ChainGap[]) =>
  gaps.map(({ fromSlot, toSlot, filledAtMs }) => [fromSlot, toSlot, filledAtMs]);

describe('the list of gaps', () => {
  it('keeps a gap open until it is filled, with both times', () => {
    expect(listOf(notice(10, 20), notice(10, 20, true))).toEqual([
      { fromSlot: 10, toSlot: 20, reason: 'not connected', foundAtMs: 0, filledAtMs: 1, isLasting: false },
    ]);
  });

  it('extends a repeated gap instead of counting it twice', () => {
    expect(short(listOf(notice(10, 20), notice(10, 30), notice(10, 25)))).toEqual([[10, 30, null]]);
  });

  it('closes the gap of an earlier process when a later filled notice covers it', () => {
    expect(short(listOf(notice(12, 20), notice(10, 40, true)))).toEqual([[12, 20, 1]]);
  });

  it('treats a gap repeated from an earlier slot as the same one, unless it is lasting', () => {
    expect(listOf(notice(12, 20), notice(10, 40))).toMatchObject([{ fromSlot: 10, toSlot: 40, foundAtMs: 0 }]);
    expect(short(listOf(notice(12, 20, false, true), notice(10, 40, false, true)))).toEqual([
      [10, 40, null],
      [12, 20, null],
    ]);
  });

  it('leaves a gap open when a filled notice covers only a part', () => {
    expect(short(listOf(notice(10, 50), notice(20, 40, true)))).toEqual([
      [10, 50, null],
      [20, 40, 1],
    ]);
  });

  it('records a gap that was filled when it was found', () => {
    expect(short(listOf(notice(10, 20, true)))).toEqual([[10, 20, 0]]);
  });

  it('fills a recoverable gap when the log reaches its end, never a lasting one', () => {
    const gaps = listOf(notice(10, 20), notice(15, 30), notice(5, 18, false, true), notice(0, 40, true));
    expect(short(withProgress(listOf(notice(10, 20), notice(15, 30), notice(5, 18, false, true)), 20, 9))).toEqual([
      [5, 18, null],
      [10, 20, 9],
      [15, 30, null],
    ]);
    expect(short(gaps).filter(([, , filledAtMs]) => filledAtMs === null)).toEqual([[5, 18, null]]);
  });

  it('stays bounded and merges the oldest open gaps into one', () => {
    const open = listOf(...Array.from({ length: 1_100 }, (_, index) => notice(index * 10, index * 10 + 5)));
    expect(open).toHaveLength(1_000);
    expect(open[0]).toMatchObject({ fromSlot: 0, toSlot: 1_005, filledAtMs: null, reason: 'several gaps', count: 101 });
    const filled = listOf(...Array.from({ length: 1_100 }, (_, index) => notice(index * 10, index * 10 + 5, true)));
    expect(filled).toHaveLength(200);
    expect(filled[0]?.fromSlot).toBe(9_000);
  });

  it('leaves a gap open that blocks which no node has touch, although a backfill read its slots', async () => {
    const log = new MemoryLog();
    const gaps = new GapList(log, () => 1);
    for (const [from, to] of [
      [10, 20],
      [30, 40],
      [50, 60],
    ] as const)
      gaps.note(notice(from, to, false, true));
    gaps.backfilled({ fromSlot: 0, toSlot: 59 }, [{ fromSlot: 15, toSlot: 29 }]);
    expect(gaps.open(true)).toBe(2);
    gaps.backfilled({ fromSlot: 0, toSlot: 100 }, []);
    expect(gaps.open(true)).toBe(0);
  });

  it('continues after a restart', async () => {
    const log = new MemoryLog();
    const first = new GapList(log, () => 1);
    await first.load();
    expect((await log.load(GAPS_GROUP)).state.has(GAPS_KEY)).toBe(true);
    first.note(notice(10, 20));
    await first.save();
    const second = new GapList(log, () => 2);
    await second.load();
    second.reached(25);
    await second.save();
    const { state } = await log.load(GAPS_GROUP);
    expect(decodeGaps(state.get(GAPS_KEY) ?? new Uint8Array())).toMatchObject([
      { fromSlot: 10, foundAtMs: 1, filledAtMs: 2 },
    ]);
  });
});
