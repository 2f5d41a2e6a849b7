import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { MARKETS } from '../../test/support/api/market-views.ts';
import { MarketRegistry } from '../views/registry.ts';
import type { Connection } from './connection.ts';
import { queuedBytes } from './inbox.ts';
import { QUEUED_BYTES_MAX, QUEUED_MESSAGES_MAX, REGISTRY_SETTLES_MS, REGISTRY_WAIT_MS } from './limits.ts';
import { readRequest } from './requests.ts';
import { StartupQueue } from './startup-queue.ts';

const SUBSCRIBE = JSON.stringify({ type: 'subscribe', channel: 'trades', market: 'SOL-PERP', marketType: 'perp' });
const LEAVE = SUBSCRIBE.replace('subscribe', 'unsubscribe');
const BOOK = SUBSCRIBE.replace('trades', 'book');

const markets = () => {
  const registry = new MarketRegistry();
  for (const view of MARKETS) registry.put(view);
  return registry;
};

let registry: MarketRegistry;
let handled: string[];
let early: StartupQueue;
let ended: string[];
let nowMs: () => number;
const client = { end: (reason: string) => ended.push(reason) } as unknown as Connection;

beforeEach(() => {
  vi.useFakeTimers();
  handled = [];
  ended = [];
  nowMs = Date.now;
  registry = new MarketRegistry();
  early = open();
});

afterEach(() => {
  early.stop();
  vi.useRealTimers();
});

function open(): StartupQueue {
  return new StartupQueue({ markets: registry, handle: (_, text) => handled.push(text), clock: () => nowMs() });
}

function say(text: string, connection = client): boolean {
  return early.hold(connection, text, readRequest(text, registry));
}

describe('before any market is known', () => {
  it('holds a subscribe, and later messages of its client, until markets are known', async () => {
    expect([SUBSCRIBE, LEAVE, BOOK].map((text) => say(text))).toEqual([true, true, true]);
    await vi.advanceTimersByTimeAsync(500);
    for (const view of MARKETS) registry.put(view);
    await vi.advanceTimersByTimeAsync(REGISTRY_SETTLES_MS / 2);
    expect(handled).toEqual([]);
    await vi.advanceTimersByTimeAsync(REGISTRY_SETTLES_MS);
    expect(handled).toEqual([SUBSCRIBE, LEAVE, BOOK]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it.each([LEAVE, '{}', 'x', SUBSCRIBE.replace('trades', 'nothing'), BOOK.replace('SOL-PERP', '*')])(
    'handles a message that needs no market at once: %s',
    (text) => {
      expect(say(text)).toBe(false);
    },
  );

  it('gives up in time', async () => {
    say(SUBSCRIBE);
    await vi.advanceTimersByTimeAsync(REGISTRY_WAIT_MS);
    expect(handled).toEqual([SUBSCRIBE]);
    expect(say(SUBSCRIBE)).toBe(false);
  });

  it('drops the messages of a closed client, and bounds those of an open one', async () => {
    for (let sent = 0; sent < QUEUED_MESSAGES_MAX; sent += 1) say(SUBSCRIBE);
    expect(ended).toEqual([]);
    say(SUBSCRIBE);
    expect(ended).toEqual(['flood']);
    early.forget(client);
    await vi.advanceTimersByTimeAsync(REGISTRY_WAIT_MS);
    expect(handled).toEqual([]);
  });

  it('bounds the bytes of all clients, with equal shares', () => {
    const text = SUBSCRIBE.replace('trades', `${'x'.repeat(16_000)}trades`);
    const request = readRequest(SUBSCRIBE, registry);
    const clients = [client, { ...client }, { ...client }] as Connection[];
    const total = Math.floor(QUEUED_BYTES_MAX / queuedBytes(text));
    const share = Math.ceil(total / clients.length);
    for (const one of clients) for (let sent = 0; sent < share; sent += 1) early.hold(one, text, request);
    expect(ended).toEqual(['flood']);
  });

  it('replays many clients over several turns, new messages behind held ones', async () => {
    let ms = 0;
    nowMs = () => ms++;
    early = open();
    const clients = Array.from({ length: 3 }, () => ({ ...client })) as Connection[];
    for (const one of clients) say(SUBSCRIBE, one);
    for (const view of MARKETS) registry.put(view);
    ms = REGISTRY_WAIT_MS;
    vi.advanceTimersToNextTimer();
    expect(handled).toEqual([SUBSCRIBE]);
    expect([say(LEAVE, clients[0]), say(LEAVE, clients[2])]).toEqual([false, true]);
    vi.runAllTimers();
    expect(handled).toEqual([SUBSCRIBE, SUBSCRIBE, SUBSCRIBE, LEAVE]);
    expect(vi.getTimerCount()).toBe(0);
  });
});

it('handles an unknown market at once when markets are known from the start', () => {
  registry = markets();
  early = open();
  expect(say(SUBSCRIBE.replace('SOL', 'DOGE'))).toBe(false);
});
