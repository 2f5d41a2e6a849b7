// A client of the `book` channel: connects, subscribes, keeps the books, notices what is missing, and comes back by itself.
// Needs a global WebSocket (browsers, Node 22) or one that is given.

import type {
  BookDiffMessage,
  BookErrorMessage,
  BookFeedMessage,
  BookHeartbeat,
  BookPosition,
  BookResumed,
  BookSnapshotMessage,
  BookSubscribe,
  MarketType,
  ServerShutdown,
} from '../schemas/index.ts';
import { Events } from './events.ts';
import { BookKeeper, CHECKSUM_LEVELS } from './keeper.ts';

export interface BookChoice {
  /** Symbol in any letter case, or `*` for every market, present and future. */
  readonly market: string;
  /** `perp` when absent; with `*` both kinds when absent. */
  readonly marketType?: MarketType;
  readonly level?: 'l2' | 'l3';
  readonly depth?: number;
  readonly conflation?: 0 | 50 | 100 | 400 | 1000;
  readonly checksum?: boolean | number;
}

/** What a feed needs of a socket: the standard WebSocket has it. */
export interface SocketLike {
  onopen: ((event: never) => void) | null;
  onmessage: ((event: { readonly data: unknown }) => void) | null;
  onclose: ((event: { readonly code: number; readonly reason: string }) => void) | null;
  onerror: ((event: never) => void) | null;
  send(text: string): void;
  close(): void;
}

export interface FeedOptions {
  readonly url: string;
  /** Opens a socket; the global WebSocket when absent. */
  readonly open?: (url: string) => SocketLike;
  /** First and longest pause before a connection is tried again, milliseconds. */
  readonly retryMinMs?: number;
  readonly retryMaxMs?: number;
  /** A connection this silent is given up, milliseconds; the server beats every 5 s. */
  readonly silenceMs?: number;
}

/** Book of one stream as it stands. */
export interface KeptBook {
  readonly stream: string;
  readonly keeper: BookKeeper;
}

export type FeedEvents = {
  connected: { readonly attempt: number };
  disconnected: { readonly code: number; readonly reason: string };
  /** A book was applied: the keeper holds it. */
  book: KeptBook & { readonly message: BookSnapshotMessage | BookDiffMessage };
  /** A message is missing; a snapshot has been asked for. `held` is where the book stood. */
  gap: { readonly stream: string; readonly held: BookPosition | null; readonly by: 'diff' | 'heartbeat' };
  /** The kept book differed from the server's; a snapshot has been asked for. */
  mismatch: { readonly stream: string; readonly position: BookPosition };
  resumed: BookResumed;
  heartbeat: BookHeartbeat;
  refused: BookErrorMessage;
  shutdown: ServerShutdown;
};

interface Held extends KeptBook {
  /** When a snapshot was last asked for, wall-clock milliseconds. */
  askedAtMs: number;
  readonly choice: BookChoice;
  readonly marketType: MarketType;
}

const RETRY_MIN_MS = 100;
const RETRY_MAX_MS = 5000;
const SILENCE_MS = 15_000;
const SILENCE_CHECKS = 3;
const ASK_AGAIN_MS = 1000;
/** What browsers report for a connection that ended without a close frame. */
const NOT_CONNECTED = 1006;

export class BookFeedClient extends Events<FeedEvents> {
  readonly #options: FeedOptions;
  readonly #choices: BookChoice[] = [];
  readonly #books = new Map<string, Held>();
  /** Stream names by the numbers that diffs have on this connection. */
  readonly #streams = new Map<number, string>();
  #socket: SocketLike | null = null;
  #isOpen = false;
  #isClosed = false;
  #attempt = 0;
  #retry: ReturnType<typeof setTimeout> | null = null;
  #watch: ReturnType<typeof setInterval> | null = null;
  #heardAtMs = 0;

  constructor(options: FeedOptions) {
    super();
    this.#options = options;
  }

