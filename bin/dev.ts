// `slotbook dev`, which `npm start` runs: the whole pipeline in one process, with one status line a second. It starts a
// simulated cluster in a second process, or reads a real one.

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import {
  type Config,
  ConfigError,
  createLogger,
  errorText,
  type Logger,
  type RunningProcess,
  reachable,
  redactUrls,
  startProcess,
  updateEndpoints,
} from '../platform/index.ts';
import { claimDataDir, type DataOwner } from './data-dir.ts';
import { assertPortsFree, PortTakenError, ROLE_PORTS } from './ports.ts';
import { ROLE_HELP, ROLE_NAMES, type RoleName, roleEntries } from './roles.ts';
import { callRpc, messageOf } from './rpc.ts';
import type { DevConfig } from './settings.ts';
import { untilSignal } from './signals.ts';
import { startStatus } from './status.ts';

export interface DevOptions {
  readonly speed?: string;
  readonly seed?: string;
  readonly accounts?: string;
  readonly ordersPerMarket?: string;
  readonly profile?: string;
}

const EXIT_FAILURE = 1;
const CLUSTER_START_MS = 60_000;
const CLUSTER_STOP_MS = 10_000;
const GENESIS_TIMEOUT_MS = 10_000;
const say = (line: string) => process.stdout.write(`${line}\n`);

/** Resolves to the exit code. */
export async function dev({ config, isSimulated }: DevConfig, options: DevOptions): Promise<number> {
  mkdirSync(config.dataDir, { recursive: true });
  const logFile = path.join(config.dataDir, 'logs', 'slotbook.log');
  const logger = createLogger({ level: config.logLevel, file: logFile, roles: ['dev'] });
  const interrupted = untilSignal();
  let cluster: Cluster | undefined;
  let running: RunningProcess | undefined;
  let code = 0;
  try {
    const localnet = isSimulated ? localnetPorts(config) : [];
    await assertPortsFree(config, ['metricsPort', ...localnet, ...Object.values(ROLE_PORTS).flat()]);
    if (isSimulated) {
      say('starting the simulated cluster');
      cluster = await startCluster(config, options);
    }
    const settings: Config = cluster
      ? {
          ...config,
          rpcUrl: cluster.rpcUrl,
          rpcUrls: cluster.rpcUrl,
          rpcWsUrl: cluster.wsUrl,
          ...(config.source === 'grpc' ? { grpcUrl: cluster.grpcUrl } : {}),
          vaultProgram: cluster.vaultProgram,
          lookupTables: cluster.lookupTable,
        }
      : config;
    claimDataDir(settings.dataDir, await ownerOf(settings));
    running = await startProcess({
      config: settings,
      logger,
      roles: roleEntries(ROLE_NAMES),
      onStarting: (role) => say(`starting ${role}: ${ROLE_HELP[role as RoleName]}`),
    });
    if (cluster) {
      await updateEndpoints(config.dataDir, { rpc: cluster.rpcUrl, pubsub: cluster.wsUrl });
    }
    introduce({ ...(cluster ? { rpc: cluster.rpcUrl, pubsub: cluster.wsUrl } : {}), ...running.endpoints }, logFile);
    const stopStatus = startStatus(running.metrics, say);
    try {
      await Promise.race([interrupted, running.done, ...(cluster ? [cluster.failed] : [])]);
    } finally {
      stopStatus();
    }
    say('stopping');
  } catch (error) {
    code = EXIT_FAILURE;
    explain(error, logger, logFile);
  }
  // Stop the cluster first, so that the pipeline has nothing left to catch up with.
  await cluster?.stop();
  await running?.stop();
  // A timer or a connection that a failure left behind would keep the process.
  if (code !== 0) process.exit(code);
  say('stopped; the next start continues from the data directory');
  return code;
}

function localnetPorts({ source }: Config) {
  const ports = ['localnetRpcPort', 'localnetWsPort'] as const;
  return source === 'grpc' ? [...ports, 'localnetGrpcPort' as const] : ports;
}

