// The sources of a process: over PubSub, over gRPC servers in turn, or several at once.

import bs58 from 'bs58';
import type { OpenConnection } from '../../ingest/forks/feed.ts';
import { GrpcForks } from '../../ingest/forks/grpc.ts';
import { PubSubForks } from '../../ingest/forks/pubsub.ts';
import { grpcSessions } from '../../ingest/grpc/index.ts';
import { RpcSource } from '../../ingest/index.ts';
import { MergedSource, type MergeMember } from '../../ingest/merge/index.ts';
import { accountFilters } from '../../ingest/rpc/account-filters.ts';
import type { Source } from '../../ingest/source.ts';
import type { Logger } from '../../platform/index.ts';
import type { ChainDefinition } from '../../schemas/index.ts';
import type { Network } from './network.ts';
import type { Plan } from './plan.ts';

const AUDIT_MS = 1_500;
const SAMPLE_SLOTS = 20;

export interface SourceParts {
  readonly plan: Plan;
  readonly network: Network;
  readonly hosts: readonly string[];
  readonly grpcHosts: readonly string[];
  readonly definition: ChainDefinition;
  readonly logger: Logger;
  readonly silenceMs: number;
}

const httpUrl = (host: string) => `http://${host}`;
const wsUrl = (host: string) => `ws://${host}`;

export function openSource(parts: SourceParts): Source {
  const { plan, network, grpcHosts } = parts;
  if (plan.merged !== null) return openMerged(parts, plan.merged.kinds);
  if (grpcHosts.length === 0) return openRpc(parts);
  return openRpc(parts, grpcSessions({ urls: grpcHosts.map(httpUrl), token: '', open: network.openStream }));
}

function openRpc({ plan, network, hosts, definition, logger, silenceMs }: SourceParts, sessions?: Sessions): RpcSource {
  return new RpcSource({
    rpcUrls: hosts.map(httpUrl),
    wsUrls: hosts.map(wsUrl),
    definition,
    logger,
    silenceMs,
    auditMs: AUDIT_MS,
    sampleSlots: SAMPLE_SLOTS,
    transport: network,
    ...(plan.queueMax === null ? {} : { queueMax: plan.queueMax }),
    ...(sessions === undefined ? {} : { sessions }),
  });
}

type Sessions = ReturnType<typeof grpcSessions>;

function openMerged(parts: SourceParts, kinds: readonly ('grpc' | 'pubsub')[]): MergedSource {
  const { network, grpcHosts, definition, logger } = parts;
  const members = kinds.map((kind, number): MergeMember & { readonly source: RpcSource } => {
    const name = `source-${number}`;
    if (kind === 'pubsub') return { name, kind, source: openRpc(parts) };
    const urls = [httpUrl(grpcHosts[number] ?? '')];
    const block = (slot: number, hash: string) => merged.block(number, slot, hash);
    return { name, kind, source: openRpc(parts, grpcSessions({ urls, token: '', open: network.openStream, block })) };
  });
  const [first] = members;
  if (first === undefined) throw new RangeError('no source');
  const programs = definition.programs.map(({ programId }) => bs58.decode(programId));
  const merged: MergedSource = new MergedSource({ members, arbiter: first.source, programs, logger });
  return merged;
}

/** Streams at `processed`, from the servers of the source in turn. `connecting` is called before each. */
export function openForks(
  { network, hosts, grpcHosts, definition }: SourceParts,
  connecting: () => void,
): OpenConnection {
  const filters = accountFilters(definition);
  const programs = definition.programs.map(({ programId }) => programId);
  const { openStream: open } = network;
  return (parts, attempt) => {
    connecting();
    const host = grpcHosts[attempt % grpcHosts.length];
    if (host === undefined) {
      const url = wsUrl(hosts[attempt % hosts.length] ?? '');
      return new PubSubForks(parts, { wsUrl: url, filters, programs, transport: network });
    }
    return new GrpcForks(parts, { url: httpUrl(host), token: '', filters, programs, number: BigInt(attempt), open });
  };
}
