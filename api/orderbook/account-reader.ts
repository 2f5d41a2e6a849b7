// Raw bytes of user accounts for `/topMakers?includeAccounts=true`, read from the chain's JSON-RPC when asked. Bytes are kept
// for about a slot and requests under way are shared, so that the chain is asked a few times a second whoever polls.

import { Counter } from 'prom-client';
import type { Logger, Registry } from '../../platform/index.ts';

export interface AccountReader {
  /** Base64 of each account's bytes, in order; null for one that does not exist or could not be read in time. */
  read(addresses: readonly string[]): Promise<readonly (string | null)[]>;
}

export interface AccountReaderOptions {
  /** Empty: every account is null. */
  readonly rpcUrl: string;
  readonly metrics: Registry;
  readonly logger: Logger;
  /** Wall clock, milliseconds. */
  readonly clock?: () => number;
}

/** Most accounts one getMultipleAccounts call takes (Solana JSON-RPC). */
const ACCOUNTS_PER_CALL = 100;
/** What books are built from. The default of nodes, `finalized`, is some 32 slots older and lacks new makers. */
const COMMITMENT = 'confirmed';
/** About one slot: the bytes are as old as the book whose makers they are of. */
export const KEEP_MS = 400;
/** From the request on, waiting for calls under way included: below the 3,000 ms after which the published client gives up. */
const TIMEOUT_MS = 2500;
const MAX_CALLS_UNDER_WAY = 4;
/** Waiting accounts are one more round of calls; beyond it the chain cannot keep up, and accounts are null. */
export const MAX_WAITING = MAX_CALLS_UNDER_WAY * ACCOUNTS_PER_CALL;
const MAX_KEPT = 10_000;
const LOG_EVERY_MS = 10_000;

interface Kept {
  readonly bytes: Promise<string | null>;
  /** Wall-clock milliseconds from which on it is read again; without end while its call is under way. */
  untilMs: number;
}

interface Waiting {
  readonly address: string;
  /** Wall-clock milliseconds. */
  readonly askedAtMs: number;
  readonly answer: (bytes: string | null) => void;
}

interface AccountsAnswer {
  readonly result?: { readonly value?: readonly ({ readonly data?: readonly unknown[] } | null)[] };
  readonly error?: unknown;
}

/** Reads by getMultipleAccounts; what cannot be read is null, counted and logged. */
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
  readonly #kept = new Map<string, Kept>();
  #waiting: Waiting[] = [];
  #callsUnderWay = 0;
  #isFlushing = false;
  #failuresSinceLogged = 0;
  #loggedAtMs = Number.NEGATIVE_INFINITY;

  constructor({ rpcUrl, metrics, logger, clock = Date.now }: AccountReaderOptions) {
    this.#rpcUrl = rpcUrl;
    this.#logger = logger;
    this.#clock = clock;
    this.#reads = new Counter({
      name: 'slotbook_account_reads_total',
      help: 'Accounts asked for with includeAccounts, by what became of them: kept, read, failed, busy',
      labelNames: ['outcome'],
      registers: [metrics],
    });
    // From zero, so that the first failure is an increase.
    for (const outcome of ['kept', 'read', 'failed', 'busy']) this.#reads.inc({ outcome }, 0);
  }

  read(addresses: readonly string[]): Promise<readonly (string | null)[]> {
    if (this.#rpcUrl === '') return Promise.resolve(addresses.map(() => null));
    const nowMs = this.#clock();
    return Promise.all(addresses.map((address) => this.#one(address, nowMs)));
  }

  #one(address: string, nowMs: number): Promise<string | null> {
    const known = this.#kept.get(address);
    if (known && nowMs < known.untilMs) {
      this.#reads.inc({ outcome: 'kept' });
      return known.bytes;
    }
    this.#forgetOld(nowMs);
    if (this.#waiting.length >= MAX_WAITING || this.#kept.size >= MAX_KEPT) {
      this.#reads.inc({ outcome: 'busy' });
      this.#logFailure(nowMs, 'too many accounts are asked for');
      return Promise.resolve(null);
    }
    const bytes = new Promise<string | null>((answer) => this.#waiting.push({ address, askedAtMs: nowMs, answer }));
    this.#kept.delete(address);
    this.#kept.set(address, { bytes, untilMs: Number.POSITIVE_INFINITY });
    this.#flushSoon();
    return bytes;
  }

  /** Calls end about in the order in which they began, so what is too old stands at the front. */
  #forgetOld(nowMs: number): void {
    for (const [address, { untilMs }] of this.#kept) {
      if (nowMs < untilMs) return;
      this.#kept.delete(address);
    }
  }

  /** After this turn, so that all accounts of a request are in one call. */
  #flushSoon(): void {
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    queueMicrotask(() => {
      this.#isFlushing = false;
      while (this.#waiting.length > 0 && this.#callsUnderWay < MAX_CALLS_UNDER_WAY) {
        void this.#call(this.#waiting.splice(0, ACCOUNTS_PER_CALL));
      }
    });
  }

  async #call(wanted: readonly Waiting[]): Promise<void> {
    this.#callsUnderWay += 1;
    const waitedMs = this.#clock() - (wanted[0]?.askedAtMs ?? 0);
    let found: readonly (string | null)[] | null = null;
    try {
      found = await this.#ask(
        wanted.map(({ address }) => address),
        Math.max(0, TIMEOUT_MS - waitedMs),
      );
      this.#reads.inc({ outcome: 'read' }, wanted.length);
    } catch (error) {
      // An answer without bytes is still an answer: the makers are known.
      this.#reads.inc({ outcome: 'failed' }, wanted.length);
      this.#logFailure(this.#clock(), String(error));
    }
    this.#callsUnderWay -= 1;
    const untilMs = this.#clock() + KEEP_MS;
    for (const [index, { address, answer }] of wanted.entries()) {
      const kept = this.#kept.get(address);
      if (kept) kept.untilMs = untilMs;
      answer(found?.[index] ?? null);
    }
    this.#flushSoon();
  }

  /** Rejects when the node does not answer in time, or with an error, or with something else. */
  async #ask(addresses: readonly string[], timeoutMs: number): Promise<readonly (string | null)[]> {
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

  /** One line in ten seconds, however many fail. */
  #logFailure(nowMs: number, error: string): void {
    this.#failuresSinceLogged += 1;
    if (nowMs - this.#loggedAtMs < LOG_EVERY_MS) return;
    this.#logger.warn({ error, failures: this.#failuresSinceLogged }, 'accounts of makers could not be read');
    this.#loggedAtMs = nowMs;
    this.#failuresSinceLogged = 0;
  }
}
