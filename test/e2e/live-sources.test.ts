// Two gRPC servers and PubSub at once, in real processes. A server that leaves out account updates is named on /quality and
// stops leading. The books are those of the chain.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OrderbookAnswer } from '../../client/index.ts';
import { eventually } from '../support/processes/processes.ts';
import { expectBooksEqualNaiveRebuild } from './harness/checks/checks.ts';
import { HISTORY_PROCESSES, type Pipeline, startPipeline } from './harness/processes/pipeline.ts';

/** A verdict needs slots that settled, a read by RPC, and slots after it. */
const VERDICT_WITHIN_MS = 240_000;

describe('pipeline over several live sources', () => {
  let pipeline: Pipeline;
  const quality = async () => {
    const response = await fetch(`${pipeline.url('orderbook')}/quality`);
    return (await response.json()) as OrderbookAnswer<'/quality'>;
  };
  const sources = async () => (await quality()).liveSources;
  beforeAll(async () => {
    pipeline = await startPipeline({
      cluster: { seed: 19, accounts: 40, 'grpc-port': 0, 'grpc-servers': 2 },
      settings: { SHADOW_CHECK_MS: 2_000 },
      without: HISTORY_PROCESSES,
      together: ['ingest', 'processors', 'orderbook'],
    });
  });
  afterAll(() => pipeline?.stop());

  it('names the server that leaves out account updates, and no other', async () => {
    const areUp = async () => {
      const known = await sources();
      return known.length === 3 && known.every(({ role }) => role !== 'down');
    };
    await eventually('three sources', areUp, VERDICT_WITHIN_MS);
    const [first] = await sources();
    const fault = { kind: 'loseNotification', methods: ['accountUpdate'], probability: 0.3, server: 0 };
    await pipeline.cluster.rpc('localnet_fault', [fault]);
    const isNamed = async () => (await sources()).some(({ lying }) => lying);
    await eventually('a lying source', isNamed, VERDICT_WITHIN_MS);
    await pipeline.cluster.rpc('localnet_clearFaults', [{ server: 0 }]);
    const lying = (await sources()).filter((one) => one.lying);
    // A source that leaves out the second of two writes of a slot has other data for that slot.
    const reason = expect.stringMatching(/^(left out account updates|other account data than the chain)$/);
    expect(lying).toEqual([expect.objectContaining({ name: first?.name, role: 'follower', reason })]);
  });

  it('has the books of the chain once the shadow check has looked for what the lying source left out', async () => {
    const before = (await quality()).markets;
    // The read, the one that confirms what it found, and the one after the repair.
    const isChecked = async () =>
      (await quality()).markets.every(
        ({ checks: { accounts } }, at) =>
          accounts.lastResult === 'equal' && accounts.comparisons >= (before[at]?.checks.accounts.comparisons ?? 0) + 3,
      );
    await eventually('every market compared and equal', isChecked, VERDICT_WITHIN_MS);
    expect((await expectBooksEqualNaiveRebuild(pipeline)).length).toBeGreaterThanOrEqual(4);
  });
});
