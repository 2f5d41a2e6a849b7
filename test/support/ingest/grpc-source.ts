// A source over the gRPC servers of a localnet, with its RPC node beside them.

import { type GrpcServers, grpcSessions } from '../../../ingest/grpc/index.ts';
import { RpcSource, type RpcSourceOptions } from '../../../ingest/rpc.ts';
import type { RunningLocalnet } from '../../../localnet/index.ts';
import { silentLogger } from '../../../platform/index.ts';
import { loadDefinition } from '../../../schemas/index.ts';
import { SHARED_NETWORK } from './shared-thread.ts';

export function grpcSource(
  net: RunningLocalnet,
  servers: Partial<GrpcServers> = {},
  options: Partial<RpcSourceOptions> = {},
): RpcSource {
  return new RpcSource({
    rpcUrls: [net.rpcUrl],
    wsUrls: [],
    definition: loadDefinition('velocity'),
    logger: silentLogger(),
    silenceMs: 60_000,
    transport: SHARED_NETWORK,
    sessions: grpcSessions({ urls: [net.grpcUrl], token: '', ...servers }),
    ...options,
  });
}
