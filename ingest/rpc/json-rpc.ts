// The JSON-RPC calls of ingest. They are made directly: web3.js has no zstd encoding, validates every field of every
// transaction, and refuses newer transaction versions.

import { isTruncated } from '../decode/logs.ts';
import type { TransactionLogs } from '../source.ts';
import { decodeAccountData } from './account-data.ts';
import type { AccountStream } from './account-stream.ts';
import { BlockLists } from './block-lists.ts';
import type { Endpoint } from './endpoint.ts';
import { BEHIND, RpcError, UNKNOWN_METHOD } from './errors.ts';
import { type AskOptions, type Call, contextSlot, type Nodes, type Outcome } from './nodes.ts';
import { type Pack, PackedAccounts } from './packed-accounts.ts';

/** Highest requested transaction version (docs/internals/events.md, "Fetching transactions"). */
export const TRANSACTION_VERSION_MAX = 1;
/** Transactions per batched call (docs/internals/events.md, "Fetching transactions"). */
export const TRANSACTION_BATCH = 25;
/** getMultipleAccounts takes 100. */
export const ACCOUNTS_PER_CALL = 100;

/** Most accounts of a page of getProgramAccountsV2, and most pages of one read. */
const ACCOUNTS_PER_PAGE = 10_000;
const PAGES_MAX = 10_000;

/** Time of another node to answer with a whole log: live updates wait for it. A backfill does not hold them. */
const WHOLE_LOG_PATIENCE_MS = 1_000;

/** Ranks an empty answer behind every other one. */
const LACKS_ALL = Number.MAX_SAFE_INTEGER;

export interface ProgramAccount {
  readonly pubkey: string;
  readonly owner: string;
  readonly data: Buffer;
}

/** Accounts of a read, and its slot: of its oldest page. */
export interface ReadAccounts {
  readonly slot: number;
  readonly accounts: PackedAccounts;
}

export interface ListedSignature {
  readonly signature: string;
  readonly slot: number;
  readonly failed: boolean;
}

/** Nodes answered without the transaction (`lacking`), did not get to it (`busy`), or failed at the request with it (`broken`). */
export type Miss = 'lacking' | 'busy' | 'broken';

/** A transaction, or the reason why no node returned it. */
export type TransactionOutcome =
  | { readonly found: TransactionLogs }
  | { readonly found: null; readonly reason: string; readonly miss: Miss };

export interface ReadOptions extends AskOptions {
  readonly commitment: string;
  /** The answer must be at this slot or later. */
  readonly minSlot?: number;
}

/** Options with the signal of the request. */
type GivenOptions = ReadOptions & { readonly signal: AbortSignal };

interface RawAccount {
  readonly data: readonly [string, string];
  readonly owner: string;
}

interface RawTransaction {
  readonly slot: number;
  readonly blockTime?: number | null;
  readonly meta?: { readonly err?: unknown; readonly logMessages?: readonly string[] | null } | null;
}

interface RawBlock {
  readonly blockTime?: number | null;
  readonly transactions?: readonly {
    readonly transaction?: {
      readonly signatures?: readonly string[];
      readonly message?: { readonly accountKeys?: readonly string[] };
    };
    readonly meta?: {
      readonly err?: unknown;
      readonly logMessages?: readonly string[] | null;
      readonly loadedAddresses?: { readonly writable?: readonly string[]; readonly readonly?: readonly string[] };
    } | null;
  }[];
}

export interface BlockTransactions {
  /** Those that invoke one of the programs, with their index in the block. */
  readonly transactions: readonly TransactionLogs[];
  /** Transactions of the programs without logs: the node does not record them. */
  readonly lacking: number;
}

export class JsonRpc {
  readonly nodes: Nodes;
  readonly blockLists: BlockLists;
  readonly #stream: AccountStream;

  constructor(nodes: Nodes, stream: AccountStream) {
    this.nodes = nodes;
    this.blockLists = new BlockLists(nodes);
    this.#stream = stream;
  }

