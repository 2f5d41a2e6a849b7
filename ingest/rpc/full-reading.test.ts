import { describe, expect, it } from 'vitest';
import { BEHIND, RpcError } from './errors.ts';
import { readSince } from './full-reading.ts';

describe('a full read beside subscriptions', () => {
  /** A node that stands at a slot, and refuses what is newer. */
  const nodeAt = (slot: number) => async (minSlot: number) => {
    if (minSlot > slot) throw new RpcError('behind', BEHIND);
    return { slots: [slot], updates: [] };
  };

  it('is repeated while it is older than the subscriptions', async () => {
    const slots = [8, 9, 10];
    const read = readSince(
      () => 10,
      async () => ({ slots: [slots.shift() ?? 10, 12], updates: [] }),
    );
    expect((await read()).slots).toEqual([10, 12]);
  });

  it('counts after some refusals, because a chain may stand still before the announced slot is confirmed', async () => {
    const read = readSince(() => 11, nodeAt(10));
    for (let refused = 0; refused < 3; refused++) await expect(read()).rejects.toThrow('behind');
    expect((await read()).slots).toEqual([10]);
  });

  it('is refused for ever by nodes that fail otherwise', async () => {
    let asked = 0;
    const read = readSince(
      () => 11,
      async (minSlot) => {
        asked = minSlot;
        throw new RpcError('no', null);
      },
    );
    for (let failed = 0; failed < 6; failed++) await expect(read()).rejects.toThrow('no');
    expect(asked).toBe(11);
  });
});
