import type { WebSocket } from 'uWebSockets.js';
import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { SOCKET_CLOSES } from '../http/errors.ts';
import { Connection, type SocketData } from './connection.ts';
import { MAX_PAYLOAD_BYTES, MESSAGE_RATE, MESSAGE_UNIT_BYTES } from './limits.ts';
import { gatewayMetrics } from './metrics.ts';

const metrics = gatewayMetrics(new Registry());

/** Sends `frames` to a client that has `unreadBytes` unread. */
function send(unreadBytes: number, frames: readonly string[]): { sent: string[]; ended: unknown } {
  const sent: string[] = [];
  let ended: unknown = null;
  const socket = {
    getBufferedAmount: () => unreadBytes + Buffer.byteLength(sent.join('')),
    send: (frame: string) => sent.push(frame),
    cork: (write: () => void) => write(),
    end: (...args: unknown[]) => {
      ended = args;
    },
  };
  new Connection(socket as unknown as WebSocket<SocketData>, metrics).send(frames);
  return { sent, ended };
}

it.each([
  [0, null],
  [300_000, null],
  [300_001, [1008, 'Buffer overflow']],
])(
  'client buffer above 300,000 bytes: close code 1008, reason `Buffer overflow`: %i bytes, %j',
  (unreadBytes, ended) => {
    expect(send(unreadBytes, ['x'])).toEqual({ sent: ended ? [] : ['x'], ended });
  },
);

it('closes between two frames of one write, as soon as a frame exceeds the bound', () => {
  expect(send(299_999, ['ab', 'c', 'd'])).toEqual({ sent: ['ab'], ended: [1008, 'Buffer overflow'] });
});

it('a long message counts as several messages against the rate', () => {
  const connection = new Connection({} as WebSocket<SocketData>, metrics);
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
