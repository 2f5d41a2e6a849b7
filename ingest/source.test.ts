import { silentLogger } from '../platform/index.ts';
import { loadDefinition } from '../schemas/index.ts';
import { describeSource } from '../test/support/ingest/source-contract.ts';
import { grpcSessions } from './grpc/index.ts';
import { RpcSource } from './rpc.ts';

const definition = loadDefinition('velocity');
const logger = silentLogger();

describeSource(
  'RPC',
  (net, options) =>
    new RpcSource({ rpcUrls: [net.rpcUrl], wsUrls: [net.wsUrl], definition, logger, silenceMs: 60_000, ...options }),
);

describeSource('gRPC', (net, options) => {
  const sessions = grpcSessions({ urls: [net.grpcUrl], token: '' });
  const urls = { rpcUrls: [net.rpcUrl], wsUrls: [] };
  return new RpcSource({ ...urls, definition, logger, silenceMs: 60_000, sessions, ...options });
});
