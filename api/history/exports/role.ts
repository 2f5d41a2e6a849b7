// The exports role: builds the statements that wallets ask for. Any number of processes may run it.

import type { ClickHouse, RoleContext, RunningRole } from '../../../platform/index.ts';
import { followFinality } from '../../views/chain-finality.ts';
import { MarketFollower } from '../../views/market-follower.ts';
import { BuiltParts } from '../built-parts.ts';
import { followRebuilt } from '../follow-rebuilt.ts';
import { HistoryStore } from '../store.ts';
import { JobLog } from './job-log.ts';
import { exportMetrics } from './metrics.ts';
import { knowsFinality } from './statement.ts';
import { openFileStore } from './stores/open.ts';
import { ExportWorker } from './worker.ts';

/** Works until stopped. Rejects when the log cannot be read. */
export async function startExports(
  ctx: RoleContext,
  clickhouse: Pick<ClickHouse, 'client' | 'database' | 'connect'>,
): Promise<RunningRole> {
  const { config, logger } = ctx;
  const files = await openFileStore(config);
  const jobs = new JobLog(ctx);
  const follower = new MarketFollower(ctx);
  await Promise.all([jobs.start(), follower.start()]);
  const finality = await followFinality(ctx);
  const store = new HistoryStore(clickhouse.client, clickhouse.database);
  const rebuilt = followRebuilt(ctx, clickhouse, store);
  const metrics = exportMetrics(ctx.metrics, () => jobs.jobs.waitingCount);
  const sources = {
    store,
    markets: follower.registry,
    builtParts: new BuiltParts(store),
    isLive: config.source !== 'capture',
    finality: finality.newest,
  };
  if (!knowsFinality(sources)) logger.warn('statements wait until ingest has written a final block time');
  const worker = new ExportWorker({ jobs, files, sources, settings: config, metrics, logger });
  worker.start();
  logger.info({ files: files.kind }, 'building statement exports');
  let stopping: Promise<void> | null = null;
  return {
    name: 'exports',
    endpoints: {},
    done: Promise.all([jobs.done, follower.done, finality.done]).then(() => {}),
    stop: () => {
      stopping ??= (async () => {
        await worker.stop();
        await Promise.all([jobs.stop(), follower.stop(), finality.stop(), rebuilt.stop()]);
        await files.close();
      })();
      return stopping;
    },
  };
}