  /** Accounts of a program that pass the filters. Asks for pages where the node offers them. */
  programAccounts(program: string, filters: readonly unknown[], options: ReadOptions): Promise<ReadAccounts> {
    const config = accountsConfig(filters, options);
    return this.nodes.first(async (endpoint, signal) => {
      const given = { ...options, signal };
      const paged = await this.#pagedAccounts(endpoint, program, config, given);
      if (!(paged instanceof RpcError)) return paged;
      const call = { method: 'getProgramAccounts', params: [program, config] };
      const { slot, packs } = await this.#streamed(endpoint, call, given);
      if (slot === null) throw new RpcError('getProgramAccounts: unreadable answer');
      // An HTTP status may refuse the key or the program. This answer shows that it refused the pages.
      if (paged.isTransport) endpoint.hasPages ??= false;
      const accounts = new PackedAccounts();
      accounts.add(packs, slot);
      return { slot, accounts };
    }, options);
  }

  /** Those of them that changed at slot `since` or later. Null when no node can list them. */
  async changedAccounts(
    program: string,
    filters: readonly unknown[],
    since: number,
    options: ReadOptions,
  ): Promise<ReadAccounts | null> {
    const config = { ...accountsConfig(filters, options), changedSinceSlot: since };
    try {
      return await this.nodes.first(async (endpoint, signal) => {
        const paged = await this.#pagedAccounts(endpoint, program, config, { ...options, signal });
        if (paged instanceof RpcError)
          throw new RpcError('the node lists no changes', UNKNOWN_METHOD, { cause: paged });
        return paged;
      }, options);
    } catch (error) {
      if (error instanceof RpcError && error.code === UNKNOWN_METHOD) return null;
      throw error;
    }
  }

