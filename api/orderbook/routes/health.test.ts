import { describe, expect, it } from 'vitest';
import { SlotHealth } from './health.ts';

const STALL_MS = 5000;

describe('slot health', () => {
  it('is healthy at the first check and while slots advance', () => {
    const health = new SlotHealth(STALL_MS);
    expect(health.healthy({ slot: null, advancedAtMs: 0 }, 100)).toBe(true);
    expect(health.healthy({ slot: 10, advancedAtMs: 900 }, 1000)).toBe(true);
    expect(health.healthy({ slot: 12, advancedAtMs: 1900 }, 2000)).toBe(true);
  });

  it('is unhealthy when the slot does not advance within the limit, and recovers when it does', () => {
    const health = new SlotHealth(STALL_MS);
    expect(health.healthy({ slot: 10, advancedAtMs: 0 }, 0)).toBe(true);
    expect(health.healthy({ slot: 10, advancedAtMs: 0 }, STALL_MS)).toBe(true);
    expect(health.healthy({ slot: 10, advancedAtMs: 0 }, STALL_MS + 1)).toBe(false);
    expect(health.healthy({ slot: 11, advancedAtMs: 6000 }, 6100)).toBe(true);
  });

  it('is unhealthy when no slot ever arrived', () => {
    expect(new SlotHealth(STALL_MS).healthy({ slot: null, advancedAtMs: 0 }, STALL_MS + 1)).toBe(false);
  });

  it('is unhealthy when slots advance by less than 0.03 a second between two checks', () => {
    const health = new SlotHealth(STALL_MS);
    expect(health.healthy({ slot: 10, advancedAtMs: 0 }, 0)).toBe(true);
    expect(health.healthy({ slot: 11, advancedAtMs: 40_000 }, 40_000)).toBe(false);
    expect(health.healthy({ slot: 12, advancedAtMs: 41_000 }, 41_000)).toBe(true);
  });
});
