// The orders of an account: snapshot, changes, resumes from memory and log, and a follower that ends with the true open orders.

import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type AccountOrder, openOrdersChecksum, orderKey, partitionOf, TOPICS } from '../../../schemas/index.ts';
import { ACCOUNT, AccountLedger, STREAM } from '../../../test/support/feed/account-ledger.ts';
import { AccountStage } from '../../../test/support/feed/account-stage.ts';
import type { DirectSocket } from '../../../test/support/feed/feed-stage.ts';
import { base58 } from '../../http/base58.ts';

let stage: AccountStage;
let socket: DirectSocket;

beforeEach(async () => {
  vi.useFakeTimers();
  stage = new AccountStage();
  await stage.feed.start();
  socket = stage.socket();
});
afterEach(async () => {
  await stage.feed.stop();
  vi.useRealTimers();
});

const ask = (members: Record<string, unknown> = { account: ACCOUNT }) => {
  const before = socket.received.length;
  socket.send(JSON.stringify({ type: 'subscribe', channel: 'account', ...members }));
  return socket.received.slice(before);
};
const changes = () => socket.received.filter((message) => 'order' in message);

describe('the orders of an account', () => {
  it('come as a snapshot of each part, then as numbered changes with cause, fill and checksum', async () => {
    await stage.change(4, 'placed');
    const answers = ask({ account: ACCOUNT, id: 7 });
    expect(answers[0]).toMatchObject({ type: 'subscribed', id: 7, account: ACCOUNT });
    expect(answers[0]?.streams).toHaveLength(4);
    expect(answers.find(({ stream }) => stream === STREAM)).toMatchObject({
      type: 'snapshot',
      epoch: 1,
      seq: 1,
      orders: [{ orderId: 4, price: '5000000', baseAssetAmountFilled: '0' }],
      checksum: openOrdersChecksum(stage.open.values()),
    });
    await stage.change(4, 'filled');
    expect(changes()).toMatchObject([
      {
        seq: 2,
        prevSeq: 1,
        cause: 'filled',
        isOpen: true,
        fill: { fillRecordId: '7', baseAssetAmount: '1' },
        data: { orderId: 4, baseAssetAmountFilled: '1' },
        checksum: openOrdersChecksum(stage.open.values()),
      },
    ]);
  });

  it('of every account of a wallet come over one subscription', () => {
    const [answer] = ask({ authority: ACCOUNT });
    expect(answer?.streams).toHaveLength(8 * 4);
  });

  it('end with an unsubscribe', async () => {
    ask();
    socket.send(JSON.stringify({ type: 'unsubscribe', channel: 'account', account: ACCOUNT }));
    expect(socket.received.at(-1)).toMatchObject({ type: 'unsubscribed', streams: expect.arrayContaining([STREAM]) });
    await stage.change(4, 'placed');
    expect(changes()).toEqual([]);
  });

  it('take no memory for missed changes once the last subscriber has left', async () => {
    const second = stage.socket();
    ask();
    second.send(JSON.stringify({ type: 'subscribe', channel: 'account', account: ACCOUNT }));
    await stage.change(4, 'placed');
    const bytes = stage.rings.bytes;
    socket.close();
    expect(stage.rings.bytes).toBe(bytes);
    await stage.change(4, 'filled');
    expect(stage.rings.bytes).toBeGreaterThan(bytes);
    second.send(JSON.stringify({ type: 'unsubscribe', channel: 'account', account: ACCOUNT }));
    expect(stage.rings.bytes).toBe(0);
  });

  it('begin a later epoch with a snapshot of what is known then', async () => {
    await stage.change(4, 'placed');
    ask();
    stage.beginEpoch();
    await stage.change(6, 'placed');
    expect(socket.received.slice(-2)).toMatchObject([
      { type: 'snapshot', epoch: 2, seq: 1, orders: [] },
      { epoch: 2, seq: 2, cause: 'placed' },
    ]);
  });

  it('resume from the log in each part, whatever the partition of the key', async () => {
    const hashed = partitionOf(TOPICS.orderChanges, ACCOUNT);
    const other = `account_${ACCOUNT}_${hashed}`;
    const ledger = new AccountLedger(stage.log, hashed);
    const place = async (orderIds: readonly number[]) => {
      for (const orderId of orderIds) await stage.change(orderId, 'placed');
      for (const orderId of orderIds) await ledger.change(orderId + 100, 'placed');
      await vi.advanceTimersByTimeAsync(1);
    };
    await place([1]);
    ask();
    socket.close();
    await place([2, 3, 4]);
    socket = stage.socket();
    const version = { epoch: 1, seq: 1 };
    ask({ account: ACCOUNT, resume: { [STREAM]: version, [other]: version } });
    await vi.advanceTimersByTimeAsync(200);
    const resumed = socket.received.filter(({ type }) => type === 'resumed');
    expect(resumed).toMatchObject([{ recovered: true }, { recovered: true }]);
    for (const [name, orderIds] of [
      [STREAM, [2, 3, 4]],
      [other, [102, 103, 104]],
    ] as const) {
      const id = resumed.find(({ stream }) => stream === name)?.streamId;
      const got = changes().filter(({ order }) => order === id);
      expect(got).toMatchObject(orderIds.map((orderId, at) => ({ seq: at + 2, data: { orderId } })));
    }
  });

  it.each([
    ['no account', {}, 'account'],
    ['an account and a wallet', { account: ACCOUNT, authority: ACCOUNT }, 'account'],
    ['a malformed key', { account: 'x' }, 'account'],
    ['a resume of one stream', { account: ACCOUNT, resume: { epoch: 1, seq: 1 } }, 'resume'],
  ])('are refused for %s', (_, members, code) => {
    expect(ask(members)).toMatchObject([{ type: 'error', code }]);
  });

  it('of more accounts than a connection may follow are refused', () => {
    for (let n = 0; n < 256; n += 1) ask({ account: base58(new Uint8Array(32).fill(n)) });
    expect(ask({ account: base58(Buffer.from([1, ...new Uint8Array(31)])) })).toMatchObject([
      { type: 'error', code: 'limit' },
    ]);
  });
});