  /** The refusal of a node that will not list pages. Pages differ in their slots; a short page is not the last one. */
  async #pagedAccounts(
    endpoint: Endpoint,
    program: string,
    config: object,
    options: GivenOptions,
  ): Promise<ReadAccounts | RpcError> {
    if (endpoint.hasPages === false) return new RpcError('the node has no pages of accounts', UNKNOWN_METHOD);
    const accounts = new PackedAccounts();
    let oldest = Number.POSITIVE_INFINITY;
    let paginationKey: string | null = null;
    for (let pages = 0; pages < PAGES_MAX; pages++) {
      const key: object = paginationKey === null ? {} : { paginationKey };
      const params = [program, { ...config, limit: ACCOUNTS_PER_PAGE, ...key }];
      // A node that names no slot is taken at the slot before its answer.
      const before = await this.slot(options.commitment);
      const read = await this.#streamed(endpoint, { method: 'getProgramAccountsV2', params }, options).catch(
        (error: unknown) => {
          const isRefusal = error instanceof RpcError && error.remedy !== 'later';
          if (isRefusal && (pages === 0 || error.code === UNKNOWN_METHOD)) return error;
          throw error;
        },
      );
      if (read instanceof RpcError) {
        if (read.code === UNKNOWN_METHOD) endpoint.hasPages = false;
        return read;
      }
      endpoint.hasPages = true;
      const slot = read.slot ?? before;
      if (slot < (options.minSlot ?? 0)) throw new RpcError('the page is older than asked for', BEHIND);
      oldest = Math.min(oldest, slot);
      accounts.add(read.packs, slot);
      if (read.paginationKey === null || read.paginationKey === paginationKey) return { slot: oldest, accounts };
      paginationKey = read.paginationKey;
    }
    throw new RpcError('getProgramAccountsV2: pages without end');
  }

  /** One request whose accounts are parsed in the worker. */
  async #streamed(endpoint: Endpoint, call: Call, options: GivenOptions) {
    const body = { jsonrpc: '2.0', id: 1, ...call };
    const packs: Pack[] = [];
    const envelope = await this.#stream.read(endpoint, body, (pack) => packs.push(pack), options);
    const result = this.nodes.resultOf(endpoint, envelope, call.params) as {
      readonly paginationKey?: unknown;
      readonly value?: { readonly paginationKey?: unknown };
    };
    const key = result?.value?.paginationKey ?? result?.paginationKey;
    return { slot: contextSlot(result), packs, paginationKey: typeof key === 'string' ? key : null };
  }

  /** States of accounts (base58) in the order of the keys, null for a missing one, and the slot of the read. */
  async accounts(
    keys: readonly string[],
    options: ReadOptions,
  ): Promise<{ readonly slot: number; readonly accounts: readonly (ProgramAccount | null)[] }> {
    const config = { ...configOf(options), encoding: 'base64' };
    const result = await this.nodes.call({ method: 'getMultipleAccounts', params: [keys, config] }, options);
    const slot = contextSlot(result);
    const { value } = result as { readonly value: readonly (RawAccount | null)[] };
    if (slot === null || !Array.isArray(value)) throw new RpcError('getMultipleAccounts: unreadable answer');
    return {
      slot,
      accounts: keys.map((pubkey, index) => {
        const account = value[index];
        return account ? { pubkey, owner: account.owner, data: decodeAccountData(account.data) } : null;
      }),
    };
  }

  /** Signatures that mention a program, newest first, below `before`. An empty page is asked of every node. */
  async signatures(
    program: string,
    page: { readonly limit: number; readonly before: string | null },
    options: ReadOptions,
  ): Promise<readonly ListedSignature[]> {
    const config = {
      ...configOf(options),
      limit: page.limit,
      ...(page.before === null ? {} : { before: page.before }),
    };
    const lacks = (value: unknown) => (Array.isArray(value) && value.length > 0 ? 0 : 1);
    const value = await this.nodes.call(
      { method: 'getSignaturesForAddress', params: [program, config] },
      { ...options, lacks },
    );
    if (!Array.isArray(value)) throw new RpcError('getSignaturesForAddress: unreadable answer');
    return value.flatMap((one: { signature?: unknown; slot?: unknown; err?: unknown } | null) =>
      typeof one?.signature === 'string' && Number.isSafeInteger(one.slot)
        ? [{ signature: one.signature, slot: Number(one.slot), failed: (one.err ?? null) !== null }]
        : [],
    );
  }

  /**
   * Transactions in the order of the signatures. Each stands alone, and a log that one node cut may be whole at another. Rejects
   * when no node answers.
   */
  async transactions(
    signatures: readonly string[],
    commitment: string,
    options: AskOptions = {},
  ): Promise<readonly TransactionOutcome[]> {
    const config = { commitment, encoding: 'base64', maxSupportedTransactionVersion: TRANSACTION_VERSION_MAX };
    const calls = signatures.map((signature) => ({ method: 'getTransaction', params: [signature, config] }));
    const outcomes = await this.nodes.batch(calls, (value) => Number(lackOf(value) !== null), options);
    const found = outcomes.map((outcome, index) => transactionOf(signatures[index] ?? '', outcome));
    const cut = [...found.keys()].filter((index) => hasCutLog(found[index]?.found ?? null));
    if (cut.length === 0) return found;
    const wanted = cut.flatMap((index) => calls[index] ?? []);
    const isWhole = (value: unknown, at: number) =>
      lackOf(value) === null && !hasCutLog(transactionOf(signatures[cut[at] ?? -1] ?? '', { value }).found);
    const whole = await this.nodes.better(wanted, isWhole, { ...options, patienceMs: WHOLE_LOG_PATIENCE_MS });
    for (const [at, value] of whole) {
      const index = cut[at] ?? -1;
      found[index] = transactionOf(signatures[index] ?? '', { value });
    }
    return found;
  }

  async genesisHash(): Promise<string> {
    return String(await this.nodes.call({ method: 'getGenesisHash', params: [] }));
  }

  async slot(commitment: string): Promise<number> {
    const slot = await this.nodes.call({ method: 'getSlot', params: [{ commitment }] });
    if (!Number.isSafeInteger(slot)) throw new RpcError('getSlot: unreadable answer');
    return Number(slot);
  }

  /** First block that any node still has. */
  async firstAvailableBlock(): Promise<number> {
    const slots = await this.nodes.each({ method: 'getFirstAvailableBlock', params: [] });
    const first = Math.min(...slots.filter((slot) => Number.isSafeInteger(slot)).map(Number));
    if (!Number.isFinite(first)) throw new RpcError('getFirstAvailableBlock: unreadable answer');
    return first;
  }

  /** All transactions of a slot, in order, from the node that lacks least. Null when no node has the block. */
  async block(slot: number, programs: readonly string[], options: ReadOptions): Promise<BlockTransactions | null> {
    const config = {
      commitment: options.commitment,
      encoding: 'json',
      transactionDetails: 'full',
      rewards: false,
      maxSupportedTransactionVersion: TRANSACTION_VERSION_MAX,
    };
    try {
      const call = { method: 'getBlock', params: [slot, config] };
      const lacks = (value: unknown) =>
        value === null ? LACKS_ALL : blockOf(slot, value as RawBlock, programs).lacking;
      const value = await this.nodes.call(call, { ...options, lacks });
      if (value === null) return null;
      const block = blockOf(slot, value as RawBlock, programs);
      if (!block.transactions.some(hasCutLog)) return block;
      const isWhole = (other: unknown) => {
        const { lacking, transactions } = blockOf(slot, (other ?? {}) as RawBlock, programs);
        return lacking === 0 && transactions.length >= block.transactions.length && !transactions.some(hasCutLog);
      };
      const whole = await this.nodes.better([call], isWhole, options);
      return whole.has(0) ? blockOf(slot, whole.get(0) as RawBlock, programs) : block;
    } catch (error) {
      if (error instanceof RpcError && error.remedy === 'elsewhere' && !error.isTransport) return null;
      throw error;
    }
  }

  /** Block time of a slot in Unix seconds; null while the node does not know it. Throws for a slot without a block. */
  async blockTime(slot: number): Promise<number | null> {
    const time = await this.nodes.call({ method: 'getBlockTime', params: [slot] });
    return typeof time === 'number' && Number.isSafeInteger(time) && time >= 0 ? time : null;
  }
}

