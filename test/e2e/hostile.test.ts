// Slow, silent, flooding and malformed clients against the real order-book role: nothing crashes, memory stays bounded, and a
// polite client gets every slot. `npm run soak hostile` does the same for longer and measures what the polite notice.

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { residentBytes } from '../bench/harness/processes.ts';
import { Stage, subscribeTo } from '../bench/harness/stage.ts';
import { SyntheticMarket } from '../bench/harness/synthetic-markets.ts';
import { Hostile, type HostileKind } from '../fuzz/hostile.ts';
import { eventually } from '../support/processes/processes.ts';
import { FeedClient } from './harness/keeper/feed-client.ts';

const CLIENTS = 1_000;
/** The kernel takes some megabytes for each before the server sees that a client does not read. */
const SLOW_CLIENTS = 100;
/** Enough for them to lag within a time that a test has. */
const SLOW_CHANNELS = ['orderbook', 'orderbook_indicative'].flatMap((channel) =>
  [1, 10, 100, 500, 1000].map((grouping) => ({ channel, grouping })),
);
/** More than one client may send, however slowly the machine lets it. */
const MESSAGES = 20_000;
/** Their sockets and the kernel hold no more long before so many slots. */
const SLOW_SLOTS_MAX = 1_000;
/** Above what the role needs by itself: far more than 4,000 clients may cost, far less than what they are sent. */
const MEMORY_BOUND_BYTES = 500_000_000;
const ROUND_TIMEOUT_MS = 120_000;

describe('hostile clients', () => {
  const market = new SyntheticMarket(0);
  let stage: Stage;
  let polite: FeedClient;
  let hostile: Hostile;
  let startBytes = 0;
  let published = 0;

  beforeAll(async () => {
    stage = await Stage.start([market], { BOOK_TICK_MS: 0 });
    polite = await FeedClient.connect(stage.gateway);
    polite.send(subscribeTo(market));
    await polite.waitFor('a book', ({ data }) => data !== undefined);
    startBytes = residentBytes(stage.server.pid);
  });
  afterEach(() => hostile?.stop());
  afterAll(() => stage?.stop());

  /** Publishes slots one after the other while `attack` is under way, each when the polite client has the last. */
  const serveDuring = async (attack: Promise<unknown>): Promise<void> => {
    let isOver = false;
    const over = attack.finally(() => {
      isOver = true;
    });
    for (let round = 0; round < 20 || !isOver; round += 1) {
      market.nextSlot();
      await stage.publish([{ market, diff: market.change() }]);
      published += 1;
      const { slot } = market;
      await polite.waitFor(`slot ${slot}`, ({ data }) => data?.slot === slot, 0, ROUND_TIMEOUT_MS);
      polite.messages.length = 0;
    }
    await over;
  };
  const attackWith = async (kind: HostileKind, clients: number, asks = [subscribeTo(market)]): Promise<void> => {
    hostile = new Hostile();
    await serveDuring(hostile.attack({ url: stage.gateway, kind, clients, messages: MESSAGES, asks, seed: 1 }));
  };
  const expectAllClosed = (clients = CLIENTS): Promise<unknown> =>
    eventually('all closed', async () => {
      const { closes, refused } = await hostile.state();
      return Object.values(closes).reduce((sum, count) => sum + count, refused) >= clients;
    });
  const expectSound = async (): Promise<void> => {
    expect(residentBytes(stage.server.pid) - startBytes).toBeLessThan(MEMORY_BOUND_BYTES);
    expect(polite.closed).toBeUndefined();
    expect((await fetch(`${stage.rest}/l2?marketName=${market.symbol}`)).status).toBe(200);
    expect(published).toBeGreaterThan(0);
  };

  it('slow ones are closed with 1008', async () => {
    const asks = SLOW_CHANNELS.map((channel) => JSON.stringify({ ...JSON.parse(subscribeTo(market)), ...channel }));
    await attackWith('slow', SLOW_CLIENTS, asks);
    const served = published;
    while ((await stage.overflows()) < SLOW_CLIENTS) {
      expect(published - served).toBeLessThan(SLOW_SLOTS_MAX);
      await serveDuring(Promise.resolve());
    }
    await expectSound();
    await hostile.read();
    // A client that reads much too late finds the connection cut instead of the close frame.
    await expectAllClosed(SLOW_CLIENTS);
    expect((await hostile.state()).closes['1008']).toBeGreaterThan(0);
  });

  it('silent ones cost next to nothing', async () => {
    await attackWith('silent', CLIENTS);
    await expectSound();
    expect((await hostile.state()).refused).toBe(0);
  });

  it.each(['flooding', 'replaying'] as const)('%s ones are closed with 1008', async (kind) => {
    await attackWith(kind, CLIENTS);
    await expectSound();
    await expectAllClosed();
  });

  it('those that ask for every depth leave books to others', async () => {
    await attackWith('depths', CLIENTS / 10);
    await expectSound();
    const late = await FeedClient.connect(stage.gateway);
    late.send({ ...JSON.parse(subscribeTo(market)), channel: 'book' });
    await late.waitFor('a book of its own', ({ type }) => type === 'snapshot');
    late.close();
  });

  it('malformed ones end themselves only', async () => {
    await attackWith('malformed', CLIENTS);
    await expectSound();
    expect(stage.server.errors()).not.toContain('"level":60');
  });
});
