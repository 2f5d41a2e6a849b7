// The gRPC servers of a run. They stand beside its nodes and share their faults; a lying one has its own.

import type { Faults } from '../../localnet/faults/faults.ts';
import type { Feed } from '../../localnet/grpc/feed.ts';
import { blockMessages, type FeedMessage } from '../../localnet/grpc/messages.ts';
import type { Ledger, StoredBlock, StoredTransaction } from '../../localnet/ledger.ts';
import type { Node } from '../../localnet/node/node.ts';
import { GrpcServer, type GrpcServerPlan } from './grpc.ts';
import type { TapeExchange } from './tape.ts';
import type { VirtualTime } from './virtual-time.ts';

export interface ServersParts {
  readonly plans: readonly GrpcServerPlan[];
  readonly nodes: readonly Node[];
  /** Faults of the server that lies. */
  readonly lies: Faults;
  readonly feed: Feed;
  readonly time: VirtualTime;
  readonly ledger: Ledger;
  readonly exchange: TapeExchange;
}

/** By host. */
export function openServers(parts: ServersParts): ReadonlyMap<string, GrpcServer> {
  return new Map(parts.plans.flatMap((plan, number) => openServer(parts, plan, number)));
}

function openServer(parts: ServersParts, plan: GrpcServerPlan, number: number): [string, GrpcServer][] {
  const { nodes, lies, feed, time } = parts;
  const node = nodes[number % nodes.length];
  if (node === undefined) return [];
  const faults = plan.lies.length === 0 ? node.faults : lies;
  for (const lie of plan.lies) faults.add(lie);
  const deadUpdates = (slot: number) => updatesOf(parts, slot);
  return [[`grpc-${number}`, new GrpcServer({ ...plan, feed, faults, time, deadUpdates })]];
}

/** Accounts and transactions of a block that dies before it has metadata. */
function updatesOf({ exchange, ledger }: ServersParts, slot: number): FeedMessage[] {
  const transactions: StoredTransaction[] = [];
  const times = { height: 0, blockTime: 0 };
  const hashes = { blockhash: ledger.genesisHash, previousBlockhash: ledger.genesisHash };
  const block: StoredBlock = { slot, parentSlot: ledger.tipSlot, ...times, ...hashes, transactions };
  for (const [index, transaction] of exchange.deadBlock().transactions.entries()) {
    const { signature, err = null, logMessages, accountKeys } = transaction;
    const writes = transaction.writes.map((one) => ledger.accounts.version(one, slot));
    const cuts = { cutLogs: null, lostRecords: [], usesLookups: false };
    transactions.push({ signature, err, logMessages, accountKeys, index, sequence: index, block, writes, ...cuts });
  }
  return blockMessages(block, true).filter(({ kind }) => kind !== 'blockMeta');
}