const step = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: fc.constantFrom('placed', 'filled', 'cancelled'), id: fc.nat(5) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('leave', 'restart'), id: fc.constant(0) }) },
);

/** The members that a follower reads; amounts are text, which the checksum takes as well. */
interface FollowedMessage {
  readonly type?: string;
  readonly stream?: string;
  readonly recovered?: boolean;
  readonly orders?: readonly AccountOrder[];
  readonly data?: AccountOrder;
  readonly isOpen?: boolean;
  readonly epoch: number;
  readonly seq: number;
  readonly prevSeq?: number;
  readonly checksum: number;
}

describe('a follower of an account', () => {
  it('has after every message the open orders of the truth, over reconnects and restarts', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        await stage.feed.stop();
        stage = new AccountStage();
        await stage.feed.start();
        const held = new Map<string, AccountOrder>();
        let version: { epoch: number; seq: number } | null = null;
        let taken = 0;
        let recovered = true;
        const follow = (): void => {
          for (; taken < socket.received.length; taken += 1) {
            const message = socket.received[taken] as unknown as FollowedMessage;
            if (message.type === 'resumed' && message.stream === STREAM) recovered &&= message.recovered === true;
            if (message.type === 'snapshot' && message.stream === STREAM) {
              held.clear();
              for (const order of message.orders ?? []) held.set(orderKey(order), order);
            } else if (message.data) {
              expect(message.prevSeq).toBe(version?.seq);
              if (message.isOpen) held.set(orderKey(message.data), message.data);
              else held.delete(orderKey(message.data));
            } else continue;
            version = { epoch: message.epoch, seq: message.seq };
            expect(openOrdersChecksum(held.values())).toBe(message.checksum);
          }
        };
        const begin = async (): Promise<void> => {
          socket = stage.socket();
          taken = 0;
          ask({ account: ACCOUNT, ...(version && { resume: { [STREAM]: version } }) });
          await vi.advanceTimersByTimeAsync(200);
          follow();
        };
        await begin();
        for (const one of steps) {
          if (one.do === 'restart') await stage.restart();
          if (one.do === 'leave') socket.close();
          if (one.do === 'leave' || one.do === 'restart') {
            await stage.change(one.id, 'placed');
            await begin();
          } else await stage.change(one.id, one.do as 'placed');
          follow();
        }
        expect([...held.keys()].sort()).toEqual([...stage.open.keys()].sort());
        // Every stream can be resumed, except one that never had a change, and so no epoch.
        if (!recovered) expect(socket.received.some(({ type }) => type === 'snapshot')).toBe(true);
      }),
      { numRuns: 25 },
    );
  });
});
