// Order and time of message handling, on a clock that only the test moves.

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Connection } from './connection.ts';
import { Inbox } from './inbox.ts';
import {
  BACKPRESSURE_CHECK_CLIENTS,
  BACKPRESSURE_CHECK_MS,
  CROWDED_MESSAGES_MAX,
  CROWDED_REPEATS_MAX,
  HEAVY_PAUSE_MS,
  HEAVY_SLICE_MS,
  MESSAGE_SLICE_MS,
  QUEUE_RATE,
  QUEUED_BYTES_MAX,
  QUEUED_MESSAGES_MAX,
} from './limits.ts';

const HANDLING_MS = 0.125;
const PER_SLICE = MESSAGE_SLICE_MS / HANDLING_MS;
const PER_HEAVY_SLICE = HEAVY_SLICE_MS / HANDLING_MS;

let nowMs = 0;
let handled: string[] = [];
let inbox: Inbox;

beforeEach(() => {
  vi.useFakeTimers();
  nowMs = 0;
  handled = [];
  inbox = new Inbox({
    handle: (_, text) => {
      handled.push(text);
      nowMs += HANDLING_MS;
    },
    clock: () => nowMs,
  });
});

afterEach(() => {
  inbox.stop();
  vi.useRealTimers();
});

function client(isLight: boolean): Connection {
  return { isLight: () => isLight } as unknown as Connection;
}

function receive(connection: Connection, name: string, count: number): void {
  for (let index = 0; index < count; index += 1) expect(inbox.receive(connection, `${name}${index}`)).toBe(true);
}

/** Messages handled in the next turn of the loop. */
function nextTurn(): string[] {
  handled = [];
  vi.advanceTimersToNextTimer();
  return handled;
}

