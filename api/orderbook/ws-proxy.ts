// Proxies `/ws` and `/quotes/ws` from the REST port to the gateway: replays the upgrade request, then pipes the two sockets
// into each other.

import { type IncomingMessage, STATUS_CODES } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { AcceptBudget } from '../http/accept-budget.ts';
import { gatewayTarget } from '../http/paths.ts';

/** A gateway on the same machine accepts at once. */
const CONNECT_TIMEOUT_MS = 5000;
/** A client may read its remaining bytes for this long after its gateway connection has ended. */
const LINGER_MS = 10_000;

export interface GatewayAddress {
  readonly host: string;
  readonly port: number;
}

export interface WsProxy {
  /** Handles upgrades for which `isGatewayUpgrade` is true. */
  readonly onUpgrade: (request: IncomingMessage, client: Duplex, head: Buffer) => void;
  /** Closes every pair of sockets. */
  close(): void;
}

export function wsProxy(gateway: GatewayAddress): WsProxy {
  /** Client socket by gateway socket. */
  const pairs = new Map<Socket, Socket>();
  const accepting = new AcceptBudget();
  const onUpgrade = (request: IncomingMessage, stream: Duplex, head: Buffer): void => {
    const client = stream as Socket; // node:http passes the TCP socket
    client.on('error', () => client.destroy());
    const entrant = { admit: () => connectPair(request, client, head), refuse: () => client.destroy() };
    client.on('close', () => accepting.forget(entrant));
    accepting.take(entrant);
  };
  const connectPair = (request: IncomingMessage, client: Socket, head: Buffer): void => {
    const upstream = connect(gateway);
    pairs.set(upstream, client);
    upstream.setNoDelay(true);
    client.setNoDelay(true);
    client.setTimeout(0);
    upstream.setTimeout(CONNECT_TIMEOUT_MS, () => upstream.destroy(new Error('gateway does not answer')));
    upstream.once('connect', () => {
      upstream.setTimeout(0);
      upstream.write(requestHead(gatewayTarget(request.url ?? '/') ?? '/', request));
      if (head.length > 0) upstream.write(head);
      upstream.pipe(client);
      client.pipe(upstream);
    });
    upstream.on('error', () => (upstream.bytesRead === 0 ? refuse(client) : client.destroy()));
    upstream.on('close', () => {
      pairs.delete(upstream);
      client.end();
      client.resume(); // only a socket that is read notices the client's end
      // Frees the socket of a client that never reads.
      client.setTimeout(LINGER_MS, () => client.destroy());
    });
    client.on('close', () => upstream.destroy());
  };
  const close = (): void => {
    accepting.close();
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
