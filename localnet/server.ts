// Starts a simulated cluster: the exchange, its ledger, the slot schedule, JSON-RPC, PubSub and the state file.

import { createHash } from 'node:crypto';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import bs58 from 'bs58';
import { AccountLog } from './account-log.ts';
import { Production } from './chain/production.ts';
import { type Profile, type ProfileName, profileOf } from './chain/profile.ts';
import { Cluster } from './cluster.ts';
import { createExchange, type ExchangeOptions } from './exchange/index.ts';
import { VAULT_PROGRAM } from './exchange/keys.ts';
import type { Faults } from './faults/faults.ts';
import { Feed, type FeedPace } from './grpc/feed.ts';
import { GrpcServer } from './grpc/server.ts';
import { tableAccounts } from './ledger/lookup-tables.ts';
import { type Commitment, type CommitmentLags, Ledger, type LedgerOptions } from './ledger.ts';
import type { Exchange, LedgerAccount } from './ledger-types.ts';
import { createNode } from './node/node.ts';
import { controlMethods } from './rpc/controls.ts';
import { createHttpServer, FAULTLESS_PATH } from './rpc/http.ts';
import { LATEST_PRICE_PATH, latestPrice } from './rpc/oracle-feed.ts';
import { Publisher } from './rpc/publisher.ts';
import { PubSub } from './rpc/pubsub.ts';
import { submitMethods } from './rpc/submit-methods.ts';
import { Subscriptions } from './rpc/subscriptions.ts';
import { type ChainIdentity, loadState, TipFile } from './state-file.ts';
import { type Chain, journalPath, StateKeeper, tipPath } from './state-keeper.ts';
import { SubmissionJournal } from './submission-journal.ts';

const DEFAULT_RPC_PORT = 8899;
const DEFAULT_WS_PORT = 8900;
/** Retention is ten minutes of wall time, so it scales with the speed up to this factor. */
const RETENTION_SPEED_MAX = 20;
const RETAINED_BLOCKS_AT_SPEED_1 = 1500;
/** How far a second node can be behind: about as long as a block needs to be final. */
const BEHIND_BLOCKS_MAX = 32;
const LOOKUP_KEYS_MAX = 512;

export type ExchangeFactory = (options: ExchangeOptions, restored?: unknown) => Exchange;

export interface LocalnetOptions {
  /** Default 1. */
  readonly seed?: number;
  /** A slot lasts 400 ms divided by this; 0: only by step. Default 1. */
  readonly speed?: number;
  /** Number of trading accounts; default from the exchange. */
  readonly accounts?: number;
  /** Target of resting orders per market; default from the exchange. */
  readonly ordersPerMarket?: number;
  /** Scales the transactions per slot. Default 1, about 16 per slot. */
  readonly activity?: number;
  /** Average chain time per slot in seconds. Default 0.4; with more, months pass in minutes. */
  readonly slotSeconds?: number;
  /** Slots per burst, followed by a quiet time. Default 1: evenly spaced. */
  readonly slotBurst?: number;
  /** Adds rare events. Default false. */
  readonly rarities?: boolean;
  /** The first block records the accounts and deposits of the genesis. Default false. */
  readonly announce?: boolean;
  /** How unkind the cluster is. Default `calm`. */
  readonly profile?: ProfileName;
  /** Unix seconds of the first block. Default now; a restarted chain keeps its own. */
  readonly genesisTime?: number;
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** 0 takes any free port. Default 8899. */
  readonly rpcPort?: number;
  /** 0 takes any free port. Default 8900. */
  readonly wsPort?: number;
  /** 0 takes any free port. Default: no gRPC server. */
  readonly grpcPort?: number;
  /** gRPC servers of the same chain, each with faults of its own; the others take the ports after `grpcPort`. Default 1. */
  readonly grpcServers?: number;
  /** Token that gRPC callers must give. Default: none. */
  readonly grpcToken?: string;
  /** Slots in memory for `from_slot`. Default 150. */
  readonly grpcReplaySlots?: number;
  /** gRPC updates leave over the time of a slot. Default: all at once. */
  readonly grpcPace?: FeedPace;
  /** File that keeps the chain over restarts. Default: none. */
  readonly stateFile?: string;
  /** Keeps every emitted event for `localnet_events`. Default false, which bounds memory. */
  readonly keepEvents?: boolean;
  /** Keeps every block and transaction. Default false: the last ten minutes. */
  readonly keepLedger?: boolean;
  /** File with every account after each slot, see account-log.ts. Default: none. */
  readonly accountLog?: string;
  /** Number of blocks in memory; overrides the ten minutes. */
  readonly retainedBlocks?: number;
  /** Blocks that each commitment lags behind the newest. Default 0, 0 and 32. */
  readonly lags?: CommitmentLags;
  /** Waiting bytes at which a PubSub socket is dropped. */
  readonly backlogBytesMax?: number;
  /** Default: the seeded exchange of this room. */
  readonly createExchange?: ExchangeFactory;
}

