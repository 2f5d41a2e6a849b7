// L3 streams with causes: each order names the transaction that last wrote it, each removed order the one that removed it.

import bs58 from 'bs58';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Cause, ViewOrder } from '../../../schemas/index.ts';
import { diff, MAKER_A, MAKER_B, snapshot } from '../../../test/support/api/stage.ts';
import { type DirectSocket, FeedStage } from '../../../test/support/feed/feed-stage.ts';

const causeOf = (seed: number, index: number | null = seed): Cause => ({
  slot: 480 + seed,
  signature: new Uint8Array(64).fill(seed),
  index,
});
const textOf = ({ slot, signature, index }: Cause) => ({ slot, signature: bs58.encode(signature), index });

const written = (orderId: number, cause: Cause | null, size = 5n): ViewOrder => ({
  price: 81_000_000,
  size,
  maker: MAKER_A,
  orderId,
  source: 'user',
  rank: [0, 1, orderId],
  cause,
});
const gone = (orderId: number, cause: Cause | null) => ({ maker: MAKER_A, orderId, source: 'user', cause }) as const;

let stage: FeedStage;
let socket: DirectSocket;

beforeEach(async () => {
  vi.useFakeTimers();
  stage = new FeedStage();
  const [first, second] = snapshot().bidOrders as [ViewOrder, ViewOrder];
  await stage.publish(snapshot({ bidOrders: [{ ...first, cause: causeOf(1) }, second] }));
  socket = stage.socket();
});

afterEach(() => {
  stage.feed.stop();
  vi.useRealTimers();
});

describe('an L3 stream with causes', () => {
  it('names the last transaction of each order, null where unknown', () => {
    const [, book] = socket.ask({ level: 'l3', cause: true });
    expect(book).toMatchObject({
      stream: 'perp_0_l3_cause',
      bids: [
        { orderId: 412, cause: textOf(causeOf(1)) },
        { orderId: 7, cause: null },
      ],
    });
  });

  it('names the transaction of each change and removal', async () => {
    socket.ask({ level: 'l3', cause: true });
    await stage.publish(diff(2, 488, { bidOrders: [written(8, causeOf(8, null))], gone: [gone(412, causeOf(9))] }));
    await stage.publish(diff(3, 489, { gone: [gone(8, null)] }));
    expect(socket.diffs()).toMatchObject([
      { bids: [{ orderId: 8, cause: { ...textOf(causeOf(8)), index: null } }], gone: [{ cause: textOf(causeOf(9)) }] },
      { gone: [{ orderId: 8, cause: null }] },
    ]);
  });

  it('names the newest transaction of merged changes', async () => {
    socket.ask({ level: 'l3', cause: true, conflation: 400 });
    await stage.publish(diff(2, 488, { bidOrders: [written(8, causeOf(2))] }));
    await stage.publish(diff(3, 489, { bidOrders: [written(8, causeOf(3), 6n)] }));
    vi.advanceTimersByTime(400);
    expect(socket.diffs()).toMatchObject([{ bids: [{ orderId: 8, size: '6', cause: textOf(causeOf(3)) }] }]);
  });

  it('names causes in the changes that a resuming client missed', async () => {
    for (const seq of [2, 3]) await stage.publish(diff(seq, 486 + seq, { bidOrders: [written(seq, causeOf(seq))] }));
    const answers = socket.ask({ level: 'l3', cause: true, resume: { epoch: 1, seq: 1 } });
    expect(answers).toContainEqual(expect.objectContaining({ type: 'resumed', recovered: true }));
    const causes = socket.diffs().flatMap(({ bids }) => (bids as { cause: unknown }[]).map(({ cause }) => cause));
    expect(causes).toEqual([textOf(causeOf(2)), textOf(causeOf(3))]);
  });

  it('costs other streams no byte', async () => {
    const [, book] = socket.ask({ level: 'l3' });
    await stage.publish(diff(2, 488, { bidOrders: [written(8, causeOf(8))], gone: [gone(412, causeOf(9))] }));
    expect(JSON.stringify([book, ...socket.diffs()])).not.toContain('cause');
  });

  it('is another stream than that without causes, on one connection', async () => {
    socket.ask({ level: 'l3' });
    socket.ask({ level: 'l3', cause: true });
    const order = { ...written(8, causeOf(8)), maker: MAKER_B };
    await stage.publish(diff(2, 488, { bidOrders: [order] }));
    expect(socket.diffs()).toHaveLength(2);
    expect(socket.diffs().filter((message) => JSON.stringify(message).includes('"cause"'))).toHaveLength(1);
  });
});