  /** Connects now and again after every loss, until `close`. */
  connect(): void {
    if (this.#socket || this.#isClosed) return;
    const { url, open = openGlobal } = this.#options;
    this.#attempt += 1;
    let socket: SocketLike;
    try {
      socket = open(url);
    } catch {
      this.#tryAgain();
      return;
    }
    this.#socket = socket;
    this.#heardAtMs = Date.now();
    this.#watchSilence();
    socket.onopen = () => this.#opened();
    socket.onmessage = ({ data }) => this.#heard(data);
    // Not every WebSocket says `close` after a connection that never came about.
    socket.onerror = () => {
      if (!this.#isOpen) this.#lost(socket, NOT_CONNECTED, 'cannot connect');
    };
    socket.onclose = ({ code, reason }) => this.#lost(socket, code, reason);
  }

  /** Ends for good. */
  close(): void {
    this.#isClosed = true;
    if (this.#retry) clearTimeout(this.#retry);
    if (this.#watch) clearInterval(this.#watch);
    this.#socket?.close();
  }

  /** Gives the connection up and comes back with resumes, as after a network failure. */
  reconnect(): void {
    const socket = this.#socket;
    if (!socket) return;
    socket.close();
    this.#lost(socket, 1000, 'given up by the client');
  }

  /** Asks for a book now or as soon as there is a connection, and again after every loss. */
  subscribe(choice: BookChoice): void {
    this.#choices.push(choice);
    if (this.#isOpen) this.#ask(choice);
  }

  /** Ends what was asked for with these choices. */
  unsubscribe(choice: BookChoice): void {
    const at = this.#choices.findIndex((one) => suffixOf(one) === suffixOf(choice) && one.market === choice.market);
    if (at >= 0) this.#choices.splice(at, 1);
    for (const [stream, held] of this.#books) if (isOf(choice, stream, held.keeper.market)) this.#books.delete(stream);
    if (this.#isOpen) this.#send({ ...choice, type: 'unsubscribe', channel: 'book' });
  }

  /** Kept books by stream name. */
  get books(): ReadonlyMap<string, KeptBook> {
    return this.#books;
  }

  /** The kept book of a market; the first one when several streams show it. */
  book(market: string): BookKeeper | null {
    const name = market.toUpperCase();
    for (const { keeper } of this.#books.values()) if (keeper.market === name) return keeper;
    return null;
  }

  #opened(): void {
    this.#isOpen = true;
    this.#heardAtMs = Date.now();
    const attempt = this.#attempt;
    this.#attempt = 0;
    for (const choice of this.#choices) this.#ask(choice);
    this.emit('connected', { attempt });
  }

  #ask(choice: BookChoice): void {
    const positions = new Map<string, BookPosition>();
    for (const [stream, held] of this.#books) {
      const { position } = held.keeper;
      if (position && held.choice === choice) positions.set(stream, position);
    }
    const message: BookSubscribe = { ...choice, type: 'subscribe', channel: 'book' };
    const [first] = positions.values();
    const resume = first && choice.market === '*' ? Object.fromEntries(positions) : first;
    this.#send(resume ? { ...message, resume } : message);
  }

  /** Asks for one stream again, from a snapshot; not more than once a second, whatever is wrong. */
  #askAnew(held: Held): void {
    const { choice, keeper, marketType, stream } = held;
    const pauseMs = held.askedAtMs + ASK_AGAIN_MS - Date.now();
    if (pauseMs > 0) {
      setTimeout(() => {
        if (this.#isOpen && this.#books.get(stream) === held && keeper.position === null) this.#askAnew(held);
      }, pauseMs);
      return;
    }
    held.askedAtMs = Date.now();
    this.#send({ ...choice, market: keeper.market, marketType, type: 'subscribe', channel: 'book' });
  }

  #send(message: object): void {
    this.#socket?.send(JSON.stringify(message));
  }

  #heard(data: unknown): void {
    this.#heardAtMs = Date.now();
    if (typeof data !== 'string') return;
    const message = JSON.parse(data) as BookFeedMessage | { readonly channel?: string };
    if ('diff' in message) {
      this.#take(this.#books.get(this.#streams.get(message.diff) ?? ''), message);
      return;
    }
    if (!('type' in message)) return;
    switch (message.type) {
      case 'snapshot':
        this.#streams.set(message.streamId, message.stream);
        this.#take(this.#books.get(message.stream) ?? this.#hold(message), message);
        return;
      case 'resumed':
        this.#streams.set(message.streamId, message.stream);
        this.emit('resumed', message);
        return;
      case 'heartbeat':
        this.#compare(message);
        return;
      case 'error':
        this.emit('refused', message);
        return;
      case 'serverShutdown':
        this.emit('shutdown', message);
    }
  }

  #take(held: Held | null | undefined, message: BookSnapshotMessage | BookDiffMessage): void {
    if (!held) return;
    const before = held.keeper.position;
    const { stream, keeper } = held;
    const applied = keeper.apply(message);
    if (applied === 'applied') this.emit('book', { stream, keeper, message });
    else if (applied === 'gap') {
      this.emit('gap', { stream, held: before, by: 'diff' });
      this.#askAnew(held);
    } else if (applied === 'checksum') {
      this.emit('mismatch', { stream, position: { epoch: message.epoch, seq: message.seq } });
      this.#askAnew(held);
    }
  }

  #hold({ stream, market, marketType }: BookSnapshotMessage): Held | null {
    const choice = this.#choices.find((one) => isOf(one, stream, market));
    if (!choice) return null;
    const { level = 'l2', depth, checksum } = choice;
    const keeper = new BookKeeper({
      level,
      ...(depth === undefined ? {} : { depth }),
      ...(checksum === undefined ? {} : { checksum }),
    });
    const held = { stream, keeper, choice, marketType, askedAtMs: Number.NEGATIVE_INFINITY };
    this.#books.set(stream, held);
    return held;
  }

  /** A message lost at the end of a stream shows only here. */
  #compare(heartbeat: BookHeartbeat): void {
    for (const [stream, { epoch, seq }] of Object.entries(heartbeat.sequences)) {
      const held = this.#books.get(stream);
      const position = held?.keeper.position;
      if (!held || !position || (position.epoch === epoch && position.seq === seq)) continue;
      held.keeper.distrust();
      this.emit('gap', { stream, held: position, by: 'heartbeat' });
      this.#askAnew(held);
    }
    this.emit('heartbeat', heartbeat);
  }

  #lost(socket: SocketLike, code: number, reason: string): void {
    if (this.#socket !== socket) return;
    this.#socket = null;
    this.#isOpen = false;
    this.#streams.clear();
    if (this.#watch) clearInterval(this.#watch);
    this.#watch = null;
    socket.onmessage = null;
    this.emit('disconnected', { code, reason });
    this.#tryAgain();
  }

  /** Pauses double up to the longest and are spread by half, so that a crowd does not return in one instant. */
  #tryAgain(): void {
    if (this.#isClosed) return;
    const { retryMinMs = RETRY_MIN_MS, retryMaxMs = RETRY_MAX_MS } = this.#options;
    const pauseMs = Math.min(retryMaxMs, retryMinMs * 2 ** Math.min(this.#attempt, 16));
    this.#retry = setTimeout(() => this.connect(), pauseMs * (0.5 + Math.random() / 2));
  }

  #watchSilence(): void {
    const { silenceMs = SILENCE_MS } = this.#options;
    this.#watch = setInterval(() => {
      if (Date.now() - this.#heardAtMs > silenceMs) this.reconnect();
    }, silenceMs / SILENCE_CHECKS);
  }
}

function openGlobal(url: string): SocketLike {
  return new WebSocket(url) as unknown as SocketLike;
}

/** The part of a stream's name that says how it was subscribed. */
function suffixOf({ level = 'l2', depth, conflation = 0, checksum = false }: BookChoice): string {
  const levels = checksum === true ? CHECKSUM_LEVELS : checksum === false ? 0 : checksum;
  const choices = [
    depth === undefined ? '' : `_d${depth}`,
    conflation === 0 ? '' : `_c${conflation}`,
    levels === 0 ? '' : `_k${levels}`,
  ];
  return level + choices.join('');
}

function isOf(choice: BookChoice, stream: string, market: string): boolean {
  const [, marketType, suffix] = /^(perp|spot)_\d+_(.*)$/.exec(stream) ?? [];
  if (suffix !== suffixOf(choice)) return false;
  if (choice.market === '*') return choice.marketType === undefined || choice.marketType === marketType;
  return choice.market.toUpperCase() === market && (choice.marketType ?? 'perp') === marketType;
}
