import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Connection } from '../connection.ts';
import { WRITES_A_LOOK, WRITING_SLICE_MS } from '../limits.ts';
import { FeedHeartbeat } from './heartbeat.ts';
import { Holdings } from './holdings.ts';
import { BOOK_HEARTBEAT_MS } from './limits.ts';
import type { Stream } from './stream.ts';
import { Subscriber } from './subscriber.ts';

const OF_THE_FIRST_TURN = 2 * WRITES_A_LOOK;
const OF_THE_SECOND_TURN = 3;
const WRITE_MS = WRITING_SLICE_MS / OF_THE_FIRST_TURN;

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

describe('heartbeats of the book channel', () => {
  it('reach many connections over several turns of the loop, each with the sequence sent to it by then', () => {
    let nowMs = 0;
    const heard: { seq: number; who: number }[] = [];
    const stream = { name: 'perp_0_l2', streamId: 1, market: { key: 'perp-0' }, sent: { epoch: 1, seq: 1 } };
    const holdings = new Holdings();
    const subscribers = new Map<Connection, Subscriber>();
    for (let who = 0; who < OF_THE_FIRST_TURN + OF_THE_SECOND_TURN; who += 1) {
      const send = ([frame]: readonly Buffer[]) => {
        heard.push({ seq: JSON.parse(String(frame)).sequences.perp_0_l2.seq, who });
        nowMs += WRITE_MS;
      };
      const connection = { send } as unknown as Connection;
      const subscriber = new Subscriber(connection);
      subscriber.hold(stream as unknown as Stream);
      holdings.join(subscriber, stream as unknown as Stream);
      subscribers.set(connection, subscriber);
    }
    const heartbeat = new FeedHeartbeat(subscribers, holdings, () => nowMs);
    heartbeat.start();
    vi.advanceTimersByTime(BOOK_HEARTBEAT_MS - 1);
    expect(heard).toEqual([]);
    vi.advanceTimersToNextTimer();
    expect(heard).toHaveLength(OF_THE_FIRST_TURN);
    stream.sent = { epoch: 1, seq: 2 };
    vi.advanceTimersToNextTimer();
    expect(heard.map(({ who }) => who)).toEqual([...subscribers.keys()].map((_, who) => who));
    expect(heard.filter(({ seq }) => seq === 2)).toHaveLength(OF_THE_SECOND_TURN);
    heartbeat.stop();
    expect(vi.getTimerCount()).toBe(0);
  });
});
