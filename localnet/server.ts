// Starts a whole simulated cluster: the exchange, its ledger, the clock, JSON-RPC and PubSub, and the state file.

import { createHash } from 'node:crypto';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import bs58 from 'bs58';
import { AccountLog } from './account-log.ts';
import { Cluster } from './cluster.ts';
import { createExchange, type ExchangeOptions } from './exchange/index.ts';
import { VAULT_PROGRAM } from './exchange/keys.ts';
import { type CommitmentLags, Ledger, type LedgerOptions } from './ledger.ts';
import type { Exchange } from './ledger-types.ts';
import { accountMethods } from './rpc/account-methods.ts';
import { chainMethods } from './rpc/chain-methods.ts';
import { controlMethods } from './rpc/controls.ts';
import { historyMethods } from './rpc/history-methods.ts';
import { createHttpServer } from './rpc/http.ts';
import { LATEST_PRICE_PATH, latestPrice } from './rpc/oracle-feed.ts';
import { Publisher } from './rpc/publisher.ts';
import { PubSub } from './rpc/pubsub.ts';
import { Subscriptions } from './rpc/subscriptions.ts';
import { type ChainIdentity, loadState, saveState, TipFile } from './state-file.ts';

export const DEFAULT_RPC_PORT = 8899;
export const DEFAULT_WS_PORT = 8900;
const SAVE_INTERVAL_MS = 10_000;
/** Retention is ten minutes of wall time, so it grows with the speed, up to here. */
const RETENTION_SPEED_MAX = 20;
const RETAINED_BLOCKS_AT_SPEED_1 = 1500;

export type ExchangeFactory = (options: ExchangeOptions, restored?: unknown) => Exchange;

export interface LocalnetOptions {
  /** Default 1. */
  readonly seed?: number;
  /** Slots pass every 400 ms divided by this; 0: only by step. Default 1. */
  readonly speed?: number;
  /** Trading accounts; default is the exchange's. */
  readonly accounts?: number;
  /** Resting orders that the makers keep up per market; default is the exchange's. */
  readonly ordersPerMarket?: number;
  /** Scales the transactions of a slot. Default 1, about 16 a slot. */
  readonly activity?: number;
  /** Chain time per slot on average, seconds. Default 0.4; more lets months pass in minutes. */
  readonly slotSeconds?: number;
  /** Slots that come in one burst, after which the chain is quiet for a while. Default 1: evenly spaced. */
  readonly slotBurst?: number;
  /** Adds what seldom happens on an exchange. Default false. */
  readonly rarities?: boolean;
  /** The first block tells of the accounts and deposits that stand at genesis. Default false. */
  readonly announce?: boolean;
  /** Unix seconds of the first block. Default now; a restarted chain keeps its own. */
  readonly genesisTime?: number;
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** 0 takes any free port. Default 8899. */
  readonly rpcPort?: number;
  /** 0 takes any free port. Default 8900. */
  readonly wsPort?: number;
  /** Where the chain is kept across restarts; none by default. */
  readonly stateFile?: string;
  /** Keeps every emitted event for `localnet_events`. Default false: memory stays flat. */
  readonly keepEvents?: boolean;
  /** Keeps every block and transaction. Default false: the last ten minutes. */
  readonly keepLedger?: boolean;
  /** File that gets every account as each slot leaves it, see account-log.ts. Default: none. */
  readonly accountLog?: string;
  /** Blocks kept; overrides the ten minutes. */
  readonly retainedBlocks?: number;
  /** Blocks that each commitment stays behind the newest. Default 0, 0 and 32. */
  readonly lags?: CommitmentLags;
  /** Bytes waiting in one PubSub socket before it is dropped. */
  readonly backlogBytesMax?: number;
  /** Default: the seeded exchange of this room. */
  readonly createExchange?: ExchangeFactory;
}

export interface RunningLocalnet {
  readonly rpcUrl: string;
  readonly wsUrl: string;
  /** Id of the vault program on this chain. */
  readonly vaultProgram: string;
  readonly exchange: Exchange;
  readonly ledger: Ledger;
  pause(): void;
  resume(): void;
  /** Makes exactly n slots while paused; resolves with the newest slot when they were published. */
  step(slots: number): Promise<number>;
  /** Saves the state and closes everything. Safe to call twice. */
  stop(): Promise<void>;
}

