// What a client missed is gathered a little at a time: the same as at once, beside everything else, and only while it is wanted.

import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { metricTotal } from '../../../platform/index.ts';
import { finish } from '../../../processors/book/index.ts';
import { type BookViewDiff, encodeMessage } from '../../../schemas/index.ts';
import { diff, snapshot } from '../../testing/stage.ts';
import { Changes } from './changes.ts';
import { Filling } from './filling.ts';
import { FILL_DIFFS_AT_ONCE, FILL_STEP_DIFFS, RESUME_DIFFS_MAX } from './limits.ts';
import { OlderDiffs } from './log-history.ts';
import { Ring } from './ring.ts';
import { type DirectSocket, FeedStage } from './testing/feed-stage.ts';

const LEVELS = 12;

/** The change of a sequence: some levels, sometimes nothing that is shown. */
function changeAt(seq: number, seed: number): BookViewDiff {
  const at = (seq * 7 + seed) % LEVELS;
  const bids = (seq + seed) % 5 === 0 ? [] : [{ price: 1000 + at, dlob: BigInt(seq), vamm: 0n }];
  return diff(seq, 480 + Math.floor(seq / 3), { bids });
}

const bytesOf = (one: BookViewDiff): Buffer => encodeMessage('BookViewDiff', one);

/** Changes up to `until`, those up to `until - kept` only as they are read back from the log. */
function sourcesOf(until: number, kept: number, seed: number) {
  const base = Math.max(0, until - kept);
  const ring = new Ring();
  ring.reset(1, base, null);
  const push = (): void => {
    const seq = ring.baseSeq + ring.size + 1;
    ring.push(seq, BigInt(seq), bytesOf(changeAt(seq, seed)));
  };
  const newest = new Map<number, Uint8Array>();
  const merged = { l2: new Changes('l2'), l3: new Changes('l3') };
  for (let seq = 1; seq <= base; seq += 1) {
    const one = changeAt(seq, seed);
    if (seq > base - RESUME_DIFFS_MAX) newest.set(seq, bytesOf(one));
    merged.l2.add(one);
    merged.l3.add(one);
  }
  while (ring.baseSeq + ring.size < until) push();
  const older = base === 0 ? null : new OlderDiffs(1, 0, base, { floor: 0, newest, merged, bytes: 0 });
  return { sources: { ring, older }, push, end: () => ring.baseSeq + ring.size };
}

/** Until it has come to the end; it may begin again when it turns out to be too much for single changes. */
function told(filling: Filling, gather: () => void, end: () => number): unknown {
  for (let times = 0; filling.at < end() && times < 3; times += 1) gather();
  const each = filling.each(7);
  return each ? each.map(String) : filling.merged.body();
}

describe('gathering what was missed', () => {
  it('comes to the same in steps, while changes are added, as at once', () => {
    const missed = fc.oneof(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 900, max: 1100 }));
    fc.assert(
      fc.property(missed, fc.nat(300), fc.nat(5), fc.nat(40), fc.boolean(), (until, kept, seed, more, mayBeEach) => {
        const options = {
          streamId: 3,
          level: 'l2' as const,
          from: Math.floor(until / 10),
          mayBeEach,
          changesMax: Number.POSITIVE_INFINITY,
        };
        const { sources, push, end } = sourcesOf(until, kept, seed);
        const filling = new Filling(options);
        let left = more;
        let steps = 0;
        const inSteps = () => {
          for (const _ of filling.gather(sources, end)) {
            steps += 1;
            if (left-- > 0) push();
          }
        };
        const result = told(filling, inSteps, end);
        const atOnce = new Filling(options);
        expect(result).toEqual(told(atOnce, () => finish(atOnce.gather(sources, end)), end));
        if (sources.ring.size > FILL_STEP_DIFFS * 2) expect(steps).toBeGreaterThan(0);
      }),
      { numRuns: 25 },
    );
  });

  it.each([true, false])('is shared: another may come to the end while one pauses, one by one: %s', (mayBeEach) => {
    const { sources, end } = sourcesOf(200, 200, 1);
    const options = { streamId: 3, level: 'l2' as const, from: 10, mayBeEach, changesMax: Number.POSITIVE_INFINITY };
    const [shared, alone] = [new Filling(options), new Filling(options)];
    const first = shared.gather(sources, end);
    expect(first.next().done).toBe(false);
    finish(shared.gather(sources, end));
    finish(first);
    finish(alone.gather(sources, end));
    expect(shared.at).toBe(200);
    expect(shared.each(null)?.map(String) ?? shared.merged.body()).toEqual(
      alone.each(null)?.map(String) ?? alone.merged.body(),
    );
  });

  it('ends where nothing has what comes next', () => {
    const { sources, end } = sourcesOf(200, 50, 1);
    const filling = new Filling({
      streamId: 3,
      level: 'l2',
      from: 10,
      mayBeEach: true,
      changesMax: Number.POSITIVE_INFINITY,
    });
    finish(filling.gather({ ...sources, older: null }, end));
    expect(filling.at).toBe(10);
    finish(filling.gather(sources, end));
    expect(filling.at).toBe(200);
  });
});

