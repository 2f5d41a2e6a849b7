// Opens the source that the configuration selects.

import { readFileSync } from 'node:fs';
import bs58 from 'bs58';
import { type Config, ConfigError, type Logger, listOf } from '../platform/index.ts';
import type { ChainDefinition } from '../schemas/index.ts';
import { CaptureSource } from './capture/source.ts';
import type { OpenConnection } from './forks/feed.ts';
import { GrpcForks } from './forks/grpc.ts';
import { PubSubForks } from './forks/pubsub.ts';
import { type GrpcServers, grpcSessions } from './grpc/index.ts';
import { type OpenStream, openWith } from './grpc/stream.ts';
import { MergedSource } from './merge/index.ts';
import { openDecoder } from './rpc/account-data.ts';
import { accountFilters } from './rpc/account-filters.ts';
import { RpcSource, type RpcSourceOptions } from './rpc.ts';
import type { Source } from './source.ts';

/** Settings of a live source of its own. */
interface LiveSource {
  readonly kind: 'grpc' | 'pubsub';
  /** Empty: PubSub of rpcWsUrl. */
  readonly url: string;
}

type OpenServers = GrpcServers & { readonly open: OpenStream };

export function openSource(config: Config, definition: ChainDefinition, logger: Logger): Source {
  openDecoder().catch((error: unknown) =>
    logger.warn({ err: error }, 'no fast decoder of zstd: accounts cost more time'),
  );
  const several = liveSourcesOf(config);
  if (several.length > 0) return openSeveral(several, config, definition, logger);
  if (config.source === 'capture') return new CaptureSource(config.capturePath);
  const options = rpcOptions(config, definition, logger);
  return new RpcSource({
    ...options,
    ...(config.source === 'grpc' ? { sessions: grpcSessions(serversOf(config)) } : {}),
  });
}

/** Sources that run at once. They share the budget of requests. */
function openSeveral(several: readonly LiveSource[], config: Config, definition: ChainDefinition, logger: Logger) {
  const requestsPerSecond = Math.ceil(config.rpcRequestsPerSecond / several.length);
  const options = rpcOptions({ ...config, rpcRequestsPerSecond: requestsPerSecond }, definition, logger);
  const names = namesOf(several, config);
  const sources = several.map(({ kind, url }, number) => {
    const block = (slot: number, blockhash: string) => merged.block(number, slot, blockhash);
    if (kind === 'grpc')
      return new RpcSource({ ...options, sessions: grpcSessions({ ...serversAt([url], config), block }) });
    return new RpcSource({ ...options, ...(url === '' ? {} : { wsUrls: [url] }) });
  });
  const members = sources.map((source, number) => {
    return { name: names[number] ?? '', kind: several[number]?.kind ?? 'pubsub', source };
  });
  const [arbiter] = sources;
  if (!arbiter) throw new ConfigError('liveSources names no source');
  const programs = definition.programs.map(({ programId }) => bs58.decode(programId));
  const merged: MergedSource = new MergedSource({ members, arbiter, programs, logger });
  return merged;
}

function rpcOptions(config: Config, definition: ChainDefinition, logger: Logger): RpcSourceOptions {
  return {
    rpcUrls: listOf(config.rpcUrls),
    wsUrls: listOf(config.rpcWsUrl),
    definition,
    logger,
    silenceMs: config.slotStallMs,
    auditMs: config.auditMs,
    sampleSlots: config.sampleSlots,
    requestsPerSecond: config.rpcRequestsPerSecond,
    firstSignaturesMax: config.readBackSignatures,
  };
}

/** @throws ConfigError when an entry is no source */
function liveSourcesOf({ liveSources }: Config): readonly LiveSource[] {
  return listOf(liveSources).map((entry) => {
    const [, kind, url = ''] = /^(grpc|pubsub)(?::(.*))?$/.exec(entry) ?? [];
    const isGrpc = kind === 'grpc' && isUrl(url, /^https?:/);
    const isPubSub = kind === 'pubsub' && (url === '' || isUrl(url, /^wss?:/));
    if (!isGrpc && !isPubSub) throw new ConfigError('liveSources takes grpc:https://host:port and pubsub[:wss://host]');
    return { kind: isGrpc ? 'grpc' : 'pubsub', url };
  });
}

/** Hosts alone: a path or a query may hold a token. The second source of a host gets a number. */
function namesOf(several: readonly LiveSource[], config: Config): readonly string[] {
  const hosts = several.map(({ url }) => new URL(url === '' ? (listOf(config.rpcWsUrl)[0] ?? '') : url).host);
  return hosts.map((host, number) => {
    const before = hosts.slice(0, number).filter((one) => one === host).length;
    return before === 0 ? host : `${host}#${before + 1}`;
  });
}

/** Opens streams at commitment processed, from the same servers as the source. gRPC goes before PubSub: it sends every fork. */
export function openForks(config: Config, definition: ChainDefinition): OpenConnection {
  const filters = accountFilters(definition);
  const programs = definition.programs.map(({ programId }) => programId);
  const several = liveSourcesOf(config);
  const grpcUrls = several.flatMap(({ kind, url }) => (kind === 'grpc' ? [url] : []));
  const isOneGrpc = several.length === 0 && config.source === 'grpc';
  if (isOneGrpc || grpcUrls.length > 0) {
    const { urls, ...server } = isOneGrpc ? serversOf(config) : serversAt(grpcUrls, config);
    return (parts, attempt) =>
      new GrpcForks(parts, {
        url: urls[attempt % urls.length] ?? '',
        ...server,
        filters,
        programs,
        number: BigInt(attempt),
      });
  }
  const ownUrls = listOf(config.rpcWsUrl);
  const urls = several.length === 0 ? ownUrls : several.flatMap(({ url }) => (url === '' ? ownUrls : [url]));
  return (parts, attempt) => new PubSubForks(parts, { wsUrl: urls[attempt % urls.length] ?? '', filters, programs });
}

/** @throws ConfigError when there is no server, or its address is not a URL of http: or https: */
function serversOf(config: Config): OpenServers {
  const urls = listOf(config.grpcUrl);
  if (urls.length === 0 || !urls.every((url) => isUrl(url, /^https?:/)))
    throw new ConfigError('grpcUrl must name a server, as https://host:port');
  return serversAt(urls, config);
}

function serversAt(urls: readonly string[], config: Config): OpenServers {
  return { urls, token: config.grpcToken, open: opener(config) };
}

/** @throws ConfigError when the file of authorities cannot be read */
function opener({ grpcCaFile }: Config): OpenStream {
  if (grpcCaFile === '') return openWith();
  try {
    return openWith(readFileSync(grpcCaFile));
  } catch (error) {
    throw new ConfigError(`grpcCaFile cannot be read: ${String(error)}`);
  }
}

function isUrl(url: string, protocol: RegExp): boolean {
  return protocol.test(url) && url.includes('://') && URL.canParse(url);
}
