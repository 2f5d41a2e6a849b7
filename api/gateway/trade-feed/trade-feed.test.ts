// Numbered fills: resumes from memory and from the log, limits, and clients that miss and repeat nothing.

import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FeedClient } from '../../../client/index.ts';
import { partitionOf, TOPICS, type TradeView, type TradeWithdrawal } from '../../../schemas/index.ts';
import { marketView } from '../../../test/support/api/market-views.ts';
import { trade } from '../../../test/support/api/stage.ts';
import type { DirectSocket } from '../../../test/support/feed/feed-stage.ts';
import { TradeStage } from '../../../test/support/feed/trade-stage.ts';
import { BACKFILL_RECORDS_AT_ONCE, RESUME_RECORDS_MAX } from '../feed/record-limits.ts';
import { BACKPRESSURE_BYTES } from '../limits.ts';

let stage: TradeStage;
let socket: DirectSocket;

beforeEach(async () => {
  vi.useFakeTimers();
  stage = await TradeStage.started();
  socket = stage.socket();
});
afterEach(() => {
  stage.feed.stop();
  vi.useRealTimers();
});

const ask = (members: Record<string, unknown> = {}) => socket.ask({ channel: 'trades.v2', ...members });
const fills = () => socket.received.filter((message) => 'trade' in message);
const publish = async (from: number, to: number): Promise<void> => {
  for (let seq = from; seq <= to; seq += 1) await stage.publish(trade(BigInt(seq)));
};

