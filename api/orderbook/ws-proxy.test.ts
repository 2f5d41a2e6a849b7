import { createHash } from 'node:crypto';
import { createServer } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { boundPort } from '../../platform/index.ts';
import { FeedClient } from '../../test/support/api/feed-client.ts';
import { Stage, until } from '../../test/support/api/stage.ts';
import { startOrderBookServer } from './server.ts';

let stop: (() => Promise<void>) | undefined;

afterEach(async () => {
  await stop?.();
});

it('answers 503 when no gateway listens, and the server continues', async () => {
  const server = await startOrderBookServer(new Stage().context(), { gateway: { host: '127.0.0.1', port: 1 } });
  stop = server.stop;
  const url = server.endpoints.orderbook ?? '';
  await expect(FeedClient.connect(`${url.replace('http', 'ws')}/ws`)).rejects.toThrow('503');
  expect((await fetch(`${url}/health`)).status).toBe(200);
});

it('ends the client connection when the gateway stops', async () => {
  const gateway = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', (head) => {
      const key = /sec-websocket-key: (\S+)/i.exec(head.toString())?.[1] ?? '';
      const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
      );
      setTimeout(() => socket.destroy(), 20);
    });
  });
  await new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve));
  const port = boundPort(gateway.address());
  const server = await startOrderBookServer(new Stage().context(), { gateway: { host: '127.0.0.1', port } });
  stop = server.stop;
  const client = await FeedClient.connect(`${(server.endpoints.orderbook ?? '').replace('http', 'ws')}/ws`);
  await until(() => client.closed !== null);
  expect(client.closed?.code).toBe(1006);
  gateway.close();
});
