// The source over a Solana node: JSON-RPC for the past, PubSub for live updates. Reconnects until it is stopped.

import { setTimeout as delay } from 'node:timers/promises';
import bs58 from 'bs58';
import type { Logger } from '../platform/index.ts';
import type { ChainDefinition } from '../schemas/index.ts';
import { discriminatorOf } from './decode/account.ts';
import { compilePerpMarket, compileSpotMarket } from './decode/market.ts';
import { UpdateQueue } from './queue.ts';
import { accountFilters } from './rpc/account-filters.ts';
import { AccountReader } from './rpc/account-reader.ts';
import { AccountStream } from './rpc/account-stream.ts';
import { BlockClock } from './rpc/block-clock.ts';
import { RequestBudget } from './rpc/budget.ts';
import { REAL_CLOCK } from './rpc/clock.ts';
import type { HistoryCommitment, NodeCommitment } from './rpc/commitment.ts';
import { Endpoint } from './rpc/endpoint.ts';
import { FinalityClock } from './rpc/finality-clock.ts';
import { FinalizedChain } from './rpc/finalized.ts';
import { History } from './rpc/history.ts';
import { NOTHING_DELIVERED } from './rpc/intake.ts';
import { JsonRpc } from './rpc/json-rpc.ts';
import { Nodes } from './rpc/nodes.ts';
import { KeyCache } from './rpc/notifications.ts';
import { type OpenSession, Session } from './rpc/session.ts';
import { NETWORK, type Transport } from './rpc/transport.ts';
import type {
  AccountsRead,
  AccountsWanted,
  AccountUpdate,
  BlockReader,
  FinalityReader,
  ResumePoint,
  Source,
  SourceUpdate,
  TransactionLogs,
} from './source.ts';

/** Limit of updates that wait for the log. Beyond it the session ends until the queue is empty. */
const QUEUE_MAX = 100_000;
/** Signatures per program that a first start fetches: enough for a fresh localnet or a quiet hour. */
const FIRST_SIGNATURES_MAX = 20_000;
const AUDIT_INTERVAL_MS = 5_000;
const BACKOFF_MIN_MS = 250;
const BACKOFF_MAX_MS = 10_000;
/** A node may return a transaction a moment after its notification. */
const REFETCH_TRIES = 4;
const REFETCH_PAUSE_MS = 300;
/** A refetch holds the log, so it ends after this time. */
const REFETCH_MAX_MS = 3_000;

export interface RpcSourceOptions {
  /** In the order of preference. */
  readonly rpcUrls: readonly string[];
  /** PubSub of the same nodes. */
  readonly wsUrls: readonly string[];
  readonly definition: ChainDefinition;
  readonly logger: Logger;
  /** For account reads and subscriptions; default confirmed. */
  readonly accountCommitment?: NodeCommitment;
  /** For transactions; default confirmed. */
  readonly historyCommitment?: HistoryCommitment;
  readonly silenceMs: number;
  /** Interval of the signature check and of oracle reads; default 5 s. */
  readonly auditMs?: number;
  /** Slots between two requested block times; absent: none are requested. */
  readonly sampleSlots?: number;
  /** Signatures per program that a first start reads back. */
  readonly firstSignaturesMax?: number;
  /** Requests a second to each node; 0 or absent: no limit. */
  readonly requestsPerSecond?: number;
  readonly queueMax?: number;
  /** Live updates from elsewhere than PubSub; called once a run. */
  readonly sessions?: () => OpenSession;
  /** Default: the real network. */
  readonly transport?: Transport;
}

export class RpcSource implements Source {
  readonly #options: RpcSourceOptions;
  readonly #keys = new KeyCache();

  readonly #endpoints: readonly Endpoint[];
  readonly #reader: AccountReader;
  readonly #oraclesOf: OracleFinder;
  readonly #stream: AccountStream;
  /** Of all sessions so far. No read is older than its data. */
  #delivered = NOTHING_DELIVERED;