describe('numbered fills', () => {
  it('begin after the newest fill, and follow with the members of the compatible channel', async () => {
    await publish(1, 3);
    expect(ask({ id: 7 })).toMatchObject([
      { type: 'subscribed', id: 7, market: 'SOL-PERP', marketType: 'perp', streams: ['perp_0_trades'] },
      { type: 'snapshot', stream: 'perp_0_trades', epoch: 1, seq: 3, slot: 500, last: { fillRecordId: 3 } },
    ]);
    await publish(4, 4);
    expect(fills()).toEqual([
      expect.objectContaining({
        epoch: 1,
        seq: 4,
        prevSeq: 3,
        slot: 500,
        data: expect.objectContaining({ fillRecordId: 4 }),
      }),
    ]);
  });

  it('name their place in the block, null where it is unknown', async () => {
    ask();
    await stage.publish(trade(1n, { epoch: 8, seq: 1, txIndex: 41 }), trade(2n, { epoch: 8, seq: 2 }));
    expect(fills()).toMatchObject([
      { slot: 500, txIndex: 41, txSigIndex: 2 },
      { slot: 500, txIndex: null, txSigIndex: 2 },
    ]);
  });

  it('of a market without a fill begin with number 0, and with a snapshot before the first', async () => {
    expect(ask().at(-1)).toMatchObject({ type: 'snapshot', epoch: 0, seq: 0, last: null });
    await stage.publish(trade(1n, { epoch: 8, seq: 1 }));
    expect(socket.received.slice(-2)).toMatchObject([
      { type: 'snapshot', epoch: 8, seq: 0, last: null },
      { epoch: 8, seq: 1, prevSeq: 0 },
    ]);
  });

  it('of a market without a description begin when it is described', async () => {
    ask({ market: '*', marketType: null });
    await stage.publish(trade(1n, { marketIndex: 9 }), trade(2n, { marketIndex: 9 }));
    expect(socket.received.filter(({ stream }) => stream === 'perp_9_trades')).toEqual([]);
    stage.markets.put(marketView({ marketIndex: 9, symbol: 'NEW-PERP' }));
    expect(socket.received.at(-1)).toMatchObject({ type: 'snapshot', market: 'NEW-PERP', seq: 2 });
    await stage.publish(trade(3n, { marketIndex: 9 }));
    expect(fills()).toMatchObject([{ seq: 3, prevSeq: 2 }]);
  });

  it('are published once when a restarted role repeats them', async () => {
    ask();
    await publish(1, 3);
    await stage.publish(trade(2n), trade(3n), trade(4n));
    expect(fills().map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
  });

  it('without a number, from an older role, are left to the compatible channel', async () => {
    ask();
    await stage.publish(trade(1n, { epoch: null, seq: null }));
    expect(fills()).toEqual([]);
  });

  it('of every market come over one subscription, and end market by market', async () => {
    ask({ market: '*', marketType: null });
    await stage.publish(trade(1n), trade(1n, { marketType: 'spot', marketIndex: 1 }));
    expect(fills()).toHaveLength(2);
    socket.send(JSON.stringify({ type: 'unsubscribe', channel: 'trades.v2', market: 'SOL-PERP' }));
    expect(socket.ofType('unsubscribed')).toMatchObject([{ market: 'SOL-PERP', streams: ['perp_0_trades'] }]);
    await stage.publish(trade(2n), trade(2n, { marketType: 'spot', marketIndex: 1 }));
    expect(fills()).toHaveLength(3);
  });

  it('join a subscription to every market when a new market has its first', async () => {
    ask({ market: '*' });
    stage.markets.put(marketView({ marketIndex: 4000, symbol: 'NEW-PERP' }));
    await stage.publish(trade(1n, { marketIndex: 4000 }));
    expect(fills()).toMatchObject([{ seq: 1, data: { marketIndex: 4000 } }]);
  });

  it.each([
    ['an unknown market', { market: 'NOPE' }, 'market'],
    ['a malformed resume', { resume: { epoch: -1, seq: 0 } }, 'resume'],
    ['an unknown commitment', { commitment: 'finalized' }, 'commitment'],
  ])('are refused for %s', (_, members, code) => {
    expect(ask({ id: 'x', ...members })).toMatchObject([{ type: 'error', code, id: 'x' }]);
  });
});

describe('a resume', () => {
  it('brings every missed fill from memory, in order, then the live ones', async () => {
    await publish(1, 6);
    const answers = ask({ resume: { epoch: 1, seq: 3 } }).slice(1);
    expect(answers[0]).toMatchObject({ type: 'resumed', recovered: true, epoch: 1, seq: 3 });
    expect(answers.slice(1).map(({ prevSeq, seq }) => [prevSeq, seq])).toEqual([
      [3, 4],
      [4, 5],
      [5, 6],
    ]);
    await publish(7, 7);
    expect(fills().at(-1)).toMatchObject({ prevSeq: 6, seq: 7 });
  });

  it('brings the same bytes from the log after a restart of the gateway', async () => {
    ask();
    await publish(1, 200);
    const live = fills().map((message) => ({ ...message, trade: 0 }));
    await stage.restart();
    socket = stage.socket();
    ask({ resume: { epoch: 1, seq: 0 } });
    await vi.advanceTimersByTimeAsync(500);
    expect(fills().map((message) => ({ ...message, trade: 0 }))).toEqual(live);
    expect(socket.ofType('resumed')).toMatchObject([{ recovered: true }]);
  });

  it('of many fills waits for a client that does not read', async () => {
    await publish(1, 3 * BACKFILL_RECORDS_AT_ONCE);
    socket.tamper = (text) => {
      if (text.startsWith('{"trade"')) socket.unreadBytes = BACKPRESSURE_BYTES + 1;
      return text;
    };
    ask({ resume: { epoch: 1, seq: 0 } });
    await vi.advanceTimersByTimeAsync(1000);
    expect(fills()).toHaveLength(BACKFILL_RECORDS_AT_ONCE);
    socket.tamper = (text) => text;
    socket.unreadBytes = 0;
    stage.feed.drained(socket.connection);
    await vi.advanceTimersByTimeAsync(1000);
    expect(fills().map(({ seq }) => seq)).toEqual(
      Array.from({ length: 3 * BACKFILL_RECORDS_AT_ONCE }, (_, at) => at + 1),
    );
    expect(socket.ofType('resumed')).toHaveLength(1);
  });

  it.each([
    ['of another epoch', { epoch: 0, seq: 1 }],
    ['of too many fills', { epoch: 1, seq: 1 }],
  ])('%s is not recovered: a snapshot follows', async (_, resume) => {
    const head = RESUME_RECORDS_MAX + 2;
    await stage.publish(trade(BigInt(head)));
    ask({ resume });
    expect(socket.received.slice(1)).toMatchObject([
      { type: 'resumed', recovered: false, ...resume },
      { type: 'snapshot', epoch: 1, seq: head },
    ]);
  });

  it('is not recovered when retention has removed a missed fill', async () => {
    await publish(1, 10);
    stage.log.removeBefore(TOPICS.tradeViews, partitionOf(TOPICS.tradeViews, 'perp-0'), 5n);
    await stage.restart();
    socket = stage.socket();
    ask({ resume: { epoch: 1, seq: 3 } });
    await vi.advanceTimersByTimeAsync(500);
    expect(socket.received.slice(1)).toMatchObject([{ recovered: false }, { type: 'snapshot', seq: 10 }]);
    ask({ resume: { epoch: 1, seq: 5 } });
    await vi.advanceTimersByTimeAsync(500);
    expect(fills().map(({ seq }) => seq)).toEqual([6, 7, 8, 9, 10]);
  });
});

/** The withdrawal with number `seq` of a fill that `trade` makes. */
function withdrawal(seq: number, fill: TradeView): TradeWithdrawal {
  const { marketType, marketIndex, slot, txSig, txSigIndex, fillRecordId } = fill;
  const tradeSeq = fill.seq ?? 0;
  return { marketType, marketIndex, epoch: 1, seq, tradeSeq, slot, txSig, txSigIndex, fillRecordId };
}

describe('fills at processed', () => {
  beforeEach(async () => {
    stage.feed.stop();
    stage = await TradeStage.started('processed');
    socket = stage.socket();
  });
  const numbered = () =>
    socket.received.flatMap((message) =>
      'trade' in message || 'withdraw' in message ? [{ ...message, trade: 0 }] : [],
    );

  it('say so, and are withdrawn by a message of the same sequence that names the fill', async () => {
    expect(ask({ commitment: 'processed' })).toMatchObject([
      { type: 'subscribed', streams: ['perp_0_trades_processed'] },
      { type: 'snapshot', commitment: 'processed', stream: 'perp_0_trades_processed' },
    ]);
    const fill = trade(1n);
    await stage.publish(fill, withdrawal(2, fill), trade(3n, { slot: 501 }));
    expect(socket.received.slice(-3)).toMatchObject([
      { trade: 1, seq: 1, slot: 500, commitment: 'processed', data: { fillRecordId: 1 } },
      { withdraw: 1, seq: 2, prevSeq: 1, slot: 500, commitment: 'processed', tradeSeq: 1, txSig: fill.txSig },
      { trade: 1, seq: 3, prevSeq: 2, slot: 501, commitment: 'processed' },
    ]);
    expect(socket.received.at(-2)).toMatchObject({ txSigIndex: fill.txSigIndex, fillRecordId: 1 });
  });

  it('come with their withdrawals from the log after a restart, in the same bytes', async () => {
    ask();
    for (let seq = 1; seq < 60; seq += 2) {
      const fill = trade(BigInt(seq));
      await stage.publish(fill, withdrawal(seq + 1, fill));
    }
    const live = numbered();
    await stage.restart();
    socket = stage.socket();
    expect(ask().at(-1)).toMatchObject({ type: 'snapshot', seq: 60, last: null });
    ask({ resume: { epoch: 1, seq: 0 } });
    await vi.advanceTimersByTimeAsync(500);
    expect(numbered()).toEqual(live);
    expect(live).toHaveLength(60);
  });

  it('reach a client with their withdrawals once and in order, over a lost connection and lost messages', async () => {
    const client = new FeedClient({
      url: 'ws://server/ws',
      open: () => {
        socket = stage.socket();
        return socket;
      },
    });
    const events: string[] = [];
    const subscription = client.numberedTrades({ market: 'sol-perp', commitment: 'processed' });
    subscription.on('trade', ({ seq, commitment }) => events.push(`${commitment} ${seq}`));
    subscription.on('withdrawn', ({ seq, tradeSeq, txSig }) => events.push(`withdrawn ${seq} ${tradeSeq} ${txSig}`));
    subscription.on('missing', () => events.push('missing'));
    await vi.advanceTimersByTimeAsync(1);
    const [first, second] = [trade(1n), trade(3n)];
    await stage.publish(first, withdrawal(2, first));
    socket.tamper = (text) => (text.startsWith('{"withdraw"') ? null : text);
    await stage.publish(second, withdrawal(4, second));
    client.reconnect();
    await vi.advanceTimersByTimeAsync(12_000);
    client.close();
    expect(events).toEqual([
      'processed 1',
      `withdrawn 2 1 ${first.txSig}`,
      'processed 3',
      `withdrawn 4 3 ${second.txSig}`,
    ]);
  });
});

type Step =
  | { readonly do: 'fill'; readonly count: number; readonly repeats: boolean }
  | { readonly do: 'reconnect' | 'restart' | 'drop' }
  | { readonly do: 'pass'; readonly ms: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('fill' as const),
      count: fc.integer({ min: 1, max: 90 }),
      repeats: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.constantFrom(10, 500, 6000).map((ms): Step => ({ do: 'pass', ms })) },
  { weight: 4, arbitrary: fc.constantFrom('reconnect', 'restart', 'drop').map((name): Step => ({ do: name })) },
);

