// Errors of the HTTP parser, before the framework sees a request. The server answers them on the bare socket.

import { type IncomingMessage, type ServerOptions, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { HistoryError } from './errors.ts';
import { isGatewayUpgrade } from './paths.ts';

/** Limit of request line and headers. A batch of 200 escaped market names needs nearly 16 KiB, the default of Node.js. */
export const MAX_HEADER_BYTES = 65_536;
/** Interval of the search for requests that never end. The default of Node.js is 30 s. */
const TIMEOUT_LOOK_MS = 5000;

/** Options of the HTTP parser of a REST port. The types lack `shouldUpgradeCallback`. */
export const HTTP_OPTIONS: ServerOptions & { shouldUpgradeCallback(request: IncomingMessage): boolean } = {
  maxHeaderSize: MAX_HEADER_BYTES,
  connectionsCheckingInterval: TIMEOUT_LOOK_MS,
  requireHostHeader: false, // `lacksHost` refuses with our own text
  shouldUpgradeCallback: isGatewayUpgrade,
};

/** True for a request without a host, which HTTP/1.1 forbids. */
export function lacksHost({ httpVersionMajor, httpVersionMinor, headers }: IncomingMessage): boolean {
  return httpVersionMajor === 1 && httpVersionMinor >= 1 && headers.host === undefined;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Set by `readJsonBodies`. */
    readonly readsBody?: boolean;
  }
}

/** The server reads no body, except of the routes after `readJsonBodies`. */
export function ignoreUnreadBodies(app: FastifyInstance): void {
  // Without this, the framework refuses a malformed type before it looks for a parser.
  app.addHook('onRequest', ({ raw, routeOptions }, _reply, done) => {
    if (routeOptions.config.readsBody !== true) delete raw.headers['content-type'];
    done();
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
}

/** Largest body by default. The requests of this service are lists of a few keys. */
const MAX_BODY_BYTES = 16_384;

/**
 * Lets the routes that are registered later in this scope read JSON bodies of at most `maxBytes`, or of a smaller `bodyLimit`
 * of their own. A body of another type is absent, and an encoded one is refused.
 */
export function readJsonBodies(scope: FastifyInstance, maxBytes = MAX_BODY_BYTES): void {
  scope.addHook('onRoute', (route) => {
    route.config = { ...route.config, readsBody: true };
    route.bodyLimit = Math.min(route.bodyLimit ?? maxBytes, maxBytes);
  });
  // An empty body is absent, so that DELETE may name a content type without one.
  scope.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (request, text, done) => {
    const encoding = request.headers['content-encoding'] ?? 'identity';
    if (text === '') done(null, undefined);
    else if (encoding !== 'identity') done(new HistoryError('validation', 'body must have no Content-Encoding'));
    else scope.getDefaultJsonParser('error', 'error')(request, text, done);
  });
}

/** Time for the client to read the answer. An earlier close with unread input would discard the answer. */
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

/** A `clientError` handler. It answers with CORS headers and ends the connection. */
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
