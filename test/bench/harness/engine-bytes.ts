// Bytes that the gateway's WebSocket engine sends for messages, by the compressor that the operator chose.

import { App, type WebSocket as EngineSocket, us_listen_socket_close, us_socket_local_port } from 'uWebSockets.js';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { WebSocket } from 'ws';
import { COMPRESSORS, type Compressor } from '../../../api/gateway/compressors.ts';

/** Bytes sent to a client with permessage-deflate, with the heads of frames. */
export async function engineBytes(messages: readonly Buffer[], compressor: Compressor): Promise<number> {
  const app = App();
  const opened = new Promise<EngineSocket<unknown>>((resolve) => {
    app.ws('/', { compression: COMPRESSORS[compressor], maxBackpressure: 0, open: resolve });
  });
  const listening = await new Promise<Parameters<typeof us_listen_socket_close>[0]>((resolve, reject) => {
    app.listen('127.0.0.1', 0, (socket) => (socket ? resolve(socket) : reject(new Error('cannot listen'))));
  });
  const client = new WebSocket(`ws://127.0.0.1:${us_socket_local_port(listening)}/`);
  try {
    const [server] = await Promise.all([opened, once(client, 'open')]);
    const tcp = (client as WebSocket & { readonly _socket: Socket })._socket;
    const before = tcp.bytesRead;
    for (const message of messages) {
      server.send(message, false, compressor !== 'off');
      await once(client, 'message');
    }
    return tcp.bytesRead - before;
  } finally {
    client.terminate();
    us_listen_socket_close(listening);
  }
}
