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
          for (const now of copies.take(copy, label, !isLeader)) pass(now);
          if (completes) complete();
        }
        while (label < SLOTS) complete();
        expect([...passed].sort()).toEqual([...arrived.keys()].sort());
      }),
    );
  });

  it('with a whole log pass at once where no source may know more', () => {
    expect(new Copies().take(copyOf(5), 4, false)).toHaveLength(1);
  });

  it('wait for the index that the leader knows, until their slot is complete', () => {
    const copies = new Copies();
    expect(copies.take(copyOf(5), 4, true)).toEqual([]);
    expect(copies.take(copyOf(5, { blockIndex: 9 }), 4, false)).toMatchObject([{ blockIndex: 9 }]);
    expect(copies.take(copyOf(6), 5, true)).toEqual([]);
    expect(copies.until(6)).toMatchObject([{ slot: 6, blockIndex: null }]);
  });

  it('with a cut log wait for a whole one and keep their index', () => {
    const copies = new Copies();
    expect(copies.take(copyOf(5, { logs: CUT, blockIndex: 9 }), 4, false)).toEqual([]);
    expect(copies.take(copyOf(5), 4, true)).toMatchObject([{ logs: WHOLE, blockIndex: 9 }]);
    expect(copies.take(copyOf(6, { logs: CUT }), 5, false)).toEqual([]);
    expect(copies.until(6)).toMatchObject([{ slot: 6, logs: CUT }]);
  });

  it('with a cut log leave a whole one all by which the transaction is found in its block', () => {
    const known = { blockIndex: 9, signatureBytes: new Uint8Array(64).fill(5) };
    const copies = new Copies();
    copies.take(copyOf(5, { logs: CUT, ...known }), 4, false);
    expect(copies.take(copyOf(5), 4, true)).toMatchObject([{ logs: WHOLE, ...known }]);
    copies.take(copyOf(6), 5, true);
    expect(copies.take(copyOf(6, { logs: CUT, ...known }), 5, false)).toMatchObject([{ logs: WHOLE, ...known }]);
  });

  it('pass behind those of earlier slots when the complete slots stand still', () => {
    const copies = new Copies();
    expect(copies.take(copyOf(5), 4, true)).toEqual([]);
    expect(copies.take(copyOf(500), 4, true)).toMatchObject([{ slot: 5 }, { slot: 500 }]);
  });

  it('of failed transactions do not wait', () => {
    expect(new Copies().take(copyOf(5, { failed: true }), 4, true)).toHaveLength(1);
  });
});
