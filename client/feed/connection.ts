// One WebSocket that stays up: reconnects after every loss, with back-off and jitter, and after silence.

export type OpenSocket = (url: string) => SocketLike;

/** The part of the standard WebSocket that a feed uses. */
export interface SocketLike {
  onopen: ((event: never) => void) | null;
  onmessage: ((event: { readonly data: unknown }) => void) | null;
  onclose: ((event: { readonly code: number; readonly reason: string }) => void) | null;
  onerror: ((event: never) => void) | null;
  send(text: string): void;
  close(): void;
}

export interface ConnectionOptions {
  readonly url: string;
  /** Opens a socket. Default: the global WebSocket. */
  readonly open?: OpenSocket;
  /** First and longest pause before a new attempt to connect, milliseconds. */
  readonly retryMinMs?: number;
  readonly retryMaxMs?: number;
  /** Silence after which the client reconnects, milliseconds; 0 never. The gateway sends a heartbeat every 5 s. */
  readonly silenceMs?: number;
}

export interface ConnectionHandlers {
  /** `attempt`: attempts since the last connection that lasted, this one included. */
  opened(attempt: number): void;
  /** `message` is the parsed frame. */
  received(message: object): void;
  /** A frame was skipped because it is not a JSON object. */
  malformed?(): void;
  lost(code: number, reason: string): void;
}

const RETRY_MIN_MS = 100;
const RETRY_MAX_MS = 5000;
const DOUBLINGS_MAX = 16;
/** A connection of this age serves. A server that rejects requests, or finds a client too slow, closes sooner. */
const STEADY_MS = 5000;
const SILENCE_MS = 15_000;
const SILENCE_CHECKS = 3;
/** Close code in browsers for a connection that ended without a close frame. */
const NOT_CONNECTED = 1006;
const CLOSED_BY_CLIENT = 1000;
/** Close code of a server that does not know a requested channel: it will not know it soon. */
const UNKNOWN_CHANNEL = 1003;

export class Connection {
  readonly #options: ConnectionOptions;
  readonly #handlers: ConnectionHandlers;
  #socket: SocketLike | null = null;
  #isOpen = false;
  #isClosed = false;
  #attempt = 0;
  #retry: ReturnType<typeof setTimeout> | null = null;
  #watch: ReturnType<typeof setInterval> | null = null;
  #receivedAtMs = 0;
  #openedAtMs = 0;

  constructor(options: ConnectionOptions, handlers: ConnectionHandlers) {
    this.#options = options;
    this.#handlers = handlers;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Connects, and reconnects after every loss until `close`. */
  connect(): void {
    if (this.#socket || this.#isClosed) return;
    if (this.#retry) clearTimeout(this.#retry);
    this.#retry = null;
    const { url, open = openGlobal } = this.#options;
    this.#attempt += 1;
    let socket: SocketLike;
    try {
      socket = open(url);
    } catch {
      this.#scheduleRetry(this.#attempt);
      return;
    }
    this.#socket = socket;
    this.#receivedAtMs = Date.now();
    this.#watchSilence();
    socket.onopen = () => this.#opened(socket);
    socket.onmessage = ({ data }) => this.#receive(data);
    // Some WebSockets send no `close` event when the connection attempt fails.
    socket.onerror = () => {
      if (!this.#isOpen) this.#lost(socket, NOT_CONNECTED, 'connection attempt failed');
    };
    socket.onclose = ({ code, reason }) => this.#lost(socket, code, reason);
  }

  /** Closes the connection for good. */
  close(): void {
    this.#isClosed = true;
    if (this.#retry) clearTimeout(this.#retry);
    if (this.#watch) clearInterval(this.#watch);
    this.#socket?.close();
  }

  /** Drops the connection and opens a new one, as after a network failure. */
  reconnect(): void {
    const socket = this.#socket;
    if (!socket) return;
    socket.close();
    this.#lost(socket, CLOSED_BY_CLIENT, 'reconnect by the client');
  }

  send(message: object): void {
    this.#socket?.send(JSON.stringify(message));
  }

  #opened(socket: SocketLike): void {
    if (this.#socket !== socket) return;
    this.#isOpen = true;
    this.#openedAtMs = this.#receivedAtMs = Date.now();
    this.#handlers.opened(this.#attempt);
  }

  #receive(data: unknown): void {
    this.#receivedAtMs = Date.now();
    const message = parseObject(data);
    if (message) this.#handlers.received(message);
    else this.#handlers.malformed?.();
  }

  #lost(socket: SocketLike, code: number, reason: string): void {
    if (this.#socket !== socket) return;
    this.#socket = null;
    if (this.#isOpen && Date.now() - this.#openedAtMs >= STEADY_MS) this.#attempt = 0;
    this.#isOpen = false;
    if (this.#watch) clearInterval(this.#watch);
    this.#watch = null;
    socket.onmessage = null;
    this.#scheduleRetry(code === UNKNOWN_CHANNEL ? DOUBLINGS_MAX : this.#attempt);
    this.#handlers.lost(code, reason);
  }

  /** Doubles the pause up to the longest and adds jitter, so that clients do not reconnect all at once. */
  #scheduleRetry(attempts: number): void {
    if (this.#isClosed) return;
    const { retryMinMs = RETRY_MIN_MS, retryMaxMs = RETRY_MAX_MS } = this.#options;
    const pauseMs = Math.min(retryMaxMs, retryMinMs * 2 ** Math.min(attempts, DOUBLINGS_MAX));
    this.#retry = setTimeout(() => this.connect(), pauseMs * (0.5 + Math.random() / 2));
  }

  #watchSilence(): void {
    const { silenceMs = SILENCE_MS } = this.#options;
    if (silenceMs === 0) return;
    this.#watch = setInterval(() => {
      if (Date.now() - this.#receivedAtMs > silenceMs) this.reconnect();
    }, silenceMs / SILENCE_CHECKS);
  }
}

/** The object in a JSON text; null for anything else, so that a damaged frame never throws at the user. */
export function parseObject(data: unknown): object | null {
  if (typeof data !== 'string') return null;
  try {
    const value: unknown = JSON.parse(data);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

function openGlobal(url: string): SocketLike {
  return new WebSocket(url) as unknown as SocketLike;
}
