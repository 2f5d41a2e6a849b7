// Books and trades at commitment processed on a chain with forks: they follow the fork that the node follows. When it is abandoned,
// books have the accounts of the surviving fork again, by changes that name the abandoned slot, and its trades are withdrawn.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BookKeeper } from '../../client/index.ts';
import { profileOf } from '../../localnet/chain/profile.ts';
import { Schedule } from '../../localnet/chain/schedule.ts';
import type { TruthEvent } from '../../localnet/ledger-types.ts';
import type { TruthBlock } from '../../localnet/rpc/truth-controls.ts';
import type { BookDiffMessage, BookSnapshotMessage } from '../../schemas/portable.ts';
import { eventually } from '../support/processes/processes.ts';
import { expectProcessedBooksEqualNaiveRebuild } from './harness/checks/checks.ts';
import { FeedClient, type FeedMessage } from './harness/keeper/feed-client.ts';
import { HISTORY_PROCESSES, type Pipeline, startPipeline } from './harness/processes/pipeline.ts';

const MARKET = 'SOL-PERP';
const SEED = 5;
/** The profile `calm` has no forks. */
const PROFILE = process.env.CLUSTER_PROFILE === 'hostile' ? 'hostile' : 'mainnet';
/** Longer than a fork, with skipped slots: a short one of `mainnet`, a long one of `hostile`. */
const SLOTS_MAX = PROFILE === 'hostile' ? 60 : 20;
/** Until the transactions of the surviving fork are confirmed. */
const SLOTS_AFTER = 8;

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

interface SentFill {
  readonly txSig: string;
  readonly slot: number;
  readonly fillRecordId: number;
  readonly marketIndex: number;
}
interface SentTrade {
  readonly trade?: number;
  readonly withdraw?: number;
  readonly commitment?: string;
  readonly seq: number;
  readonly tradeSeq: number;
  readonly data?: SentFill;
}

/** The trades of one connection: numbered at both commitments for every market, and one market's of the compatible channel. */
class Trades {
  readonly #client: FeedClient;

  constructor(client: FeedClient) {
    this.#client = client;
    for (const commitment of ['processed', 'confirmed'])
      client.send({ type: 'subscribe', channel: 'trades.v2', market: '*', marketType: 'perp', commitment });
    client.send({ type: 'subscribe', channel: 'trades', market: MARKET, marketType: 'perp' });
  }

  get hasBegun(): boolean {
    const answers = this.#client.messages.filter(
      ({ channel, type }) => channel === 'trades.v2' && type === 'subscribed',
    );
    return answers.length === 2 && this.#client.messages.some(({ message }) => message?.includes('trades') === true);
  }

  get confirmed(): SentFill[] {
    return this.#sent.flatMap(({ data, commitment }) => (data && commitment === undefined ? [data] : []));
  }

  get compatible(): SentFill[] {
    const fills = this.#client.messages.filter(({ channel }) => channel === 'trades_perp_0');
    return fills.flatMap(({ data }) => (data ? [data as unknown as SentFill] : []));
  }

  get withdrawn(): SentFill[] {
    const fills = this.#processed;
    return [...fills.values()].flatMap(({ withdraw, tradeSeq }) =>
      withdraw === undefined ? [] : (fills.get(`${withdraw}:${tradeSeq}`)?.data ?? []),
    );
  }

  /** Published and not withdrawn. */
  get standing(): SentFill[] {
    const withdrawn = new Set(this.withdrawn);
    return [...this.#processed.values()].flatMap(({ data }) => (data && !withdrawn.has(data) ? [data] : []));
  }

  /** By stream and number. */
  get #processed(): Map<string, SentTrade> {
    const sent = this.#sent.filter(({ commitment }) => commitment === 'processed');
    return new Map(sent.map((message) => [`${message.trade ?? message.withdraw}:${message.seq}`, message]));
  }

  get #sent(): SentTrade[] {
    return this.#client.messages.filter(
      (message) => 'trade' in message || 'withdraw' in message,
    ) as unknown as SentTrade[];
  }
}

function isPerpFill({ name, data }: TruthEvent): boolean {
  return name === 'OrderActionRecord' && data.action === 'fill' && data.market_type === 'perp';
}

function fillOf({ signature: txSig, slot, data }: TruthEvent): SentFill {
  return { txSig, slot, fillRecordId: Number(data.fill_record_id), marketIndex: Number(data.market_index) };
}

