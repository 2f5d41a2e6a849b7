// One client connection: what it holds, and the one way to send to it, which is where lagging clients are noticed.

import type { WebSocket } from 'uWebSockets.js';
import { SOCKET_CLOSES } from '../errors.ts';
import { Allowance } from './allowance.ts';
import { ANSWER_BUFFER_BYTES, BRISK, FLOOD, MAX_BUFFERED_BYTES, MAX_DEFLATED_BYTES, NOISE } from './limits.ts';
import type { GatewayMetrics } from './metrics.ts';
import type { ResolvedChannel } from './requests.ts';

/** The data uWebSockets.js keeps with a socket. */
export interface SocketData {
  connection: Connection | null;
}

/** Largest head of a server's frame. */
const FRAME_HEAD_BYTES = 10;

export type CloseReason = keyof typeof SOCKET_CLOSES;

export class Connection {
  /** Channels held, by response name. */
  readonly channels = new Map<string, ResolvedChannel>();
  /** When the next heartbeat is due, on the monotonic clock, milliseconds. */
  heartbeatDueMs = 0;
  /** Why we ended it; null while open or when the client left. */
  endedBy: CloseReason | 'shutdown' | null = null;
  readonly #socket: WebSocket<SocketData>;
  readonly #metrics: GatewayMetrics;
  readonly #deflates: boolean;
  #open = true;
  readonly #messages = new Allowance(FLOOD);
  readonly #noise = new Allowance(NOISE);
  readonly #brisk = new Allowance(BRISK);
  /** Newest frame of each channel that is still to be written, in the order in which the channels came. */
  #waiting: Map<string, Buffer> | null = null;

  constructor(socket: WebSocket<SocketData>, metrics: GatewayMetrics, deflates = false) {
    this.#socket = socket;
    this.#metrics = metrics;
    this.#deflates = deflates;
  }

  /** Takes a message of the client into account; false when it sends too many. `nowMs` is monotonic. */
  admits(nowMs: number): boolean {
    return this.#messages.spend(1, nowMs);
  }

  /** Takes a message that says nothing into account; false when the client sends more of them than everybody may, see `NOISE`. */
  admitsNoise(nowMs: number): boolean {
    return this.#noise.take(nowMs);
  }

  /** True while the client has said little lately, see `BRISK`. */
  isBrisk(nowMs: number): boolean {
    return this.#brisk.has(1, nowMs);
  }

  /** Takes into account what an answer to the client costs. */
  burden(nowMs: number, cost: number): void {
    this.#brisk.spend(cost, nowMs);
  }

  /** Keeps the newest frame of a channel for `sendWaiting`; one that waits already is never sent. */
  keep(name: string, frame: Buffer): void {
    if (!this.#open) return;
    this.#waiting ??= new Map();
    this.#waiting.set(name, frame);
  }

  /** Drops what waits of a channel. */
  forget(name: string): void {
    this.#waiting?.delete(name);
  }

  /** Sends what waits; nothing when something else was sent since, which took it along. */
  sendWaiting(): void {
    if (this.#waiting) this.send([]);
  }

  /** Sends text frames as one write, behind what waits. A client that has more than MAX_BUFFERED_BYTES unread is closed instead. */
  send(added: readonly (string | Buffer)[]): void {
    const frames = this.#waiting ? [...this.#waiting.values(), ...added] : added;
    this.#waiting = null;
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

  /** How many frames were sent. The engine is asked for unread bytes only when it could have too many. */
  #sendUntilFull(frames: readonly (string | Buffer)[]): number {
    const socket = this.#socket;
    const { sent } = this.#metrics;
    let unreadAtMost = socket.getBufferedAmount();
    let count = 0;
    for (const frame of frames) {
      if (unreadAtMost > MAX_BUFFERED_BYTES) {
        unreadAtMost = socket.getBufferedAmount();
        if (unreadAtMost > MAX_BUFFERED_BYTES) break;
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

  /** False once it was ended or is gone. */
  get isOpen(): boolean {
    return this.#open && this.endedBy === null;
  }

  /** True while the client has not read what it asked for. */
  get isBehind(): boolean {
    return this.unreadBytes > ANSWER_BUFFER_BYTES;
  }

  /** Bytes handed over that the client has not read. */
  get unreadBytes(): number {
    return this.#open ? this.#socket.getBufferedAmount() : 0;
  }

  /** Closes with the code and reason of the table; once. */
  end(reason: CloseReason): void {
    if (!this.isOpen) return;
    this.#waiting = null;
    this.endedBy = reason;
    this.#socket.end(SOCKET_CLOSES[reason].code, SOCKET_CLOSES[reason].reason);
  }

  /** Drops the connection without a close frame, which published clients answer by reconnecting at once. */
  drop(): void {
    if (!this.#open) return;
    this.endedBy = 'shutdown';
    this.#socket.close();
  }

  /** To be called by the close handler: the socket must not be touched from then on. */
  closed(): void {
    this.#open = false;
  }
}