export interface RunningLocalnet {
  readonly rpcUrl: string;
  readonly wsUrl: string;
  /** JSON-RPC of the same chain that no fault touches. */
  readonly faultlessUrl: string;
  /** Yellowstone gRPC; empty without a server. */
  readonly grpcUrl: string;
  /** All gRPC servers, and the faults of each. The first one has those of the node. */
  readonly grpcUrls: readonly string[];
  readonly grpcFaults: readonly Faults[];
  /** Id of the vault program on this chain. */
  readonly vaultProgram: string;
  /** Key of the exchange's address lookup table; empty for an exchange that takes no transactions. */
  readonly lookupTable: string;
  readonly exchange: Exchange;
  readonly ledger: Ledger;
  /** Messages of the gRPC servers; null without one. */
  readonly feed: Feed | null;
  /** Switches faults between the chain and its readers, and reports what they did. */
  readonly faults: Faults;
  pause(): void;
  resume(): void;
  /** Makes exactly n slots while paused. Resolves with the newest slot once they are published. */
  step(slots: number): Promise<number>;
  /** The cluster confirms the next slots and then drops them. */
  dropConfirmed(slots: number): void;
  /** Makes empty blocks while paused until the level has all that the exchange did. Resolves with the newest slot. */
  settle(commitment: Commitment): Promise<number>;
  /** Saves the state and closes everything. Safe to call twice. */
  stop(): Promise<void>;
}

/**
 * Starts a cluster and resolves when it answers.
 * @throws when a port is taken, or the state file has a chain of other options
 */
