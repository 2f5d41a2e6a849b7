// Books at commitment processed on a chain with forks: they follow the fork that the node follows, and when it is abandoned they have
// the accounts of the surviving fork again, by changes that name the abandoned slot.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BookKeeper } from '../../client/index.ts';
import { profileOf } from '../../localnet/chain/profile.ts';
import { Schedule } from '../../localnet/chain/schedule.ts';
import type { TruthBlock } from '../../localnet/rpc/truth-controls.ts';
import type { BookDiffMessage, BookSnapshotMessage } from '../../schemas/portable.ts';
import { expectProcessedBooksEqualNaiveRebuild } from './harness/checks/checks.ts';
import { FeedClient, type FeedMessage } from './harness/keeper/feed-client.ts';
import { HISTORY_PROCESSES, type Pipeline, startPipeline } from './harness/processes/pipeline.ts';
import { eventually } from './harness/processes/processes.ts';

const MARKET = 'SOL-PERP';
const SEED = 5;
/** Longer than a short fork, with skipped slots. */
const SLOTS_MAX = 20;

/** The book of a client that knows only the published protocol. */
class Follower {
  readonly keeper = new BookKeeper({ level: 'l3', checksum: true });
  readonly reverts: number[] = [];
  readonly results: string[] = [];
  readonly #client: FeedClient;
  #taken = 0;

  constructor(client: FeedClient) {
    this.#client = client;
    client.send({
      type: 'subscribe',
      channel: 'book',
      market: MARKET,
      level: 'l3',
      checksum: true,
      commitment: 'processed',
    });
  }

  take(): void {
    for (const message of this.#client.messages.slice(this.#taken)) {
      this.#taken += 1;
      if (!isBook(message)) continue;
      if ('revert' in message) this.reverts.push(Number(message.revert));
      const result = this.keeper.apply(message);
      if (result !== 'applied') this.results.push(result);
    }
  }
}

function isBook(message: FeedMessage): message is FeedMessage & (BookSnapshotMessage | BookDiffMessage) {
  return 'diff' in message || message.type === 'snapshot';
}

describe('books at processed', () => {
  let pipeline: Pipeline;
  let follower: Follower;
  const step = (slots = 1) => pipeline.cluster.rpc('localnet_step', { slots });
  const tip = async () => {
    const chain = await pipeline.cluster.rpc<TruthBlock[]>('localnet_chain', { from: await slot('processed') });
    return chain[0];
  };
  const slot = (commitment: string) => pipeline.cluster.rpc<number>('getSlot', [{ commitment }]);
  const stepUntil = async (what: string, isReached: (block: TruthBlock) => boolean): Promise<TruthBlock> => {
    for (let count = 0; count < SLOTS_MAX; count++) {
      await step();
      const block = await tip();
      if (block && isReached(block)) return block;
    }
    throw new Error(`no ${what} in ${SLOTS_MAX} slots`);
  };
  beforeAll(async () => {
    pipeline = await startPipeline({
      cluster: { seed: SEED, accounts: 40, profile: 'mainnet' },
      settings: { PROCESSED_BOOKS: 'on' },
      without: HISTORY_PROCESSES,
    });
    const rest = pipeline.url('orderbook');
    await eventually('books at processed', async () => {
      const [confirmed, processed] = await Promise.all(
        ['confirmed', 'processed'].map(async (commitment) => {
          const response = await fetch(`${rest}/l2?marketName=${MARKET}&commitment=${commitment}`);
          return ((await response.json()) as { slot: number }).slot;
        }),
      );
      return Number(processed) > Number(confirmed);
    });
    await pipeline.cluster.rpc('localnet_pause');
    follower = new Follower(await FeedClient.connect(pipeline.url('gateway')));
  });
  afterAll(() => pipeline?.stop());

  it('are those of the fork that the node follows, and then those of the fork that survives', async () => {
    const schedule = new Schedule(SEED, profileOf('mainnet'));
    const from = await slot('processed');
    let forks = from + 1;
    while (schedule.at(forks) !== 'branch') forks += 1;
    await step(forks - from - 1);
    const abandoned = await stepUntil('fork', ({ fork }) => fork === 'abandoned');
    expect((await expectProcessedBooksEqualNaiveRebuild(pipeline)).length).toBeGreaterThanOrEqual(4);
    await stepUntil('end of the fork', ({ fork }) => fork === 'winning');
    await expectProcessedBooksEqualNaiveRebuild(pipeline);
    await eventually('an undo of the fork', async () => {
      follower.take();
      return follower.reverts.includes(abandoned.slot);
    });
    expect(follower.results).toEqual([]);
    const rest = await fetch(`${pipeline.url('orderbook')}/l3?marketName=${MARKET}&commitment=processed`);
    const { bids, asks } = (await rest.json()) as Record<'bids' | 'asks', { maker: string; orderId: number }[]>;
    for (const [side, orders] of Object.entries({ bids, asks })) {
      const kept = follower.keeper.orders(side as 'bids' | 'asks').map(({ maker, orderId }) => [maker, orderId]);
      expect(kept, side).toEqual(orders.map(({ maker, orderId }) => [maker, orderId]));
    }
  });
});
