import { describe, expect, it } from 'vitest';
import { UpdateQueue } from '../queue.ts';
import type { AccountUpdate } from '../source.ts';
import { Intake, NOTHING_DELIVERED } from './intake.ts';

const update = (key: number, slot: number): AccountUpdate => {
  const pubkey = new Uint8Array(32).fill(key);
  return { kind: 'account', slot, writeVersion: null, pubkey, owner: pubkey, data: Buffer.from([key]) };
};

describe('intake', () => {
  it('delivers what came during a read by slot, although an account of a newer slot had changed first', async () => {
    const queue = new UpdateQueue(100);
    const parts = { queue, history: { take: () => true }, labelled: () => {}, end: () => {} };
    const intake = new Intake(parts, NOTHING_DELIVERED);
    for (const one of [update(1, 11), update(2, 12), update(1, 13), update(3, 13)]) intake.account(one, 0);
    await intake.snapshot({ slots: [10], updates: [] }, [], true, AbortSignal.timeout(1_000));
    queue.end();
    const received = [];
    for await (const batch of queue.batches()) received.push(...batch);
    const live = received.filter((one) => one.kind === 'account');
    expect(live.map(({ slot, pubkey }) => [pubkey[0], slot])).toEqual([
      [2, 12],
      [1, 13],
      [3, 13],
    ]);
  });
});

describe('a read of many accounts', () => {
  it('waits for the reader of the queue, so that few of its accounts are in memory', async () => {
    const queue = new UpdateQueue(100_000);
    const intake = new Intake(
      { queue, history: { take: () => true }, labelled: () => {}, end: () => {} },
      NOTHING_DELIVERED,
    );
    let made = 0;
    function* updates() {
      for (; made < 5_000; made++) yield update(made & 0xff, 10);
    }
    const delivered = intake.snapshot({ slots: [10], updates: updates() }, [], true, new AbortController().signal);
    let taken = 0;
    const ahead: number[] = [];
    for await (const batch of queue.batches()) {
      taken += batch.filter(({ kind }) => kind === 'account').length;
      // The reader is slow.
      for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate);
      ahead.push(made - taken);
      if (batch.some(({ kind }) => kind === 'snapshotEnd')) break;
    }
    await delivered;
    expect(taken).toBe(5_000);
    expect(Math.max(...ahead)).toBeLessThanOrEqual(512);
  });

  it('ends with the queue', async () => {
    const queue = new UpdateQueue(100_000);
    const intake = new Intake(
      { queue, history: { take: () => true }, labelled: () => {}, end: () => {} },
      NOTHING_DELIVERED,
    );
    const updates = Array.from({ length: 5_000 }, (_, n) => update(n & 0xff, 10));
    const delivered = intake.snapshot({ slots: [10], updates }, [], true, new AbortController().signal);
    queue.end();
    await delivered;
    let left = 0;
    for await (const batch of queue.batches()) left += batch.length;
    expect(left).toBeLessThanOrEqual(513);
  });
});

describe('labels after a full read', () => {
  const labelsAfter = async (slots: number[], live: AccountUpdate[] = [], isWhole = true, before = 5) => {
    const labels: number[] = [];
    const intake = new Intake(
      {
        queue: new UpdateQueue(1_000),
        history: { take: () => true },
        labelled: (slot) => labels.push(slot),
        end: () => {},
      },
      { dataSlot: before, labelledSlot: 5 },
    );
    for (const update of live) intake.account(update, 0);
    await intake.snapshot({ slots, updates: [] }, [], isWhole, new AbortController().signal);
    return labels;
  };

  it('come with a read at one slot, because a chain that stands still sends nothing else', async () => {
    expect(await labelsAfter([10, 10])).toEqual([10]);
  });

  it('come also when the session before ended inside that slot', async () => {
    expect(await labelsAfter([10, 10], [], true, 10)).toEqual([10]);
  });

  it('wait when parts of the read, or live data, are ahead of it', async () => {
    expect(await labelsAfter([10, 11])).toEqual([]);
    expect(await labelsAfter([10, 10], [update(1, 11)])).toEqual([]);
  });

  it('do not come with a read that is not believed', async () => {
    expect(await labelsAfter([10, 10], [], false)).toEqual([]);
  });
});

describe('labels of a source that knows its blocks', () => {
  it('leave out a slot whose block has not come', async () => {
    const labels: number[] = [];
    const parts = { queue: new UpdateQueue(1_000), history: { take: () => true }, end: () => {} };
    const intake = new Intake({ ...parts, labelled: (slot) => labels.push(slot) }, { dataSlot: 5, labelledSlot: 5 });
    intake.resume();
    for (const [slot, block] of [
      [6, 5],
      [7, 6],
      [9, 6],
      [10, 9],
    ] as const)
      intake.account(update(1, slot), 0, block);
    expect(labels).toEqual([6, 9]);
  });
});
