// ClickHouse's host and its child killed in quick succession under load, beside a supervisor that restarts what exits.

import { cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { managedChildPid } from '../support/clickhouse/managed-child.ts';
import { busyLoop } from '../support/platform/children.ts';
import { times } from '../support/platform/times.ts';
import {
  type Cluster,
  eventually,
  plainRequest,
  startCluster,
  startRoles,
  temporaryDirectory,
} from '../support/processes/processes.ts';
import { expectHistoryEqualsTruth } from './harness/checks/checks.ts';
import { ProcessSupervisor } from './harness/processes/supervisor.ts';

/** Slots in 400 ms. */
const SPEED = times(1, 4);
const KILLS = times(4, 20);
const BETWEEN_MS = 700;
const SERVING_MS = 90_000;
/** A restarted process may exit once because a service it needs is missing; many exits are a crash loop. */
const EXITS_MAX = 3;

describe.runIf(process.platform === 'linux')('ClickHouse killed with its host', () => {
  const { dir, remove } = temporaryDirectory();
  let cluster: Cluster;
  let supervisor: ProcessSupervisor;
  beforeAll(async () => {
    cluster = await startCluster({ seed: 11, speed: SPEED });
    const { rpcUrl, wsUrl, vaultProgram } = cluster;
    supervisor = new ProcessSupervisor({
      DATA_DIR: dir,
      RPC_URL: rpcUrl,
      RPC_WS_URL: wsUrl,
      VAULT_PROGRAM: vaultProgram,
      LOG_LEVEL: 'info',
    });
    supervisor.keep('clickhouse', ['clickhouse']);
    supervisor.keep('ingest', ['ingest']);
    supervisor.keep('processors', ['book', 'samples', 'candles']);
    supervisor.keep('sink', ['sink']);
    supervisor.keep('history', ['history']);
    await eventually('all processes', () => isReady());
  });
  afterAll(async () => {
    await supervisor?.stop();
    await cluster?.stop();
    remove();
  });

  const isReady = () =>
    ['clickhouse', 'ingest', 'processors', 'sink', 'history'].every((name) => supervisor.running(name) !== undefined);

  it('is served again soon, ends nobody without a reason, and has every row once', async () => {
    const load = Array.from({ length: times(1, cpus().length) }, () => busyLoop());
    try {
      for (let kill = 0; kill < KILLS; kill += 1) {
        killChild(dir);
        // Without the sink, either of the two processes may host the next child.
        if (kill % 2 === 1) await supervisor.running('sink')?.kill9();
        await supervisor.running('clickhouse')?.kill9();
        killChild(dir);
        await sleep(BETWEEN_MS);
      }
      await eventually('all processes again', () => isReady(), SERVING_MS);
      const history = () => supervisor.running('history')?.endpoints.history ?? '';
      await eventually(
        'answers',
        async () => (await fetch(`${history()}/market/SOL-PERP/trades?limit=1`)).ok,
        SERVING_MS,
      );
    } finally {
      for (const stop of load) stop();
    }
    const own = supervisor.exits.filter(({ code }) => code !== null);
    expect(own.filter(({ code }) => code === 13)).toEqual([]);
    expect(own.length, supervisor.complaints.join('\n')).toBeLessThanOrEqual(EXITS_MAX);
    const stored = await expectHistoryEqualsTruth({
      cluster,
      url: (endpoint) => supervisor.running('clickhouse')?.endpoints[endpoint] ?? '',
      lastErrors: () => supervisor.complaints.join('\n'),
    });
    expect(stored).toBeGreaterThan(500);
  });
});

describe.runIf(process.platform === 'linux')('a process that uses the ClickHouse of another one', () => {
  it('stays, and hosts ClickHouse at the same address when the other one is killed', async () => {
    const { dir, remove } = temporaryDirectory();
    const first = await startRoles(['clickhouse'], { DATA_DIR: dir });
    const second = await startRoles(['clickhouse'], { DATA_DIR: dir });
    try {
      expect(second.endpoints.clickhouse).toBe(first.endpoints.clickhouse);
      expect(await Promise.race([second.exited, sleep(1_500)])).toBeUndefined();
      await first.kill9();
      const { url } = plainRequest(second.endpoints.clickhouse ?? '');
      await eventually('the child of the first one gone', async () => !(await answers(url)));
      await eventually('a child of the second one', () => answers(url));
    } finally {
      expect(await second.stop()).toBe(0);
      remove();
    }
  });
});

async function answers(url: string): Promise<boolean> {
  return fetch(`${url}/ping`, { headers: { connection: 'close' } }).then(
    ({ ok }) => ok,
    () => false,
  );
}

function killChild(dataDir: string): void {
  try {
    process.kill(managedChildPid(dataDir), 'SIGKILL');
  } catch {
    // The child has ended, or its successor has not started.
  }
}
