import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Connection } from '../connection.ts';
import { WRITE_SLICE_MS, WRITES_PER_CLOCK_READ } from '../limits.ts';
import { FeedHeartbeat } from './heartbeat.ts';
import { BOOK_HEARTBEAT_MS } from './limits.ts';
import type { Stream } from './stream.ts';
import { Subscriber } from './subscriber.ts';
import { SubscriptionSets } from './subscription-sets.ts';

const OF_THE_FIRST_TURN = 2 * WRITES_PER_CLOCK_READ;
const OF_THE_SECOND_TURN = 3;
const WRITE_MS = WRITE_SLICE_MS / OF_THE_FIRST_TURN;

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

describe('heartbeats of the book channel', () => {
  it('reach many connections over several turns, each with its latest sequence', () => {
    let nowMs = 0;
    const received: { seq: number; who: number }[] = [];
    const stream = { name: 'perp_0_l2', streamId: 1, market: { key: 'perp-0' }, sent: { epoch: 1, seq: 1 } };
    const sets = new SubscriptionSets();
    const subscribers = new Map<Connection, Subscriber>();
    for (let who = 0; who < OF_THE_FIRST_TURN + OF_THE_SECOND_TURN; who += 1) {
      const send = ([frame]: readonly Buffer[]) => {
        received.push({ seq: JSON.parse(String(frame)).sequences.perp_0_l2.seq, who });
        nowMs += WRITE_MS;
      };
      const connection = { send } as unknown as Connection;
      const subscriber = new Subscriber(connection);
      subscriber.add(stream as unknown as Stream);
      sets.activate(subscriber, stream as unknown as Stream);
      subscribers.set(connection, subscriber);
    }
    const heartbeat = new FeedHeartbeat({
      channel: 'book',
      followsSlots: true,
      subscribers,
      sets,
      chain: () => ({ headSlot: 9, ts: 1 }),
      clock: () => nowMs,
    });
    heartbeat.start();
    vi.advanceTimersByTime(BOOK_HEARTBEAT_MS - 1);
    expect(received).toEqual([]);
    vi.advanceTimersToNextTimer();
    expect(received).toHaveLength(OF_THE_FIRST_TURN);
    stream.sent = { epoch: 1, seq: 2 };
    vi.advanceTimersToNextTimer();
    expect(received.map(({ who }) => who)).toEqual([...subscribers.keys()].map((_, who) => who));
    expect(received.filter(({ seq }) => seq === 2)).toHaveLength(OF_THE_SECOND_TURN);
    heartbeat.stop();
    expect(vi.getTimerCount()).toBe(0);
  });
});
