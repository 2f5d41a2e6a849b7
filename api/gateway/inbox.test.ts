// Who is heard when, with a clock that only moves when the test moves it.

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Connection } from './connection.ts';
import { Inbox } from './inbox.ts';
import {
  BEHIND_A_LOOK,
  BEHIND_LOOK_MS,
  BULK_PAUSE_MS,
  BULK_SLICE_MS,
  TURN_SLICE_MS,
  WAITING_BYTES_MAX,
  WAITING_MESSAGES_MAX,
  WAITING_MESSAGES_SCARCE,
  WAITING_RATE,
  WAITING_REPEATS_SCARCE,
} from './limits.ts';

const MESSAGE_TAKES_MS = 0.125;
const IN_A_TURN = TURN_SLICE_MS / MESSAGE_TAKES_MS;
const IN_A_BULK_SLICE = BULK_SLICE_MS / MESSAGE_TAKES_MS;

let nowMs = 0;
let heard: string[] = [];
let inbox: Inbox;

beforeEach(() => {
  vi.useFakeTimers();
  nowMs = 0;
  heard = [];
  inbox = new Inbox({
    handle: (_, text) => {
      heard.push(text);
      nowMs += MESSAGE_TAKES_MS;
    },
    clock: () => nowMs,
  });
});

afterEach(() => {
  inbox.stop();
  vi.useRealTimers();
});

function client(isBrisk: boolean): Connection {
  return { isBrisk: () => isBrisk } as unknown as Connection;
}

function say(connection: Connection, name: string, count: number): void {
  for (let index = 0; index < count; index += 1) expect(inbox.take(connection, `${name}${index}`)).toBe(true);
}

/** What is heard in the next turn of the loop. */
function turn(): string[] {
  heard = [];
  vi.advanceTimersToNextTimer();
  return heard;
}