describe('a client that missed much', () => {
  const MISSED = FILL_DIFFS_AT_ONCE * 3;
  let stage: FeedStage;
  let socket: DirectSocket;

  beforeEach(async () => {
    vi.useFakeTimers();
    stage = new FeedStage();
    await stage.publish(snapshot());
    for (let seq = 2; seq <= MISSED; seq += 1) await stage.publish(diff(seq, 480 + seq));
    socket = stage.socket();
  });

  afterEach(() => {
    stage.feed.stop();
    vi.useRealTimers();
  });

  const renderings = () => metricTotal(stage.metrics, 'slotbook_feed_renderings_total');
  const sequence = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, at) => ({ prevSeq: from + at, seq: from + at + 1 }));

  it.each([{}, { checksum: true }])(
    'lets others go first, and gets everything up to the newest change, %j',
    async (choice) => {
      const live = stage.socket();
      live.ask();
      socket.ask({ resume: { epoch: 1, seq: 2 }, ...choice });
      expect(socket.heard.map(({ type }) => type)).toEqual(['subscribed']);
      await stage.publish(diff(MISSED + 1, 481 + MISSED));
      expect(live.diffs()).toMatchObject([{ seq: MISSED + 1 }]);
      expect(socket.heard).toHaveLength(1);
      await vi.advanceTimersByTimeAsync(10);
      await stage.publish(diff(MISSED + 2, 482 + MISSED));
      expect(socket.heard[1]).toMatchObject({ type: 'resumed', recovered: true, seq: 2 });
      expect(socket.diffs()).toMatchObject(sequence(2, MISSED + 2));
    },
  );

  it('gets one change of a conflated stream, which began while it was gathered', async () => {
    socket.ask({ resume: { epoch: 1, seq: 2 }, conflation: 100 });
    await stage.publish(diff(MISSED + 1, 481 + MISSED));
    await vi.advanceTimersByTimeAsync(150);
    const bids = [['81000000', String((MISSED + 1) * 10)]];
    expect(socket.diffs()).toMatchObject([{ prevSeq: 2, seq: MISSED + 1, bids }]);
  });

  it('shares what is gathered with all who stand there', async () => {
    const crowd = Array.from({ length: 50 }, () => stage.socket());
    for (const one of crowd) one.ask({ resume: { epoch: 1, seq: 2 } });
    await vi.advanceTimersByTimeAsync(10);
    for (const one of crowd) expect(one.diffs()).toMatchObject(sequence(2, MISSED));
    expect(await renderings()).toBe(1);
  });

  it('gets nothing gathered when it has gone', async () => {
    const decoded = vi.spyOn(Ring.prototype, 'diff');
    socket.ask({ resume: { epoch: 1, seq: 2 } });
    socket.close();
    await vi.advanceTimersByTimeAsync(10);
    expect(decoded).not.toHaveBeenCalled();
    expect(await renderings()).toBe(0);
    decoded.mockRestore();
  });

  it('gets the book when a new epoch begins meanwhile', async () => {
    socket.ask({ resume: { epoch: 1, seq: 2 } });
    await stage.publish(snapshot({ epoch: 2, seq: 1 }));
    await vi.advanceTimersByTimeAsync(10);
    expect(socket.heard.slice(1)).toMatchObject([
      { type: 'resumed', recovered: false },
      { type: 'snapshot', epoch: 2, seq: 1 },
    ]);
  });
});
