// The life of a process: opens shared resources, starts roles in order, serves metrics, stops in reverse on a signal.
// Crash-only: a failing role ends the process, and start is the recovery path. A role with a lease stands by while another
// process has it. A process waits for an unreachable log.

import { Gauge } from 'prom-client';
import type { Config } from '../config.ts';
import { describeConfig } from '../config.ts';
import { LOOK_MS, MarkWatch } from '../log/lease.ts';
import { openEventLog } from '../log/open.ts';
import { PatientStartLog, type WhileAway } from '../log/patient-start.ts';
import { LogAwayError } from '../log/port.ts';
import { TailLosses } from '../log/tail-losses.ts';
import type { Logger, Registry, RoleContext, RunningRole } from './context.ts';
import { watchDescriptors } from './descriptors.ts';
import { updateEndpoints } from './endpoints.ts';
import { LeasedRole } from './leased-role.ts';
import { watchLog } from './log-watch.ts';
import { createMetrics, serveMetrics } from './metrics.ts';
import { retryWhileAway } from './retry-while-away.ts';

/** For a process without leases, which only checks whether the log answers. */
const IDLE_LOOK_MS = 1_000;

export type StartRole = (context: RoleContext) => Promise<RunningRole>;

export interface RoleEntry {
  readonly name: string;
  readonly start: StartRole;
  /** Name of the lease: one process runs the role, all others stand by. Absent: any number of processes may run it. */
  readonly lease?: (config: Config) => string;
}

export interface RunningProcess {
  readonly endpoints: Readonly<Record<string, string>>;
  readonly metrics: Registry;
  /** Roles that stand by because another process runs them. */
  standby(): readonly string[];
  /** Rejects with the first failure of a role; settles when all roles have ended. */
  readonly done: Promise<void>;
  stop(): Promise<void>;
}

export interface ProcessOptions {
  readonly config: Config;
  readonly logger: Logger;
  readonly roles: readonly RoleEntry[];
  /** Called before each role starts, for progress lines. */
  readonly onStarting?: (role: string) => void;
  /** Default: the log that the configuration names. */
  readonly openLog?: typeof openEventLog;
}

/** Starts roles on one event log. When one cannot start, stops the others and throws its error. */
export async function startProcess(options: ProcessOptions): Promise<RunningProcess> {
  const { config, logger, roles, onStarting, openLog = openEventLog } = options;
  logger.info({ config: describeConfig(config) }, 'configuration');
  const metrics = createMetrics(roles.map(({ name }) => name));
  const descriptors = watchDescriptors({ logger, metrics });
  const whileAway: WhileAway = (work) =>
    retryWhileAway(work, { server: 'The log', isAway: (error) => error instanceof LogAwayError, logger });
  const losses = new TailLosses(logger, metrics);
  const log = await whileAway(() => openLog(config, logger, losses));
  const contextOf = (name: string): RoleContext => ({ config, log, logger: logger.child({ role: name }), metrics });
  const leased = new Map<string, LeasedRole>();
  const running: RunningRole[] = [];
  const endpoints: Record<string, string> = {};
  let isStarted = false;
  let stopping: Promise<void> | undefined;
  let watch: MarkWatch | undefined;
  let unwatch = () => {};

  const stopAll = async () => {
    const unbegun = [...leased.values()].filter((role) => !running.includes(role));
    for (const role of [...running, ...unbegun].toReversed()) {
      await role.stop().catch((error: unknown) => logger.error({ err: error, role: role.name }, 'role did not stop'));
    }
    await updateEndpoints(config.dataDir, endpoints, true);
    await metricsServer?.stop();
    descriptors.stop();
    unwatch();
    watch?.close();
    await log.close();
  };

  const startup = () => ({ isStarted, lines: [...leased.values()].map(({ name, state }) => `${name} ${state}`) });
  let metricsServer: Awaited<ReturnType<typeof serveMetrics>> | undefined;
  try {
    metricsServer = await serveMetrics(metrics, config.host, config.metricsPort, startup);
    endpoints.metrics = metricsServer.url;
    const lookMs = roles.some(({ lease }) => lease) ? LOOK_MS : IDLE_LOOK_MS;
    watch = await whileAway(() => MarkWatch.open(log, lookMs));
    unwatch = watchLog({ watch, logger, metrics });
    // All leases are requested at once, then the roles start in order.
    for (const { name, start, lease } of roles) {
      if (lease)
        leased.set(name, new LeasedRole({ name, lease: lease(config), start, context: contextOf(name), watch }));
    }
    exposeRoleStates(metrics, leased);
    for (const { name, start } of roles) {
      onStarting?.(name);
      const leasedRole = leased.get(name);
      await leasedRole?.begin();
      const role = leasedRole ?? (await startPatiently(start, contextOf(name), whileAway));
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
    standby: () => [...leased.values()].filter(({ state }) => state === 'stands by').map(({ name }) => name),
    done,
    stop: () => {
      stopping ??= stopAll();
      return stopping;
    },
  };
}

async function startPatiently(
  start: RoleEntry['start'],
  context: RoleContext,
  whileAway: WhileAway,
): Promise<RunningRole> {
  const log = new PatientStartLog(context.log, whileAway);
  const role = await start({ ...context, log });
  log.started();
  return role;
}

/** A metric for each role with a lease, which distinguishes a standby from a dead process. */
export function exposeRoleStates(
  metrics: Registry,
  leased: ReadonlyMap<string, Pick<LeasedRole, 'name' | 'state'>>,
): void {
  new Gauge({
    name: 'slotbook_role_writes',
    help: '1 while this process writes for the role, 0 while it stands by',
    labelNames: ['role'],
    registers: [metrics],
    collect() {
      for (const { name, state } of leased.values()) this.set({ role: name }, Number(state === 'writes'));
    },
  });
}
