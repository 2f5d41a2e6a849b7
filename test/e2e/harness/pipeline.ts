// The whole pipeline as separate processes over one cluster, as an operator would run it.

import {
  type Cluster,
  type Running,
  type Settings,
  startCluster,
  startRoles,
  temporaryDirectory,
} from './processes.ts';

const ERROR_CHARS = 2_000;

export interface PipelineOptions {
  readonly cluster?: Readonly<Record<string, string | number | boolean>>;
  readonly settings?: Settings;
}

/** One process per entry; the processes that a fault test kills stand alone. */
export const PROCESSES = {
  clickhouse: ['clickhouse'],
  ingest: ['ingest'],
  processors: ['book', 'trades', 'fillQuality', 'rankings', 'samples', 'candles', 'fees'],
  sink: ['sink'],
  orderbook: ['orderbook'],
  history: ['history'],
} as const;
export type ProcessName = keyof typeof PROCESSES;

export interface Pipeline {
  readonly cluster: Cluster;
  readonly dataDir: string;
  readonly settings: Settings;
  url(endpoint: string): string;
  readonly running: Map<ProcessName, Running>;
  restart(name: ProcessName): Promise<void>;
  /** What the processes wrote to standard error last, for the message of a failed check. */
  lastErrors(): string;
  stop(): Promise<void>;
}

export async function startPipeline(options: PipelineOptions = {}): Promise<Pipeline> {
  const { dir, remove } = temporaryDirectory();
  const cluster = await startCluster(options.cluster);
  const running = new Map<ProcessName, Running>();
  let settings: Settings = {
    DATA_DIR: dir,
    RPC_URL: cluster.rpcUrl,
    RPC_WS_URL: cluster.wsUrl,
    VAULT_PROGRAM: cluster.vaultProgram,
    ...options.settings,
  };
  const start = async (name: ProcessName) => {
    running.set(name, await startRoles(PROCESSES[name], settings));
  };
  const stop = async () => {
    for (const role of [...running.values()].reverse()) await role.stop();
    await cluster.stop();
    remove();
  };
  try {
    await start('clickhouse');
    settings = { ...settings, CLICKHOUSE_URL: running.get('clickhouse')?.endpoints.clickhouse ?? '' };
    for (const name of ['ingest', 'processors', 'sink', 'orderbook', 'history'] as const) await start(name);
  } catch (error) {
    await stop().catch(() => {});
    throw error;
  }
  return {
    cluster,
    dataDir: dir,
    settings,
    running,
    url: (endpoint) => {
      const found = [...running.values()].map(({ endpoints }) => endpoints[endpoint]).find((url) => url !== undefined);
      if (found === undefined) throw new Error(`no endpoint ${endpoint}`);
      return found;
    },
    restart: start,
    lastErrors: () => [...running].map(([name, role]) => `${name}: ${role.errors().slice(-ERROR_CHARS)}`).join('\n'),
    stop,
  };
}