/**
 * Starts a cluster and resolves when it answers.
 * @throws when a port is taken, or the state file belongs to a chain of other options
 */
export async function startLocalnet(options: LocalnetOptions = {}): Promise<RunningLocalnet> {
  const chain = openChain(options);
  const { exchange, ledger } = chain;
  const subscriptions = new Subscriptions();
  const publisher = new Publisher(ledger, subscriptions);
  const pubsub = new PubSub(subscriptions, publisher, options.backlogBytesMax);
  const keeper = options.stateFile === undefined ? null : await StateKeeper.open(options.stateFile, chain);
  const recording =
    options.accountLog === undefined
      ? null
      : new AccountLog(options.accountLog, ledger.tipSlot, ledger.accounts.versions());
  const cluster = new Cluster({
    exchange,
    ledger,
    publisher,
    speed: options.speed ?? 1,
    onBlock: (block) => {
      keeper?.reached(block.slot);
      recording?.append(block);
    },
  });
  const http = createHttpServer(
    new Map([
      ...chainMethods(ledger),
      ...accountMethods(ledger),
      ...historyMethods(ledger),
      ...controlMethods({ cluster, publisher, pubsub, subscriptions }),
    ]),
    new Map([[LATEST_PRICE_PATH, latestPrice(ledger)]]),
  );
  const close = async (): Promise<void> => {
    await cluster.stop();
    await Promise.all([pubsub.close(), closeServer(http)]);
    await keeper?.close();
    recording?.close();
  };
  const host = options.host ?? '127.0.0.1';
  try {
    const rpcPort = await listen(http, host, options.rpcPort ?? DEFAULT_RPC_PORT);
    const wsPort = await listen(pubsub.server, host, options.wsPort ?? DEFAULT_WS_PORT);
    cluster.start();
    let stopped: Promise<void> | null = null;
    return {
      rpcUrl: `http://${urlHost(host)}:${rpcPort}`,
      wsUrl: `ws://${urlHost(host)}:${wsPort}`,
      vaultProgram: VAULT_PROGRAM,
      exchange,
      ledger,
      pause: () => cluster.pause(),
      resume: () => cluster.resume(),
      step: (slots) => cluster.step(slots),
      stop: () => {
        stopped ??= close();
        return stopped;
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

interface Chain {
  readonly exchange: Exchange;
  readonly ledger: Ledger;
  readonly identity: ChainIdentity;
}

/** Continues the chain of the state file, or begins one. */
function openChain(options: LocalnetOptions): Chain {
  const create = options.createExchange ?? createExchange;
  const identity: ChainIdentity = {
    seed: options.seed ?? 1,
    accounts: options.accounts ?? null,
    ordersPerMarket: options.ordersPerMarket ?? null,
    activity: options.activity ?? null,
    ...(options.slotSeconds === undefined ? {} : { slotSeconds: options.slotSeconds }),
    ...(options.slotBurst === undefined ? {} : { slotBurst: options.slotBurst }),
    ...(options.rarities === undefined ? {} : { rarities: options.rarities }),
    ...(options.announce === undefined ? {} : { announce: options.announce }),
  };
  const ledgerOptions = retentionOf(options);
  const saved = options.stateFile === undefined ? null : loadState(options.stateFile, ledgerOptions);
  const genesisTime = saved?.chain.head.genesisTime ?? options.genesisTime ?? Math.floor(Date.now() / 1000);
  const seed: ExchangeOptions = {
    seed: identity.seed,
    genesisTime,
    ...(options.accounts === undefined ? {} : { accounts: options.accounts }),
    ...(options.ordersPerMarket === undefined ? {} : { ordersPerMarket: options.ordersPerMarket }),
    ...(options.activity === undefined ? {} : { activity: options.activity }),
    ...(options.slotSeconds === undefined ? {} : { slotMs: Math.round(options.slotSeconds * 1000) }),
    ...(options.slotBurst === undefined ? {} : { slotBurst: options.slotBurst }),
    ...(options.rarities === undefined ? {} : { rarities: options.rarities }),
    ...(options.announce === undefined ? {} : { announce: options.announce }),
    ...(options.keepEvents === undefined ? {} : { keepEvents: options.keepEvents }),
  };
  if (saved === null || options.stateFile === undefined) {
    return { identity, ...beginChain(create(seed), identity, genesisTime, ledgerOptions) };
  }
  if (JSON.stringify(saved.chain.identity) !== JSON.stringify(identity)) {
    throw new Error(
      `${options.stateFile} holds a chain made with ${JSON.stringify(saved.chain.identity)}, ` +
        `not ${JSON.stringify(identity)}; remove it or give the same options`,
    );
  }
  const exchange = create(seed, saved.chain.exchange);
  // The exchange computes the same blocks again up to the last one that anybody saw.
  const seen = TipFile.read(tipPath(options.stateFile), saved.ledger.genesisHash) ?? 0;
  while (saved.ledger.tipSlot < seen) saved.ledger.append(exchange.nextBlock());
  return { exchange, ledger: saved.ledger, identity };
}

function beginChain(
  exchange: Exchange,
  identity: ChainIdentity,
  genesisTime: number,
  options: Omit<LedgerOptions, 'genesisHash' | 'genesisSlot' | 'genesisTime'>,
): { exchange: Exchange; ledger: Ledger } {
  const accounts = exchange.genesis();
  const first = exchange.nextBlock();
  const seed = `slotbook localnet|${JSON.stringify(identity)}|${genesisTime}`;
  const genesisHash = bs58.encode(createHash('sha256').update(seed).digest());
  const ledger = new Ledger({ ...options, genesisHash, genesisSlot: first.slot - 1, genesisTime });
  ledger.begin(accounts);
  ledger.append(first);
  return { exchange, ledger };
}

function retentionOf(options: LocalnetOptions): Omit<LedgerOptions, 'genesisHash' | 'genesisSlot' | 'genesisTime'> {
  const lags = options.lags === undefined ? {} : { lags: options.lags };
  if (options.keepLedger === true) return { ...lags, retainedBlocks: Infinity, retainedBytes: Infinity };
  const speed = Math.min(RETENTION_SPEED_MAX, Math.max(1, options.speed ?? 1));
  return { ...lags, retainedBlocks: options.retainedBlocks ?? Math.ceil(RETAINED_BLOCKS_AT_SPEED_1 * speed) };
}

function tipPath(stateFile: string): string {
  return `${stateFile}.tip`;
}

/** Saves every ten seconds and at the end, one save at a time. */
class StateKeeper {
  readonly #path: string;
  readonly #chain: Chain;
  readonly #tip: TipFile;
  readonly #timer: NodeJS.Timeout;
  #savedSlot = -1;
  #saving: Promise<void> = Promise.resolve();

  private constructor(path: string, chain: Chain) {
    this.#path = path;
    this.#chain = chain;
    this.#tip = new TipFile(tipPath(path), chain.ledger.genesisHash);
    this.#timer = setInterval(() => {
      this.#save().catch((error: unknown) => process.stderr.write(`localnet: state not saved: ${String(error)}\n`));
    }, SAVE_INTERVAL_MS);
    this.#timer.unref();
  }

  /** Saves once before anyone can see the chain, so that its genesis is never made twice. */
  static async open(path: string, chain: Chain): Promise<StateKeeper> {
    const keeper = new StateKeeper(path, chain);
    await keeper.#save();
    keeper.reached(chain.ledger.tipSlot);
    return keeper;
  }

  reached(slot: number): void {
    this.#tip.write(slot);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#save();
    this.#tip.close();
  }

  #save(): Promise<void> {
    const { exchange, ledger, identity } = this.#chain;
    const saved = this.#saving
      .catch(() => {})
      .then(async () => {
        if (ledger.tipSlot === this.#savedSlot) return;
        const slot = ledger.tipSlot;
        await saveState(this.#path, { identity, head: ledger.head(), exchange: exchange.snapshot() }, ledger);
        this.#savedSlot = slot;
      });
    this.#saving = saved;
    return saved;
  }
}

function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

function urlHost(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}
