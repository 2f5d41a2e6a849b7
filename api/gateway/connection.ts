// One client connection: its subscriptions and rate limits, and the only way to send to it, which closes lagging clients.

import type { WebSocket } from 'uWebSockets.js';
import { SOCKET_CLOSES } from '../http/errors.ts';
import { TokenBucket } from '../http/token-bucket.ts';
import {
  BACKPRESSURE_BYTES,
  LIGHT_RATE,
  MALFORMED_RATE,
  MAX_BUFFERED_BYTES,
  MAX_DEFLATED_BYTES,
  MESSAGE_RATE,
  MESSAGE_UNIT_BYTES,
} from './limits.ts';
import type { GatewayMetrics } from './metrics.ts';
import type { ResolvedChannel } from './requests.ts';

/** User data of a uWebSockets.js socket, empty until `Sessions.open`. */
export interface SocketData {
  connection?: Connection;
}

/** Largest header of a server frame. */
const FRAME_HEAD_BYTES = 10;

export type CloseReason = keyof typeof SOCKET_CLOSES;

export class Connection {
  /** Subscribed channels, by response name. */
  readonly channels = new Map<string, ResolvedChannel>();
  /** Due time of the next heartbeat on the monotonic clock, milliseconds. */
  heartbeatDueMs = 0;
  /** Why the gateway ended the connection; null while it is open or when the client left. */
  endedBy: CloseReason | 'shutdown' | null = null;
  readonly #socket: WebSocket<SocketData>;
  readonly #metrics: GatewayMetrics;
  readonly #deflates: boolean;
  #open = true;
  readonly #messages = new TokenBucket(MESSAGE_RATE);
  readonly #malformed = new TokenBucket(MALFORMED_RATE);
  readonly #requests = new TokenBucket(LIGHT_RATE);
  /** The newest unsent frame of each channel, in the order in which the channels were queued. */
  #queued: Map<string, Buffer> | null = null;
  /** Unread bytes that the client may have beyond MAX_BUFFERED_BYTES. */
  #allowedBytes = 0;

  constructor(socket: WebSocket<SocketData>, metrics: GatewayMetrics, deflates = false) {
    this.#socket = socket;
    this.#metrics = metrics;
    this.#deflates = deflates;
  }

  /** Charges a received message; false when the client exceeds MESSAGE_RATE. `nowMs` is monotonic. */
  admits(nowMs: number, bytes: number): boolean {
    return this.#messages.spend(Math.max(1, Math.ceil(bytes / MESSAGE_UNIT_BYTES)), nowMs);
  }

  /** Charges a malformed message; false when the client exceeds MALFORMED_RATE. */
  admitsMalformed(nowMs: number): boolean {
    return this.#malformed.take(nowMs);
  }

  /** True while the client's recent requests cost less than LIGHT_RATE. */
  isLight(nowMs: number): boolean {
    return this.#requests.has(1, nowMs);
  }

  /** Charges the cost of a request (REQUEST_COST) against LIGHT_RATE. */
  charge(nowMs: number, cost: number): void {
    this.#requests.spend(cost, nowMs);
  }

  /** Queues the newest frame of a channel for `sendQueued`; it replaces an older queued frame of that channel. */
  queueFrame(name: string, frame: Buffer): void {
    if (!this.#open) return;
    this.#queued ??= new Map();
    this.#queued.set(name, frame);
  }

  /** Drops the queued frame of a channel. */
  dropQueued(name: string): void {
    this.#queued?.delete(name);
  }

  /** Sends the queued frames, unless an intervening `send` took them along. */
  sendQueued(): void {
    if (this.#queued) this.send([]);
  }

  /**
   * Sends frames that may be longer than MAX_BUFFERED_BYTES, such as a whole book. Until the client has read them, the bound is
   * higher by their size, so that a later message does not close it.
   */
  sendLong(frames: readonly (string | Buffer)[]): void {
    let bytes = 0;
    for (const frame of frames) bytes += Buffer.byteLength(frame);
    this.#allowedBytes = Math.max(this.#allowedBytes, bytes);
    this.send(frames);
    this.drained();
  }

  /** Call when the client has read some of its unread bytes. The raised bound only falls, and ends without backpressure. */
  drained(): void {
    if (this.#allowedBytes === 0) return;
    this.#allowedBytes = this.hasBackpressure ? Math.min(this.#allowedBytes, this.#socket.getBufferedAmount()) : 0;
  }

  /** Sends the queued frames, then `added`, in one write. Closes a client with more than MAX_BUFFERED_BYTES unread. */
  send(added: readonly (string | Buffer)[]): void {
    const frames = this.#queued ? [...this.#queued.values(), ...added] : added;
    this.#queued = null;
    if (!this.#open || frames.length === 0) return;
    let sent = 0;
    if (frames.length === 1) sent = this.#sendUntilFull(frames);
    else {
      this.#socket.cork(() => {
        sent = this.#sendUntilFull(frames);
      });
    }
    if (sent === frames.length) return;
    this.#metrics.drops.inc(frames.length - sent);
    this.end('overflow');
  }

  /** Returns the number of sent frames. Queries the engine for unread bytes only when they could exceed the bound. */
  #sendUntilFull(frames: readonly (string | Buffer)[]): number {
    const socket = this.#socket;
    const { sent } = this.#metrics;
    const unreadMax = MAX_BUFFERED_BYTES + this.#allowedBytes;
    let unreadAtMost = socket.getBufferedAmount();
    let count = 0;
    for (const frame of frames) {
      if (unreadAtMost > unreadMax) {
        unreadAtMost = socket.getBufferedAmount();
        if (unreadAtMost > unreadMax) break;
      }
      const bytes = typeof frame === 'string' ? Buffer.byteLength(frame) : frame.byteLength;
      socket.send(frame, false, this.#deflates && bytes <= MAX_DEFLATED_BYTES);
      unreadAtMost += bytes + FRAME_HEAD_BYTES;
      sent.bytes += bytes;
      count += 1;
    }
    sent.messages += count;
    return count;
  }

  /** False after the gateway ended the connection or the client left. */
  get isOpen(): boolean {
    return this.#open && this.endedBy === null;
  }

  /** True while the client has more than BACKPRESSURE_BYTES unread. */
  get hasBackpressure(): boolean {
    return this.#open && this.#socket.getBufferedAmount() > BACKPRESSURE_BYTES;
  }

  /** Closes with the code and reason of the error table; repeating changes nothing. */
  end(reason: CloseReason): void {
    if (!this.isOpen) return;
    this.#queued = null;
    this.endedBy = reason;
    this.#socket.end(SOCKET_CLOSES[reason].code, SOCKET_CLOSES[reason].reason);
  }

  /** Drops the connection without a close frame: published clients then reconnect at once. */
  drop(): void {
    if (!this.#open) return;
    this.endedBy = 'shutdown';
    this.#socket.close();
  }

  /** Called by the engine's close handler: nothing may touch the socket afterwards. */
  closed(): void {
    this.#open = false;
  }
}
