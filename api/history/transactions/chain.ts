// Reads and writes of the chain for transactions, at one RPC node of the operator. Each call has a time limit, and few run at
// once. Markets and lookup tables change rarely and are cached.

import {
  type AddressLookupTableAccount,
  type Commitment,
  Connection,
  type PublicKey,
  type SignatureStatus,
  type SimulatedTransactionResponse,
  type VersionedTransaction,
} from '@solana/web3.js';
import { HistoryError } from '../../http/errors.ts';
import { type Markets, perpMarketOf, spotMarketOf, type UserAccount, userOf } from './accounts.ts';
import type { ExchangeProgram } from './program.ts';

/** Limit of getMultipleAccounts (Solana JSON-RPC). */
const ACCOUNTS_PER_CALL = 100;
const CALL_TIMEOUT_MS = 10_000;
/** Calls in progress; further requests are refused, so that clients cannot use this service to flood the node. */
const CALLS_MAX = 32;
const MARKETS_FRESH_MS = 60_000;
const COMMITMENT: Commitment = 'confirmed';

export interface Blockhash {
  readonly blockhash: string;
  readonly lastValidBlockHeight: number;
}

/** The chain as the routes need it. Every call rejects with a HistoryError `rpcAway` when the node does not answer. */
export interface Chain {
  readonly program: ExchangeProgram;
  markets(): Promise<Markets>;
  /** Null: no such user account. */
  user(key: PublicKey): Promise<UserAccount | null>;
  exists(key: PublicKey): Promise<boolean>;
  lookupTables(): Promise<readonly AddressLookupTableAccount[]>;
  blockhash(): Promise<Blockhash>;
  slot(): Promise<number>;
  blockHeight(): Promise<number>;
  simulate(transaction: VersionedTransaction, replaceBlockhash: boolean): Promise<SimulatedTransactionResponse>;
  /** Returns the signature. Rejects with `SendRefused` when the node refuses the transaction. */
  send(wire: Uint8Array): Promise<string>;
  status(signature: string): Promise<SignatureStatus | null>;
}

/** The node refuses to take a transaction. */
export class SendRefused extends Error {
  override readonly name = 'SendRefused';
}

export interface ChainOptions {
  readonly program: ExchangeProgram;
  readonly rpcUrl: string;
  readonly lookupTables: readonly PublicKey[];
  /** Milliseconds of a clock that only advances. */
  readonly clock?: () => number;
}

/** A chain behind an RPC node. */
export class RpcChain implements Chain {
  readonly program: ExchangeProgram;
  readonly #connection: Connection;
  readonly #tableKeys: readonly PublicKey[];
  readonly #clock: () => number;
  #calls = 0;
  #markets: { readonly value: Promise<Markets>; readonly untilMs: number } | null = null;
  #tables: { readonly value: Promise<readonly AddressLookupTableAccount[]>; readonly untilMs: number } | null = null;

