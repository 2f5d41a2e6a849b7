// The memory of rings is bounded, per market and in total, and a backfill keeps its changes.

import { describe, expect, it } from 'vitest';
import { RING_BYTES_MAX, RING_SHARE_BYTES, RINGS_BYTES_MAX } from './limits.ts';
import { Ring } from './ring.ts';

const CHANGE = new Uint8Array(RING_SHARE_BYTES / 8);

function pushBytes(ring: Ring, bytes: number): void {
  for (let count = 0; count < bytes / CHANGE.byteLength; count += 1) {
    const seq = ring.baseSeq + ring.size + 1;
    ring.push(seq, BigInt(seq), CHANGE);
  }
}

describe('the newest changes of a market', () => {
  it('take bounded memory, and only their share when other markets take much', () => {
    const space = { bytes: 0 };
    const rings = Array.from({ length: 6 }, () => new Ring(space));
    const takes = (ring: Ring): number => ring.size * CHANGE.byteLength;
    for (const ring of rings) pushBytes(ring, RING_BYTES_MAX + RING_SHARE_BYTES);
    expect(takes(rings[0] as Ring)).toBeGreaterThan(RING_BYTES_MAX / 2);
    expect(Math.max(...rings.map(takes))).toBeLessThanOrEqual(RING_BYTES_MAX);
    expect(takes(rings[5] as Ring)).toBeGreaterThan(RING_SHARE_BYTES / 2);
    expect(space.bytes).toBeLessThanOrEqual(RINGS_BYTES_MAX + rings.length * RING_SHARE_BYTES);
    for (const ring of rings) ring.reset(2, 0, null);
    expect(space.bytes).toBe(0);
  });

  it('stay while a backfill uses them, and leave afterwards', () => {
    const ring = new Ring({ bytes: 2 * RINGS_BYTES_MAX });
    pushBytes(ring, RING_SHARE_BYTES / 2);
    ring.pin();
    pushBytes(ring, RING_SHARE_BYTES);
    expect(ring.baseSeq).toBe(0);
    ring.unpin();
    expect(ring.baseSeq).toBeGreaterThan(0);
    pushBytes(ring, RING_SHARE_BYTES);
    expect(ring.seam().seq).toBeGreaterThan(ring.baseSeq);
  });
});
