// What fails before any route and before the framework: the HTTP parser refuses it, and it is answered on the bare socket.

import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';

/** Names in a batch of 1,000 markets need more than the 16 KiB of Node.js. */
export const MAX_HEADER_BYTES = 65_536;
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
