import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { MARKETS } from '../testing/market-views.ts';
import { MarketRegistry } from '../views/registry.ts';
import type { Connection } from './connection.ts';
import { EarlyMessages } from './early.ts';
import { waitingBytes } from './inbox.ts';
import { REGISTRY_SETTLES_MS, REGISTRY_WAIT_MS, WAITING_BYTES_MAX, WAITING_MESSAGES_MAX } from './limits.ts';
import { readRequest } from './requests.ts';

const SUBSCRIBE = JSON.stringify({ type: 'subscribe', channel: 'trades', market: 'SOL-PERP', marketType: 'perp' });
const LEAVE = SUBSCRIBE.replace('subscribe', 'unsubscribe');
const BOOK = SUBSCRIBE.replace('trades', 'book');

const markets = () => {
  const registry = new MarketRegistry();
  for (const view of MARKETS) registry.put(view);
  return registry;
};

let registry: MarketRegistry;
let heard: string[];
let early: EarlyMessages;
let ended: string[];
let nowMs: () => number;
const client = { end: (reason: string) => ended.push(reason) } as unknown as Connection;

beforeEach(() => {
  vi.useFakeTimers();
  heard = [];
  ended = [];
  nowMs = Date.now;
  registry = new MarketRegistry();
  early = open();
});

afterEach(() => {
  early.stop();
  vi.useRealTimers();
});

function open(): EarlyMessages {
  return new EarlyMessages({ markets: registry, handle: (_, text) => heard.push(text), clock: () => nowMs() });
}

function say(text: string, connection = client): boolean {
  return early.keep(connection, text, readRequest(text, registry));
}

describe('before any market is known', () => {
  it('keeps a subscribe, and what follows it, until the markets are there', async () => {
    expect([SUBSCRIBE, LEAVE, BOOK].map((text) => say(text))).toEqual([true, true, true]);
    await vi.advanceTimersByTimeAsync(500);
    for (const view of MARKETS) registry.put(view);
    await vi.advanceTimersByTimeAsync(REGISTRY_SETTLES_MS / 2);
    expect(heard).toEqual([]);
    await vi.advanceTimersByTimeAsync(REGISTRY_SETTLES_MS);
    expect(heard).toEqual([SUBSCRIBE, LEAVE, BOOK]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it.each([LEAVE, '{}', 'x', SUBSCRIBE.replace('trades', 'nothing'), BOOK.replace('SOL-PERP', '*')])(
    'answers what needs none: %s',
    (text) => {
      expect(say(text)).toBe(false);
    },
  );

  it('gives up in time', async () => {
    say(SUBSCRIBE);
    await vi.advanceTimersByTimeAsync(REGISTRY_WAIT_MS);
    expect(heard).toEqual([SUBSCRIBE]);
    expect(say(SUBSCRIBE)).toBe(false);
  });

  it('keeps nothing of a client that is gone, and not any number of messages', async () => {
    for (let sent = 0; sent < WAITING_MESSAGES_MAX; sent += 1) say(SUBSCRIBE);
    expect(ended).toEqual([]);
    say(SUBSCRIBE);
    expect(ended).toEqual(['flood']);
    early.forget(client);
    await vi.advanceTimersByTimeAsync(REGISTRY_WAIT_MS);
    expect(heard).toEqual([]);
  });

  it('keeps bytes of all clients up to a bound, of which each has an equal share', () => {
    const text = SUBSCRIBE.replace('trades', `${'x'.repeat(16_000)}trades`);
    const request = readRequest(SUBSCRIBE, registry);
    const clients = [client, { ...client }, { ...client }] as Connection[];
    const total = Math.floor(WAITING_BYTES_MAX / waitingBytes(text));
    const share = Math.ceil(total / clients.length);
    for (const one of clients) for (let sent = 0; sent < share; sent += 1) early.keep(one, text, request);
    expect(ended).toEqual(['flood']);
  });

  it('hears many clients over several turns of the loop, and what one says meanwhile behind what it said', async () => {
    let ms = 0;
    nowMs = () => ms++;
    early = open();
    const clients = Array.from({ length: 3 }, () => ({ ...client })) as Connection[];
    for (const one of clients) say(SUBSCRIBE, one);
    for (const view of MARKETS) registry.put(view);
    ms = REGISTRY_WAIT_MS;
    vi.advanceTimersToNextTimer();
    expect(heard).toEqual([SUBSCRIBE]);
    expect([say(LEAVE, clients[0]), say(LEAVE, clients[2])]).toEqual([false, true]);
    vi.runAllTimers();
    expect(heard).toEqual([SUBSCRIBE, SUBSCRIBE, SUBSCRIBE, LEAVE]);
    expect(vi.getTimerCount()).toBe(0);
  });
});

it('with markets known at the start an unknown one is answered at once', () => {
  registry = markets();
  early = open();
  expect(say(SUBSCRIBE.replace('SOL', 'DOGE'))).toBe(false);
});
