// The same pipeline, the same checks, with Kafka as the log.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { times } from '../support/platform/times.ts';
import { type KafkaBroker, startKafka } from '../support/platform.ts';
import { eventually } from '../support/processes/processes.ts';
import { expectBooksEqualNaiveRebuild, expectHistoryEqualsTruth, expectLiveFeed } from './harness/checks/checks.ts';
import { type Pipeline, startPipeline } from './harness/processes/pipeline.ts';

/** Slots in 400 ms. */
const SPEED = times(1, 2);
/** How long a request to Kafka is repeated. */
const PATIENCE_MS = 2_000;

describe('pipeline over Kafka', () => {
  let kafka: KafkaBroker;
  let pipeline: Pipeline;
  beforeAll(async () => {
    kafka = await startKafka();
    pipeline = await startPipeline({
      cluster: { seed: 11, speed: SPEED },
      settings: { LOG: 'kafka', KAFKA_BROKERS: kafka.brokers, KAFKA_PATIENCE_MS: PATIENCE_MS },
    });
  });
  afterAll(async () => {
    await pipeline?.stop();
    await kafka?.stop();
  });

  it('gives a client acknowledgement, snapshot, updates, trades and heartbeats', async () => {
    await expectLiveFeed(pipeline.url('gateway'), 'SOL-PERP');
  });

  it('loses and repeats nothing when each process is killed once', async () => {
    for (const victim of ['ingest', 'processors', 'sink'] as const) {
      await pipeline.running.get(victim)?.kill9();
      await pipeline.restart(victim);
    }
    expect(await expectHistoryEqualsTruth(pipeline)).toBeGreaterThan(200);
  });

  it('waits while the brokers are away, says so, and goes on without a restart', async () => {
    const processes = ['ingest', 'processors', 'sink', 'orderbook', 'history'] as const;
    const metric = async (name: (typeof processes)[number], pattern: RegExp) => {
      const text = await (await fetch(pipeline.running.get(name)?.endpoints.metrics ?? '')).text();
      return Number(pattern.exec(text)?.[1] ?? Number.NaN);
    };
    const away = (name: (typeof processes)[number]) => metric(name, /^slotbook_log_away_seconds\{.*\} (\d+)$/m);
    const warnings = (name: (typeof processes)[number]) =>
      (pipeline.running.get(name)?.errors().split('the log is away: waiting').length ?? 0) - 1;
    await pipeline.cluster.rpc('localnet_resume');
    // A broker on a busy machine may have been away before, by the clock of these tests.
    for (const name of processes) {
      await eventually(`${name} has an answer of the log`, async () => (await away(name)) === 0);
    }
    const earlier = new Map(processes.map((name) => [name, warnings(name)]));
    const pids = processes.map((name) => pipeline.running.get(name)?.pid);
    const exits: string[] = [];
    for (const name of processes) {
      void pipeline.running.get(name)?.exited.then((code) => exits.push(`${name} with ${code}`));
    }
    await kafka.restart(async () => {
      for (const name of processes) {
        // Requests that were begun later fail as well.
        await eventually(`${name} says that the log stays away`, async () => (await away(name)) > PATIENCE_MS / 1000);
        expect(await metric(name, /^health_status\{.*\} (\d)$/m), name).toBe(2);
        expect(warnings(name) - (earlier.get(name) ?? 0), name).toBe(1);
      }
    });
    for (const name of processes) {
      await eventually(`${name} says that the log answers`, async () => (await away(name)) === 0);
    }
    await expectLiveFeed(pipeline.url('gateway'), 'SOL-PERP');
    expect(exits, pipeline.lastErrors()).toEqual([]);
    expect(processes.map((name) => pipeline.running.get(name)?.pid)).toEqual(pids);
    expect(await expectHistoryEqualsTruth(pipeline)).toBeGreaterThan(200);
  });

  it('has at a stopped slot the books that a naive rebuild from the accounts gives', async () => {
    await expectBooksEqualNaiveRebuild(pipeline);
  });
});