function introduce(endpoints: Readonly<Record<string, string>>, logFile: string): void {
  say('');
  for (const [name, url] of Object.entries(endpoints)) say(`  ${name.padEnd(12)} ${url}`);
  say(`  ${'log file'.padEnd(12)} ${logFile}`);
  say('');
}

function explain(error: unknown, logger: Logger, logFile: string): void {
  const text = errorText(error);
  process.stderr.write(`slotbook: ${text}\n`);
  if (error instanceof PortTakenError) return;
  logger.fatal({ err: error }, 'shutting down after a failure');
  if (!(error instanceof ConfigError)) process.stderr.write(`slotbook: more in ${logFile}\n`);
}

interface ClusterAddresses {
  readonly rpcUrl: string;
  readonly wsUrl: string;
  readonly grpcUrl: string;
  readonly vaultProgram: string;
  readonly lookupTable: string;
}

interface Cluster extends ClusterAddresses {
  /** Rejects when the process ends without a request to stop. */
  readonly failed: Promise<never>;
  stop(): Promise<void>;
}

async function startCluster(config: Config, options: DevOptions): Promise<Cluster> {
  const entry = fileURLToPath(new URL('../localnet/main.ts', import.meta.url));
  const flags: Record<string, string | undefined> = {
    '--host': reachable(config.host),
    '--rpc-port': String(config.localnetRpcPort),
    '--ws-port': String(config.localnetWsPort),
    '--grpc-port': config.source === 'grpc' ? String(config.localnetGrpcPort) : undefined,
    '--state-file': path.join(config.dataDir, 'localnet', 'state.bin'),
    '--speed': options.speed,
    '--seed': options.seed,
    '--accounts': options.accounts,
    '--orders-per-market': options.ordersPerMarket,
    '--profile': options.profile,
  };
  const args = Object.entries(flags).flatMap(([flag, value]) => (value === undefined ? [] : [flag, value]));
  args.push('--until-stdin-ends');
  // In its own process group ctrl-C reaches only us, and we stop it in order. Our end closes its standard input.
  const child = spawn(process.execPath, [...process.execArgv, entry, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
  });
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  let stopping = false;
  const failed = ended.then((code): never | Promise<never> => {
    if (stopping) return new Promise(() => {});
    throw new Error(`the simulated cluster ended unexpectedly (code ${code})`);
  });
  failed.catch(() => {});
  const addresses = await Promise.race([
    firstJsonLine(child),
    failed,
    timeout(CLUSTER_START_MS, 'the simulated cluster did not start'),
  ]);
  return {
    ...addresses,
    failed,
    stop: async () => {
      stopping = true;
      child.kill('SIGTERM');
      const killer = setTimeout(() => child.kill('SIGKILL'), CLUSTER_STOP_MS);
      await ended;
      clearTimeout(killer);
    },
  };
}

async function firstJsonLine(child: ChildProcess): Promise<ClusterAddresses> {
  if (!child.stdout) throw new Error('the simulated cluster has no output');
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.startsWith('{')) return JSON.parse(line) as ClusterAddresses;
  }
  return new Promise(() => {});
}

function timeout(afterMs: number, message: string): Promise<never> {
  return new Promise((_, reject) => setTimeout(() => reject(new Error(message)), afterMs).unref());
}

async function ownerOf(config: Config): Promise<DataOwner> {
  const { source, capturePath, definition } = config;
  if (source === 'capture') {
    if (!existsSync(capturePath)) throw new ConfigError(`no capture at "${capturePath}"; name one with --capture-path`);
    return { capture: path.resolve(capturePath), definition };
  }
  return { genesisHash: await genesisHash(config), definition };
}

async function genesisHash({ rpcUrl, rpcWsUrl }: Config): Promise<string> {
  try {
    const hash = await callRpc(rpcUrl, 'getGenesisHash', GENESIS_TIMEOUT_MS);
    if (typeof hash === 'string') return hash;
    throw new Error('its genesis hash is not a string');
  } catch (error) {
    const [rpc, pubSub] = [redactUrls(rpcUrl), redactUrls(rpcWsUrl)];
    throw new ConfigError(`${rpc} (PubSub ${pubSub}) is not a readable cluster: ${messageOf(error)}`);
  }
}
