import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Counter, Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TOPICS } from '../../schemas/index.ts';
import { eventually } from '../../test/support/platform/eventually.ts';
import { readConfig } from '../config.ts';
import { LEASE_TIMES, MarkWatch } from '../log/lease.ts';
import { openEventLog } from '../log/open.ts';
import { type EventLog, LogAwayError } from '../log/port.ts';
import type { RoleContext, RunningRole } from './context.ts';
import { HEALTH, judgeHealth } from './health-status.ts';
import { LeasedRole } from './leased-role.ts';
import { silentLogger } from './logger.ts';

const TIMES = { ...LEASE_TIMES, lookMs: 10, askMs: 30 };
const COUNTED = 'slotbook_test_total';

describe('a role with a lease', () => {
  let dataDir: string;
  const closing: (() => unknown)[] = [];
  beforeEach(() => {
    dataDir = mkdtempSync(path.join(tmpdir(), 'slotbook-kept-'));
  });
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
    rmSync(dataDir, { recursive: true, force: true });
  });

  /** A process with its own log and metrics. Its roles write their version into `dead-letters` when they begin. */
  const startOne = async (version: string, prepare?: (metrics: Registry) => void) => {
    const config = readConfig({}, { dataDir });
    const log = await openEventLog(config, silentLogger());
    closing.push(() => log.close());
    await log.ensureTopics([TOPICS.deadLetters]);
    const watch = await MarkWatch.open(log, TIMES.lookMs);
    closing.push(() => watch.close());
    const metrics = new Registry();
    prepare?.(metrics);
    const context: RoleContext = { config, log, logger: silentLogger(), metrics };
    const terms: { fail(error: unknown): void; end(): void; stopped: boolean; log: EventLog }[] = [];
    const start = async (given: RoleContext): Promise<RunningRole> => {
      new Counter({ name: COUNTED, help: 'test', registers: [given.metrics] }).inc();
      judgeHealth(given.metrics, () => HEALTH.restart);
      await given.log.append(TOPICS.deadLetters, [{ key: 'x', value: Buffer.from(version) }]);
      const term = { fail: (_: unknown) => {}, end: () => {}, stopped: false, log: given.log };
      const done = new Promise<void>((resolve, reject) => {
        term.fail = reject;
        term.end = resolve;
      });
      terms.push(term);
      const stop = async () => {
        term.stopped = true;
      };
      return { name: 'test', endpoints: {}, done, stop };
    };
    const self = { host: 'box', pid: 1, version, startedMs: 1, machine: null };
    const role = new LeasedRole({ name: 'test', lease: 'test', start, context, watch, times: TIMES, self });
    closing.push(() => role.stop());
    return { role, terms, metrics, log };
  };
  const written = async (log: EventLog) =>
    (await log.read(TOPICS.deadLetters, 0, 0n, 100)).map(({ value }) => Buffer.from(value).toString());

  it('stands by beside a process of the same version, and starts when that has stopped', async () => {
    const [one, other] = [await startOne('1.0.0'), await startOne('1.0.0')];
    await one.role.begin();
    await other.role.begin();
    expect([one.role.state, other.role.state]).toEqual(['writes', 'stands by']);
    expect(other.metrics.getSingleMetric(COUNTED)).toBe(undefined);
    await one.role.stop();
    await eventually(() => expect(other.role.state).toBe('writes'));
    expect([one.terms.length, other.terms.length]).toEqual([1, 1]);
  });

  it('yields to a newer version, stands by, and starts again when that has ended', async () => {
    const older = await startOne('1.0.0');
    await older.role.begin();
    const newer = await startOne('1.1.0');
    await newer.role.begin();
    expect(newer.role.state).toBe('writes');
    await eventually(() => expect(older.role.state).toBe('stands by'));
    expect(older.terms[0]?.stopped).toBe(true);
    await expect(older.terms[0]?.log.append(TOPICS.deadLetters, [])).rejects.toThrow(/taken over|given up/);
    await newer.role.stop();
    await eventually(() => expect(older.terms).toHaveLength(2));
    expect(await written(older.log)).toEqual(['1.0.0', '1.1.0', '1.0.0']);
  });

  it('has no metrics and no health judge while it stands by', async () => {
    const older = await startOne('1.0.0');
    await older.role.begin();
    const health = async () => (await older.metrics.getSingleMetric('health_status')?.get())?.values[0]?.value;
    expect([older.metrics.getSingleMetric(COUNTED) === undefined, await health()]).toEqual([false, HEALTH.restart]);
    const newer = await startOne('1.1.0');
    await newer.role.begin();
    await eventually(() => expect(older.role.state).toBe('stands by'));
    expect([older.metrics.getSingleMetric(COUNTED), await health()]).toEqual([undefined, undefined]);
  });

  it('leaves the health gauge of the process in place when its term ends', async () => {
    const older = await startOne('1.0.0', (metrics) => judgeHealth(metrics, () => HEALTH.slotsStalled));
    await older.role.begin();
    const health = async () => (await older.metrics.getSingleMetric('health_status')?.get())?.values[0]?.value;
    expect(await health()).toBe(HEALTH.restart);
    const newer = await startOne('1.1.0');
    await newer.role.begin();
    await eventually(() => expect(older.role.state).toBe('stands by'));
    expect(await health()).toBe(HEALTH.slotsStalled);
  });

  it('continues in the same process after the log was away', async () => {
    const { role, terms } = await startOne('1.0.0');
    await role.begin();
    terms[0]?.fail(new LogAwayError('no broker answers'));
    await eventually(() => expect([terms.length, role.state]).toEqual([2, 'writes']));
    expect(terms[0]?.stopped).toBe(true);
  });

  it('fails and ends with its role', async () => {
    const failing = await startOne('1.0.0');
    await failing.role.begin();
    failing.terms[0]?.fail(new Error('a fault'));
    await expect(failing.role.done).rejects.toThrow('a fault');
    const ending = await startOne('1.0.0');
    await ending.role.begin();
    ending.terms[0]?.end();
    await ending.role.done;
  });
});
