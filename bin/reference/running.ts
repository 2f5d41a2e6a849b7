// Runs the roles on an empty log. The reference pages are written from the metrics and contracts that they serve.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createClient } from '@clickhouse/client';
import { Registry } from 'prom-client';
import { startExports, startHistory, startOrderBook, startPush } from '../../api/index.ts';
import { createForkMetrics, createIngestMetrics, startFees } from '../../ingest/index.ts';
import {
  createMetrics,
  openEventLog,
  type RoleContext,
  type RunningRole,
  readConfig,
  silentLogger,
  startProcess,
} from '../../platform/index.ts';
import {
  processedTradesMetrics,
  sinkMetrics,
  startBook,
  startCandles,
  startCoverage,
  startFillQuality,
  startNotifications,
  startRankings,
  startSamples,
  startTrades,
} from '../../processors/index.ts';

/** Nothing listens there: no role asks ClickHouse anything while it starts. */
const NO_CLICKHOUSE = 'http://127.0.0.1:1';
const ANY_PORT = { orderbookPort: 0, gatewayPort: 0, historyPort: 0, metricsPort: 0, pagePort: 0 };

type Start = (context: RoleContext) => Promise<RunningRole | undefined>;

/** A start that leaves nothing to stop. */
const registering =
  (register: (metrics: Registry) => void): Start =>
  async ({ metrics }) => {
    register(metrics);
    return undefined;
  };

/** Of ingest and the sink, which need a chain and a store, the metrics alone. */
function startsByRoom(): Readonly<Record<string, readonly Start[]>> {
  const client = createClient({ url: NO_CLICKHOUSE });
  const clickhouse = { client, database: 'none', connect: () => client };
  return {
    ingest: [startFees, registering(createIngestMetrics), registering(createForkMetrics)],
    processors: [
      ...[startBook, startTrades, startFillQuality, startRankings, startCandles, startSamples, startCoverage],
      startNotifications,
      registering(processedTradesMetrics),
      registering((metrics) => sinkMetrics(metrics, async () => new Map())),
    ],
    api: [
      startOrderBook,
      startPush,
      ...[startHistory, startExports].map((start) => (context: RoleContext) => start(context, clickhouse)),
    ],
  };
}

export interface Running {
  /** By room, and of the process itself. */
  readonly metrics: Readonly<Record<string, Registry>>;
  /** Addresses by endpoint name. */
  readonly endpoints: Readonly<Record<string, string>>;
}

/** Metrics that a process registers beside its roles, without those of Node.js. */
async function processMetrics(config: ReturnType<typeof readConfig>): Promise<Registry> {
  const running = await startProcess({ config, logger: silentLogger(), roles: [] });
  const registry = new Registry();
  const common = new Set(
    createMetrics([])
      .getMetricsAsArray()
      .map(({ name }) => name),
  );
  for (const { name } of running.metrics.getMetricsAsArray()) {
    const metric = running.metrics.getSingleMetric(name);
    if (metric && !common.has(name)) registry.registerMetric(metric);
  }
  await running.stop();
  return registry;
}

/** Starts the roles, hands `use` what they offer, and stops them. */
export async function withRunningRoles<T>(use: (running: Running) => Promise<T>): Promise<T> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'slotbook-reference-'));
  const config = readConfig({}, { dataDir, ...ANY_PORT, logLevel: 'silent' });
  const logger = silentLogger();
  const log = await openEventLog(config, logger);
  const roles: RunningRole[] = [];
  const metrics: Record<string, Registry> = { processes: await processMetrics(config) };
  try {
    for (const [room, starts] of Object.entries(startsByRoom())) {
      const registry = new Registry();
      metrics[room] = registry;
      for (const start of starts) {
        const role = await start({ config, log, logger, metrics: registry });
        if (role) roles.push(role);
      }
    }
    const endpoints = Object.assign({}, ...roles.map((role) => role.endpoints)) as Record<string, string>;
    return await use({ metrics, endpoints });
  } finally {
    for (const role of roles.reverse()) await role.stop();
    await log.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
}
