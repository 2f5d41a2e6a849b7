// One RPC node: sends requests within its budget, honours Retry-After, and backs off while the node refuses.

import type { RequestBudget } from './budget.ts';
import type { Clock } from './clock.ts';
import { RpcError } from './errors.ts';
import type { HttpAnswer } from './http-post.ts';
import { NETWORK, type Transport } from './transport.ts';

const TIMEOUT_MS = 60_000;
const BACKOFF_MIN_MS = 250;
const BACKOFF_MAX_MS = 30_000;
/** A node may ask for a long pause; beyond this it is asked again. */
const RETRY_AFTER_MAX_MS = 120_000;
/** HTTP statuses of a node that may answer later. */
const BUSY: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504]);

export interface RequestOptions {
  readonly signal: AbortSignal;
  /** Requests that this one counts as: the items of a batch. */
  readonly cost?: number;
  /** Uses the background share of the budget. */
  readonly isBackground?: boolean;
}

export class Endpoint {
  readonly url: string;
  /** Host and port. The rest of the URL may contain a key. */
  readonly name: string;
  /** False after the node refused a batch. */
  takesBatches = true;
  /** Whether the node has getProgramAccountsV2; null while its answers do not say. */
  hasPages: boolean | null = null;
  readonly #budget: RequestBudget;
  readonly #clock: Clock;
  readonly #transport: Transport;
  readonly #slots = new Map<string, number>();
  #failures = 0;
  #pausedToMs = 0;
  #slowToMs = 0;

  constructor(url: string, budget: RequestBudget, clock: Clock, transport: Transport = NETWORK) {
    this.url = url;
    this.name = new URL(url).host;
    this.#budget = budget;
    this.#clock = clock;
    this.#transport = transport;
  }

  /** Consecutive refused or unanswered requests. */
  get failures(): number {
    return this.#failures;
  }

  /** Milliseconds until the node may be asked again; 0: now. */
  get pauseMs(): number {
    return Math.max(0, this.#pausedToMs - this.#clock.now());
  }

  /** Whether the node was slower than somebody could wait, a while ago. */
  get isSlow(): boolean {
    return this.#slowToMs > this.#clock.now();
  }

  /** The node counts as slow for so long. */
  wasSlow(forMs: number): void {
    this.#slowToMs = this.#clock.now() + forMs;
  }

  /** Newest slot that the node named at this commitment; -1 before the first. */
  slotAt(commitment: string): number {
    return this.#slots.get(commitment) ?? -1;
  }

  sawSlot(commitment: string, slot: number): void {
    this.#slots.set(commitment, slot);
  }

  /** The parsed answer. Throws RpcError. */
  async post(body: unknown, options: RequestOptions): Promise<unknown> {
    const response = await this.open(body, options);
    try {
      return JSON.parse(await response.text());
    } catch (cause) {
      options.signal.throwIfAborted();
      this.#fail(null);
      throw new RpcError('the node sent an unreadable answer', null, { cause, isTransport: true });
    }
  }

  /** Waits until the budget allows a request. */
  admit({ signal, cost = 1, isBackground = false }: RequestOptions): Promise<void> {
    return this.#budget.take(cost, signal, isBackground);
  }

  /** Notes the end of a request that was sent elsewhere; `status` null: no answer. Throws RpcError when it was refused. */
  settle(status: number | null, retryAfter: string | null): void {
    if (status === null) this.#fail(null);
    else if (status >= 200 && status < 300) this.#failures = 0;
    else {
      const remedy = BUSY.has(status) ? 'later' : 'elsewhere';
      if (remedy === 'later') this.#fail(retryAfter);
      throw new RpcError(`HTTP ${status} from the RPC node`, status, { remedy, isTransport: true });
    }
  }

  /** The answer with its body unread. Throws RpcError. */
  async open(body: unknown, options: RequestOptions): Promise<HttpAnswer> {
    const { signal } = options;
    await this.admit(options);
    let response: HttpAnswer;
    try {
      const limited = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
      response = await this.#transport.post(this.url, JSON.stringify(body), limited);
    } catch (cause) {
      signal.throwIfAborted();
      this.#fail(null);
      throw new RpcError('the RPC node is unreachable', null, { cause, isTransport: true });
    }
    if (!response.ok) await response.cancel();
    this.settle(response.status, response.retryAfter);
    return response;
  }

  /** Doubles the pause with each failure, between half and the whole of it. */
  #fail(retryAfter: string | null): void {
    const limitMs = Math.min(BACKOFF_MAX_MS, BACKOFF_MIN_MS * 2 ** Math.min(this.#failures, 16));
    this.#failures += 1;
    const pauseMs = retryAfterMs(retryAfter) ?? limitMs * (0.5 + this.#clock.chance() / 2);
    this.#pausedToMs = this.#clock.now() + Math.min(RETRY_AFTER_MAX_MS, pauseMs);
  }
}

/** Milliseconds of a Retry-After header: seconds, or a date. Null for none. */
export function retryAfterMs(header: string | null, nowMs = Date.now()): number | null {
  if (header === null || header.trim() === '') return null;
  const seconds = Number(header);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  const atMs = Date.parse(header);
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - nowMs);
}
