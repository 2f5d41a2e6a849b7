// `/ws` and `/quotes/ws` on the REST port: the upgrade request is replayed to the gateway and the two sockets are joined byte for byte.

import { type IncomingMessage, STATUS_CODES } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { stripPrefix } from './paths.ts';

/** A gateway in the same process or machine answers at once; longer means that it is not there. */
const CONNECT_TIMEOUT_MS = 5000;
/** How long a client may take to read what was sent before its gateway connection ended. */
const LINGER_MS = 10_000;

export interface GatewayAddress {
  readonly host: string;
  readonly port: number;
}

export interface WsProxy {
  /** For upgrades that `isGatewayUpgrade` lets through. */
  readonly onUpgrade: (request: IncomingMessage, client: Duplex, head: Buffer) => void;
  /** Ends every joined pair. */
  close(): void;
}

export function wsProxy(gateway: GatewayAddress): WsProxy {
  /** Gateway socket and client socket. */
  const pairs = new Map<Socket, Socket>();
  const onUpgrade = (request: IncomingMessage, stream: Duplex, head: Buffer): void => {
    const client = stream as Socket; // node:http hands over the TCP socket
    client.on('error', () => client.destroy());
    const upstream = connect(gateway);
    pairs.set(upstream, client);
    upstream.setNoDelay(true);
    client.setNoDelay(true);
    client.setTimeout(0);
    upstream.setTimeout(CONNECT_TIMEOUT_MS, () => upstream.destroy(new Error('gateway does not answer')));
    upstream.once('connect', () => {
      upstream.setTimeout(0);
      upstream.write(requestHead(stripPrefix(request.url ?? '/'), request));
      if (head.length > 0) upstream.write(head);
      upstream.pipe(client);
      client.pipe(upstream);
    });
    upstream.on('error', () => (upstream.bytesRead === 0 ? refuse(client) : client.destroy()));
    upstream.on('close', () => {
      pairs.delete(upstream);
      client.end();
      client.resume(); // nobody reads it any more, and only a read socket notices that the client ends too
      // A client that stopped reading must not hold its socket for ever.
      client.setTimeout(LINGER_MS, () => client.destroy());
    });
    client.on('close', () => upstream.destroy());
  };
  const close = (): void => {
    for (const [upstream, client] of pairs) {
      client.destroy();
      upstream.destroy();
    }
  };
  return { onUpgrade, close };
}

function requestHead(target: string, { rawHeaders, socket }: IncomingMessage): string {
  const lines = [`GET ${target} HTTP/1.1`];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`);
  lines.push(`X-Forwarded-For: ${socket.remoteAddress ?? 'unknown'}`, '', '');
  return lines.join('\r\n');
}

function refuse(client: Duplex): void {
  client.end(`HTTP/1.1 503 ${STATUS_CODES[503]}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}
