// A backfill gathered in slices equals one gathered at once. Gathering ends when no client waits for it.

import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { metricTotal } from '../../../platform/index.ts';
import { finish } from '../../../processors/book/index.ts';
import { type BookViewDiff, encodeMessage } from '../../../schemas/index.ts';
import { diff, snapshot } from '../../../test/support/api/stage.ts';
import { type DirectSocket, FeedStage } from '../../../test/support/feed/feed-stage.ts';
import { Backfill } from './backfill.ts';
import { Changes } from './changes.ts';
import { BACKFILL_DIFFS_AT_ONCE, BACKFILL_STEP_DIFFS, RESUME_DIFFS_MAX } from './limits.ts';
import { OlderDiffs } from './older-diffs.ts';
import { Ring } from './ring.ts';

const LEVELS = 12;

/** The change of a sequence: some levels, sometimes none that is published. */
function changeAt(seq: number, seed: number): BookViewDiff {
  const at = (seq * 7 + seed) % LEVELS;
  const bids = (seq + seed) % 5 === 0 ? [] : [{ price: 1000 + at, dlob: BigInt(seq), vamm: 0n }];
  return diff(seq, 480 + Math.floor(seq / 3), { bids });
}

const bytesOf = (one: BookViewDiff): Buffer => encodeMessage('BookViewDiff', one);

/** Changes up to `until`; those up to `until - inRing` are only in the log. */
function sourcesOf(until: number, inRing: number, seed: number) {
  const base = Math.max(0, until - inRing);
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
  const older = base === 0 ? null : new OlderDiffs(1, 0, base, { newest, merged, bytes: 0 });
  return { sources: { ring, older }, push, end: () => ring.baseSeq + ring.size };
}

/** Gathers up to the end. Gathering starts over when single changes turn out to be too many. */
function framesOf(backfill: Backfill, gather: () => void, end: () => number): unknown {
  for (let times = 0; backfill.at < end() && times < 3; times += 1) gather();
  const singles = backfill.singleFrames(7);
  return singles ? singles.map(String) : backfill.merged.body();
}

describe('gathering what was missed', () => {
  it('gives the same in steps, while changes arrive, as at once', () => {
    const missed = fc.oneof(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 900, max: 1100 }));
    fc.assert(
      fc.property(
        missed,
        fc.nat(300),
        fc.nat(5),
        fc.nat(40),
        fc.boolean(),
        (until, inRing, seed, more, allowsSingles) => {
          const options = {
            streamId: 3,
            hasCause: false,
            level: 'l2' as const,
            from: Math.floor(until / 10),
            allowsSingles,
            changesMax: Number.POSITIVE_INFINITY,
            now: () => 1,
          };
          const { sources, push, end } = sourcesOf(until, inRing, seed);
          const backfill = new Backfill(options);
          let left = more;
          let steps = 0;
          const inSteps = () => {
            for (const _ of backfill.gather(sources, end)) {
              steps += 1;
              if (left-- > 0) push();
            }
          };
          const result = framesOf(backfill, inSteps, end);
          const atOnce = new Backfill(options);
          expect(result).toEqual(framesOf(atOnce, () => finish(atOnce.gather(sources, end)), end));
          if (sources.ring.size > BACKFILL_STEP_DIFFS * 2) expect(steps).toBeGreaterThan(0);
        },
      ),
      { numRuns: 25 },
    );
  });

  it.each([true, false])(
    'is shared: another client may finish it during a pause, single changes allowed: %s',
    (allowsSingles) => {
      const { sources, end } = sourcesOf(200, 200, 1);
      const options = {
        streamId: 3,
        hasCause: false,
        level: 'l2' as const,
        from: 10,
        allowsSingles,
        changesMax: Number.POSITIVE_INFINITY,
        now: () => 1,
      };
      const [shared, alone] = [new Backfill(options), new Backfill(options)];
      const first = shared.gather(sources, end);
      expect(first.next().done).toBe(false);
      finish(shared.gather(sources, end));
      finish(first);
      finish(alone.gather(sources, end));
      expect(shared.at).toBe(200);
      expect(shared.singleFrames(null)?.map(String) ?? shared.merged.body()).toEqual(
        alone.singleFrames(null)?.map(String) ?? alone.merged.body(),
      );
    },
  );

  it('ends when no source has the next change', () => {
    const { sources, end } = sourcesOf(200, 50, 1);
    const backfill = new Backfill({
      streamId: 3,
      hasCause: false,
      level: 'l2',
      from: 10,
      allowsSingles: true,
      changesMax: Number.POSITIVE_INFINITY,
      now: () => 1,
    });
    finish(backfill.gather({ ...sources, older: null }, end));
    expect(backfill.at).toBe(10);
    finish(backfill.gather(sources, end));
    expect(backfill.at).toBe(200);
  });
});

describe('a client with many missed changes', () => {
  const MISSED = BACKFILL_DIFFS_AT_ONCE * 3;
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
      expect(socket.received.map(({ type }) => type)).toEqual(['subscribed']);
      await stage.publish(diff(MISSED + 1, 481 + MISSED));
      expect(live.diffs()).toMatchObject([{ seq: MISSED + 1 }]);
      expect(socket.received).toHaveLength(1);
      await vi.advanceTimersByTimeAsync(10);
      await stage.publish(diff(MISSED + 2, 482 + MISSED));
      expect(socket.received[1]).toMatchObject({ type: 'resumed', recovered: true, seq: 2 });
      expect(socket.diffs()).toMatchObject(sequence(2, MISSED + 2));
    },
  );

  it('gets one change of a conflated stream, also when the stream advanced during gathering', async () => {
    socket.ask({ resume: { epoch: 1, seq: 2 }, conflation: 100 });
    await stage.publish(diff(MISSED + 1, 481 + MISSED));
    await vi.advanceTimersByTimeAsync(150);
    const bids = [['81000000', String((MISSED + 1) * 10)]];
    expect(socket.diffs()).toMatchObject([{ prevSeq: 2, seq: MISSED + 1, bids }]);
  });

  it('shares the backfill with all clients of the same version', async () => {
    const crowd = Array.from({ length: 50 }, () => stage.socket());
    for (const one of crowd) one.ask({ resume: { epoch: 1, seq: 2 } });
    await vi.advanceTimersByTimeAsync(10);
    for (const one of crowd) expect(one.diffs()).toMatchObject(sequence(2, MISSED));
    expect(await renderings()).toBe(1);
  });

  it('ends gathering when it disconnects', async () => {
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
    expect(socket.received.slice(1)).toMatchObject([
      { type: 'resumed', recovered: false },
      { type: 'snapshot', epoch: 2, seq: 1 },
    ]);
  });
});