export async function startLocalnet(options: LocalnetOptions = {}): Promise<RunningLocalnet> {
  const chain = openChain(options);
  const { exchange, ledger, production, profile } = chain;
  const subscriptions = new Subscriptions();
  const servers = options.grpcPort === undefined ? 0 : (options.grpcServers ?? 1);
  const node = createNode(ledger, chain.identity.seed, servers);
  const { grpcFaults } = node;
  for (const fault of profile.faults) node.faults.add(fault);
  const publisher = new Publisher({
    ledger,
    subscriptions,
    delivery: node.delivery,
    likeNode: profile.nodeNotifications,
  });
  const pubsub = new PubSub(subscriptions, publisher, options.backlogBytesMax);
  const host = options.host ?? '127.0.0.1';
  const feed = options.grpcPort === undefined ? null : feedOf(options, chain);
  const keeper = options.stateFile === undefined ? null : await StateKeeper.open(options.stateFile, chain);
  const recording =
    options.accountLog === undefined
      ? null
      : new AccountLog(options.accountLog, ledger.tipSlot, ledger.accounts.versions());
  const cluster = new Cluster({
    exchange,
    ledger,
    production,
    publisher: {
      publish: (happened) => {
        publisher.publish(happened);
        feed?.publish(happened);
      },
    },
    speed: options.speed ?? 1,
    onBlock: (block) => {
      keeper?.reached(block.slot);
      recording?.append(block);
    },
    onSubmissions: (slot, submissions) => keeper?.submitting(slot, submissions),
  });
  const grpc: GrpcServer[] = [];
  const sockets = {
    dropConnections: () => pubsub.dropConnections() + grpc.reduce((dropped, one) => dropped + one.dropConnections(), 0),
    silence: (ms: number) => {
      publisher.silence(ms);
      for (const one of grpc) one.silence(ms);
    },
  };
  const methods = new Map([
    ...node.methods,
    ...submitMethods(cluster),
    ...controlMethods({ cluster, publisher, pubsub, subscriptions, sockets, profile: profile.name }),
  ]);
  const http = createHttpServer({
    methods,
    gate: node.gate,
    faultlessMethods: new Map([...methods, ...node.faultlessMethods]),
    posts: new Map([[LATEST_PRICE_PATH, latestPrice(ledger)]]),
  });
  const close = async (): Promise<void> => {
    await cluster.stop();
    feed?.stop();
    for (const one of grpc) one.close();
    await Promise.all([pubsub.close(), closeServer(http)]);
    await keeper?.close();
    recording?.close();
  };
  try {
    const rpcPort = await listen(http, host, options.rpcPort ?? DEFAULT_RPC_PORT);
    const rpcUrl = `http://${urlHost(host)}:${rpcPort}`;
    const wsPort = await listen(pubsub.server, host, options.wsPort ?? DEFAULT_WS_PORT);
    for (const [server, faults] of grpcFaults.entries()) {
      const { grpcPort = 0, grpcToken: token = '' } = options;
      const port = grpcPort === 0 ? 0 : grpcPort + server;
      if (feed !== null) grpc.push(await GrpcServer.start({ ledger, feed, faults, token, host, port }));
    }
    const grpcUrls = grpc.map(({ port }) => `http://${urlHost(host)}:${port}`);
    cluster.start();
    let stopped: Promise<void> | null = null;
    return {
      rpcUrl,
      wsUrl: `ws://${urlHost(host)}:${wsPort}`,
      faultlessUrl: rpcUrl + FAULTLESS_PATH,
      grpcUrl: grpcUrls[0] ?? '',
      grpcUrls,
      grpcFaults,
      vaultProgram: VAULT_PROGRAM,
      lookupTable: exchange.submissions?.lookupTable ?? '',
      exchange,
      ledger,
      feed,
      faults: node.faults,
      pause: () => cluster.pause(),
      resume: () => cluster.resume(),
      step: (slots) => cluster.step(slots),
      dropConfirmed: (slots) => cluster.production.dropConfirmed(slots),
      settle: (commitment) => cluster.settle(commitment),
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

function feedOf({ grpcReplaySlots, grpcPace }: LocalnetOptions, { ledger, profile }: OpenedChain): Feed {
  const replaySlots = grpcReplaySlots === undefined ? {} : { replaySlots: grpcReplaySlots };
  const pace = grpcPace === undefined ? {} : { pace: grpcPace };
  return new Feed({ ledger, likeNode: profile.nodeNotifications, ...replaySlots, ...pace });
}

interface OpenedChain extends Chain {
  readonly profile: Profile;
  readonly production: Production;
}

/** Continues the chain of the state file, or starts one. */
function openChain(options: LocalnetOptions): OpenedChain {
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
    ...(options.profile === undefined || options.profile === 'calm' ? {} : { profile: options.profile }),
  };
  const profile = profileOf(options.profile ?? 'calm');
  const ledgerOptions = retentionOf(options, profile);
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
    const begun = beginChain(create(seed), { identity, profile, genesisTime }, ledgerOptions);
    return { identity, profile, ...begun, production: new Production({ ...begun, profile, seed: identity.seed }) };
  }
  if (JSON.stringify(saved.chain.identity) !== JSON.stringify(identity)) {
    throw new Error(
      `${options.stateFile} holds a chain made with ${JSON.stringify(saved.chain.identity)}, ` +
        `not ${JSON.stringify(identity)}; remove it or give the same options`,
    );
  }
  const exchange = create(seed, saved.chain.exchange);
  // The exchange computes the same blocks again up to the last published one.
  const seen = TipFile.read(tipPath(options.stateFile), saved.ledger.genesisHash) ?? 0;
  const { ledger } = saved;
  const production = new Production({ exchange, ledger, profile, seed: identity.seed });
  const journal = new SubmissionJournal(journalPath(options.stateFile), ledger.genesisHash);
  production.replay(seen, (slot) => journal.of(slot));
  return { exchange, ledger, identity, profile, production };
}

function beginChain(
  exchange: Exchange,
  { identity, profile, genesisTime }: { identity: ChainIdentity; profile: Profile; genesisTime: number },
  options: Omit<LedgerOptions, 'genesisHash' | 'genesisSlot' | 'genesisTime'>,
): { exchange: Exchange; ledger: Ledger } {
  const standing = exchange.genesis();
  const accounts = profile.lookupShare === 0 ? standing : [...standing, ...lookupTables(standing, identity.seed)];
  const first = exchange.nextBlock();
  const seed = `slotbook localnet|${JSON.stringify(identity)}|${genesisTime}`;
  const genesisHash = bs58.encode(createHash('sha256').update(seed).digest());
  const ledger = new Ledger({ ...options, genesisHash, genesisSlot: first.slot - 1, genesisTime });
  ledger.begin(accounts);
  ledger.append(first);
  return { exchange, ledger };
}

/** Tables with the programs and as many accounts of the genesis as two tables hold. */
function lookupTables(accounts: readonly LedgerAccount[], seed: number): LedgerAccount[] {
  const programs = [...new Set(accounts.map(({ owner }) => owner))];
  const keys = [...programs, ...accounts.map(({ pubkey }) => pubkey)].slice(0, LOOKUP_KEYS_MAX);
  return tableAccounts(keys, (table) =>
    bs58.encode(createHash('sha256').update(`lookup table ${table} of seed ${seed}`).digest()),
  );
}

function retentionOf(
  options: LocalnetOptions,
  profile: Profile,
): Omit<LedgerOptions, 'genesisHash' | 'genesisSlot' | 'genesisTime'> {
  const lags = { behindBlocks: BEHIND_BLOCKS_MAX, lags: options.lags ?? profile.lags };
  if (options.keepLedger === true) return { ...lags, retainedBlocks: Infinity, retainedBytes: Infinity };
  const speed = Math.min(RETENTION_SPEED_MAX, Math.max(1, options.speed ?? 1));
  return { ...lags, retainedBlocks: options.retainedBlocks ?? Math.ceil(RETAINED_BLOCKS_AT_SPEED_1 * speed) };
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
