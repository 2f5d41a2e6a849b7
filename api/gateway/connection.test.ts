import type { WebSocket } from 'uWebSockets.js';
import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { IdleClient } from '../../test/support/api/idle-client.ts';
import { SOCKET_CLOSES } from '../http/errors.ts';
import { Connection, type SocketData } from './connection.ts';
import { BACKPRESSURE_BYTES, MAX_PAYLOAD_BYTES, MESSAGE_RATE, MESSAGE_UNIT_BYTES } from './limits.ts';
import { gatewayMetrics } from './metrics.ts';

/** Sends `frames` to a client that has `unreadBytes` unread. */
function send(unreadBytes: number, frames: readonly string[]): { sent: string[]; ended: unknown } {
  const client = new IdleClient();
  client.unreadBytes = unreadBytes;
  client.connection.send(frames);
  return { sent: client.sent, ended: client.ended };
}

it.each([
  [0, null],
  [300_000, null],
  [300_001, [1008, 'Buffer overflow']],
])('closes with 1008 and `Buffer overflow` above 300,000 unread bytes: %i bytes, %j', (unreadBytes, ended) => {
  expect(send(unreadBytes, ['x'])).toEqual({ sent: ended ? [] : ['x'], ended });
});

it('closes between two frames of one write, as soon as a frame exceeds the bound', () => {
  expect(send(299_999, ['ab', 'c', 'd'])).toEqual({ sent: ['ab'], ended: [1008, 'Buffer overflow'] });
});

it('a long frame raises the bound by its size, until the client has read it', () => {
  const client = new IdleClient();
  const { connection } = client;
  const long = 'x'.repeat(500_000);
  connection.sendLong([long]);
  client.unreadBytes = 300_000;
  connection.drained();
  connection.send(['y']);
  expect([client.sent, client.ended]).toEqual([[long, 'y'], null]);
  client.sent = [];
  client.unreadBytes = BACKPRESSURE_BYTES;
  connection.drained();
  client.unreadBytes = 300_001;
  connection.send(['z']);
  expect([client.sent, client.ended]).toEqual([[], [1008, 'Buffer overflow']]);
});

it('a long frame raises the bound no further than its size, and not at all for one that reads at once', () => {
  const slow = new IdleClient();
  slow.connection.sendLong(['x'.repeat(500_000)]);
  slow.unreadBytes = 300_001;
  slow.connection.send(['y']);
  expect(slow.ended).toEqual([1008, 'Buffer overflow']);
  const quick = new IdleClient();
  quick.send = () => {};
  quick.connection.sendLong(['x'.repeat(500_000)]);
  quick.unreadBytes = 300_001;
  quick.connection.send(['y']);
  expect(quick.ended).toEqual([1008, 'Buffer overflow']);
});

it('a long message counts as several messages against the rate', () => {
  const connection = new Connection({} as WebSocket<SocketData>, gatewayMetrics(new Registry()));
  const messages = Math.floor(MESSAGE_RATE.burst / (MAX_PAYLOAD_BYTES / MESSAGE_UNIT_BYTES));
  for (let sent = 0; sent < messages; sent += 1) expect(connection.admits(0, MAX_PAYLOAD_BYTES)).toBe(true);
  expect(connection.admits(0, MAX_PAYLOAD_BYTES)).toBe(false);
});

it('the counter of closes names every reason', async () => {
  const registry = new Registry();
  gatewayMetrics(registry);
  const text = await registry.getSingleMetricAsString('slotbook_gateway_closes_total');
  for (const reason of [...Object.keys(SOCKET_CLOSES), 'client', 'shutdown']) expect(text).toContain(reason);
});
