// Opens the source that the configuration selects.

import { type Config, ConfigError, type Logger, listOf } from '../platform/index.ts';
import type { ChainDefinition } from '../schemas/index.ts';
import { CaptureSource } from './capture/source.ts';
import { type GrpcServers, grpcSessions } from './grpc/index.ts';
import { RpcSource } from './rpc.ts';
import type { Source } from './source.ts';

export function openSource(config: Config, definition: ChainDefinition, logger: Logger): Source {
  if (config.source === 'capture') return new CaptureSource(config.capturePath);
  return new RpcSource({
    rpcUrls: listOf(config.rpcUrls),
    wsUrls: listOf(config.rpcWsUrl),
    definition,
    logger,
    silenceMs: config.slotStallMs,
    sampleSlots: config.sampleSlots,
    requestsPerSecond: config.rpcRequestsPerSecond,
    firstSignaturesMax: config.readBackSignatures,
    ...(config.source === 'grpc' ? { sessions: grpcSessions(serversOf(config)) } : {}),
  });
}

/** @throws ConfigError when there is no server, or its address is not a URL of http: or https: */
function serversOf({ grpcUrl, grpcToken: token }: Config): GrpcServers {
  const urls = listOf(grpcUrl);
  const isUrl = (url: string) => /^https?:\/\//.test(url) && URL.canParse(url);
  if (urls.length === 0 || !urls.every(isUrl))
    throw new ConfigError('grpcUrl must name a server, as https://host:port');
  return { urls, token };
}
