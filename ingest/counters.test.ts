import { describe, expect, it } from 'vitest';
import { decodeMessage } from '../schemas/index.ts';
import { CounterBuffer } from './counters.ts';

const fills = (lastId: number, slot: number, fromId: number | null = null) => ({
  ...{ subject: 'perp-0', stream: 'fills', lastId, slot, fromId },
});
const taken = (counters: CounterBuffer, slot: number) =>
  counters.take(slot).map(({ value }) => decodeMessage(value).value);

describe('the chain counts that wait', () => {
  it('are written every ten slots, with the slot at which the count before still stood', () => {
    const counters = new CounterBuffer(null);
    counters.note(fills(4, 99));
    expect(taken(counters, 100)).toEqual([{ ...fills(4, 99), fromSlot: null }]);
    counters.resumed();
    counters.slot(101);
    counters.note(fills(5, 102, 4));
    counters.slot(105);
    counters.note(fills(6, 106, 5));
    expect(taken(counters, 109)).toEqual([]);
    expect(taken(counters, 110)).toEqual([{ ...fills(6, 106, 4), fromSlot: 101 }]);
  });

  it('rise from the first sight of an account that waits, and from where an earlier process ended', () => {
    const counters = new CounterBuffer(90);
    counters.note(fills(4, 99));
    counters.note(fills(5, 103, 4));
    counters.note({ ...fills(8, 103), subject: 'perp-1' });
    expect(taken(counters, 110)).toEqual([
      { ...fills(5, 103, 4), fromSlot: 99 },
      { ...fills(8, 103), subject: 'perp-1', fromSlot: 90 },
    ]);
  });

  it('of many accounts are written in parts, and before their slots when too many wait', () => {
    const counters = new CounterBuffer(null);
    counters.resumed();
    const note = (n: number, lastId: number, fromId: number | null = null) =>
      counters.note({ ...fills(lastId, 1, fromId), subject: `account-${n}` });
    for (let n = 0; n < 2_500; n++) note(n, 1);
    expect(counters.take(9)).toEqual([]);
    expect(counters.take(10)).toHaveLength(1_000);
    expect(counters.isBehind).toBe(true);
    // One of the next part has risen further; one of the first part waits anew.
    note(1_000, 2, 1);
    note(0, 2, 1);
    const second = taken(counters, 10);
    expect(second).toHaveLength(1_000);
    expect(second[0]).toMatchObject({ subject: 'account-1000', lastId: 2, fromId: 1 });
    expect(counters.take(10)).toHaveLength(500);
    expect(counters.isBehind).toBe(false);
    expect(counters.take(10)).toEqual([]);
    expect(taken(counters, 20)).toMatchObject([{ subject: 'account-0', lastId: 2, fromId: 1 }]);
    for (let n = 0; n < 20_000; n++) note(n, 9);
    expect(counters.take(21)).toHaveLength(1_000);
  });

  it('wait less while all accounts are read', () => {
    const counters = new CounterBuffer(null);
    const note = (n: number) => counters.note({ ...fills(1, 1), subject: `account-${n}` });
    for (let n = 0; n < 999; n++) note(n);
    expect(counters.take(9)).toEqual([]);
    note(999);
    expect(counters.take(9)).toHaveLength(1_000);
    counters.resumed();
    for (let n = 0; n < 1_000; n++) note(n);
    expect(counters.take(18)).toEqual([]);
    counters.interrupted();
    expect(counters.take(18)).toHaveLength(1_000);
  });

  it('reach back to the last slot before an interruption', () => {
    const counters = new CounterBuffer(null);
    counters.resumed();
    counters.slot(100);
    counters.interrupted();
    counters.slot(500);
    counters.note(fills(9, 480));
    counters.resumed();
    counters.slot(510);
    counters.note({ ...fills(3, 512), subject: 'perp-1' });
    expect(taken(counters, 520)).toEqual([
      { ...fills(9, 480), fromSlot: 100 },
      { ...fills(3, 512), subject: 'perp-1', fromSlot: 510 },
    ]);
  });
});
