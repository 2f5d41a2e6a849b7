import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TransactionLogs } from '../source.ts';
import { Copies } from './copies.ts';

const SLOTS = 6;
const CUT = ['Program log: begins', 'Log truncated'];
const WHOLE = ['Program log: begins', 'Program log: ends'];

const copyOf = (slot: number, parts: Partial<TransactionLogs> = {}): TransactionLogs => ({
  kind: 'transaction',
  slot,
  signature: `of ${slot}`,
  failed: false,
  logs: WHOLE,
  blockIndex: null,
  blockTime: null,
  ...parts,
});

const arrival = fc.record({
  slot: fc.integer({ min: 1, max: SLOTS }),
  isCut: fc.boolean(),
  isIndexed: fc.boolean(),
  isLeader: fc.boolean(),
  completes: fc.boolean(),
});

describe('copies of transactions', () => {
  it('pass each transaction once, and no worse than the best copy until then', () => {
    fc.assert(
      fc.property(fc.array(arrival, { maxLength: 60 }), (arrivals) => {
        const copies = new Copies();
        const arrived = new Map<string, TransactionLogs[]>();
        const passed = new Set<string>();
        let label = 0;
        const pass = (copy: TransactionLogs) => {
          expect(passed.has(copy.signature)).toBe(false);
          passed.add(copy.signature);
          const all = arrived.get(copy.signature) ?? [];
          if (all.some(({ logs }) => logs === WHOLE)) expect(copy.logs).toBe(WHOLE);
          if (all.some(({ blockIndex }) => blockIndex !== null)) expect(copy.blockIndex).toBe(copy.slot);
        };
        const complete = () => {
          label += 1;
          for (const copy of copies.until(label)) pass(copy);
        };
        for (const { slot, isCut, isIndexed, isLeader, completes } of arrivals) {
          const copy = copyOf(slot, { logs: isCut ? CUT : WHOLE, blockIndex: isIndexed ? slot : null });
          arrived.set(copy.signature, [...(arrived.get(copy.signature) ?? []), copy]);
          const now = copies.take(copy, label, isLeader);
          if (now !== null) pass(now);
          if (completes) complete();
        }
        while (label < SLOTS) complete();
        expect([...passed].sort()).toEqual([...arrived.keys()].sort());
      }),
    );
  });

  it('of the leader with a whole log pass at once', () => {
    expect(new Copies().take(copyOf(5), 4, true)).not.toBeNull();
  });

  it('of a follower wait for the index that the leader knows, until its slot is complete', () => {
    const copies = new Copies();
    expect(copies.take(copyOf(5), 4, false)).toBeNull();
    expect(copies.take(copyOf(5, { blockIndex: 9 }), 4, true)).toMatchObject({ blockIndex: 9 });
    expect(copies.take(copyOf(6), 5, false)).toBeNull();
    expect(copies.until(6)).toMatchObject([{ slot: 6, blockIndex: null }]);
  });

  it('with a cut log wait for a whole one and keep their index', () => {
    const copies = new Copies();
    expect(copies.take(copyOf(5, { logs: CUT, blockIndex: 9 }), 4, true)).toBeNull();
    expect(copies.take(copyOf(5), 4, false)).toMatchObject({ logs: WHOLE, blockIndex: 9 });
    expect(copies.take(copyOf(6, { logs: CUT }), 5, true)).toBeNull();
    expect(copies.until(6)).toMatchObject([{ slot: 6, logs: CUT }]);
  });

  it('far ahead of the complete slots, or failed, do not wait', () => {
    const copies = new Copies();
    expect(copies.take(copyOf(500), 4, false)).not.toBeNull();
    expect(copies.take(copyOf(5, { failed: true }), 4, false)).not.toBeNull();
  });
});