function namesOf(fills: readonly SentFill[]): string[] {
  return fills
    .map(({ txSig, slot, marketIndex, fillRecordId }) => [slot, txSig, marketIndex, fillRecordId].join(':'))
    .sort();
}

/** Fills of slots after `after`, up to `until`, by name. */
function fillsBetween(fills: readonly SentFill[], after: number, until: number): string[] {
  return namesOf(fills.filter(({ slot }) => slot > after && slot <= until));
}

function isBook(message: FeedMessage): message is FeedMessage & (BookSnapshotMessage | BookDiffMessage) {
  return 'diff' in message || message.type === 'snapshot';
}

describe('books and trades at processed', () => {
  let pipeline: Pipeline;
  let trades: Trades;
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
  /** Fills on perp markets that logs of abandoned blocks show, of slots after this one. */
  const abandonedFills = async (after: number): Promise<SentFill[]> => {
    const [events, blocks] = await Promise.all([
      pipeline.cluster.rpc<TruthEvent[]>('localnet_abandonedEvents'),
      pipeline.cluster.rpc<TruthBlock[]>('localnet_chain', { from: after + 1 }),
    ]);
    const isLogged = (event: TruthEvent): boolean => {
      const block = blocks.find(({ slot, fork }) => slot === event.slot && fork === 'abandoned');
      const transaction = block?.transactions.find(({ signature }) => signature === event.signature);
      return transaction !== undefined && !transaction.lostRecords.includes(event.index);
    };
    return events.filter(isPerpFill).filter(isLogged).map(fillOf);
  };
  /** Steps over forks until one with fills has ended. */
  const forkWithFills = async (after: number): Promise<void> => {
    for (let count = 0; count < SLOTS_MAX && (await abandonedFills(after)).length === 0; count++)
      await step(SLOTS_AFTER);
  };
  beforeAll(async () => {
    pipeline = await startPipeline({
      cluster: { seed: SEED, accounts: 40, profile: PROFILE },
      // A paused cluster has no slots, which must not end the stream at processed.
      settings: { PROCESSED_BOOKS: 'on', SLOT_STALL_MS: '600000' },
      without: HISTORY_PROCESSES,
      together: ['ingest', 'processors', 'orderbook'],
      // No news follows a lost one while the cluster is paused, and no shadow check repairs a first read that is cut.
      withoutFaults: ['loseNotification', 'reorderNotification', 'silentSocket', 'emptyAccounts', 'cutAccounts'],
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
    trades = new Trades(await FeedClient.connect(pipeline.url('gateway')));
    await eventually('trades at both commitments', () => trades.hasBegun);
  });
  afterAll(() => pipeline?.stop());

  it('are those of the fork that the node follows, and then those of the fork that survives', async () => {
    const schedule = new Schedule(SEED, profileOf(PROFILE));
    const from = await slot('processed');
    let forks = from + 1;
    while (schedule.at(forks) !== 'branch') forks += 1;
    await step(forks - from - 1);
    const abandoned = await stepUntil('fork', ({ fork }) => fork === 'abandoned');
    expect((await expectProcessedBooksEqualNaiveRebuild(pipeline)).length).toBeGreaterThanOrEqual(4);
    const end = await stepUntil('end of the fork', ({ fork }) => fork === 'winning');
    // Of the other fork the node sent this block alone: those before it show once they are confirmed.
    if (end.parentSlot > abandoned.slot) await step(SLOTS_AFTER);
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
    await forkWithFills(from);
    await step(SLOTS_AFTER);
    await eventually('the withdrawn trades of the fork', async () => {
      const fills = namesOf(await abandonedFills(from));
      expect(fills.length).toBeGreaterThan(0);
      expect(namesOf(trades.withdrawn)).toEqual(fills);
      return true;
    });
    const confirmed = await slot('confirmed');
    await eventually('the confirmed trades at processed', () => {
      const fills = fillsBetween(trades.confirmed, from, confirmed);
      expect(fills.length).toBeGreaterThan(0);
      expect(fillsBetween(trades.standing, from, confirmed)).toEqual(fills);
      return true;
    });
    const ofMarket = trades.confirmed.filter(({ marketIndex }) => marketIndex === 0);
    expect(fillsBetween(trades.compatible, from, confirmed)).toEqual(fillsBetween(ofMarket, from, confirmed));
  });
});