describe('a client that has said little', () => {
  it('is heard at once', () => {
    say(client(true), 'a', 2);
    expect(heard).toEqual(['a0', 'a1']);
  });

  it('is heard for a moment in each turn, in order and message for message beside the others', () => {
    say(client(true), 'a', IN_A_TURN + 3);
    say(client(true), 'b', 2);
    expect(heard).toHaveLength(IN_A_TURN);
    expect(turn()).toEqual(['a4', 'b0', 'a5', 'b1']);
    expect(turn()).toEqual(['a6']);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('clients that say much', () => {
  it('wait, and have a small slice of the time between pauses when they are many', () => {
    const turns = 10;
    const many = Array.from({ length: turns * IN_A_BULK_SLICE }, () => client(false));
    for (const [index, one] of many.entries()) say(one, `${index}:`, 2);
    expect(heard).toEqual([]);
    expect(turn()).toEqual([]);
    const beganMs = Date.now();
    // The first message of each, in turn.
    for (let at = 0; at < turns; at += 1) {
      expect(turn()).toEqual(Array.from({ length: IN_A_BULK_SLICE }, (_, of) => `${at * IN_A_BULK_SLICE + of}:0`));
    }
    expect(Date.now() - beganMs).toBeGreaterThanOrEqual(BULK_PAUSE_MS * (turns - 1));
  });

  it('do not hold up one that says little', () => {
    for (let index = 0; index < 100; index += 1) say(client(false), `loud${index}:`, 5);
    say(client(true), 'quiet', 1);
    expect(heard).toEqual(['quiet0']);
  });

  it('are heard without pauses when they are few', () => {
    say(client(false), 'a', 4);
    const beganMs = Date.now();
    while (vi.getTimerCount() > 0) turn();
    expect(Date.now()).toBeLessThan(beganMs + BULK_PAUSE_MS);
  });

  it('may have so many messages waiting and no more', () => {
    const loud = client(false);
    say(loud, 'a', WAITING_MESSAGES_MAX);
    expect(inbox.take(loud, 'one more')).toBe(false);
  });

  it('may have few messages waiting each while very many come, until that is over', () => {
    const flood = Array.from({ length: WAITING_RATE.burst / WAITING_MESSAGES_MAX }, () => client(false));
    for (const one of flood) say(one, 'a', WAITING_MESSAGES_MAX);
    const late = client(false);
    say(late, 'b', WAITING_MESSAGES_SCARCE);
    expect(inbox.take(late, 'one more')).toBe(false);
    const parrot = client(false);
    for (let said = 0; said < WAITING_REPEATS_SCARCE; said += 1) expect(inbox.take(parrot, 'again')).toBe(true);
    expect(inbox.take(parrot, 'again')).toBe(false);
    const talker = client(false);
    say(talker, 'd', WAITING_REPEATS_SCARCE);
    expect(inbox.take(talker, 'twice')).toBe(true);
    expect(inbox.take(talker, 'twice')).toBe(true);
    nowMs += 1000;
    say(client(false), 'c', WAITING_MESSAGES_MAX);
  });

  it('share the bytes that may wait', () => {
    const text = 'x'.repeat(16_000);
    const messages = Math.floor(WAITING_BYTES_MAX / 80 / 16_000);
    const loud = Array.from({ length: 80 }, () => client(false));
    for (const one of loud) for (let sent = 0; sent < messages; sent += 1) inbox.take(one, text);
    const greedy = loud[0] as Connection;
    let taken = 0;
    while (inbox.take(greedy, text)) taken += 1;
    expect(taken).toBeLessThan(30);
    expect(inbox.take(client(false), text)).toBe(true);
  });
});

describe('a client that has not read its answers', () => {
  it('gets the next ones when it has, in order; leaving channels and book streams are not put off', () => {
    let isBehind = false;
    const slow = {
      isBrisk: () => true,
      get isBehind() {
        return isBehind;
      },
    } as unknown as Connection;
    say(slow, 'a', 1);
    isBehind = true;
    inbox.take(slow, 'Unsubscribe');
    inbox.take(slow, '"Book"');
    say(slow, 'b', 2);
    inbox.take(slow, 'unsubscribe');
    expect(heard).toEqual(['a0', 'Unsubscribe', '"Book"']);
    vi.advanceTimersByTime(10 * BEHIND_LOOK_MS);
    expect(heard).toHaveLength(3);
    say(client(true), 'other', 1);
    expect(heard.at(-1)).toBe('other0');
    isBehind = false;
    vi.advanceTimersByTime(BEHIND_LOOK_MS);
    vi.runAllTimers();
    expect(heard).toEqual(['a0', 'Unsubscribe', '"Book"', 'other0', 'b0', 'b1', 'unsubscribe']);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('waits again after each answer that it has not read', () => {
    let unread = 0;
    const slow = {
      isBrisk: () => false,
      get isBehind() {
        return unread > 0;
      },
    } as unknown as Connection;
    inbox = new Inbox({
      handle: (_, text) => {
        heard.push(text);
        unread += 1;
      },
      clock: () => nowMs,
    });
    say(slow, 'a', 3);
    for (let read = 1; read <= 3; read += 1) {
      vi.advanceTimersByTime(BEHIND_LOOK_MS + BULK_PAUSE_MS);
      expect(heard).toHaveLength(read);
      unread = 0;
    }
    expect(vi.getTimerCount()).toBe(0);
  });

  it('is looked at in its turn beside any number of others that have not', () => {
    const others = Array.from({ length: BEHIND_A_LOOK + 5 }, () => ({ isBehind: true, isBrisk: () => true }));
    for (const other of others) say(other as unknown as Connection, 'other', 1);
    const slow = { isBehind: true, isBrisk: () => true };
    say(slow as unknown as Connection, 'slow', 1);
    slow.isBehind = false;
    vi.advanceTimersByTime(BEHIND_LOOK_MS);
    expect(heard).toEqual([]);
    vi.advanceTimersByTime(BEHIND_LOOK_MS + 1);
    expect(heard).toEqual(['slow0']);
    for (const other of others) other.isBehind = false;
    vi.runAllTimers();
    expect(heard).toHaveLength(1 + others.length);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('is forgotten with the connection', () => {
    const gone = { isBrisk: () => true, isBehind: true } as unknown as Connection;
    say(gone, 'a', 2);
    inbox.forget(gone);
    vi.runAllTimers();
    expect(heard).toEqual([]);
  });
});

describe('a client that is gone', () => {
  it('is not heard any more', () => {
    const gone = client(false);
    say(gone, 'a', 3);
    inbox.forget(gone);
    turn();
    expect(heard).toEqual([]);
  });
});
