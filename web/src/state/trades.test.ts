// The trade list: fills of the history and of the channel, none missing at a market change or a reconnect.

import type { Signal } from '@preact/signals';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { history } from '../services.ts';
import { type Connection, connection } from './book-feed.ts';
import { followTrades, trades, tradesError } from './trades.ts';

vi.mock('./book-feed.ts', async () => {
  const { signal } = await import('@preact/signals');
  return { connection: signal({ is: 'connecting' }), feed: null };
});
vi.mock('../services.ts', () => ({ history: { get: vi.fn() }, wordsOf: String }));

const RELOADED_MS = 10_000;
/** Fills that the history has. */
let stored: string[] = [];
let isDown = false;
let stop: () => void;

const ids = () => trades.value.map(({ id }) => id);
const connect = (is: 'open' | 'lost'): void => {
  (connection as Signal<Pick<Connection, 'is'>>).value = { is };
};

beforeEach(() => {
  vi.useFakeTimers();
  stored = ['1'];
  isDown = false;
  vi.mocked(history.get).mockImplementation((async () => {
    if (isDown) throw new Error('no answer');
    const records = stored.map((fillRecordId) => ({ fillRecordId, slot: 5, txSig: '', actionExplanation: '' }));
    return { records };
  }) as never);
  stop = followTrades('SOL-PERP', 'perp', 9);
});
afterEach(() => {
  stop();
  connect('lost');
  vi.useRealTimers();
});

it('has a fill that the history stores only after the page has connected', async () => {
  connect('open');
  await vi.advanceTimersByTimeAsync(10);
  expect(ids()).toEqual(['1']);
  stored.push('2');
  await vi.advanceTimersByTimeAsync(RELOADED_MS);
  expect(ids()).toEqual(['2', '1']);
  connect('lost');
  connect('open');
  await vi.advanceTimersByTimeAsync(10);
  stored.push('3');
  await vi.advanceTimersByTimeAsync(RELOADED_MS);
  expect(ids()).toEqual(['3', '2', '1']);
});

it('is loaded again until the history answers, then no more', async () => {
  isDown = true;
  connect('open');
  vi.mocked(history.get).mockClear();
  await vi.advanceTimersByTimeAsync(60 * RELOADED_MS);
  expect([ids(), tradesError.value]).toEqual([[], 'Error: no answer']);
  expect(vi.mocked(history.get).mock.calls.length).toBeLessThan(10);
  isDown = false;
  await vi.advanceTimersByTimeAsync(60 * RELOADED_MS);
  expect([ids(), tradesError.value]).toEqual([['1'], null]);
  const count = vi.mocked(history.get).mock.calls.length;
  await vi.advanceTimersByTimeAsync(10 * RELOADED_MS);
  expect(vi.mocked(history.get).mock.calls.length).toBe(count);
});
