import { silentLogger } from '../platform/index.ts';
import { loadDefinition } from '../schemas/index.ts';
import { grpcSource } from '../test/support/ingest/grpc-source.ts';
import { SHARED_NETWORK } from '../test/support/ingest/shared-thread.ts';
import { describeSource } from '../test/support/ingest/source-contract.ts';
import { RpcSource } from './rpc.ts';

const definition = loadDefinition('velocity');
const logger = silentLogger();

describeSource(
  'RPC',
  (net, options) =>
    new RpcSource({
      rpcUrls: [net.rpcUrl],
      wsUrls: [net.wsUrl],
      definition,
      logger,
      transport: SHARED_NETWORK,
      silenceMs: 60_000,
      ...options,
    }),
);

describeSource('gRPC', (net, options) => grpcSource(net, {}, options));
