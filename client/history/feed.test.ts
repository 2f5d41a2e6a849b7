// The feed of the history: channels by listener, again after a reconnect, and no reconnect for silence.

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ScriptedSocket } from '../../test/support/client/scripted-socket.ts';
import { HistoryFeed } from '../index.ts';

let sockets: ScriptedSocket[] = [];
let feed: HistoryFeed;
const newest = (): ScriptedSocket => sockets.at(-1) ?? new ScriptedSocket();
const CANDLES = { channelType: 'candle', symbol: 'SOL-PERP', resolution: '1' };
const MARKETS = { channelType: 'markets' };
const candle = (ts: number, symbol = 'SOL-PERP') => ({ type: 'update', candle: { ts, symbol, resolution: '1' } });

beforeEach(() => {
  vi.useFakeTimers();
  sockets = [];
  feed = new HistoryFeed({
    url: 'ws://server/ws',
    open: () => {
      const socket = new ScriptedSocket();
      sockets.push(socket);
      return socket;
    },
  });
});
afterEach(() => {
  feed.close();
  vi.useRealTimers();
});

describe('the feed of the history', () => {
  it('gives candles and summaries to their listeners alone', () => {
    const times: number[] = [];
    const lists: unknown[] = [];
    feed.candles('SOL-PERP', '1', ({ ts }) => times.push(ts));
    feed.markets((markets) => lists.push(markets));
    newest().open();
    expect(newest().sent).toEqual([
      { ...CANDLES, type: 'subscribe' },
      { ...MARKETS, type: 'subscribe' },
    ]);
    newest().say({ type: 'subscription', ...CANDLES, channel: 'candle:SOL-PERP:1' });
    newest().say(candle(60));
    newest().say(candle(120, 'BTC-PERP'));
    newest().say({ channel: 'markets:summary', data: [{ symbol: 'SOL-PERP' }] });
    newest().say('{"damaged');
    expect([times, lists]).toEqual([[60], [[{ symbol: 'SOL-PERP' }]]]);
  });

  it('subscribes once for several listeners, and ends with the last', () => {
    const ends = [feed.markets(() => {}), feed.markets(() => {})];
    newest().open();
    expect(newest().sent).toEqual([{ ...MARKETS, type: 'subscribe' }]);
    ends[0]?.();
    expect(newest().sent).toHaveLength(1);
    ends[1]?.();
    ends[1]?.();
    expect(newest().sent.slice(1)).toEqual([{ ...MARKETS, type: 'unsubscribe' }]);
  });

  it('subscribes again after a loss, without what has ended meanwhile', async () => {
    const losses: number[] = [];
    feed.on('disconnected', ({ code }) => losses.push(code));
    const end = feed.markets(() => {});
    feed.candles('SOL-PERP', '1', () => {});
    newest().open();
    newest().drop(1012);
    end();
    await vi.advanceTimersByTimeAsync(60_000);
    newest().open();
    expect(newest().sent).toEqual([{ ...CANDLES, type: 'subscribe' }]);
    expect(losses).toEqual([1012]);
  });

  it('takes silence for nothing to say', async () => {
    feed.markets(() => {});
    newest().open();
    await vi.advanceTimersByTimeAsync(600_000);
    expect(sockets).toHaveLength(1);
  });
});
