import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Clock, GENESIS_SLOT, timeOfSlot, walkSteps } from './clock.ts';

const GENESIS_TIME = 1_760_000_000;
const FIRST = GENESIS_SLOT + 1;

function clock(slotMs: number, slotBurst = 1): Clock {
  return { genesisTime: GENESIS_TIME, slotMs, slotBurst };
}

describe('the clock of the chain', () => {
  it('gives 400 ms slots whole seconds from the genesis', () => {
    const times = [0, 1, 2, 3, 5, 150].map((slots) => timeOfSlot(clock(400), FIRST + slots) - GENESIS_TIME);
    expect(times).toEqual([0, 0, 0, 1, 2, 60]);
  });

  it('spaces the slots of a fast chain evenly over months', () => {
    expect(timeOfSlot(clock(1_800_000), FIRST + 1_488) - GENESIS_TIME).toBe(31 * 86_400);
  });

  it('never goes back, and equals an even clock after each burst', () => {
    const options = fc.record({
      slotMs: fc.integer({ min: 400, max: 3_600_000 }),
      slotBurst: fc.integer({ min: 1, max: 100 }),
      slots: fc.integer({ min: 0, max: 10_000 }),
    });
    fc.assert(
      fc.property(options, ({ slotMs, slotBurst, slots }) => {
        const bursts = clock(slotMs, slotBurst);
        const at = timeOfSlot(bursts, FIRST + slots);
        expect(timeOfSlot(bursts, FIRST + slots + 1)).toBeGreaterThanOrEqual(at);
        const whole = FIRST + Math.floor(slots / slotBurst) * slotBurst;
        expect(timeOfSlot(bursts, whole)).toBe(timeOfSlot(clock(slotMs), whole));
      }),
    );
  });

  it('groups most slots of a burst and then leaves a gap', () => {
    const time = (slot: number): number => timeOfSlot(clock(1_780_000, 24), FIRST + slot);
    expect(time(5) - time(0)).toBeLessThan(120);
    expect(time(24) - time(23)).toBeGreaterThan(3_600);
  });

  it('limits the price walk per slot to sixteen usual slots', () => {
    expect([400, 1_600, 1_780_000].map((slotMs) => walkSteps(clock(slotMs)))).toEqual([1, 4, 16]);
  });
});
