// Messages are compressed when operator and client both allow it, judged by the bytes on the wire.

import type { Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import type { WebSocket } from 'ws';
import type { RunningRole } from '../../platform/index.ts';
import { FeedClient } from '../../test/support/api/feed-client.ts';
import { diff, Stage, snapshot, until } from '../../test/support/api/stage.ts';
import { startOrderBook } from '../orderbook/start.ts';
import type { Compressor } from './compressors.ts';

const DIFFS = 20;
const BOOK = 'orderbook_perp_0_grouped_1';

let role: RunningRole;
let client: FeedClient;

afterEach(async () => {
  client.socket.terminate();
  await role.stop();
});

/** Characters that a client receives of one market's books and `book` diffs, and the bytes on the wire. */
async function follow(
  gatewayDeflate: Compressor,
  perMessageDeflate: boolean,
): Promise<{ received: number; wire: number }> {
  const stage = new Stage();
  await stage.markets();
  await stage.books(snapshot());
  role = await startOrderBook(stage.context({ bookTickMs: 0, gatewayDeflate }));
  client = await FeedClient.connect(role.endpoints.gateway ?? '', { perMessageDeflate });
  client.subscribe();
  client.subscribe({ channel: 'book', conflation: 0 });
  await until(
    () =>
      client.data(BOOK).length > 0 && client.received.some((one) => JSON.stringify(one).includes('"type":"snapshot"')),
  );
  const tcp = (client.socket as WebSocket & { _socket: Socket })._socket;
  const [began, before] = [client.received.length, tcp.bytesRead];
  // One after the other, so that each is a message of its own on a busy machine too.
  for (let seq = 2; seq <= DIFFS; seq += 1) {
    await stage.books(diff(seq, 487 + seq));
    await until(() => client.data<{ slot: number }>(BOOK).at(-1)?.slot === 487 + seq);
  }
  await client.settle();
  expect(client.data<{ bids: unknown[] }>(BOOK).at(-1)?.bids).toHaveLength(3);
  return { received: JSON.stringify(client.received.slice(began)).length, wire: tcp.bytesRead - before };
}

it('messages go out uncompressed by default, whatever the client offers', async () => {
  const { received, wire } = await follow('off', true);
  expect(client.socket.extensions).toBe('');
  expect(wire).toBeGreaterThan(received * 0.8);
});

it.each([
  ['shared', 0.6],
  ['dedicated', 0.6],
] as const)(
  'gatewayDeflate `%s`: a client that offers permessage-deflate receives the same in less than %d of the bytes',
  async (compressor, share) => {
    const { received, wire } = await follow(compressor, true);
    expect(client.socket.extensions).toContain('permessage-deflate');
    expect(wire).toBeLessThan(received * share);
  },
);

it('a client that does not offer it gets plain frames from a gateway that would deflate', async () => {
  const { received, wire } = await follow('dedicated', false);
  expect(wire).toBeGreaterThan(received * 0.8);
});
