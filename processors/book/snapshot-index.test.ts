// Snapshot offsets: found for every slot that the log still has, trimmed with the log.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { packSnapshotIndex, SnapshotIndex, unpackSnapshotIndex } from './snapshot-index.ts';

const DAY_OF_200_MS_SLOTS = 432_000;

describe('snapshot index', () => {
  it('reaches as far back as the log, for slots of any length', () => {
    const index = new SnapshotIndex();
    for (let slot = 0; slot < DAY_OF_200_MS_SLOTS; slot += 150) index.add({ slot, offset: BigInt(slot) });
    const kept = unpackSnapshotIndex(packSnapshotIndex(index));
    expect(kept.at(299, 0n)).toEqual({ slot: 150, offset: 150n });
    kept.trim(300n);
    expect(kept.list()[0]).toEqual({ slot: 300, offset: 300n });
    expect([kept.at(299, 300n), kept.at(450, 300n)?.slot]).toEqual([null, 450]);
  });

  it('finds the last snapshot at or before a slot, also after a crash repeated records', () => {
    const slots = fc.array(fc.integer({ min: 0, max: 30 }), { maxLength: 20 });
    const asked = fc.record({ slot: fc.integer({ min: 0, max: 31 }), earliest: fc.integer({ min: 0, max: 20 }) });
    fc.assert(
      fc.property(slots, asked, (repeated, { slot, earliest }) => {
        const index = new SnapshotIndex();
        for (const [offset, at] of repeated.entries()) index.add({ slot: at, offset: BigInt(offset) });
        let expected: number | null = null;
        for (const [offset, at] of repeated.entries()) if (at <= slot && offset >= earliest) expected = offset;
        const found = index.at(slot, BigInt(earliest));
        expect(found && Number(found.offset)).toBe(expected);
        index.trim(BigInt(earliest));
        expect(index.at(slot, BigInt(earliest))).toEqual(found);
      }),
    );
  });
});
