import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { startLocalnet } from '../../localnet/index.ts';
import { type ChainEvent, decodeEvent, type StreamCoverage, streamKey } from '../../schemas/index.ts';
import { encodedEventsOf } from '../../test/support/ingest/encoded-events.ts';
import { StoredRanges } from './ranges.ts';
import { Coverage, SETTLE_SLOTS } from './reducer.ts';

const fill = (id: number, slot: number): ChainEvent => ({
  name: 'OrderActionRecord',
  signature: new Uint8Array(64).fill(id),
  eventIndex: 0,
  slot,
  txIndex: null,
  data: { market_type: 'perp', market_index: 0, fill_record_id: BigInt(id) },
});
const market = { subject: 'perp-0', stream: 'fills' };
const viewOf = (coverage: Coverage, slot: number): StreamCoverage | undefined => {
  coverage.counter({ subject: 'spot-9', stream: 'deposits', slot, lastId: 0 });
  return coverage.takeViews().find((view) => streamKey(view) === streamKey(market));
};

describe('stored ranges', () => {
  it('are the same for every order of the same numbers, and equal a plain set', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 80 }), (ids) => {
        const ranges = new StoredRanges();
        const seen = new Set<number>();
        for (const id of ids) {
          expect(ranges.add(id, id * 2)).toBe(!seen.has(id));
          seen.add(id);
        }
        const stored = ranges.ranges.flatMap(({ fromId, toId }) =>
          Array.from({ length: toId - fromId + 1 }, (_, at) => fromId + at),
        );
        expect(stored).toEqual([...seen].sort((a, b) => a - b));
        for (const { fromId, toId, fromSlot, toSlot } of ranges.ranges) {
          expect([fromSlot, toSlot]).toEqual([fromId * 2, toId * 2]);
        }
      }),
    );
  });
});

describe('coverage', () => {
  it('names a hole once its slots are settled, and closes it when the record comes', () => {
    const coverage = new Coverage();
    for (const id of [1, 2, 3, 6, 7]) coverage.event(fill(id, 100 + id));
    coverage.counter({ ...market, slot: 108, lastId: 7 });
    expect(viewOf(coverage, 110)).toMatchObject({ firstId: 1, lastId: 7, chainId: 7, missing: 0, holes: [] });
    const hole = { fromId: 4, toId: 5, fromSlot: 103, toSlot: 106, isLost: false };
    expect(viewOf(coverage, 106 + SETTLE_SLOTS)).toMatchObject({ missing: 2, holes: [hole] });
    coverage.event(fill(5, 105));
    coverage.event(fill(4, 104));
    expect(viewOf(coverage, 300 + SETTLE_SLOTS)).toMatchObject({ firstId: 1, lastId: 7, missing: 0, holes: [] });
  });

  it('names records at the end that the chain counts and the log lacks', () => {
    const coverage = new Coverage();
    coverage.event(fill(10, 100));
    coverage.counter({ ...market, slot: 120, lastId: 12 });
    const holes = [{ fromId: 11, toId: 12, fromSlot: 100, toSlot: 120, isLost: false }];
    expect(viewOf(coverage, 120 + SETTLE_SLOTS)).toMatchObject({ lastId: 10, chainId: 12, missing: 2, holes });
  });

  it('calls a hole lost when a backfill of its slots is done and the records did not come', () => {
    const coverage = new Coverage();
    for (const id of [1, 3]) coverage.event(fill(id, 100 + id));
    const backfill = { id: 'x', fromSlot: 90, nextSlot: 120, found: 0, lost: 0, reason: '', atMs: 0 };
    coverage.backfill({ ...backfill, toSlot: 103, state: 'done' });
    expect(viewOf(coverage, 400)?.holes).toEqual([{ fromId: 2, toId: 2, fromSlot: 101, toSlot: 103, isLost: true }]);
  });

  it('continues from saved pieces as without a restart', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 40 }), fc.nat(), (ids, cut) => {
        const one = new Coverage();
        let other = new Coverage();
        const pieces = new Map<string, Uint8Array>();
        for (const [at, id] of ids.entries()) {
          for (const each of [one, other]) {
            each.event(fill(id, 1000 + at * 20));
            each.takeViews();
          }
          for (const { name, bytes } of other.takeChanges()) pieces.set(name, bytes);
          if (at !== cut % ids.length) continue;
          other = new Coverage();
          other.restore([...pieces].map(([name, bytes]) => ({ name, bytes })));
        }
        for (const each of [one, other]) each.event(fill(31, 9_000));
        expect(viewOf(other, 10_000)).toEqual(viewOf(one, 10_000));
      }),
    );
  });

  it('finds no hole in a whole chain, and exactly the removed records otherwise', async () => {
    const net = await startLocalnet({
      rpcPort: 0,
      wsPort: 0,
      speed: 0,
      seed: 3,
      keepLedger: true,
      announce: true,
      accounts: 16,
      ordersPerMarket: 8,
    });
    try {
      await net.step(400);
      const events = (await encodedEventsOf(net)).map(({ value }) => decodeEvent(value));
      const fills = events.filter(({ data }) => data.fill_record_id !== null && data.fill_record_id !== undefined);
      expect(fills.length).toBeGreaterThan(20);
      const victim = fills[Math.floor(fills.length / 2)];
      for (const isCut of [false, true]) {
        const coverage = new Coverage();
        for (const event of events) if (!isCut || event !== victim) coverage.event(event);
        const end = (events.at(-1)?.slot ?? 0) + SETTLE_SLOTS;
        coverage.counter({ subject: 'spot-9', stream: 'deposits', slot: end, lastId: 0 });
        const views = coverage.takeViews();
        const holes = views.flatMap((view) => view.holes.map((hole) => `${view.stream} ${hole.fromId}-${hole.toId}`));
        const id = victim?.data.fill_record_id;
        expect(holes).toEqual(isCut ? [`fills ${id}-${id}`] : []);
      }
    } finally {
      await net.stop();
    }
  });
});
