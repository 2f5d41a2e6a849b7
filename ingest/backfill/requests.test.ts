import { expect, it } from 'vitest';
import type { Backfill, BackfillState, CoverageHole, StreamCoverage } from '../../schemas/index.ts';
import { HOLE_SLOTS_MAX, nextRequest, rangesToCover } from './requests.ts';

const hole = (fromSlot: number, toSlot: number, isLost = false): CoverageHole => {
  return { fromId: 1, toId: 2, fromSlot, toSlot, isLost, reconstructed: [], reconstructedOrders: [] };
};
const coverage = (...holes: CoverageHole[]): StreamCoverage => {
  return { subject: 'perp-0', stream: 'fills', slot: 1, firstId: 1, lastId: 9, chainId: 9, missing: 1, holes };
};
const request = (id: string, state: BackfillState, fromSlot = 0, toSlot = 0): Backfill => {
  return { id, state, fromSlot, toSlot, nextSlot: fromSlot, found: 0, lost: 0, reason: '', atMs: 0 };
};

it('open holes become few ranges; lost, asked and very wide ones do not', () => {
  const wide = hole(1_000_000, 1_000_001 + HOLE_SLOTS_MAX);
  const streams = [coverage(hole(100, 110), hole(500, 505, true)), coverage(hole(105, 130), hole(900, 901), wide)];
  expect(rangesToCover(streams, [])).toEqual([
    { fromSlot: 100, toSlot: 130 },
    { fromSlot: 900, toSlot: 901 },
  ]);
  expect(rangesToCover(streams, [request('holes-a', 'failed', 90, 140)])).toEqual([{ fromSlot: 900, toSlot: 901 }]);
  expect(rangesToCover(streams, [request('a', 'failed', 90, 140)])).toHaveLength(2);
  expect(rangesToCover(streams, [request('a', 'cancelled', 90, 140)])).toHaveLength(2);
});

it('a running request goes on before a new one begins, and finished ones never again', () => {
  const all = [request('a', 'done'), request('b', 'asked'), request('c', 'running'), request('d', 'failed')];
  expect(nextRequest(all)?.id).toBe('c');
  expect(nextRequest(all.slice(0, 2))?.id).toBe('b');
  expect(nextRequest(all.filter(({ state }) => state === 'done' || state === 'failed'))).toBeNull();
});
