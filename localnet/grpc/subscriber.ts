// One Subscribe call: its filters, the replay before the live updates, pings, and the end of a client that does not read.

import type { ServerDuplexStream } from '@grpc/grpc-js';
import { type GeyserRequest, geyserMessages } from '../../schemas/index.ts';
import type { Faults } from '../faults/faults.ts';
import { FAULT_DEFAULTS } from '../faults/kinds.ts';
import type { Feed } from './feed.ts';
import { Filters, RefusedRequest } from './filters.ts';
import { type FeedMessage, withFilters } from './messages.ts';

/** Waiting updates at which the server ends the call. The reference server's default is 250,000. */
const WAITING_MAX = 100_000;
const PING_INTERVAL_MS = 15_000;
/** Status codes of gRPC (https://grpc.io/docs/guides/status-codes). */
const INVALID_ARGUMENT = 3;
const OUT_OF_RANGE = 11;
const INTERNAL = 13;
const UNAVAILABLE = 14;

export type SubscribeCall = ServerDuplexStream<GeyserRequest, Buffer>;

export interface SubscriberParts {
  readonly feed: Pick<Feed, 'subscribe' | 'firstAvailable' | 'replay' | 'encoder'>;
  readonly faults: Faults;
  /** Number of the call, for reports. */
  readonly number: number;
  readonly waitingMax?: number;
}

export class Subscriber {
  readonly #call: SubscribeCall;
  readonly #parts: SubscriberParts;
  readonly #ping: NodeJS.Timeout;
  readonly #ended: () => void;
  #filters: Filters | null = null;
  #leave: () => void = () => {};
  #waiting: Buffer[] = [];
  #isFull = false;
  #isOver = false;
  /** Milliseconds of Date.now until which nothing is sent. */
  #silentUntilMs = 0;
  /** Delay of every frame of this call. */
  #lateMs = 0;
  /** Slot of the last decision about faults of the whole stream. */
  #judgedSlot = -1;

