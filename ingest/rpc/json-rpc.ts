// The JSON-RPC calls that move much data, made directly: web3.js has no zstd encoding, validates every field of every
// transaction, and refuses versions newer than itself. Everything else goes through its Connection.

import { setTimeout as delay } from 'node:timers/promises';
import { zstdDecompressSync } from 'node:zlib';
import type { TransactionLogs } from '../source.ts';

const TIMEOUT_MS = 60_000;
/** Highest transaction version asked for (protocol 3.3). */
const TRANSACTION_VERSION_MAX = 1;
/** Transactions of one batched call (protocol 3.3). */
export const TRANSACTION_BATCH = 25;
const RATE_LIMIT_PAUSE_MS = 1_000;
const RATE_LIMIT_TRIES = 5;

/** The node answered with an error or not at all. */
export class RpcError extends Error {
  override readonly name = 'RpcError';
  readonly code: number | null;
  constructor(message: string, code: number | null = null, options: ErrorOptions = {}) {
    super(message, options);
    this.code = code;
  }
}

export interface ProgramAccount {
  readonly pubkey: string;
  readonly owner: string;
  readonly data: Buffer;
}

interface Envelope {
  readonly id?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code?: number; readonly message?: string };
}

interface RawAccount {
  readonly data: readonly [string, string];
  readonly owner: string;
}

interface RawTransaction {
  readonly slot: number;
  readonly blockTime?: number | null;
  readonly meta?: { readonly err?: unknown; readonly logMessages?: readonly string[] | null } | null;
}

export class JsonRpc {
  readonly #url: string;
  readonly #signal: AbortSignal;
  #batches = true;

  constructor(url: string, signal: AbortSignal) {
    this.#url = url;
    this.#signal = signal;
  }

  /** Accounts of a program that pass the filters, and the slot they were read at. */
  async programAccounts(
    program: string,
    filters: readonly unknown[],
    commitment: string,
  ): Promise<{ readonly slot: number; readonly accounts: readonly ProgramAccount[] }> {
    const config = { commitment, encoding: 'base64+zstd', withContext: true, filters };
    const result = (await this.#call('getProgramAccounts', [program, config])) as {
      readonly context: { readonly slot: number };
      readonly value: readonly { readonly pubkey: string; readonly account: RawAccount }[];
    };
    return {
      slot: result.context.slot,
      accounts: result.value.map(({ pubkey, account }) => ({
        pubkey,
        owner: account.owner,
        data: decodeAccountData(account.data),
      })),
    };
  }

  /** Logs of transactions in the order asked for; null where the node has none (yet). */
  async transactions(signatures: readonly string[], commitment: string): Promise<readonly (TransactionLogs | null)[]> {
    const calls = signatures.map((signature) => this.#transactionCall(signature, commitment));
    const results = this.#batches && calls.length > 1 ? await this.#batch(calls) : await this.#each(calls);
    return results.map((result, index) => toLogs(signatures[index] ?? '', result));
  }

  async genesisHash(): Promise<string> {
    return String(await this.#call('getGenesisHash', []));
  }

  /** Unix seconds at which the block of a slot was made; null when the node does not know (yet). */
  async blockTime(slot: number): Promise<number | null> {
    const time = await this.#call('getBlockTime', [slot]);
    return typeof time === 'number' && Number.isSafeInteger(time) && time >= 0 ? time : null;
  }

  #transactionCall(signature: string, commitment: string) {
    const config = { commitment, encoding: 'base64', maxSupportedTransactionVersion: TRANSACTION_VERSION_MAX };
    return { method: 'getTransaction', params: [signature, config] };
  }

  async #each(calls: readonly { method: string; params: unknown[] }[]): Promise<unknown[]> {
    const results: unknown[] = [];
    for (const { method, params } of calls) results.push(await this.#call(method, params));
    return results;
  }

  /** One request with many calls; a node that refuses lists is asked one by one from then on. */
  async #batch(calls: readonly { method: string; params: unknown[] }[]): Promise<unknown[]> {
    const answer = await this.#post(calls.map((call, id) => ({ jsonrpc: '2.0', id, ...call })));
    if (!Array.isArray(answer)) {
      this.#batches = false;
      return this.#each(calls);
    }
    const byId = new Map((answer as Envelope[]).map((one) => [one.id, one]));
    return calls.map((_, id) => resultOf(byId.get(id) ?? { error: { message: 'no answer in batch' } }));
  }

  async #call(method: string, params: readonly unknown[]): Promise<unknown> {
    return resultOf((await this.#post({ jsonrpc: '2.0', id: 1, method, params })) as Envelope);
  }

  async #post(body: unknown): Promise<unknown> {
    for (let attempt = 1; ; attempt++) {
      const response = await this.#fetch(JSON.stringify(body));
      if (response.ok) return response.json();
      await response.body?.cancel();
      if (response.status !== 429 || attempt >= RATE_LIMIT_TRIES) {
        throw new RpcError(`HTTP ${response.status} from the RPC node`, response.status);
      }
      await delay(RATE_LIMIT_PAUSE_MS * attempt, undefined, { signal: this.#signal });
    }
  }

  async #fetch(body: string): Promise<Response> {
    try {
      const signal = AbortSignal.any([this.#signal, AbortSignal.timeout(TIMEOUT_MS)]);
      return await fetch(this.#url, { method: 'POST', headers: { 'content-type': 'application/json' }, body, signal });
    } catch (cause) {
      throw new RpcError('the RPC node cannot be reached', null, { cause });
    }
  }
}

function resultOf(envelope: Envelope): unknown {
  if (envelope.error) throw new RpcError(envelope.error.message ?? 'unknown error', envelope.error.code ?? null);
  return envelope.result ?? null;
}

/** Throws RpcError for an encoding that was not asked for. */
export function decodeAccountData([text, encoding]: readonly [string, string]): Buffer {
  const bytes = Buffer.from(text, 'base64');
  if (encoding === 'base64') return bytes;
  if (encoding === 'base64+zstd') return bytes.length === 0 ? bytes : zstdDecompressSync(bytes);
  throw new RpcError(`account data encoded as ${encoding}`);
}

function toLogs(signature: string, result: unknown): TransactionLogs | null {
  const transaction = result as RawTransaction | null;
  if (!transaction?.meta) return null;
  return {
    kind: 'transaction',
    slot: transaction.slot,
    signature,
    failed: (transaction.meta.err ?? null) !== null,
    logs: transaction.meta.logMessages ?? [],
    blockIndex: null,
    blockTime: transaction.blockTime ?? null,
  };
}
