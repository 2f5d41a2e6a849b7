// Reads raw bytes of user accounts for `/topMakers?includeAccounts=true` by JSON-RPC. Caches them for about a slot and shares
// calls between clients. The cache is a plain map: an LRU cache would evict entries whose call is in progress.

import { Counter } from 'prom-client';
import type { Logger, Registry } from '../../platform/index.ts';

export interface AccountReader {
  /** Base64 of each account's bytes, in order; null for an account that does not exist or was not read in time. */
  read(addresses: readonly string[]): Promise<readonly (string | null)[]>;
}

export interface AccountReaderOptions {
  /** Empty: every account reads null. */
  readonly rpcUrl: string;
  readonly metrics: Registry;
  readonly logger: Logger;
  /** Wall clock, milliseconds. */
  readonly clock?: () => number;
}

/** Limit of getMultipleAccounts (Solana JSON-RPC). */
const ACCOUNTS_PER_CALL = 100;
/** The commitment of the books. `finalized`, the default of nodes, is about 32 slots older and lacks new makers. */
const COMMITMENT = 'confirmed';
/** About one slot, like the age of the book. */
export const CACHE_MS = 400;
/** Total time of a read, including its wait for other calls. The published client gives up after 3,000 ms. */
const TIMEOUT_MS = 2500;
const MAX_CONCURRENT_CALLS = 4;
/** One more round of calls. Beyond it the node cannot keep up, and accounts read null. */
export const MAX_WAITING = MAX_CONCURRENT_CALLS * ACCOUNTS_PER_CALL;
const MAX_CACHED = 10_000;
const LOG_EVERY_MS = 10_000;

interface CacheEntry {
  readonly bytes: Promise<string | null>;
  /** Wall-clock milliseconds of expiry; infinite during the call. */
  untilMs: number;
}

interface Waiting {
  readonly address: string;
  /** Wall-clock milliseconds. */
  readonly requestedAtMs: number;
  readonly answer: (bytes: string | null) => void;
}

interface AccountsAnswer {
  readonly result?: { readonly value?: readonly ({ readonly data?: readonly unknown[] } | null)[] };
  readonly error?: unknown;
}

/** Reads by getMultipleAccounts. Counts and logs accounts that it cannot read, and returns null for them. */
export function rpcAccountReader(options: AccountReaderOptions): AccountReader {
  const reader = new RpcAccountReader(options);
  return { read: (addresses) => reader.read(addresses) };
}

class RpcAccountReader {
  readonly #rpcUrl: string;
  readonly #logger: Logger;
  readonly #clock: () => number;
  readonly #reads: Counter<'outcome'>;
  /** Oldest first. */
  readonly #cache = new Map<string, CacheEntry>();
  #waiting: Waiting[] = [];
  #calls = 0;
  #isFlushing = false;
  #failuresSinceLogged = 0;
  #loggedAtMs = Number.NEGATIVE_INFINITY;

  constructor({ rpcUrl, metrics, logger, clock = Date.now }: AccountReaderOptions) {
    this.#rpcUrl = rpcUrl;
    this.#logger = logger;
    this.#clock = clock;
    this.#reads = new Counter({
      name: 'slotbook_account_reads_total',
      help: 'Accounts requested with includeAccounts, by outcome: kept (cached), read, failed, busy',
      labelNames: ['outcome'],
      registers: [metrics],
    });
    // Starts at zero, so that the first failure is an increase.
    for (const outcome of ['kept', 'read', 'failed', 'busy']) this.#reads.inc({ outcome }, 0);
  }

  read(addresses: readonly string[]): Promise<readonly (string | null)[]> {
    if (this.#rpcUrl === '') return Promise.resolve(addresses.map(() => null));
    const nowMs = this.#clock();
    return Promise.all(addresses.map((address) => this.#one(address, nowMs)));
  }

  #one(address: string, nowMs: number): Promise<string | null> {
    const cached = this.#cache.get(address);
    if (cached && nowMs < cached.untilMs) {
      this.#reads.inc({ outcome: 'kept' });
      return cached.bytes;
    }
    this.#removeExpired(nowMs);
    if (this.#waiting.length >= MAX_WAITING || this.#cache.size >= MAX_CACHED) {
      this.#reads.inc({ outcome: 'busy' });
      this.#logFailure(nowMs, 'too many account requests are waiting');
      return Promise.resolve(null);
    }
    const bytes = new Promise<string | null>((answer) => this.#waiting.push({ address, requestedAtMs: nowMs, answer }));
    this.#cache.delete(address);
    this.#cache.set(address, { bytes, untilMs: Number.POSITIVE_INFINITY });
    this.#flushSoon();
    return bytes;
  }

  /** Calls end roughly in the order of their start, so expired entries come first. */
  #removeExpired(nowMs: number): void {
    for (const [address, { untilMs }] of this.#cache) {
      if (nowMs < untilMs) return;
      this.#cache.delete(address);
    }
  }

  /** Runs after this turn, so that one call contains all accounts of a request. */
  #flushSoon(): void {
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    queueMicrotask(() => {
      this.#isFlushing = false;
      while (this.#waiting.length > 0 && this.#calls < MAX_CONCURRENT_CALLS) {
        void this.#call(this.#waiting.splice(0, ACCOUNTS_PER_CALL));
      }
    });
  }

  async #call(batch: readonly Waiting[]): Promise<void> {
    this.#calls += 1;
    const waitedMs = this.#clock() - (batch[0]?.requestedAtMs ?? 0);
    let found: readonly (string | null)[] | null = null;
    try {
      found = await this.#request(
        batch.map(({ address }) => address),
        Math.max(0, TIMEOUT_MS - waitedMs),
      );
      this.#reads.inc({ outcome: 'read' }, batch.length);
    } catch (error) {
      // The answer still lists the makers, without their bytes.
      this.#reads.inc({ outcome: 'failed' }, batch.length);
      this.#logFailure(this.#clock(), String(error));
    }
    this.#calls -= 1;
    const untilMs = this.#clock() + CACHE_MS;
    for (const [index, { address, answer }] of batch.entries()) {
      const entry = this.#cache.get(address);
      if (entry) entry.untilMs = untilMs;
      answer(found?.[index] ?? null);
    }
    this.#flushSoon();
  }

  /** Rejects when the node answers late, with an error, or with a malformed body. */
  async #request(addresses: readonly string[], timeoutMs: number): Promise<readonly (string | null)[]> {
    const params = [addresses, { encoding: 'base64', commitment: COMMITMENT }];
    const answer = await fetch(this.#rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getMultipleAccounts', params }),
      signal: AbortSignal.timeout(timeoutMs),
    });
    const { result, error } = (await answer.json()) as AccountsAnswer;
    const value = result?.value;
    if (!Array.isArray(value)) throw new Error(`getMultipleAccounts: ${JSON.stringify(error ?? null)}`);
    return addresses.map((_, index) => {
      const data: unknown = value[index]?.data?.[0];
      return typeof data === 'string' ? data : null;
    });
  }

  /** At most one line in ten seconds. */
  #logFailure(nowMs: number, error: string): void {
    this.#failuresSinceLogged += 1;
    if (nowMs - this.#loggedAtMs < LOG_EVERY_MS) return;
    this.#logger.warn({ error, failures: this.#failuresSinceLogged }, 'cannot read accounts of makers');
    this.#loggedAtMs = nowMs;
    this.#failuresSinceLogged = 0;
  }
}
