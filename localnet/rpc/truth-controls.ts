// Control calls that read the truth about forks and commitment levels, for tests.

import type { Cluster } from '../cluster.ts';
import type { Commitment, StoredBlock } from '../ledger.ts';
import type { TruthEvent } from '../ledger-types.ts';
import type { Method } from './dispatch.ts';
import { RpcError } from './errors.ts';
import { named } from './named.ts';
import { type Config, commitmentOf, integerOr } from './params.ts';

/** Server error of JSON-RPC: the call is valid but not possible now. */
const NOT_NOW = -32000;
const BLOCKS_DEFAULT = 1000;
const EVENTS_MAX = 100_000;
const EVENTS_DEFAULT = 1000;

export interface TruthBlock {
  readonly slot: number;
  readonly parentSlot: number;
  readonly blockhash: string;
  readonly fork: 'winning' | 'abandoned';
  /** Highest level that has the block; null: none, because its fork was abandoned. */
  readonly commitment: Commitment | null;
  readonly transactions: readonly TruthTransaction[];
}

export interface TruthTransaction {
  readonly signature: string;
  /** Index in the block. */
  readonly index: number;
  readonly err: unknown;
  /** Indices of the records that execution cut from the log. */
  readonly lostRecords: readonly number[];
}

/** An event with its place in the block, and whether execution cut it from the log. */
export interface PlacedEvent extends TruthEvent {
  readonly transactionIndex: number;
  readonly lost: boolean;
}

export function truthControls(cluster: Cluster): [string, Method][] {
  const { ledger } = cluster;

  const settle = async (config: Config): Promise<unknown> => {
    if (!cluster.paused) throw new RpcError(NOT_NOW, 'The cluster is running; pause it first');
    return { slot: await cluster.settle(commitmentOf(config)) };
  };

  const chain = (config: Config): TruthBlock[] => {
    const from = integerOr(config.from, 0);
    const to = integerOr(config.to, Number.MAX_SAFE_INTEGER);
    const lost = [...ledger.abandoned, ...ledger.branchBlocks].filter(({ slot }) => slot >= from && slot <= to);
    const blocks = [
      ...[...ledger.history.range(from, to)].map((block) => truthBlock(cluster, block, 'winning')),
      ...lost.map((block) => truthBlock(cluster, block, 'abandoned')),
    ].sort((a, b) => a.slot - b.slot);
    return blocks.slice(0, integerOr(config.limit, BLOCKS_DEFAULT));
  };

  const events = (config: Config): unknown => {
    const limit = Math.min(integerOr(config.limit, EVENTS_DEFAULT), EVENTS_MAX);
    const found = cluster.exchange.events(integerOr(config.from, 0), limit);
    if (config.commitment === undefined) return found;
    const top = ledger.slotAt(commitmentOf(config));
    return found.filter(({ slot }) => slot <= top).map((event) => placed(cluster, event));
  };

  return [
    ['localnet_settle', named(settle)],
    ['localnet_chain', named(chain)],
    ['localnet_events', named(events)],
    ['localnet_abandonedEvents', named(() => cluster.production.abandonedEvents)],
  ];
}

function truthBlock({ ledger }: Cluster, block: StoredBlock, fork: TruthBlock['fork']): TruthBlock {
  const levels: readonly Commitment[] = ['finalized', 'confirmed', 'processed'];
  return {
    slot: block.slot,
    parentSlot: block.parentSlot,
    blockhash: block.blockhash,
    fork,
    commitment: levels.find((level) => ledger.reached(block, level)) ?? null,
    transactions: block.transactions.map(({ signature, index, err, lostRecords }) => ({
      signature,
      index,
      err,
      lostRecords,
    })),
  };
}

function placed({ ledger }: Cluster, event: TruthEvent): PlacedEvent {
  const transaction = ledger.history.transaction(event.signature);
  return {
    ...event,
    transactionIndex: transaction?.index ?? -1,
    lost: transaction?.lostRecords.includes(event.index) ?? false,
  };
}