describe('a light client', () => {
  it('is handled at once', () => {
    receive(client(true), 'a', 2);
    expect(handled).toEqual(['a0', 'a1']);
  });

  it('is handled for one slice per turn, in order and round-robin with others', () => {
    receive(client(true), 'a', PER_SLICE + 3);
    receive(client(true), 'b', 2);
    expect(handled).toHaveLength(PER_SLICE);
    expect(nextTurn()).toEqual(['a4', 'b0', 'a5', 'b1']);
    expect(nextTurn()).toEqual(['a6']);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('heavy clients', () => {
  it('wait for a short slice between pauses when they are many', () => {
    const turns = 10;
    const many = Array.from({ length: turns * PER_HEAVY_SLICE }, () => client(false));
    for (const [index, one] of many.entries()) receive(one, `${index}:`, 2);
    expect(handled).toEqual([]);
    expect(nextTurn()).toEqual([]);
    const beganMs = Date.now();
    // The first message of each client, in turn.
    for (let at = 0; at < turns; at += 1) {
      expect(nextTurn()).toEqual(Array.from({ length: PER_HEAVY_SLICE }, (_, of) => `${at * PER_HEAVY_SLICE + of}:0`));
    }
    expect(Date.now() - beganMs).toBeGreaterThanOrEqual(HEAVY_PAUSE_MS * (turns - 1));
  });

  it('pause longer after a message that outlasts its slice, so that their share of the time stays', () => {
    const longMs = 20 * HEAVY_SLICE_MS;
    inbox.stop();
    inbox = new Inbox({
      handle: () => {
        nowMs += longMs;
      },
      clock: () => nowMs,
    });
    for (let index = 0; index < 10; index += 1) receive(client(false), `${index}:`, 3);
    nextTurn();
    nextTurn();
    const beganMs = Date.now();
    nextTurn();
    expect(Date.now() - beganMs).toBe(20 * HEAVY_PAUSE_MS);
  });

  it('do not delay a light client', () => {
    for (let index = 0; index < 100; index += 1) receive(client(false), `loud${index}:`, 5);
    receive(client(true), 'quiet', 1);
    expect(handled).toEqual(['quiet0']);
  });

  it('are handled without pauses when they are few', () => {
    receive(client(false), 'a', 4);
    const beganMs = Date.now();
    while (vi.getTimerCount() > 0) nextTurn();
    expect(Date.now()).toBeLessThan(beganMs + HEAVY_PAUSE_MS);
  });

  it('may queue QUEUED_MESSAGES_MAX messages each', () => {
    const loud = client(false);
    receive(loud, 'a', QUEUED_MESSAGES_MAX);
    expect(inbox.receive(loud, 'one more')).toBe(false);
  });

  it('may queue only few messages each while the gateway is crowded', () => {
    const flood = Array.from({ length: QUEUE_RATE.burst / QUEUED_MESSAGES_MAX }, () => client(false));
    for (const one of flood) receive(one, 'a', QUEUED_MESSAGES_MAX);
    const late = client(false);
    receive(late, 'b', CROWDED_MESSAGES_MAX);
    expect(inbox.receive(late, 'one more')).toBe(false);
    const parrot = client(false);
    for (let said = 0; said < CROWDED_REPEATS_MAX; said += 1) expect(inbox.receive(parrot, 'again')).toBe(true);
    expect(inbox.receive(parrot, 'again')).toBe(false);
    const talker = client(false);
    receive(talker, 'd', CROWDED_REPEATS_MAX);
    expect(inbox.receive(talker, 'twice')).toBe(true);
    expect(inbox.receive(talker, 'twice')).toBe(true);
    nowMs += 1000;
    receive(client(false), 'c', QUEUED_MESSAGES_MAX);
  });

  it('share the bytes of all queues', () => {
    const text = 'x'.repeat(16_000);
    const messages = Math.floor(QUEUED_BYTES_MAX / 80 / 16_000);
    const loud = Array.from({ length: 80 }, () => client(false));
    for (const one of loud) for (let sent = 0; sent < messages; sent += 1) inbox.receive(one, text);
    const greedy = loud[0] as Connection;
    let taken = 0;
    while (inbox.receive(greedy, text)) taken += 1;
    expect(taken).toBeLessThan(30);
    expect(inbox.receive(client(false), text)).toBe(true);
  });
});

describe('a client with backpressure', () => {
  it('gets deferred answers in order once it reads; unsubscribes and book requests are not deferred', () => {
    let hasBackpressure = false;
    const slow = {
      isLight: () => true,
      get hasBackpressure() {
        return hasBackpressure;
      },
    } as unknown as Connection;
    receive(slow, 'a', 1);
    hasBackpressure = true;
    inbox.receive(slow, 'Unsubscribe');
    inbox.receive(slow, '"Book"');
    receive(slow, 'b', 2);
    inbox.receive(slow, 'unsubscribe');
    expect(handled).toEqual(['a0', 'Unsubscribe', '"Book"']);
    vi.advanceTimersByTime(10 * BACKPRESSURE_CHECK_MS);
    expect(handled).toHaveLength(3);
    receive(client(true), 'other', 1);
    expect(handled.at(-1)).toBe('other0');
    hasBackpressure = false;
    vi.advanceTimersByTime(BACKPRESSURE_CHECK_MS);
    vi.runAllTimers();
    expect(handled).toEqual(['a0', 'Unsubscribe', '"Book"', 'other0', 'b0', 'b1', 'unsubscribe']);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('waits again after each unread answer', () => {
    let unread = 0;
    const slow = {
      isLight: () => false,
      get hasBackpressure() {
        return unread > 0;
      },
    } as unknown as Connection;
    inbox = new Inbox({
      handle: (_, text) => {
        handled.push(text);
        unread += 1;
      },
      clock: () => nowMs,
    });
    receive(slow, 'a', 3);
    for (let read = 1; read <= 3; read += 1) {
      vi.advanceTimersByTime(BACKPRESSURE_CHECK_MS + HEAVY_PAUSE_MS);
      expect(handled).toHaveLength(read);
      unread = 0;
    }
    expect(vi.getTimerCount()).toBe(0);
  });

  it('is checked in its turn among any number of others with backpressure', () => {
    const others = Array.from({ length: BACKPRESSURE_CHECK_CLIENTS + 5 }, () => ({
      hasBackpressure: true,
      isLight: () => true,
    }));
    for (const other of others) receive(other as unknown as Connection, 'other', 1);
    const slow = { hasBackpressure: true, isLight: () => true };
    receive(slow as unknown as Connection, 'slow', 1);
    slow.hasBackpressure = false;
    vi.advanceTimersByTime(BACKPRESSURE_CHECK_MS);
    expect(handled).toEqual([]);
    vi.advanceTimersByTime(BACKPRESSURE_CHECK_MS + 1);
    expect(handled).toEqual(['slow0']);
    for (const other of others) other.hasBackpressure = false;
    vi.runAllTimers();
    expect(handled).toHaveLength(1 + others.length);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('leaves nothing queued when its connection closes', () => {
    const gone = { isLight: () => true, hasBackpressure: true } as unknown as Connection;
    receive(gone, 'a', 2);
    inbox.forget(gone);
    vi.runAllTimers();
    expect(handled).toEqual([]);
  });
});

describe('a closed client', () => {
  it('is not handled any more', () => {
    const gone = client(false);
    receive(gone, 'a', 3);
    inbox.forget(gone);
    nextTurn();
    expect(handled).toEqual([]);
  });
});
