// Open connections of makers and the effect of their messages: authenticate, quote, refuse, close.

import type { WebSocket } from 'uWebSockets.js';
import type { MarketRef } from '../../../schemas/index.ts';
import { QUOTE_ERRORS, type QuoteErrorCode } from '../../http/errors.ts';
import type { MarketRegistry } from '../../views/registry.ts';
import type { RequestId } from '../feed/request.ts';
import { isSigned } from './auth.ts';
import { MAX_CONNECTIONS_PER_MAKER, MAX_QUOTE_CONNECTIONS, SWEEP_MS } from './limits.ts';
import { MakerConnection, type MakerSocketData } from './maker-connection.ts';
import { type QuoteMessage, readAuthAnswer, readMembers, readQuotes } from './messages.ts';
import type { QuoteMetrics } from './metrics.ts';
import type { QuoteOutcome, QuoteWriter } from './writer.ts';

export interface MakersOptions {
  readonly markets: MarketRegistry;
  readonly writer: QuoteWriter;
  /** Whether a market has a place for quotes of a maker. */
  readonly hasRoom: (market: MarketRef, maker: Uint8Array) => boolean;
  readonly metrics: QuoteMetrics;
  /** Wall clock, milliseconds, for the arrival of a quote set. */
  readonly clock: () => number;
}

export class Makers {
  readonly #options: MakersOptions;
  readonly #connections = new Set<MakerConnection>();
  /** Number of authenticated connections by key. */
  readonly #byName = new Map<string, number>();
  #timer: NodeJS.Timeout | null = null;

  constructor(options: MakersOptions) {
    this.#options = options;
  }

  /** Whether one more may connect. At the bound it closes the oldest connection that has not authenticated. */
  admits(): boolean {
    if (this.#connections.size < MAX_QUOTE_CONNECTIONS) return true;
    for (const connection of this.#connections) {
      if (connection.isAuthenticated) continue;
      connection.end('authTimeout');
      return true;
    }
    return false;
  }

  open(socket: WebSocket<MakerSocketData>): void {
    const nowMs = performance.now();
    const connection = new MakerConnection(socket, nowMs);
    socket.getUserData().connection = connection;
    this.#connections.add(connection);
    this.#options.metrics.connections.inc();
    connection.send({ channel: 'auth', nonce: connection.nonce }, nowMs);
    this.#timer ??= setInterval(() => this.#sweep(), SWEEP_MS);
  }

  message(socket: WebSocket<MakerSocketData>, bytes: ArrayBuffer): void {
    const { connection } = socket.getUserData();
    if (!connection) return;
    const nowMs = performance.now();
    if (!connection.admits(nowMs)) {
      this.#options.metrics.messages.inc({ outcome: 'tooManyMessages' });
      connection.end('tooManyMessages');
      return;
    }
    const text = Buffer.from(bytes).toString('utf8');
    if (connection.isAuthenticated) this.#quote(connection, text, nowMs);
    else this.#authenticate(connection, text, nowMs);
  }

  /** For the engine's close handler: the socket is gone. */
  closed(socket: WebSocket<MakerSocketData>): void {
    const { connection } = socket.getUserData();
    if (!connection) return;
    connection.closed();
    this.#connections.delete(connection);
    if (connection.isAuthenticated) this.#count(connection.name, -1);
    this.#options.metrics.connections.dec();
    this.#options.metrics.closes.inc({ reason: connection.endedBy ?? 'client' });
    if (this.#connections.size === 0) this.#stopTimer();
  }

  dropAll(): void {
    for (const connection of [...this.#connections]) connection.drop();
    this.#stopTimer();
  }

  #authenticate(connection: MakerConnection, text: string, nowMs: number): void {
    const { metrics } = this.#options;
    const members = readMembers(text);
    const answer = members && readAuthAnswer(members);
    if (!answer) {
      metrics.messages.inc({ outcome: 'unauthenticated' });
      connection.end('unauthenticated');
      return;
    }
    metrics.messages.inc({ outcome: 'auth' });
    if (answer.pubkey !== connection.name || !isSigned(connection.nonce, connection.maker, answer.signature)) {
      connection.end('badSignature');
      return;
    }
    if ((this.#byName.get(connection.name) ?? 0) >= MAX_CONNECTIONS_PER_MAKER) {
      connection.end('tooManyConnections');
      return;
    }
    connection.isAuthenticated = true;
    this.#count(connection.name, 1);
    connection.send({ channel: 'auth', message: 'Authenticated' }, nowMs);
  }

  #quote(connection: MakerConnection, text: string, nowMs: number): void {
    const members = readMembers(text);
    const message = members ? readQuotes(members) : ({ is: 'refused', id: undefined, error: 'notAnObject' } as const);
    const { id } = message;
    if (message.is === 'refused') this.#refuse(connection, message.error, nowMs, { id });
    else if (!this.#options.markets.get(message.market)) this.#refuse(connection, 'marketUnknown', nowMs, { id });
    else this.#take(connection, message, nowMs);
  }

  #take(connection: MakerConnection, { id, market, quotes, malformedAt }: QuoteMessage, nowMs: number): void {
    const { writer, metrics, clock, hasRoom } = this.#options;
    if (quotes.length > 0 && !hasRoom(market, connection.maker)) {
      this.#refuse(connection, 'full', nowMs, { id });
      return;
    }
    const set = { ...market, receivedAtMs: clock(), maker: connection.maker, quotes };
    const settle = (outcome: QuoteOutcome): void => this.#acknowledge(connection, id, quotes.length, outcome);
    if (!writer.put(set, id === undefined ? undefined : settle)) {
      this.#refuse(connection, 'busy', nowMs, { id });
      return;
    }
    metrics.messages.inc({ outcome: 'quotes' });
    if (malformedAt !== null) this.#refuse(connection, 'malformedQuote', nowMs, { id, quote: malformedAt });
  }

  /** Answers a message that asked for it, once its quotes are in the log or will never be. */
  #acknowledge(connection: MakerConnection, id: RequestId, quotes: number, outcome: QuoteOutcome): void {
    const nowMs = performance.now();
    if (outcome === 'written') connection.send({ channel: 'quotes', accepted: quotes, id }, nowMs);
    else this.#refuse(connection, outcome, nowMs, { id });
  }

  #refuse(connection: MakerConnection, error: QuoteErrorCode, nowMs: number, more: Record<string, unknown> = {}): void {
    this.#options.metrics.messages.inc({ outcome: error });
    connection.send({ channel: 'quotes', error: QUOTE_ERRORS[error], ...more }, nowMs);
  }

  #sweep(): void {
    const nowMs = performance.now();
    for (const connection of [...this.#connections]) {
      if (connection.isAuthOverdue(nowMs)) connection.end('authTimeout');
      else if (connection.isHeartbeatDue(nowMs)) connection.send({ channel: 'heartbeat' }, nowMs);
    }
  }

  #count(name: string, change: number): void {
    const count = (this.#byName.get(name) ?? 0) + change;
    if (count > 0) this.#byName.set(name, count);
    else this.#byName.delete(name);
  }

  #stopTimer(): void {
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
  }
}
