// JSON-RPC calls for tests and operators of the localnet: stop time, read the truth, and inject faults between the chain and
// its subscribers.

import type { Cluster } from '../cluster.ts';
import type { LedgerAccount } from '../ledger-types.ts';
import type { Method } from './dispatch.ts';
import { invalidParams, invalidType, RpcError } from './errors.ts';
import { named } from './named.ts';
import { type Config, configOf, integerOf, integerOr, keyOf, listOf } from './params.ts';
import type { Publisher } from './publisher.ts';
import type { PubSub } from './pubsub.ts';
import type { Subscriptions } from './subscriptions.ts';
import { truthControls } from './truth-controls.ts';

/** Server error of JSON-RPC: the call is valid but not possible now. */
const NOT_NOW = -32000;
const STEP_SLOTS_MAX = 1_000_000;
/** Rent-exempt for any account of the exchange. */
const INJECTED_LAMPORTS = 100_000_000;

export interface ControlParts {
  readonly cluster: Cluster;
  readonly publisher: Publisher;
  readonly pubsub: PubSub;
  /** All connections with notifications, of PubSub and of gRPC. */
  readonly sockets: { dropConnections(): number; silence(ms: number): void };
  readonly subscriptions: Subscriptions;
  readonly profile: string;
}

/** Parameters by name in one object. */
export function controlMethods(parts: ControlParts): [string, Method][] {
  const { cluster, publisher, sockets } = parts;
  const statusAfter = (change: () => void): unknown => {
    change();
    return statusOf(parts);
  };

  const step = async (config: Config): Promise<unknown> => {
    const slots = integerOr(config.slots, 1);
    if (slots > STEP_SLOTS_MAX) throw invalidParams(`Too many slots; max ${STEP_SLOTS_MAX}`);
    if (!cluster.paused) throw new RpcError(NOT_NOW, 'The cluster is running; pause it first');
    return { slot: await cluster.step(slots) };
  };

  const setSpeed = (config: Config): unknown => {
    if (typeof config.speed !== 'number' || !(config.speed >= 0)) throw invalidType(config.speed, 'f64 from 0 on');
    const { speed } = config;
    return statusAfter(() => cluster.setSpeed(speed));
  };

  return [
    ['localnet_pause', named(() => statusAfter(() => cluster.pause()))],
    ['localnet_resume', named(() => statusAfter(() => cluster.resume()))],
    ['localnet_step', named(step)],
    ['localnet_setSpeed', named(setSpeed)],
    ['localnet_status', named(() => statusOf(parts))],
    ['localnet_eventCounts', named(() => cluster.exchange.eventCounts())],
    ['localnet_restingOrders', named(() => cluster.exchange.restingOrders())],
    ['localnet_markets', named(() => cluster.exchange.markets())],
    ['localnet_vaults', named(() => cluster.exchange.vaults())],
    ['localnet_dropConnections', named(() => ({ dropped: sockets.dropConnections() }))],
    ['localnet_silence', named((config) => sockets.silence(integerOf(config.ms)))],
    ['localnet_dropConfirmed', named((config) => cluster.production.dropConfirmed(integerOr(config.slots, 1)))],
    ['localnet_truncateLogs', named((config) => publisher.truncateLogs(integerOf(config.transactions)))],
    ['localnet_injectAccount', named((config) => injectAccount(cluster, config))],
    ['localnet_injectTransaction', named((config) => injectTransaction(cluster, config))],
    ...truthControls(cluster),
  ];
}

function statusOf({ cluster, publisher, pubsub, subscriptions, profile }: ControlParts): Record<string, unknown> {
  const { ledger } = cluster;
  return {
    slot: ledger.tipSlot,
    blockHeight: ledger.heightAt('processed'),
    confirmedSlot: ledger.slotAt('confirmed'),
    finalizedSlot: ledger.slotAt('finalized'),
    profile,
    genesisHash: ledger.genesisHash,
    genesisSlot: ledger.genesisSlot,
    genesisTime: ledger.genesisTime,
    paused: cluster.paused,
    speed: cluster.speed,
    accounts: ledger.accounts.size,
    transactionCount: ledger.transactionCount,
    retainedBlocks: ledger.history.blockCount,
    retainedTransactions: ledger.history.transactionCount,
    connections: pubsub.connections,
    subscriptions: subscriptions.size,
    notifications: publisher.published,
    slowConsumersDropped: pubsub.slowDropped,
  };
}

/** Writes the account in a transaction of its own at the end of the next block. */
function injectAccount(cluster: Cluster, config: Config): unknown {
  const account = accountOf(config);
  const transaction = { err: null, logMessages: [], accountKeys: [account.pubkey], writes: [account] };
  return { signature: cluster.inject(transaction) };
}

/** Adds a transaction with any lines and keys, valid or not, at the end of the next block. */
function injectTransaction(cluster: Cluster, config: Config): unknown {
  const writes = config.accounts === undefined ? [] : listOf(config.accounts).map((one) => accountOf(configOf(one)));
  const signature = config.signature === undefined ? {} : { signature: textOf(config.signature) };
  return {
    signature: cluster.inject({
      ...signature,
      err: config.err ?? null,
      logMessages: listOf(config.logMessages ?? []).map(textOf),
      accountKeys: listOf(config.accountKeys ?? []).map(textOf),
      writes,
    }),
  };
}

function accountOf(config: Config): LedgerAccount {
  return {
    pubkey: keyOf(config.pubkey),
    owner: keyOf(config.owner),
    lamports: integerOr(config.lamports, INJECTED_LAMPORTS),
    data: Buffer.from(textOf(config.data), 'base64'),
  };
}

function textOf(value: unknown): string {
  if (typeof value !== 'string') throw invalidType(value, 'a string');
  return value;
}