describe('a client of numbered fills', () => {
  it('gets each fill once and in order, through lost messages, reconnects, repeats and restarts', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 24 }), async (steps) => {
        stage.feed.stop();
        stage = await TradeStage.started();
        await publish(1, 1);
        const client = new FeedClient({
          url: 'ws://server/ws',
          open: () => {
            socket = stage.socket();
            return socket;
          },
        });
        const received: number[] = [];
        const missing: unknown[] = [];
        const subscription = client.numberedTrades({ market: 'sol-perp' });
        subscription.on('trade', ({ seq, trade: { fillRecordId } }) => {
          expect(fillRecordId).toBe(seq);
          received.push(seq);
        });
        subscription.on('missing', (event) => missing.push(event));
        await vi.advanceTimersByTimeAsync(1);
        let head = 1;
        for (const one of steps) {
          if (one.do === 'fill') {
            const first = one.repeats ? Math.max(1, head - 2) : head + 1;
            head += one.count;
            await stage.publish(...Array.from({ length: head - first + 1 }, (_, at) => trade(BigInt(first + at))));
          } else if (one.do === 'reconnect') client.reconnect();
          else if (one.do === 'restart') await stage.restart();
          else if (one.do === 'pass') await vi.advanceTimersByTimeAsync(one.ms);
          else socket.tamper = dropNext(socket);
        }
        await vi.advanceTimersByTimeAsync(12_000);
        client.close();
        expect(received).toEqual(Array.from({ length: head - 1 }, (_, at) => at + 2));
        expect(missing).toEqual([]);
      }),
      { numRuns: 25 },
    );
  });

  it('learns when fills cannot be had any more, and goes on', async () => {
    await publish(1, 3);
    const client = new FeedClient({ url: 'ws://server/ws', open: () => stage.socket() });
    const seqs: number[] = [];
    const missing: object[] = [];
    const subscription = client.numberedTrades({ market: 'SOL-PERP' });
    subscription.on('trade', ({ seq }) => seqs.push(seq));
    subscription.on('missing', (event) => missing.push(event));
    await vi.advanceTimersByTimeAsync(1);
    await stage.publish(trade(1n, { epoch: 5, seq: 11 }), trade(2n, { epoch: 5, seq: 12 }));
    expect(missing).toEqual([{ market: 'SOL-PERP', held: { epoch: 1, seq: 3 }, now: { epoch: 5, seq: 10 } }]);
    expect(seqs).toEqual([11, 12]);
    client.close();
  });
});

/** Drops the next message but heartbeats and first answers, so that the client can miss a fill, also the last one. */
function dropNext(to: DirectSocket): (text: string) => string | null {
  return (text) => {
    if (!text.startsWith('{"trade"')) return text;
    to.tamper = (rest) => rest;
    return null;
  };
}
