import { describe, expect, it } from 'vitest';
import { UpdateQueue } from '../queue.ts';
import type { AccountUpdate, SourceUpdate } from '../source.ts';
import { Intake, NOTHING_DELIVERED } from './intake.ts';

const update = (key: number, slot: number): AccountUpdate => {
  const pubkey = new Uint8Array(32).fill(key);
  return { kind: 'account', slot, writeVersion: null, pubkey, owner: pubkey, data: Buffer.from([key]) };
};

const endless = new AbortController().signal;

/** Until the reader of the queue has taken all. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
}

/** An intake on a queue, and what it has pushed: `[slot]` of a label, `[key, slot]` of an account, the end of a read by name. */
function newIntake(completeSlot?: () => number) {
  const queue = new UpdateQueue(1_000);
  const parts = { queue, history: { take: () => true }, labelled: () => {}, end: () => {} };
  const intake = new Intake({ ...parts, ...(completeSlot ? { completeSlot } : {}) }, NOTHING_DELIVERED);
  const taken: SourceUpdate[] = [];
  const taking = (async () => {
    for await (const batch of queue.batches()) taken.push(...batch);
  })();
  const pushed = async () => {
    queue.end();
    await taking;
    return taken.flatMap((one): (string | number | undefined)[][] => {
      if (one.kind === 'account') return [[one.pubkey[0], one.slot]];
      return one.kind === 'slot' ? [[one.slot]] : one.kind === 'snapshotEnd' ? [['end', one.slot]] : [];
    });
  };
  return { intake, pushed };
}

describe('a read with live updates beside it', () => {
  it('ends at the slot that the stream passes next, with every account as that slot left it', async () => {
    const { intake, pushed } = newIntake();
    for (const one of [update(1, 11), update(2, 12), update(1, 13), update(3, 13)]) intake.account(one, 0);
    const delivered = intake.snapshot({ slots: [10], updates: [update(9, 10)] }, [], true, endless);
    await turns();
    expect(intake.isReading).toBe(true);
    // Account 2 has more than its state of slot 12 by then.
    intake.account(update(2, 13), 0);
    intake.account(update(1, 14), 0);
    await delivered;
    expect(await pushed()).toEqual([[9, 10], [1, 13], [3, 13], [2, 13], ['end', 13], [13], [1, 14]]);
  });

  it('of several slots ends once the stream has passed the newest', async () => {
    const { intake, pushed } = newIntake();
    const parts = { slots: [10, 12], updates: [update(8, 10), update(9, 12)] };
    const delivered = intake.snapshot(parts, [], true, endless);
    await turns();
    // The second part has this change.
    intake.account(update(9, 11), 1);
    for (const slot of [11, 12]) intake.account(update(8, slot), 0);
    expect(intake.isReading).toBe(true);
    intake.account(update(8, 13), 0);
    await delivered;
    expect(await pushed()).toEqual([[8, 10], [9, 12], [8, 12], ['end', 12], [12], [8, 13]]);
  });

  it('delivers accounts read ahead of the stream up to its slot with the read, and newer ones later', async () => {
    const { intake, pushed } = newIntake();
    for (const slot of [12, 13]) intake.read(update(5, slot));
    const delivered = intake.snapshot({ slots: [10, 11], updates: [] }, [], true, endless);
    await turns();
    for (const slot of [12, 13]) intake.account(update(1, slot), 0);
    await delivered;
    intake.account(update(1, 14), 0);
    expect(await pushed()).toEqual([[1, 12], [5, 12], ['end', 12], [12], [1, 13], [5, 13], [13], [1, 14]]);
  });

  it('has no end when its stream ends before it has passed the read', async () => {
    const { intake, pushed } = newIntake();
    const session = new AbortController();
    const parts = { slots: [10, 12], updates: [update(8, 10), update(9, 12)] };
    const delivered = intake.snapshot(parts, [], true, session.signal);
    await turns();
    intake.account(update(8, 11), 0);
    session.abort();
    await delivered;
    expect(await pushed()).toEqual([
      [8, 10],
      [9, 12],
    ]);
  });

  it('ends at a slot that the node proves complete, on a chain that stands still', async () => {
    const { intake, pushed } = newIntake();
    const delivered = intake.snapshot({ slots: [10, 11], updates: [] }, [], true, endless);
    await turns();
    intake.account(update(1, 11), 0);
    expect([intake.isReading, intake.mayLabel]).toEqual([true, true]);
    intake.label(intake.labels.complete(11));
    await delivered;
    expect(await pushed()).toEqual([[1, 11], ['end', 11], [11]]);
  });

  it('of a source that knows its blocks waits for the block', async () => {
    let block = 10;
    const { intake, pushed } = newIntake(() => block);
    const delivered = intake.snapshot({ slots: [10, 11], updates: [] }, [], true, endless);
    await turns();
    for (const slot of [11, 12]) intake.account(update(1, slot), 0);
    expect(intake.isReading).toBe(true);
    block = 12;
    intake.account(update(1, 13), 0);
    await delivered;
    expect(await pushed()).toEqual([[1, 12], ['end', 12], [12], [1, 13]]);
  });

  it('ends in the same way after one that was not believed', async () => {
    const { intake, pushed } = newIntake();
    await intake.snapshot({ slots: [10, 11], updates: [] }, [], false, endless);
    intake.account(update(1, 12), 0);
    const delivered = intake.snapshot({ slots: [11, 12], updates: [update(9, 11)] }, [], true, endless);
    await turns();
    for (const slot of [12, 13]) intake.account(update(2, slot), 0);
    await delivered;
    await intake.snapshot({ slots: [13, 13], updates: [] }, [], true, endless);
    expect(await pushed()).toEqual([[11], [1, 12], [9, 11], [2, 12], ['end', 12], [12], [2, 13], ['end', 13], [13]]);
  });

  it('that is not believed waits for nothing', async () => {
    const { intake, pushed } = newIntake();
    intake.account(update(1, 13), 0);
    await intake.snapshot({ slots: [10, 11], updates: [update(9, 10)] }, [], false, endless);
    expect(await pushed()).toEqual([
      [9, 10],
      [1, 13],
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
    await intake.snapshot({ slots, updates: [] }, [], isWhole, AbortSignal.timeout(50));
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
    let block = 5;
    const parts = { queue: new UpdateQueue(1_000), history: { take: () => true }, end: () => {} };
    const intake = new Intake(
      { ...parts, labelled: (slot) => labels.push(slot), completeSlot: () => block },
      { dataSlot: 5, labelledSlot: 5 },
    );
    intake.resume();
    for (const [slot, last] of [
      [6, 5],
      [7, 6],
      [9, 6],
      [10, 9],
    ] as const) {
      block = last;
      intake.account(update(1, slot), 0);
    }
    expect(labels).toEqual([6, 9]);
  });
});
