// Ingest over a gRPC source in real processes: the books are those of the chain, also after the server ended the stream and
// after ingest was killed.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/processes/processes.ts';
import { expectBooksEqualNaiveRebuild } from './harness/checks/checks.ts';
import { causedChanges, transactionOf } from './harness/order-book/causes.ts';
import { HISTORY_PROCESSES, type Pipeline, startPipeline } from './harness/processes/pipeline.ts';

const TOKEN = 'of-this-test';
const PROGRESS_SLOTS = 5;
const CAUSED_CHANGES = 60;

describe('pipeline over a gRPC source', () => {
  let pipeline: Pipeline;
  const slot = async () => {
    const response = await fetch(`${pipeline.url('orderbook')}/l2?marketName=SOL-PERP`);
    return ((await response.json()) as { slot: number }).slot;
  };
  const moves = async (what: string) => {
    const before = await slot();
    const later = async () => (await slot()) > before + PROGRESS_SLOTS;
    await eventually(what, later).catch((error: unknown) => {
      throw new Error(`${String(error)}\n${pipeline.lastErrors()}`);
    });
  };
  beforeAll(async () => {
    pipeline = await startPipeline({
      cluster: { seed: 17, accounts: 40, 'grpc-port': 0, 'grpc-token': TOKEN },
      settings: { GRPC_TOKEN: TOKEN },
      without: HISTORY_PROCESSES,
      together: ['processors', 'orderbook'],
    });
  });
  afterAll(() => pipeline?.stop());

  it('names for each L3 change a transaction of its block that touched the order', async () => {
    const changes = await causedChanges(pipeline, CAUSED_CHANGES);
    for (const { cause, slot, maker, source } of changes) {
      const found = await transactionOf(pipeline, cause);
      expect(found).not.toBeNull();
      if (source === 'user') expect(found?.keys).toContain(maker);
      if (cause.index !== null) expect(cause.index).toBe(found?.index);
      expect(cause.slot).toBeLessThanOrEqual(slot);
    }
    expect(changes.some(({ cause }) => cause.index !== null)).toBe(true);
    expect(changes.some(({ cause, slot }) => cause.slot === slot)).toBe(true);
  });

  it('has moving books when the server ends the stream and when ingest is killed', async () => {
    const drop = () => pipeline.cluster.rpc<{ dropped: number }>('localnet_dropConnections');
    await eventually('a stream to end', async () => (await drop()).dropped > 0);
    await moves('books after a lost stream');
    await pipeline.running.get('ingest')?.kill9();
    await pipeline.restart('ingest');
    await moves('books after a kill');
  });

  it('has the books of the chain', async () => {
    expect((await expectBooksEqualNaiveRebuild(pipeline)).length).toBeGreaterThanOrEqual(4);
  });
});
