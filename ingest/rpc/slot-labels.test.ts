import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SlotLabels } from './slot-labels.ts';

describe('slot labels', () => {
  it('never come before account data of their slot, whatever a node announces', () => {
    const step = fc.record({
      kind: fc.constantFrom('data', 'announced', 'quiet'),
      advance: fc.integer({ min: 0, max: 3 }),
      jump: fc.integer({ min: 0, max: 6_000 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const labels = new SlotLabels(0);
        // Data comes in order; announcements and answers may be far ahead.
        let slot = 10;
        let last = 0;
        for (const { kind, advance, jump } of steps) {
          slot += kind === 'data' ? advance : 0;
          const far = slot + (jump % 2 === 0 ? 0 : jump);
          // The node's answer at the commitment in use is right, the others need not be.
          if (kind === 'announced') labels.announced(far);
          const label = kind === 'data' ? labels.data(slot) : kind === 'quiet' ? labels.quiet(slot, far) : null;
          if (label === null) continue;
          expect(label).toBeGreaterThan(last);
          expect(label).toBeLessThanOrEqual(kind === 'data' ? slot - 1 : slot);
          last = label;
        }
      }),
    );
  });

  it('of a quiet chain come with the next answer, once a later slot than the node had processed is announced', () => {
    const labels = new SlotLabels(100);
    labels.announced(104);
    expect(labels.quiet(103, 105)).toBeNull();
    labels.announced(105);
    expect(labels.quiet(104, 106)).toBeNull();
    labels.announced(107);
    expect(labels.quiet(105, 107)).toBe(104);
  });

  it('of a chain that stands still come with the second answer', () => {
    const labels = new SlotLabels(100);
    labels.announced(105);
    expect(labels.quiet(103, 105)).toBeNull();
    expect(labels.quiet(103, 105)).toBe(103);
  });

  it('do not follow an answer or an announcement far ahead of the chain', () => {
    const labels = new SlotLabels(100);
    labels.announced(105);
    expect([labels.quiet(5_103, 105), labels.quiet(104, 106)]).toEqual([null, null]);
    labels.announced(5_107);
    expect(labels.quiet(104, 107)).toBeNull();
    labels.announced(108);
    expect(labels.quiet(105, 108)).toBe(104);
  });

  it('name no slot that is older than what a complete read delivered', () => {
    const labels = new SlotLabels(100);
    labels.snapshot(110);
    labels.announced(112);
    expect([labels.quiet(108, 112), labels.quiet(108, 112)]).toEqual([null, null]);
  });

  it('of a slot come with data of a later slot', () => {
    const labels = new SlotLabels(100);
    labels.announced(9_000);
    expect([labels.data(101), labels.data(101), labels.data(103)]).toEqual([null, null, 101]);
  });
});