  constructor({ program, rpcUrl, lookupTables, clock = () => performance.now() }: ChainOptions) {
    this.program = program;
    this.#tableKeys = lookupTables;
    this.#clock = clock;
    this.#connection = new Connection(rpcUrl, {
      commitment: COMMITMENT,
      disableRetryOnRateLimit: true,
      fetch: ((url: string, init: RequestInit) =>
        fetch(url, { ...init, redirect: 'error', signal: AbortSignal.timeout(CALL_TIMEOUT_MS) })) as never,
    });
  }

  markets(): Promise<Markets> {
    const nowMs = this.#clock();
    if (this.#markets === null || nowMs >= this.#markets.untilMs) {
      const value = this.#readMarkets();
      this.#markets = { value, untilMs: nowMs + MARKETS_FRESH_MS };
      value.catch(() => {
        this.#markets = null;
      });
    }
    return this.#markets.value;
  }

  lookupTables(): Promise<readonly AddressLookupTableAccount[]> {
    const nowMs = this.#clock();
    if (this.#tables === null || nowMs >= this.#tables.untilMs) {
      const value = this.#readTables();
      this.#tables = { value, untilMs: nowMs + MARKETS_FRESH_MS };
      value.catch(() => {
        this.#tables = null;
      });
    }
    return this.#tables.value;
  }

  async user(key: PublicKey): Promise<UserAccount | null> {
    const account = await this.#call(() => this.#connection.getAccountInfo(key, 'processed'));
    if (account === null || !account.owner.equals(this.program.programId)) return null;
    try {
      return userOf(this.program, key, account.data);
    } catch {
      return null;
    }
  }

  async exists(key: PublicKey): Promise<boolean> {
    return (await this.#call(() => this.#connection.getAccountInfo(key, COMMITMENT))) !== null;
  }

  blockhash(): Promise<Blockhash> {
    return this.#call(() => this.#connection.getLatestBlockhash(COMMITMENT));
  }

  slot(): Promise<number> {
    return this.#call(() => this.#connection.getSlot('processed'));
  }

  blockHeight(): Promise<number> {
    return this.#call(() => this.#connection.getBlockHeight(COMMITMENT));
  }

  async simulate(transaction: VersionedTransaction, replaceBlockhash: boolean): Promise<SimulatedTransactionResponse> {
    const config = {
      commitment: 'processed',
      sigVerify: !replaceBlockhash,
      replaceRecentBlockhash: replaceBlockhash,
    } as const;
    return (await this.#call(() => this.#connection.simulateTransaction(transaction, config))).value;
  }

  async send(wire: Uint8Array): Promise<string> {
    // The service has already simulated the transaction when the caller wants that.
    const options = { skipPreflight: true, maxRetries: 0 };
    return this.#call(() => this.#connection.sendRawTransaction(wire, options));
  }

  async status(signature: string): Promise<SignatureStatus | null> {
    const statuses = await this.#call(() => this.#connection.getSignatureStatuses([signature]));
    return statuses.value[0] ?? null;
  }

  async #readMarkets(): Promise<Markets> {
    const state = await this.#call(() => this.#connection.getAccountInfo(this.program.state, COMMITMENT));
    if (state === null) throw new HistoryError('rpcAway');
    const { number_of_markets: perpCount, number_of_spot_markets: spotCount } = this.program.decode(
      'State',
      state.data,
    );
    const perpKeys = Array.from({ length: Number(perpCount) }, (_, index) => this.program.perpMarket(index));
    const spotKeys = Array.from({ length: Number(spotCount) }, (_, index) => this.program.spotMarket(index));
    const [perps, spots] = await Promise.all([this.#read(perpKeys), this.#read(spotKeys)]);
    return {
      perps: perps.map(({ key, data }) => perpMarketOf(this.program, key, data)),
      spots: spots.map(({ key, data }) => spotMarketOf(this.program, key, data)),
    };
  }

  /** Accounts in order. A missing one ends the list: indexes must stay those of the request. */
  async #read(keys: readonly PublicKey[]): Promise<{ readonly key: PublicKey; readonly data: Buffer }[]> {
    const found: { key: PublicKey; data: Buffer }[] = [];
    for (let from = 0; from < keys.length; from += ACCOUNTS_PER_CALL) {
      const batch = keys.slice(from, from + ACCOUNTS_PER_CALL);
      const accounts = await this.#call(() => this.#connection.getMultipleAccountsInfo(batch, COMMITMENT));
      for (const [index, account] of accounts.entries()) {
        const key = batch[index];
        if (account === null || key === undefined) return found;
        found.push({ key, data: account.data });
      }
    }
    return found;
  }

  /** A table that the chain does not have only makes transactions longer. */
  async #readTables(): Promise<readonly AddressLookupTableAccount[]> {
    const read = this.#tableKeys.map((key) => this.#call(() => this.#connection.getAddressLookupTable(key)));
    return (await Promise.all(read)).flatMap(({ value }) => (value === null ? [] : [value]));
  }

  async #call<T>(call: () => Promise<T>): Promise<T> {
    if (this.#calls >= CALLS_MAX) throw new HistoryError('rpcBusy');
    this.#calls += 1;
    try {
      return await call();
    } catch (error) {
      if (isRefusal(error)) throw new SendRefused(error.message);
      throw new HistoryError('rpcAway', undefined, { cause: error });
    } finally {
      this.#calls -= 1;
    }
  }
}

/** web3.js raises this one when a node answers `sendTransaction` with an error. */
function isRefusal(error: unknown): error is Error {
  return error instanceof Error && error.name === 'SendTransactionError';
}
