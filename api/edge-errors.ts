// What fails before any route and before the framework: the HTTP parser refuses it, and it is answered on the bare socket.

import { type IncomingMessage, type ServerOptions, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { isGatewayUpgrade } from './orderbook/paths.ts';

/** Of the request line and the headers: the names of a batch of 200 markets, escaped, need nearly the 16 KiB of Node.js. */
export const MAX_HEADER_BYTES = 65_536;
/** How often a request that never ends is looked for; Node.js does it every 30 s. */
const TIMEOUT_LOOK_MS = 5000;

/** What the HTTP parser of a REST port does; the newest member is not in the types yet. */
export const HTTP_OPTIONS: ServerOptions & { shouldUpgradeCallback(request: IncomingMessage): boolean } = {
  maxHeaderSize: MAX_HEADER_BYTES,
  connectionsCheckingInterval: TIMEOUT_LOOK_MS,
  requireHostHeader: false, // refused with our own text, see `lacksHost`
  shouldUpgradeCallback: isGatewayUpgrade,
};

/** True for a request that HTTP/1.1 does not allow: it names no host. */
export function lacksHost({ httpVersionMajor, httpVersionMinor, headers }: IncomingMessage): boolean {
  return httpVersionMajor === 1 && httpVersionMinor >= 1 && headers.host === undefined;
}

/** Nothing that is served takes a body: one that is sent is not read, whatever it is. */
export function ignoreBodies(app: FastifyInstance): void {
  // The framework refuses a type that is none before it asks who parses it.
  app.addHook('onRequest', ({ raw }, _reply, done) => {
    delete raw.headers['content-type'];
    done();
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
}

/** How long a client may take to read the answer: what it still sends would else take the answer with it. */
const LINGER_MS = 1000;

export type EdgeFault = 'headersTooLarge' | 'requestTimeout' | 'malformedHttp';

export interface EdgeAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

const FAULTS: Readonly<Record<string, EdgeFault>> = {
  HPE_HEADER_OVERFLOW: 'headersTooLarge',
  ERR_HTTP_REQUEST_TIMEOUT: 'requestTimeout',
};

/** A handler of `clientError` that answers with CORS headers and ends the connection. */
export function edgeErrorHandler(
  answerOf: (fault: EdgeFault) => EdgeAnswer,
): (error: Error & { readonly code?: string }, socket: Socket) => void {
  return (error, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const { status, contentType, body } = answerOf(FAULTS[error.code ?? ''] ?? 'malformedHttp');
    const head = [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      'Access-Control-Allow-Origin: *',
      `Content-Type: ${contentType}`,
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Connection: close',
    ];
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
    setTimeout(() => socket.destroy(), LINGER_MS).unref();
  };
}
