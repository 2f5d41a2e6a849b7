// Sound data over real processes: comparisons with the chain while it is busy, and books of earlier slots. Also the repair when
// an update was never sent or a book lost an order.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type EventLog, openEventLog, readConfig, readToEnd, silentLogger } from '../../platform/index.ts';
import { BookView } from '../../processors/book/index.ts';
import {
  type BookViewDiff,
  type BookViewSnapshot,
  decodeMessage,
  encodeMessage,
  loadDefinition,
  marketKey,
  partitionOf,
  TOPICS,
} from '../../schemas/index.ts';
import { blankAccount, setField } from '../support/ingest/bytes.ts';
import { times } from '../support/platform/times.ts';
import { eventually } from '../support/processes/processes.ts';
import { expectBooksEqualNaiveRebuild } from './harness/checks/checks.ts';
import { FeedClient } from './harness/keeper/feed-client.ts';
import { HISTORY_PROCESSES, type Pipeline, startPipeline } from './harness/processes/pipeline.ts';

/** Slots in 400 ms. */
const SPEED = times(1, 4);
/** Slots asked for per market. */
const SAMPLES = 12;
const CHECK_MS = 1_000;

const levelText = ({ price, size }: { price: string; size: string }) => `${price} ${size}`;
const orderText = ({ price, size, orderId }: { price: string; size: string; orderId: number }) =>
  `${price} ${size} ${orderId}`;

interface Market {
  readonly marketName: string;
  readonly marketType: 'perp' | 'spot';
  readonly marketIndex: number;
  readonly epoch: number | null;
  readonly slot: number | null;
  readonly sources: Readonly<
    Record<string, { readonly slot: number | null; readonly msSinceLastEvent: number | null }>
  >;
  readonly checks: Readonly<
    Record<
      'accounts' | 'book' | 'view',
      { comparisons: number; differences: number; lastSlot: number; lastResult: string }
    >
  >;
}

