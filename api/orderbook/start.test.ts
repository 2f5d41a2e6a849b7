import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunningRole } from '../../platform/index.ts';
import { FeedClient } from '../../test/support/api/feed-client.ts';
import { Stage, until } from '../../test/support/api/stage.ts';
import { startOrderBook } from './start.ts';

let role: RunningRole;

beforeAll(async () => {
  const stage = new Stage();
  await stage.markets();
  role = await startOrderBook(stage.context());
});

afterAll(() => role.stop());

const portOf = (endpoint: string): string => new URL(role.endpoints[endpoint] ?? '').port;

describe.each(['127.0.0.1', '[::1]', 'localhost'])('at %s', (host) => {
  it('REST answers', async () => {
    // `/health` says NOK while a busy machine gives this process no turn.
    await until(async () => (await fetch(`http://${host}:${portOf('orderbook')}/health`)).ok);
  });

  it.each([
    ['gateway', '/ws'],
    ['orderbook', '/ws'],
    ['orderbook', '/WS/'],
    ['orderbook', '/dlob/ws'],
  ])('the %s takes a client of %s', async (endpoint, path) => {
    const client = await FeedClient.connect(`ws://${host}:${portOf(endpoint)}${path}`);
    client.subscribe();
    await client.waitForCount(1);
    expect(client.received[0]).toHaveProperty('message');
    client.socket.terminate();
  });
});
