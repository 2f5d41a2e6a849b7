// Log reads of missed changes: in slices, only while a client waits, once for many clients, and not again for missing changes.

import { beforeEach, describe, expect, it, vi } from 'vitest';
import { silentLogger } from '../../../platform/index.ts';
import { type BookViewDiff, encodeMessage, marketKey, TOPICS } from '../../../schemas/index.ts';
import { FakeLog } from '../../../test/support/api/fake-log.ts';
import { diff } from '../../../test/support/api/stage.ts';
import { LOG_FAILED_MS, LOG_READS_MAX, LOG_SLICE_MS, RESUME_DIFFS_MAX, RESUME_LOG_SLOTS } from './limits.ts';
import { LogHistory } from './log-history.ts';
import type { BackfillRequest } from './log-search.ts';
import { BOOK_CHANGES, type OlderDiffs } from './older-diffs.ts';

const PER_MARKET = 400;
const KEY = key(0);
const always = (): boolean => true;

let log: FakeLog;
let history: LogHistory<OlderDiffs>;
/** Time that passes at each read of the clock. */
let lookMs: number;

function key(marketIndex: number): string {
  return marketKey({ marketType: 'perp', marketIndex });
}

async function append(
  from: number,
  to: number,
  slotOf = (seq: number) => seq,
  marketIndex = 0,
  more: Partial<BookViewDiff> = {},
): Promise<void> {
  const values = Array.from({ length: to - from + 1 }, (_, index) => {
    const seq = from + index;
    return {
      key: key(marketIndex),
      value: encodeMessage('BookViewDiff', diff(seq, slotOf(seq), { marketIndex, ...more })),
    };
  });
  await log.append(TOPICS.bookViews, values);
}

function requestOf(after: number, until = PER_MARKET, of = KEY): BackfillRequest {
  return { key: of, epoch: 1, after, until, untilOffset: null };
}

const seqsOf = (older: OlderDiffs | null, after: number): number[] =>
  older ? Array.from({ length: older.until - after }, (_, at) => older.diff(after + 1 + at)?.seq ?? []).flat() : [];

beforeEach(async () => {
  log = new FakeLog();
  lookMs = 0;
  let nowMs = 0;
  const clock = (): number => {
    nowMs += lookMs;
    return nowMs;
  };
  history = new LogHistory({ source: BOOK_CHANGES, log, logger: silentLogger(), clock });
  await append(1, PER_MARKET);
});

describe('changes read back from the log', () => {
  it('are complete after a sequence, however small the share of the market in its partition', async () => {
    await append(1, 5000, undefined, 4);
    const older = await history.read(requestOf(10), always);
    expect(seqsOf(older, 10)).toEqual(Array.from({ length: PER_MARKET - 10 }, (_, index) => index + 11));
    expect(older?.merged('l2').bids.get(81_000_000)?.seq).toBe(PER_MARKET);
  });

  it('are read in slices', async () => {
    lookMs = LOG_SLICE_MS / 20;
    let turns = 0;
    const count = (): void => {
      turns += 1;
      counting = setImmediate(count);
    };
    let counting = setImmediate(count);
    expect(await history.read(requestOf(0), always)).not.toBeNull();
    clearImmediate(counting);
    expect(turns).toBeGreaterThan(PER_MARKET / 40);
  });

  it('are read only while a client waits, and not at all if none does at the start', async () => {
    lookMs = LOG_SLICE_MS;
    const reads = vi.spyOn(log, 'read');
    let waits = true;
    const first = history.read(requestOf(0), () => waits);
    const later = Array.from({ length: 3 * LOG_READS_MAX }, (_, index) =>
      history.read(requestOf(0, PER_MARKET, key(index + 1)), () => waits),
    );
    waits = false;
    expect(await Promise.all([first, ...later])).toEqual([null, ...later.map(() => null)]);
    expect(reads.mock.calls.length).toBeLessThanOrEqual(LOG_READS_MAX);
    lookMs = 0;
    expect(seqsOf(await history.read(requestOf(390), always), 390)).toHaveLength(10);
  });

  it('are read once for requests that widen while another read runs', async () => {
    const reads = vi.spyOn(log, 'read');
    const before = Array.from({ length: LOG_READS_MAX }, (_, index) =>
      history.read(requestOf(0, PER_MARKET, key(index + 1)), always),
    );
    const results = Array.from({ length: 40 }, (_, index) => history.read(requestOf(200 - index), always));
    await Promise.all(before);
    reads.mockClear();
    const found = await Promise.all(results);
    expect(found.map((older) => older?.after)).toEqual(found.map(() => 161));
    expect(reads.mock.calls.length).toBeLessThan(2 * Math.ceil(PER_MARKET / 100));
  });

  it('are not searched again when the log lacks them, while later ones are given', async () => {
    await append(600, 700);
    const reads = vi.spyOn(log, 'read');
    expect(await history.read(requestOf(500, 700), always)).toBeNull();
    const calls = reads.mock.calls.length;
    expect(history.needsRead(requestOf(400, 700))).toBe(false);
    expect(await history.read(requestOf(400, 700), always)).toBeNull();
    expect(seqsOf(await history.read(requestOf(650, 700), always), 650)).toHaveLength(50);
    expect(reads.mock.calls.length).toBe(calls);
  });

  it('are read again some time after a failed read', async () => {
    vi.spyOn(log, 'read').mockRejectedValueOnce(new Error('away'));
    expect(await history.read(requestOf(0), always)).toBeNull();
    expect(await history.read(requestOf(0), always)).toBeNull();
    lookMs = LOG_FAILED_MS;
    expect(history.needsRead(requestOf(0))).toBe(true);
    lookMs = 0;
    expect(await history.read(requestOf(0), always)).not.toBeNull();
  });

  it('reach back for ten minutes, and further only for few bytes', async () => {
    const after = PER_MARKET;
    const count = 100;
    const far = 2 * RESUME_LOG_SLOTS;
    const heavy = { bids: Array.from({ length: 5000 }, (_, price) => ({ price, dlob: 2n ** 60n, vamm: 2n ** 60n })) };
    await append(1, 3000, undefined, 4); // Makes a search take more than one stride.
    await append(after + 1, after + count, (seq) => seq * far, 0, heavy);
    await append(after + count + 1, after + count + 10, (seq) => seq + far * (after + count));
    expect(await history.read(requestOf(after - 10, after + count + 10), always)).toBeNull();
    expect(
      seqsOf(await history.read(requestOf(after + count, after + count + 10), always), after + count),
    ).toHaveLength(10);
  });

  it('cover ten minutes of a busy market, more than its ring holds', async () => {
    const perSlot = 4;
    const slots = 600 / 0.4;
    const until = PER_MARKET + perSlot * slots;
    await append(PER_MARKET + 1, until, (seq) => Math.floor(seq / perSlot));
    const older = await history.read(requestOf(PER_MARKET, until), always);
    expect(older?.after).toBe(PER_MARKET);
    expect(seqsOf(older, until - RESUME_DIFFS_MAX)).toHaveLength(RESUME_DIFFS_MAX);
    expect(older?.merged('l2').bids.get(81_000_000)?.level.dlob).toBe(BigInt(until) * 10n);
  });
});