  constructor(options: RpcSourceOptions) {
    this.#options = options;
    const { rpcUrls, requestsPerSecond = 0, definition, transport = NETWORK } = options;
    this.#stream = new AccountStream(transport);
    this.#oraclesOf = oracleFinder(definition);
    this.#endpoints = rpcUrls.map((url) => {
      return new Endpoint(url, new RequestBudget(requestsPerSecond, REAL_CLOCK), REAL_CLOCK, transport);
    });
    this.#reader = new AccountReader({
      filters: accountFilters(definition),
      commitment: this.#commitment,
      keys: this.#keys,
    });
  }

  get #commitment() {
    return this.#options.accountCommitment ?? 'confirmed';
  }

  #rpc(signal: AbortSignal): JsonRpc {
    return new JsonRpc(new Nodes(this.#endpoints, this.#commitment, signal, REAL_CLOCK), this.#stream);
  }

  async *updates(resume: ResumePoint | null, signal: AbortSignal): AsyncIterable<readonly SourceUpdate[]> {
    const queue = new UpdateQueue(this.#options.queueMax ?? QUEUE_MAX);
    const over = new AbortController();
    const both = AbortSignal.any([signal, over.signal]);
    const running = this.#run(resume, queue, both).then(
      () => queue.end(),
      (error: unknown) => queue.end(both.aborted ? null : error),
    );
    both.addEventListener('abort', () => queue.end(), { once: true });
    try {
      yield* queue.batches();
    } finally {
      over.abort();
      await running;
      await this.#stream.close();
    }
  }

  async transaction(signature: string): Promise<TransactionLogs | null> {
    const signal = AbortSignal.timeout(REFETCH_MAX_MS);
    const rpc = this.#rpc(signal);
    for (let attempt = 0; attempt < REFETCH_TRIES && !signal.aborted; attempt++) {
      if (attempt > 0) await delay(REFETCH_PAUSE_MS);
      try {
        const [outcome] = await rpc.transactions([signature], this.#historyCommitment);
        if (outcome?.found) return outcome.found;
      } catch (error) {
        this.#options.logger.warn({ err: error, signature }, 'transaction not fetched');
      }
    }
    return null;
  }

  blocks(signal: AbortSignal): BlockReader {
    const rpc = this.#rpc(signal);
    const programs = this.#options.definition.programs.map(({ programId }) => programId);
    const options = { commitment: this.#historyCommitment, isBackground: true, signal };
    return {
      slots: (range) => rpc.blockLists.inRange(range, options),
      read: (slot) => rpc.block(slot, programs, options),
    };
  }

  finality(signal: AbortSignal): FinalityReader {
    return new FinalizedChain(this.#rpc(signal).nodes, signal);
  }

  /** Reads within the background share of the budget. Leaves out oracles of other programs. */
  async accounts(signal: AbortSignal, wanted?: AccountsWanted): Promise<AccountsRead> {
    const rpc = this.#rpc(signal);
    const { slots, newestSlot, updates } = wanted
      ? await this.#reader.readSome(rpc, this.#delivered.dataSlot, wanted)
      : await this.#reader.read(rpc, this.#delivered.dataSlot, { isBackground: true });
    return { slot: Math.min(...slots), newestSlot, updates, isWhole: wanted === undefined };
  }

  /** State of one account (base58) at a slot or later; null when it is closed. Rejects when no node answers. */
  async account(pubkey: Uint8Array, minSlot: number, signal: AbortSignal): Promise<AccountUpdate | null> {
    const options = { commitment: this.#commitment, minSlot, isBackground: true, signal };
    const { slot, accounts } = await this.#rpc(signal).accounts([bs58.encode(pubkey)], options);
    const [account] = accounts;
    if (!account) return null;
    const owner = this.#keys.decode(account.owner);
    return { kind: 'account', slot, writeVersion: null, pubkey, owner, data: account.data };
  }

  /** Hash (base58) of the block of a slot; null when no node has it. Rejects when no node answers. */
  async blockhash(slot: number, signal: AbortSignal): Promise<string | null> {
    const options = { commitment: this.#historyCommitment, isBackground: true, signal };
    return (await this.#rpc(signal).blockLists.header(slot, options))?.blockhash ?? null;
  }

  get #historyCommitment(): HistoryCommitment {
    return this.#options.historyCommitment ?? 'confirmed';
  }

  async #run(resume: ResumePoint | null, queue: UpdateQueue, signal: AbortSignal): Promise<void> {
    const { logger, wsUrls, sampleSlots } = this.#options;
    const rpc = this.#rpc(signal);
    const finality = new FinalityClock(
      sampleSlots ?? 0,
      { slot: () => rpc.slot('finalized'), time: (slot) => rpc.blockTime(slot) },
      (update) => queue.push(update),
      signal,
    );
    const clock =
      sampleSlots === undefined
        ? null
        : new BlockClock(
            sampleSlots,
            (slot) => rpc.blockTime(slot),
            (update) => {
              queue.push(update);
              finality.time(update);
            },
          );
    const open: OpenSession = this.#options.sessions?.() ?? ((parts, before) => new Session(parts, before));
    let history: History | null = null;
    let failures = 0;
    for (let attempt = 0; !signal.aborted; attempt++) {
      let reason: string;
      try {
        history ??= await this.#history(rpc, resume);
        const wsUrl = wsUrls[attempt % wsUrls.length] ?? '';
        const session = open(this.#parts({ wsUrl, rpc, history, queue, clock, finality, signal }), this.#delivered);
        reason = await session.run().finally(() => {
          this.#delivered = session.delivered;
          if (session.wasLive) failures = 0;
        });
      } catch (error) {
        reason = String(error instanceof Error && error.cause ? `${error.message}: ${String(error.cause)}` : error);
      }
      if (signal.aborted) return;
      logger.warn({ reason, attempt }, 'connection to the node lost');
      queue.push({ kind: 'reconnect', reason });
      const waitMs = Math.min(BACKOFF_MAX_MS, BACKOFF_MIN_MS * 2 ** failures);
      failures += 1;
      await delay(waitMs, undefined, { signal }).catch(() => {});
      await queue.drained();
    }
  }

  async #history(rpc: JsonRpc, resume: ResumePoint | null): Promise<History> {
    const chain = await rpc.genesisHash();
    const { definition, historyCommitment, firstSignaturesMax, logger } = this.#options;
    const known = resume !== null && resume.chain !== chain ? null : resume;
    if (known !== resume) logger.warn({ was: resume?.chain, is: chain }, 'the chain has changed: starting over');
    this.#reader.remember(known?.accounts ?? {});
    return new History(
      rpc,
      {
        programs: definition.programs.map((program) => program.programId),
        commitment: historyCommitment ?? 'confirmed',
        firstSignaturesMax: firstSignaturesMax ?? FIRST_SIGNATURES_MAX,
        chain,
      },
      known,
    );
  }

  #parts(live: {
    wsUrl: string;
    rpc: JsonRpc;
    history: History;
    queue: UpdateQueue;
    clock: BlockClock | null;
    finality: FinalityClock;
    signal: AbortSignal;
  }) {
    const { definition, historyCommitment, silenceMs, auditMs, logger, transport = NETWORK } = this.#options;
    return {
      ...live,
      transport,
      silenceMs,
      logger,
      keys: this.#keys,
      reader: this.#reader,
      auditMs: auditMs ?? AUDIT_INTERVAL_MS,
      accountFilters: accountFilters(definition),
      programs: definition.programs.map((program) => program.programId),
      accountCommitment: this.#commitment,
      historyCommitment: historyCommitment ?? 'confirmed',
      oraclesOf: this.#oraclesOf,
    } as const;
  }
}

type OracleFinder = (updates: readonly AccountUpdate[]) => readonly Uint8Array[];

/** Finds the oracle keys in market accounts. Skips unreadable markets; the differ parks them. */
function oracleFinder(definition: ChainDefinition): OracleFinder {
  const accounts = new Map(definition.programs.flatMap((program) => [...program.accounts]));
  const perp = accounts.get('PerpMarket');
  const spot = accounts.get('SpotMarket');
  const readers = [perp && compilePerpMarket(perp), spot && compileSpotMarket(spot)].filter((one) => one !== undefined);
  return (updates) => {
    const found = new Map<string, Uint8Array>();
    for (const { data } of updates) {
      const reader = readers.find(({ account }) => account.discriminator === discriminatorOf(data));
      if (!reader || data.length < reader.account.bytesMin) continue;
      const { oracle } = reader.oracle(reader.account.open(data));
      if (oracle.some((byte) => byte !== 0)) found.set(Buffer.from(oracle).toString('hex'), oracle);
    }
    return [...found.values()];
  };
}