describe('shadow check and books of earlier slots', () => {
  let pipeline: Pipeline;
  beforeAll(async () => {
    pipeline = await startPipeline({
      cluster: { seed: 5, speed: SPEED },
      settings: { SHADOW_CHECK_MS: CHECK_MS },
      without: HISTORY_PROCESSES,
      together: ['processors', 'orderbook'],
      // These make accounts differ by themselves.
      withoutFaults: ['loseNotification', 'emptyAccounts', 'cutAccounts'],
    });
  });
  afterAll(() => pipeline?.stop());

  const rest = () => pipeline.url('orderbook');
  const text = async (path: string) => (await fetch(rest() + path)).text();
  const quality = async () => (JSON.parse(await text('/quality')) as { markets: Market[] }).markets;
  const sum = (markets: readonly Market[], kind: 'accounts' | 'book' | 'view', what: 'comparisons' | 'differences') =>
    markets.reduce((total, { checks }) => total + checks[kind][what], 0);
  const comparedAgain = async (times: number) => {
    const before = await quality();
    return eventually(`${times} more comparisons of every market`, async () => {
      const after = await quality();
      const more = (kind: 'accounts' | 'book') =>
        after.every(
          ({ checks }, at) => checks[kind].comparisons >= (before[at]?.checks[kind].comparisons ?? 0) + times,
        );
      return after.length > 0 && more('accounts') && more('book') ? after : undefined;
    });
  };
  const withLog = async <T>(work: (log: EventLog) => Promise<T>): Promise<T> => {
    const log = await openEventLog(readConfig({ SLOTBOOK_DATA_DIR: pipeline.dataDir }), silentLogger());
    try {
      return await work(log);
    } finally {
      await log.close();
    }
  };
  /** Every message of a market's published book, from the oldest kept. */
  const published = (key: string) =>
    withLog(async (log) => {
      const partition = partitionOf(TOPICS.bookViews, key);
      const messages: (BookViewDiff | BookViewSnapshot)[] = [];
      await readToEnd({ log, topic: TOPICS.bookViews, partition }, (record) => {
        const message = record.key === key ? decodeMessage(record.value) : null;
        if (message?.name === 'BookViewDiff' || message?.name === 'BookViewSnapshot') messages.push(message.value);
      });
      return messages;
    });
  const epochsInLog = async (key: string) => new Set((await published(key)).map(({ epoch }) => epoch)).size;
  /** The last state that a reader of every change saw at some of the slots; the newest may still change and is left out. */
  const recordedBooks = async (key: string) => {
    const messages = await published(key);
    const slots = [...new Set(messages.map(({ slot }) => slot))];
    const step = Math.ceil(slots.length / SAMPLES);
    const wanted = new Set(slots.slice(0, -1).filter((_, at) => at % step === 0));
    const view = new BookView();
    const books = new Map<number, { l2: string[][]; l3: string[][] }>();
    for (const [at, message] of messages.entries()) {
      view.apply(message);
      if (!wanted.has(message.slot) || messages[at + 1]?.slot === message.slot) continue;
      const [l2, l3] = [view.l2(), view.l3()];
      books.set(message.slot, {
        l2: [l2.bids, l2.asks].map((side) => side.map(({ price, dlob, vamm }) => `${price} ${dlob + vamm}`)),
        l3: [l3.bids, l3.asks].map((side) => side.map(({ price, size, orderId }) => `${price} ${size} ${orderId}`)),
      });
    }
    return books;
  };
  /** A user with one bid of SOL-PERP that the exchange knows nothing of, and so never writes again. */
  const injectUser = async (pubkey: string, price: number) => {
    const program = loadDefinition('velocity').programs[0];
    const account = program?.accounts.get('User');
    if (!program || !account) throw new Error('no User account');
    const data = blankAccount(account);
    const order = { status: 'open', order_type: 'limit', market_type: 'perp', order_id: 1, price: BigInt(price) };
    for (const [name, value] of Object.entries({ ...order, base_asset_amount: 1_000_000_000n })) {
      setField(data, account.layout, `orders.0.${name}`, value);
    }
    await pipeline.cluster.rpc('localnet_injectAccount', [
      { pubkey, owner: program.programId, lamports: 1, data: data.toString('base64') },
    ]);
  };

  it('compares every book with the chain while it is busy, finds no difference, and says how fresh each source is', async () => {
    const markets = await comparedAgain(2);
    expect(sum(markets, 'accounts', 'differences') + sum(markets, 'book', 'differences')).toBe(0);
    const sol = markets.find(({ marketName }) => marketName === 'SOL-PERP');
    for (const source of ['user', 'clob', 'market', 'oracle', 'trades']) {
      expect(sol?.sources[source]?.slot, source).toBeGreaterThan(0);
      expect(sol?.sources[source]?.msSinceLastEvent, source).toBeLessThan(20_000);
    }
    expect(sol?.checks.book.lastResult).toBe('equal');
  });

  it('answers for an earlier slot with the last book that was published at it', async () => {
    const markets = await comparedAgain(1);
    let answered = 0;
    for (const { marketType, marketIndex } of markets) {
      for (const [slot, recorded] of await recordedBooks(marketKey({ marketType, marketIndex }))) {
        const url = `marketType=${marketType}&marketIndex=${marketIndex}&slot=${slot}`;
        const [l2, l3] = [JSON.parse(await text(`/l2?${url}`)), JSON.parse(await text(`/l3?${url}`))];
        expect([l2.slot, l2.bids.map(levelText), l2.asks.map(levelText)], url).toEqual([slot, ...recorded.l2]);
        expect([l3.slot, l3.bids.map(orderText), l3.asks.map(orderText)], url).toEqual([slot, ...recorded.l3]);
        answered += 1;
      }
    }
    expect(answered).toBeGreaterThan(40);
    const early = await fetch(`${rest()}/l2?marketName=SOL-PERP&slot=1`);
    const refusal = expect.stringMatching(
      /^Not found: no book of this slot is kept; the earliest slot available is \d+$/,
    );
    expect([early.status, await early.text()]).toEqual([404, refusal]);
  });

  it('finds an order whose update was never sent, puts it right, and begins one new epoch', async () => {
    const maker = 'Stake11111111111111111111111111111111111111';
    const prices = async () => {
      const { bids } = JSON.parse(await text('/l3?marketName=SOL-PERP')) as {
        bids: { maker: string; price: string }[];
      };
      return bids.filter((bid) => bid.maker === maker).map(({ price }) => Number(price));
    };
    await injectUser(maker, 90_000_000);
    await eventually('the order is in the book', async () => (await prices())[0] === 90_000_000);
    await comparedAgain(1);
    const before = await quality();
    await pipeline.cluster.rpc('localnet_fault', [
      { kind: 'loseNotification', methods: ['programNotification'], keys: [maker] },
    ]);
    await injectUser(maker, 91_000_000);
    await eventually('the order is put right', async () => (await prices())[0] === 91_000_000);
    const after = await comparedAgain(2);
    for (const [at, { epoch, checks, ...ref }] of after.entries()) {
      const differed = checks.accounts.differences - (before[at]?.checks.accounts.differences ?? 0);
      expect(differed, ref.marketName).toBeLessThanOrEqual(1);
      if (ref.marketName === 'SOL-PERP') expect(differed).toBe(1);
      expect(epoch !== before[at]?.epoch, `new epoch of ${ref.marketName}`).toBe(differed === 1);
      expect(await epochsInLog(marketKey(ref)), ref.marketName).toBe(1 + differed);
      expect([checks.accounts.lastResult, checks.book.lastResult]).toEqual(['equal', 'equal']);
    }
    expect(sum(after, 'book', 'differences')).toBe(0);
    expect(await prices()).toEqual([91_000_000]);
    await pipeline.cluster.rpc('localnet_clearFaults', [{ kind: 'loseNotification' }]);
  });

  it('keeps the books right when an ingest that stood by takes over', async () => {
    const before = await quality();
    const older = pipeline.running.get('ingest');
    await pipeline.restart('ingest');
    expect(await older?.stop()).toBe(0);
    const after = await comparedAgain(2);
    for (const kind of ['accounts', 'book'] as const) {
      expect(sum(after, kind, 'differences'), kind).toBe(sum(before, kind, 'differences'));
    }
    expect(after.map(({ epoch }) => epoch)).toEqual(before.map(({ epoch }) => epoch));
  });

  it('finds a book that lost an order by itself, puts it right, and goes on with its readers', async () => {
    const client = await FeedClient.connect(pipeline.url('gateway'));
    client.send({ type: 'subscribe', channel: 'orderbook', market: 'SOL-PERP', marketType: 'perp' });
    await comparedAgain(1);
    const [before] = await quality();
    const key = 'perp-0';
    const epochs = await epochsInLog(key);
    await withLog(async (log) => {
      const partition = partitionOf(TOPICS.book, key);
      const { next } = await log.bounds(TOPICS.book, partition);
      const records = await log.read(TOPICS.book, partition, next > 3_000n ? next - 3_000n : 0n, 3_000);
      const placed = records
        .filter((record) => record.key === key)
        .map(({ value }) => decodeMessage(value))
        .findLast((message) => message.name === 'BookOrders' && message.value.upserts.length > 0);
      if (placed?.name !== 'BookOrders') throw new Error('no order was placed');
      const removals = placed.value.upserts.map(({ maker, orderId }) => ({ maker, orderId }));
      const ghost = placed.value.upserts.slice(0, 1).map((order) => ({ ...order, orderId: 4_000_000_000 }));
      const value = encodeMessage('BookOrders', { ...placed.value, upserts: ghost, removals });
      await log.append(TOPICS.book, [{ key, value }]);
    });
    await eventually('the difference found', async () => ((await quality())[0]?.checks.book.differences ?? 0) > 0);
    const from = client.messages.length;
    const [after] = await comparedAgain(2);
    expect(after?.epoch).toBeGreaterThan(before?.epoch ?? 0);
    expect(await epochsInLog(key)).toBe(epochs + 1);
    expect(after?.checks.book.lastResult).toBe('equal');
    await eventually(
      'more books for the reader',
      () => client.messages.slice(from).filter(({ data }) => data !== undefined).length > 10,
    );
    client.close();
    // Changes and snapshots gave the same book all along, repairs included.
    const markets = await quality();
    expect(sum(markets, 'view', 'comparisons')).toBeGreaterThan(0);
    expect(sum(markets, 'view', 'differences')).toBe(0);
    await expectBooksEqualNaiveRebuild(pipeline);
  });
});
