// Metrics of the history service over its real HTTP layer, with a store without answers.

import { ClickHouseError } from '@clickhouse/client';
import { afterEach, describe, expect, it } from 'vitest';
import type { Registry, RunningRole } from '../../platform/index.ts';
import { absentStore } from '../../test/support/api/absent-store.ts';
import { Stage } from '../../test/support/api/stage.ts';
import { startHistory } from './server.ts';

const roles: RunningRole[] = [];
afterEach(async () => {
  for (const role of roles.splice(0)) await role.stop();
});

/** The running service, and its metrics. */
async function start(error?: Error): Promise<{ readonly url: string; readonly metrics: Registry }> {
  const stage = new Stage();
  await stage.markets();
  const context = stage.context();
  const role = await startHistory(context, absentStore(error));
  roles.push(role);
  return { url: role.endpoints.history ?? '', metrics: context.metrics };
}

async function metricValue(
  metrics: Registry,
  name: string,
  labels: Readonly<Record<string, string>>,
): Promise<number | undefined> {
  const values = (await metrics.getSingleMetric(name)?.get())?.values ?? [];
  return values.find((one) => Object.entries(labels).every(([label, value]) => one.labels[label] === value))?.value;
}

describe('metrics of the history service', () => {
  it('count requests and their duration by route and status', async () => {
    const { url, metrics } = await start();
    for (const path of ['/market/SOL-PERP/trades', '/market/NO/trades', '/nowhere']) await fetch(url + path);
    const requests = (labels: Record<string, string>) =>
      metricValue(metrics, 'slotbook_history_requests_total', labels);
    const path = '/market/:symbol/trades';
    expect(await requests({ path, status: '503' })).toBe(1);
    expect(await requests({ path, status: '400' })).toBe(1);
    expect(await requests({ path, status: '500' })).toBe(0);
    expect(await requests({ path: 'none', status: '404' })).toBe(1);
    const text = await metrics.metrics();
    expect(text).toContain(`slotbook_history_request_seconds_count{path="${path}",status="503"} 1`);
  });

  it.each([
    ['away', new Error('connect ECONNREFUSED')],
    ['timeout', new ClickHouseError({ message: 'too slow', code: '159', type: 'TIMEOUT_EXCEEDED' })],
    ['notBuilt', new ClickHouseError({ message: 'no table', code: '60', type: 'UNKNOWN_TABLE' })],
    ['server', new ClickHouseError({ message: 'memory', code: '241', type: 'MEMORY_LIMIT_EXCEEDED' })],
  ])('count a query that failed as %s', async (reason, error) => {
    const { url, metrics } = await start(error);
    const failures = () => metricValue(metrics, 'slotbook_history_query_failures_total', { reason });
    expect(await failures()).toBe(0);
    const answer = await fetch(`${url}/market/SOL-PERP/trades`);
    expect(answer.status).toBe(reason === 'server' ? 500 : 503);
    expect(await failures()).toBeGreaterThan(0);
  });
});
