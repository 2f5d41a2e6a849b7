// The whole pipeline over real processes. Tests a client's live view, the books at a stopped slot, garbage on every input, and
// the history after kills. The log alone then gives the same books and rows again.

import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TruthVault } from '../../localnet/index.ts';
import { managedChildPid } from '../support/clickhouse/managed-child.ts';
import { seededRandom } from '../support/platform/chance.ts';
import { times } from '../support/platform/times.ts';
import { eventually, plainRequest } from '../support/processes/processes.ts';
import { describeBadInput, UNKNOWN_ROWS } from './harness/checks/bad-input.ts';
import { expectBooksEqualNaiveRebuild, expectHistoryEqualsTruth, expectLiveFeed } from './harness/checks/checks.ts';
import { expectAnswers, expectBookLines, expectFirstData, readmeOf } from './harness/checks/readme.ts';
import { vaultStatsOf } from './harness/month/vaults.ts';
import { storedRows } from './harness/naive/history-truth.ts';
import { type Pipeline, type ProcessName, startPipeline } from './harness/processes/pipeline.ts';
import { rebuildFromLog } from './harness/processes/rebuild.ts';

/** Slots in 400 ms. */
const SPEED = times(1, 4);
const KILLS = times(3, 24);
const SEED = 20_261_121;
/** Of the events, and of the published records: the run was not idle. */
const RECORDS_AT_LEAST = 500;

describe('pipeline over the embedded log', () => {
  let pipeline: Pipeline;
  beforeAll(async () => {
    pipeline = await startPipeline({ cluster: { seed: 7, speed: SPEED }, settings: { INTERNAL_SECRET: 'x' } });
  });
  afterAll(() => pipeline?.stop());

  it('says that it is healthy and started', async () => {
    await eventually('whole books', async () => (await fetch(`${pipeline.url('orderbook')}/startup`)).ok);
    for (const path of ['/health', '/startup', '/']) {
      // `/health` says NOK while the machine gives a process no turn for longer than `slotStallMs`.
      const text = await eventually(`${path} is well`, async () => {
        const response = await fetch(pipeline.url('orderbook') + path);
        return response.status === 200 && response.text();
      });
      expect([path, text]).toEqual([path, 'OK']);
    }
  });

  it('gives a client acknowledgement, snapshot, updates, trades and heartbeats, on both ports', async () => {
    await Promise.all([
      expectLiveFeed(`${pipeline.url('orderbook').replace('http', 'ws')}/ws`, 'SOL-PERP'),
      expectLiveFeed(pipeline.url('gateway'), 'ETH-PERP'),
    ]);
  });

  it('serves history of what happened', async () => {
    const history = pipeline.url('history');
    const trades = await eventually('trades in the history', async () => {
      const answer = await fetch(`${history}/market/SOL-PERP/trades?limit=5`);
      const { records } = (await answer.json()) as { records?: { symbol: string; action: string }[] };
      return answer.ok && records !== undefined && records.length > 0 && records;
    });
    expect(trades.every(({ symbol, action }) => symbol === 'SOL-PERP' && action === 'fill')).toBe(true);
    // Refused until a summary was made.
    const markets = await eventually('market summaries', async () => {
      const answer = await fetch(`${history}/stats/markets`);
      return answer.ok && ((await answer.json()) as { symbol: string }[]);
    });
    expect(markets.map(({ symbol }) => symbol)).toEqual(expect.arrayContaining(['SOL-PERP', 'BTC-PERP', 'ETH-PERP']));
  });

  it('answers what the quick start says to type', async () => {
    const readme = readmeOf(pipeline);
    expect([readme.requests.length, readme.subscriptions.length]).toEqual([13, 3]);
    await expectAnswers(readme);
    await expectFirstData(readme);
    await expectBookLines(readme);
  });

  it('has at a stopped slot the books that a naive rebuild from the accounts gives, for every market', async () => {
    const books = await expectBooksEqualNaiveRebuild(pipeline);
    expect(books.filter(({ l3 }) => l3.bids.length + l3.asks.length > 0).length).toBeGreaterThanOrEqual(4);
    expect(books.some(({ clobQueue }) => clobQueue.bids.length > 0)).toBe(true);
    await pipeline.cluster.rpc('localnet_resume');
  });

  describeBadInput(() => pipeline);

  it.runIf(process.platform === 'linux')('stores on when ClickHouse is killed under it', async () => {
    process.kill(managedChildPid(pipeline.dataDir), 'SIGKILL');
    const url = pipeline.url('clickhouse');
    await eventually('ClickHouse again', async () => (await fetch(`${plainRequest(url).url}/ping`)).ok);
    const rows = await storedRows(url);
    await eventually('rows of what came after', async () => (await storedRows(url)) > rows);
  });

  it(`has every event exactly once after ${KILLS} kills at random moments`, async () => {
    const random = seededRandom(SEED);
    const victims: ProcessName[] = ['ingest', 'processors', 'sink', 'orderbook', 'history'];
    for (let kill = 0; kill < KILLS; kill += 1) {
      const victim = victims[kill % victims.length] ?? 'ingest';
      await sleep(100 + random() * 900);
      await pipeline.running.get(victim)?.kill9();
      await sleep(random() * 400);
      await pipeline.restart(victim);
    }
    expect(await expectHistoryEqualsTruth(pipeline, UNKNOWN_ROWS)).toBeGreaterThan(RECORDS_AT_LEAST);
  });

  it('has equal books and feeds after the kills', async () => {
    await pipeline.cluster.rpc('localnet_settle', [{ commitment: 'confirmed' }]);
    await expectHistoryEqualsTruth(pipeline, UNKNOWN_ROWS);
    await expectBooksEqualNaiveRebuild(pipeline);
  });

  it('has the vaults as the chain has them', async () => {
    const vaults = vaultStatsOf(await pipeline.cluster.rpc<TruthVault[]>('localnet_vaults'));
    expect(vaults.length).toBeGreaterThan(1);
    const url = `${pipeline.url('history')}/stats/vaults`;
    const answered = async () => ((await (await fetch(url)).json()) as { vaults: readonly object[] }).vaults;
    await eventually(
      'the newest states of vaults',
      async () => JSON.stringify(await answered()) === JSON.stringify(vaults),
    );
  });

  it('builds equal read models from nothing but the log', async () => {
    const { before, after } = await rebuildFromLog(pipeline);
    expect(before.views.records).toBeGreaterThan(RECORDS_AT_LEAST);
    expect(after).toEqual(before);
  });
});
