// The same pipeline, the same checks, with Kafka as the log.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type KafkaBroker, startKafka } from '../../platform/testing.ts';
import { expectBooksEqualNaiveRebuild, expectHistoryEqualsTruth, expectLiveFeed } from './harness/checks.ts';
import { type Pipeline, startPipeline } from './harness/pipeline.ts';

describe('pipeline over Kafka', () => {
  let kafka: KafkaBroker;
  let pipeline: Pipeline;
  beforeAll(async () => {
    kafka = await startKafka();
    pipeline = await startPipeline({
      cluster: { seed: 11, speed: 2 },
      settings: { LOG: 'kafka', KAFKA_BROKERS: kafka.brokers },
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
    await expectLiveFeed(pipeline.url('gateway'), 'BTC-PERP');
    expect(await expectHistoryEqualsTruth(pipeline)).toBeGreaterThan(200);
  });

  it('has at a stopped slot the books that a naive rebuild from the accounts gives', async () => {
    await expectBooksEqualNaiveRebuild(pipeline);
  });
});