function accountsConfig(filters: readonly unknown[], options: ReadOptions) {
  return { ...configOf(options), encoding: 'base64+zstd', withContext: true, filters };
}

function configOf({ commitment, minSlot }: ReadOptions) {
  return minSlot !== undefined && minSlot > 0 ? { commitment, minContextSlot: minSlot } : { commitment };
}

/** Why the events of a transaction cannot be read; null when they can. A failed one has no events. */
function lackOf(value: unknown): string | null {
  const transaction = value as RawTransaction | null;
  if (!transaction) return 'no node has it';
  if (!transaction.meta) return 'the node has no metadata of it';
  if ((transaction.meta.err ?? null) === null && !Array.isArray(transaction.meta.logMessages)) {
    return 'the node does not record logs';
  }
  return null;
}

/** Whether records may be missing from its log. A failed transaction has none. */
function hasCutLog(transaction: Pick<TransactionLogs, 'failed' | 'logs'> | null): boolean {
  return transaction !== null && !transaction.failed && isTruncated(transaction.logs);
}

function transactionOf(signature: string, outcome: Outcome): TransactionOutcome {
  if ('error' in outcome) {
    const { message, isTransport, isBusy } = outcome.error;
    return { found: null, reason: message, miss: !isTransport ? 'lacking' : isBusy ? 'busy' : 'broken' };
  }
  const reason = lackOf(outcome.value);
  if (reason !== null) return { found: null, reason, miss: 'lacking' };
  const { slot, blockTime, meta } = outcome.value as RawTransaction;
  return {
    found: {
      kind: 'transaction',
      slot,
      signature,
      failed: (meta?.err ?? null) !== null,
      logs: meta?.logMessages ?? [],
      blockIndex: null,
      blockTime: blockTime ?? null,
    },
  };
}

/** Transactions of a block that concern the programs. Their keys may come from address lookup tables. */
function blockOf(slot: number, block: RawBlock, programs: readonly string[]): BlockTransactions {
  const transactions: TransactionLogs[] = [];
  let lacking = 0;
  for (const [index, { transaction, meta }] of (block.transactions ?? []).entries()) {
    const { writable = [], readonly = [] } = meta?.loadedAddresses ?? {};
    const keys = [transaction?.message?.accountKeys ?? [], writable, readonly];
    if (!programs.some((program) => keys.some((some) => some.includes(program)))) continue;
    const signature = transaction?.signatures?.[0];
    if (signature === undefined || !meta) lacking += 1;
    else if ((meta.err ?? null) === null && !Array.isArray(meta.logMessages)) lacking += 1;
    else {
      transactions.push({
        kind: 'transaction',
        slot,
        signature,
        failed: (meta.err ?? null) !== null,
        logs: meta.logMessages ?? [],
        blockIndex: index,
        blockTime: block.blockTime ?? null,
      });
    }
  }
  return { transactions, lacking };
}
