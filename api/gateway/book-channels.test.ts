// Times at which books leave, and which books leave together, on a clock that only the test moves.

import fc from 'fast-check';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type MarketView, marketKey } from '../../schemas/index.ts';
import { marketView } from '../../test/support/api/market-views.ts';
import { diff, snapshot } from '../../test/support/api/stage.ts';
import { recordingClient } from '../../test/support/gateway/recording-client.ts';
import type { BookListener, BookReader } from '../views/book-reader.ts';
import { PublishedBook } from '../views/published-book.ts';
import { MarketRegistry } from '../views/registry.ts';
import { BookChannels } from './book-channels.ts';
import { Fanout } from './fanout.ts';
import { gatewayMetrics } from './metrics.ts';
import { type Grouping, type ResolvedChannel, resolveChannel } from './requests.ts';

const TICK_MS = 50;
const MARKETS = 8;

interface Market {
  readonly channel: ResolvedChannel;
  /** Publishes a new slot of this market in a batch of its own and returns it. */
  change(): number;
}

interface Received {
  readonly name: string;
  readonly slot: number;
  readonly atMs: number;
}

let open: BookChannels[] = [];

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  for (const channels of open) channels.stop();
  open = [];
  vi.useRealTimers();
});

/** Eight markets and one client subscribed to a book of each. */
function stage(tickMs: number, described: Partial<MarketView> = {}) {
  const books = new Map<string, PublishedBook>();
  const registry = new MarketRegistry();
  const listeners: BookListener[] = [];
  const reader = {
    onChange: (listener: BookListener) => {
      listeners.push(listener);
      return () => {};
    },
    indicative: { onChange: () => () => {} },
    bookByKey: (key: string) => books.get(key) ?? null,
    markets: registry,
  } as unknown as BookReader;
  const received: Received[] = [];
  const client = recordingClient(() => {
    for (const frame of client.writes.at(-1) ?? []) {
      const { channel, data } = JSON.parse(frame);
      received.push({ name: channel, slot: JSON.parse(data).slot, atMs: performance.now() });
    }
  });
  const fanout = new Fanout();
  const channels = new BookChannels({ reader, fanout, metrics: gatewayMetrics(new Registry()), tickMs });
  open.push(channels);
  const markets = Array.from({ length: MARKETS }, (_, marketIndex) => {
    const view = marketView({ marketIndex, symbol: `M${marketIndex}-PERP`, ...described });
    const book = new PublishedBook();
    book.take(snapshot({ marketIndex }), 0);
    books.set(marketKey(view), book);
    registry.put(view);
    const channel = resolveChannel('orderbook', view, 1);
    channels.replay(channel);
    fanout.add(channel.name, client.connection);
    let seq = 1;
    const change = (): number => {
      seq += 1;
      book.take(diff(seq, 486 + seq, { marketIndex }), 0);
      for (const listener of listeners) listener(new Set([marketKey(view)]));
      return 486 + seq;
    };
    return { channel, change };
  });
  /** The newest book of the first market. */
  const replay = (grouping: Grouping): { readonly bids: readonly { readonly price: string }[] } => {
    const frame = channels.replay(resolveChannel('orderbook', { marketType: 'perp', marketIndex: 0 }, grouping));
    return JSON.parse(JSON.parse(String(frame)).data);
  };
  return { markets, client, received, replay };
}

describe('a grouped book', () => {
  it('of a market without a tick size has buckets of 1, 10 and so on', () => {
    const { replay } = stage(0, { tickSize: 0n });
    const prices = (grouping: Grouping): string[] => replay(grouping).bids.map(({ price }) => price);
    expect(prices(1)).toEqual(['81114210', '80260400']);
    expect(prices(100)).toEqual(['81114200', '80260400']);
  });
});

describe('books of many markets', () => {
  it('leave in one write per tick, however their changes fall within it', () => {
    const { markets, client } = stage(TICK_MS);
    vi.advanceTimersByTime(TICK_MS - (performance.now() % TICK_MS));
    const ticks = 20;
    for (let step = 0; step < ticks * 10; step += 1) {
      markets[step % MARKETS]?.change();
      vi.advanceTimersByTime(TICK_MS / 10);
    }
    // The first change leaves at once.
    const [first, ...others] = client.writes.map(({ length }) => length);
    expect(first).toBe(1);
    expect(others).toEqual(Array.from({ length: ticks }, () => MARKETS));
  });

  it('arrive within a tick, in order up to the newest, in at most one write per tick', () => {
    const step = fc.record({ market: fc.nat(MARKETS - 1), afterMs: fc.integer({ min: 0, max: 2 * TICK_MS }) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const { markets, client, received } = stage(TICK_MS);
        const published: Received[] = [];
        for (const { market, afterMs } of steps) {
          vi.advanceTimersByTime(afterMs);
          const { channel, change } = markets[market] as Market;
          const atMs = performance.now();
          published.push({ name: channel.name, slot: change(), atMs });
        }
        vi.advanceTimersByTime(TICK_MS);
        for (const { name, slot, atMs } of published) {
          const found = received.find((one) => one.name === name && one.slot >= slot);
          expect(found?.atMs).toBeLessThanOrEqual(atMs + TICK_MS);
        }
        for (const { channel } of markets) {
          const slots = received.flatMap(({ name, slot }) => (name === channel.name ? [slot] : []));
          expect(slots).toEqual([...new Set(slots)].sort((a, b) => a - b));
        }
        const ticks = new Set(received.map(({ atMs }) => Math.floor(atMs / TICK_MS)));
        expect(client.writes).toHaveLength(ticks.size);
      }),
    );
  });

  it('a lone change after a quiet tick leaves at once', () => {
    const { markets, received } = stage(TICK_MS);
    for (const afterMs of [70, 90, 110]) {
      vi.advanceTimersByTime(afterMs);
      const atMs = performance.now();
      const slot = markets[0]?.change();
      expect(received.at(-1)).toMatchObject({ slot, atMs });
    }
  });

  it('with a tick of 0 each batch leaves at once', () => {
    const { markets, client } = stage(0);
    for (const { change } of [...markets, ...markets]) change();
    expect(client.writes).toHaveLength(2 * MARKETS);
    expect(vi.getTimerCount()).toBe(0);
  });
});
