// gRPC calls over Node's own HTTP/2 (https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md). A general client passes
// each message through a chain of filters and promises, and stops the socket for each. A stream of accounts has tens of
// thousands of messages a second.

import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type IncomingHttpHeaders,
} from 'node:http2';
import { gunzipSync } from 'node:zlib';
import { Frames, frameOf, MessageError } from './frames.ts';

/** The largest account has 10 MiB; a block's metadata is smaller. */
const MESSAGE_BYTES_MAX = 64 * 1024 * 1024;
/** A dead connection is noticed after the sum of both, one that never begins after the first. */
const KEEPALIVE_MS = 10_000;
const KEEPALIVE_TIMEOUT_MS = 5_000;
/** Bytes on their way to this process, so that a fast server does not wait for each acknowledgement. */
const FLOW_WINDOW_BYTES = 4 * 1024 * 1024;
const GZIP = 'gzip';

/** Status codes of gRPC (https://grpc.io/docs/guides/status-codes). */
export const STATUS = {
  ok: 0,
  unknown: 2,
  deadlineExceeded: 4,
  outOfRange: 11,
  internal: 13,
  unavailable: 14,
} as const;

export interface CallHandlers {
  message(bytes: Buffer): void;
  /** Called once, unless the connection is closed here. `details` may be empty. */
  ended(status: number, details: string): void;
}

/** A call whose both sides may send messages. */
export interface Call {
  send(message: Uint8Array): void;
  pause(): void;
  resume(): void;
  readonly isPaused: boolean;
}

export interface ConnectionOptions {
  /** Sent as `x-token`; empty: none. */
  readonly token: string;
  /** Certificates in PEM that sign those of the server; absent: the public authorities that Node knows. */
  readonly roots?: Buffer | undefined;
}

/** A connection of its own: two sessions must not share one, because a hung one would take the next one with it. */
export class GrpcConnection {
  readonly #session: ClientHttp2Session;
  readonly #token: string;
  readonly #keepalive: NodeJS.Timeout;
  /** Why the connection was lost; empty while it is not known. */
  #reason = '';
  #isClosed = false;

  /** `url` begins with `https:` for TLS, or with `http:`. */
  constructor(url: string, { token, roots }: ConnectionOptions) {
    this.#token = token;
    const session = connect(url, {
      settings: { initialWindowSize: FLOW_WINDOW_BYTES, enablePush: false },
      ...(roots === undefined ? {} : { ca: roots }),
    });
    this.#session = session;
    session.once('connect', () => {
      // One that was closed meanwhile throws.
      if (!session.destroyed) session.setLocalWindowSize(FLOW_WINDOW_BYTES);
    });
    session.on('error', (error: Error) => {
      this.#reason ||= error.message;
    });
    this.#keepalive = setInterval(() => this.#ping(), KEEPALIVE_MS).unref();
    session.once('close', () => clearInterval(this.#keepalive));
  }

  call(path: string, handlers: CallHandlers): Call {
    const stream = this.#open(path);
    this.#read(stream, handlers);
    return {
      send: (message) => {
        if (!stream.closed && !stream.destroyed) stream.write(frameOf(message));
      },
      pause: () => stream.pause(),
      resume: () => stream.resume(),
      get isPaused() {
        return stream.isPaused();
      },
    };
  }

  /** The answer to one message; null when the server gives none in time, and when the connection is closed. */
  ask(path: string, message: Uint8Array, timeoutMs: number): Promise<Buffer | null> {
    return new Promise((resolve) => {
      const stream = this.#open(path);
      const late = setTimeout(() => stream.close(constants.NGHTTP2_CANCEL), timeoutMs);
      let answer: Buffer | null = null;
      const ended = (status: number): void => {
        clearTimeout(late);
        resolve(status === STATUS.ok ? answer : null);
      };
      this.#read(stream, {
        message: (bytes) => {
          answer = bytes;
        },
        ended,
      });
      // Also when the connection is closed here.
      stream.once('close', () => ended(STATUS.unavailable));
      stream.end(frameOf(message));
    });
  }

  /** Ends all calls. Their handlers are not called for it. */
  close(): void {
    this.#isClosed = true;
    this.#session.destroy();
  }

  /** @throws Error when the connection is lost, with its reason */
  #open(path: string): ClientHttp2Stream {
    if (this.#session.destroyed) throw new Error(this.#reason || 'the connection was lost');
    return this.#session.request({
      [constants.HTTP2_HEADER_METHOD]: 'POST',
      [constants.HTTP2_HEADER_PATH]: path,
      [constants.HTTP2_HEADER_CONTENT_TYPE]: 'application/grpc',
      [constants.HTTP2_HEADER_TE]: 'trailers',
      'grpc-accept-encoding': `identity,${GZIP}`,
      ...(this.#token === '' ? {} : { 'x-token': this.#token }),
    });
  }

  #read(stream: ClientHttp2Stream, { message, ended }: CallHandlers): void {
    let isOver = false;
    let isPacked = false;
    const end = (status: number, details: string): void => {
      if (isOver || this.#isClosed) return;
      isOver = true;
      ended(status, details);
    };
    const frames = new Frames(MESSAGE_BYTES_MAX, (bytes, isCompressed) => {
      if (isOver || this.#isClosed) return;
      if (isCompressed && !isPacked)
        throw new MessageError('a compressed message without an encoding that was asked for');
      message(isCompressed ? inflated(bytes) : bytes);
    });
    const status = (headers: IncomingHttpHeaders): void => {
      const code = headers['grpc-status'];
      if (code !== undefined) end(Number(code), textOf(headers['grpc-message']));
    };
    stream.on('response', (headers) => {
      isPacked = headers['grpc-encoding'] === GZIP;
      const http = headers[constants.HTTP2_HEADER_STATUS];
      status(headers);
      if (Number(http) !== constants.HTTP_STATUS_OK) end(STATUS.unknown, `HTTP status ${http}`);
    });
    stream.on('trailers', status);
    stream.on('data', (bytes: Buffer) => {
      try {
        frames.take(bytes);
      } catch (error) {
        if (!(error instanceof MessageError)) throw error;
        end(STATUS.internal, error.message);
        stream.close(constants.NGHTTP2_CANCEL);
      }
    });
    stream.on('error', (error) => end(STATUS.unavailable, this.#reason || error.message));
    stream.on('close', () => end(STATUS.unavailable, this.#reason || 'the connection was lost'));
  }

  #ping(): void {
    if (this.#session.destroyed) return;
    if (this.#session.connecting) {
      // A server that accepts and never ends the TLS handshake sends no event at all.
      this.#reason ||= 'no connection in time';
      this.#session.destroy();
      return;
    }
    const lost = setTimeout(() => {
      this.#reason ||= 'the server does not answer pings';
      this.#session.destroy();
    }, KEEPALIVE_TIMEOUT_MS).unref();
    this.#session.ping(() => clearTimeout(lost));
  }
}

/** Throws MessageError for bytes that are no gzip, or too many when unpacked. */
function inflated(bytes: Buffer): Buffer {
  try {
    return gunzipSync(bytes, { maxOutputLength: MESSAGE_BYTES_MAX });
  } catch (cause) {
    throw new MessageError('a compressed message that cannot be unpacked', { cause });
  }
}

/** A status message is percent-encoded. */
function textOf(header: string | string[] | undefined): string {
  const text = String(header ?? '');
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
