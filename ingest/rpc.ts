// The source over a Solana node: JSON-RPC for reading back, PubSub for what happens now, sessions until told to stop.

import { setTimeout as delay } from 'node:timers/promises';
import { Connection } from '@solana/web3.js';
import type { Logger } from '../platform/index.ts';
import type { ChainDefinition } from '../schemas/index.ts';
import { discriminatorOf } from './decode/account.ts';
import { compilePerpMarket, compileSpotMarket } from './decode/market.ts';
import { UpdateQueue } from './queue.ts';
import { BlockClock } from './rpc/block-clock.ts';
import { type Finality, History } from './rpc/history.ts';
import { JsonRpc } from './rpc/json-rpc.ts';
import { KeyCache } from './rpc/notifications.ts';
import { Session } from './rpc/session.ts';
import { wantedAccounts } from './rpc/wanted.ts';
import type { AccountsRead, AccountUpdate, ResumePoint, Source, SourceUpdate, TransactionLogs } from './source.ts';

/** Updates that may wait for the log; then the connection is given up until they are taken. */
const QUEUE_MAX = 100_000;
/** Signatures per program read back by a first start: what a fresh localnet or a quiet hour holds. */
const FIRST_SIGNATURES_MAX = 20_000;
const AUDIT_INTERVAL_MS = 5_000;
const BACKOFF_MIN_MS = 250;
const BACKOFF_MAX_MS = 10_000;
/** A transaction just notified may take a moment until the node gives it in full. */
const REFETCH_TRIES = 10;
const REFETCH_PAUSE_MS = 300;

export interface RpcSourceOptions {
  readonly rpcUrl: string;
  readonly wsUrl: string;
  readonly definition: ChainDefinition;
  readonly logger: Logger;
  /** Of account reads and subscriptions; default confirmed. */
  readonly accountCommitment?: 'processed' | 'confirmed' | 'finalized';
  /** Of transactions; default confirmed. */
  readonly historyCommitment?: Finality;
  readonly silenceMs: number;
  /** How often signatures and oracles of other programs are looked up; default 5 s. */
  readonly auditMs?: number;
  /** Slots between two block times asked for; absent: none are asked for. */
  readonly sampleSlots?: number;
  readonly firstSignaturesMax?: number;
  readonly queueMax?: number;
}

export class RpcSource implements Source {
  readonly #options: RpcSourceOptions;
  readonly #keys = new KeyCache();

  constructor(options: RpcSourceOptions) {
    this.#options = options;
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
    }
  }

  async transaction(signature: string): Promise<TransactionLogs | null> {
    const rpc = new JsonRpc(this.#options.rpcUrl, new AbortController().signal);
    for (let attempt = 0; attempt < REFETCH_TRIES; attempt++) {
      if (attempt > 0) await delay(REFETCH_PAUSE_MS);
      try {
        const [found] = await rpc.transactions([signature], this.#options.historyCommitment ?? 'confirmed');
        if (found) return found;
      } catch (error) {
        this.#options.logger.warn({ err: error, signature }, 'transaction not fetched');
      }
    }
    return null;
  }

  /** One kind after the other, so that the loop gets its turns between them. Oracles of other programs are left out. */
  async accounts(signal: AbortSignal): Promise<AccountsRead> {
    const { rpcUrl, definition, accountCommitment } = this.#options;
    const rpc = new JsonRpc(rpcUrl, signal);
    const keys = this.#keys;
    const updates: AccountUpdate[] = [];
    let oldest = Number.POSITIVE_INFINITY;
    for (const { program, snapshotFilters } of wantedAccounts(definition)) {
      const read = await rpc.programAccounts(program, snapshotFilters, accountCommitment ?? 'confirmed');
      const { slot } = read;
      oldest = Math.min(oldest, slot);
      for (const { pubkey, owner, data } of read.accounts) {
        const key = keys.decode(pubkey);
        updates.push({ kind: 'account', slot, writeVersion: null, pubkey: key, owner: keys.decode(owner), data });
      }
    }
    return { slot: oldest, updates };
  }

  async #run(resume: ResumePoint | null, queue: UpdateQueue, signal: AbortSignal): Promise<void> {
    const { rpcUrl, logger } = this.#options;
    const connection = new Connection(rpcUrl, { commitment: 'confirmed', disableRetryOnRateLimit: true });
    const rpc = new JsonRpc(rpcUrl, signal);
    const keys = this.#keys;
    const { sampleSlots } = this.#options;
    const clock =
      sampleSlots === undefined
        ? null
        : new BlockClock(
            sampleSlots,
            (slot) => rpc.blockTime(slot),
            (update) => queue.push(update),
          );
    let history: History | null = null;
    let tip = 0;
    let heardTo = 0;
    for (let attempt = 0; !signal.aborted; attempt++) {
      let reason: string;
      try {
        history ??= await this.#history(connection, rpc, resume);
        const session = new Session(
          this.#parts({ connection, rpc, history, queue, keys, clock, signal }),
          tip,
          heardTo,
        );
        reason = await session.run().finally(() => {
          tip = session.tip;
          if (session.wasLive) {
            attempt = 0;
            heardTo = tip;
          }
        });
      } catch (error) {
        reason = String(error instanceof Error && error.cause ? `${error.message}: ${String(error.cause)}` : error);
      }
      if (signal.aborted) return;
      logger.warn({ reason, attempt }, 'connection to the node lost');
      queue.push({ kind: 'reconnect', reason });
      const waitMs = Math.min(BACKOFF_MAX_MS, BACKOFF_MIN_MS * 2 ** attempt);
      await delay(waitMs, undefined, { signal }).catch(() => {});
      await queue.drained();
    }
  }

  async #history(connection: Connection, rpc: JsonRpc, resume: ResumePoint | null): Promise<History> {
    const chain = await rpc.genesisHash();
    const { definition, historyCommitment, firstSignaturesMax, logger } = this.#options;
    const known = resume !== null && resume.chain !== chain ? null : resume;
    if (known !== resume) logger.warn({ was: resume?.chain, is: chain }, 'another chain than before: starting anew');
    return new History(
      connection,
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
    connection: Connection;
    rpc: JsonRpc;
    history: History;
    queue: UpdateQueue;
    keys: KeyCache;
    clock: BlockClock | null;
    signal: AbortSignal;
  }) {
    const { wsUrl, definition, accountCommitment, historyCommitment, silenceMs, auditMs } = this.#options;
    return {
      ...live,
      wsUrl,
      silenceMs,
      auditMs: auditMs ?? AUDIT_INTERVAL_MS,
      wanted: wantedAccounts(definition),
      programs: definition.programs.map((program) => program.programId),
      accountCommitment: accountCommitment ?? 'confirmed',
      historyCommitment: historyCommitment ?? 'confirmed',
      oraclesOf: oracleFinder(definition),
    } as const;
  }
}

/** Finds the oracle keys in market accounts; markets that cannot be read are the differ's business. */
function oracleFinder(definition: ChainDefinition): (updates: readonly AccountUpdate[]) => readonly Uint8Array[] {
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