  constructor(call: SubscribeCall, parts: SubscriberParts, ended: () => void) {
    this.#call = call;
    this.#parts = parts;
    this.#ended = ended;
    const { SubscribeUpdate } = geyserMessages();
    const ping = Buffer.from(SubscribeUpdate.encode({ filters: [], ping: {}, createdAt: new Date() }).finish());
    this.#ping = setInterval(() => this.#push(ping), PING_INTERVAL_MS);
    this.#ping.unref();
    call.on('data', (request: GeyserRequest) => this.#request(request));
    call.on('drain', () => this.#drain());
    call.on('end', () => this.end());
    call.on('cancelled', () => this.#over());
    call.on('error', () => this.#over());
  }

  /** Ends the call, by default as if the client had asked for it. */
  end(code = 0, details = ''): void {
    if (this.#isOver) return;
    this.#over();
    if (code === 0) this.#call.end();
    else this.#call.emit('error', { code, details });
  }

  /** Ends the call as a server that restarts does. */
  drop(): void {
    this.end(UNAVAILABLE, 'the server is stopping');
  }

  silence(durationMs: number): void {
    this.#silentUntilMs = Date.now() + durationMs;
  }

  #over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearInterval(this.#ping);
    this.#leave();
    this.#waiting = [];
    this.#ended();
  }

  #request(request: GeyserRequest): void {
    if (request.ping) {
      const { SubscribeUpdate } = geyserMessages();
      const pong = { filters: [], pong: { id: request.ping.id }, createdAt: new Date() };
      this.#pushInTime(Buffer.from(SubscribeUpdate.encode(pong).finish()));
      return;
    }
    try {
      this.#subscribe(request);
    } catch (error) {
      if (!(error instanceof RefusedRequest)) throw error;
      this.end(INVALID_ARGUMENT, error.message);
    }
  }

  #subscribe(request: GeyserRequest): void {
    const { feed } = this.#parts;
    this.#leave();
    const filters = new Filters(request);
    this.#filters = filters;
    if (request.fromSlot !== undefined) {
      const fromSlot = Number(request.fromSlot);
      const first = feed.firstAvailable(filters.level);
      if (first === null || fromSlot < first) {
        this.end(OUT_OF_RANGE, `broadcast from ${fromSlot} is not available, last available: ${first ?? 'none'}`);
        return;
      }
      for (const message of feed.replay(filters.level, fromSlot)) this.#offer(message, feed.encoder(message));
    }
    this.#leave = feed.subscribe(filters.level, (message, body) => this.#offer(message, body));
  }

  #offer(message: FeedMessage, body: () => Buffer): void {
    const names = this.#filters?.passed(message) ?? [];
    if (names.length === 0 || this.#isOver) return;
    const { faults } = this.#parts;
    if (!faults.active('notification')) {
      this.#pushInTime(withFilters(names, body()));
      return;
    }
    const method = `${message.kind}Update`;
    const key = keyOf(message);
    if (message.slot !== this.#judgedSlot) this.#judgeSlot(message.slot);
    if (this.#isOver || this.#strikes('loseNotification', method, key)) return;
    const frame = withFilters(names, this.#altered(message, key) ?? body());
    const times = this.#strikes('duplicateNotification', method, key) ? 2 : 1;
    for (let time = 0; time < times; time++) this.#pushInTime(frame);
  }

  /** Null for an update that is sent as it is. */
  #altered(message: FeedMessage, key: string): Buffer | null {
    if (message.kind !== 'account' || !this.#strikes('alterNotification', 'accountUpdate', key)) return null;
    const data = Buffer.from(message.account.data);
    const last = data.length - 1;
    if (last >= 0) data[last] = (data[last] ?? 0) ^ 1;
    return this.#parts.feed.encoder({ ...message, account: { ...message.account, data } })();
  }

  /** Frames keep their order: one that waits makes the next ones wait. */
  #pushInTime(frame: Buffer): void {
    if (this.#lateMs === 0) {
      this.#push(frame);
      return;
    }
    setTimeout(() => this.#push(frame), this.#lateMs).unref();
  }

  /** Faults of the whole stream are decided once a slot. */
  #judgeSlot(slot: number): void {
    this.#judgedSlot = slot;
    const { faults, number } = this.#parts;
    const silence = faults.has('silentSocket') ? faults.strikeKey('silentSocket', 'socket', `${number}|${slot}`) : null;
    if (silence !== null) {
      this.silence(silence.ms ?? Number.POSITIVE_INFINITY);
      faults.report('silentSocket', 'socket', String(number), { ms: silence.ms ?? null });
    }
    const late = faults.has('lateNotification') ? faults.strikeKey('lateNotification', 'stream', `${number}`) : null;
    // A stream never catches up, because its frames keep their order.
    if (late !== null) this.#lateMs = Math.max(this.#lateMs, late.ms ?? FAULT_DEFAULTS.lateMs);
    if (this.#strikes('endStream', 'stream', String(slot))) this.drop();
  }

  #strikes(
    kind: 'endStream' | 'loseNotification' | 'duplicateNotification' | 'alterNotification',
    method: string,
    key: string,
  ): boolean {
    const { faults, number } = this.#parts;
    if (!faults.has(kind) || faults.strikeKey(kind, method, key, `${number}|${key}`) === null) return false;
    faults.report(kind, method, key);
    return true;
  }

  #push(frame: Buffer): void {
    if (this.#isOver || Date.now() < this.#silentUntilMs) return;
    if (this.#isFull) {
      this.#waiting.push(frame);
      const { waitingMax = WAITING_MAX } = this.#parts;
      if (this.#waiting.length > waitingMax) this.end(INTERNAL, 'lagged to receive geyser messages');
    } else this.#isFull = !this.#call.write(frame);
  }

  #drain(): void {
    this.#isFull = false;
    let sent = 0;
    while (sent < this.#waiting.length && !this.#isFull) {
      const frame = this.#waiting[sent];
      sent += 1;
      if (frame) this.#isFull = !this.#call.write(frame);
    }
    this.#waiting = this.#waiting.slice(sent);
  }
}

/** Key by which a fault picks messages. */
function keyOf(message: FeedMessage): string {
  switch (message.kind) {
    case 'account':
      return `${message.account.pubkey}|${message.account.writeVersion}`;
    case 'transaction':
      return message.transaction.signature;
    case 'blockMeta':
      return String(message.slot);
    case 'slot':
      return `${message.slot}|${message.state}`;
  }
}
