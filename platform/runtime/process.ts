// One life of a process: open what roles share, start them in order, serve metrics, stop in reverse on a signal.
// Crash-only: a role that fails takes the process down, and start is the same path as recovery.

import type { Config } from '../config.ts';
import { describeConfig } from '../config.ts';
import { openEventLog } from '../log/open.ts';
import type { Logger, Registry, RoleContext, RunningRole } from './context.ts';
import { updateEndpoints } from './endpoints.ts';
import { createMetrics, serveMetrics } from './metrics.ts';

export type StartRole = (context: RoleContext) => Promise<RunningRole>;

export interface RoleEntry {
  readonly name: string;
  readonly start: StartRole;
}

export interface RunningProcess {
  readonly endpoints: Readonly<Record<string, string>>;
  readonly metrics: Registry;
  /** Rejects with the first failure of a role, settles when all roles ended. */
  readonly done: Promise<void>;
  stop(): Promise<void>;
}

export interface ProcessOptions {
  readonly config: Config;
  readonly logger: Logger;
  readonly roles: readonly RoleEntry[];
  /** Called before each role starts, for progress lines. */
  readonly onStarting?: (role: string) => void;
}

/** Starts roles on one event log. When one cannot start, those already running are stopped and the error is thrown. */
export async function startProcess({ config, logger, roles, onStarting }: ProcessOptions): Promise<RunningProcess> {
  logger.info({ config: describeConfig(config) }, 'configuration');
  const metrics = createMetrics(roles.map(({ name }) => name));
  const log = await openEventLog(config, logger);
  const running: RunningRole[] = [];
  const endpoints: Record<string, string> = {};
  let isStarted = false;
  let stopping: Promise<void> | undefined;

  const stopAll = async () => {
    for (const role of running.toReversed()) {
      await role.stop().catch((error: unknown) => logger.error({ err: error, role: role.name }, 'role did not stop'));
    }
    await updateEndpoints(config.dataDir, endpoints, true);
    await metricsServer?.stop();
    await log.close();
  };

  let metricsServer: Awaited<ReturnType<typeof serveMetrics>> | undefined;
  try {
    metricsServer = await serveMetrics(metrics, config.host, config.metricsPort, () => isStarted);
    endpoints.metrics = metricsServer.url;
    for (const { name, start } of roles) {
      onStarting?.(name);
      const role = await start({ config, log, logger: logger.child({ role: name }), metrics });
      running.push(role);
      Object.assign(endpoints, role.endpoints);
    }
    await updateEndpoints(config.dataDir, endpoints);
    isStarted = true;
  } catch (error) {
    await stopAll();
    throw error;
  }
  const done = Promise.race([
    Promise.all(running.map((role) => role.done)).then(() => undefined),
    ...running.map((role) => role.done.then(() => new Promise<void>(() => {}))),
  ]);
  return {
    endpoints,
    metrics,
    done,
    stop: () => {
      stopping ??= stopAll();
      return stopping;
    },
  };
}
