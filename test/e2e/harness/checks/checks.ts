// Checks of every end-to-end run, over either log.

import { expect } from 'vitest';
import { eventually } from '../../../support/processes/processes.ts';
import { FeedClient } from '../keeper/feed-client.ts';
import { byPrice, type NaiveBook, type NaiveOrder, naiveBooks } from '../naive/book.ts';
import {
  digestsOf,
  type Lines,
  slotOf,
  storedLines,
  storedRows,
  truthLines,
  withheldLines,
} from '../naive/history-truth.ts';
import type { Pipeline } from '../processes/pipeline.ts';

const SETTLE_MS = 90_000;
/** Data in flight when the cluster stops has arrived after this time. */
const IN_FLIGHT_MS = 60_000;
const LISTED_LEVELS = 100;

interface Book {
  readonly slot: number;
  readonly marketName: string;
  readonly oracleData?: unknown;
  readonly mmOracleData?: unknown;
  readonly bids: (NaiveOrder & Record<string, unknown>)[];
  readonly asks: (NaiveOrder & Record<string, unknown>)[];
}

async function get<T>(url: string): Promise<T> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} answers ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}

/** Comparisons of the shadow check: the read that finds a difference, the one that confirms it, and the one after the repair. */
const REPAIR_COMPARISONS = 3;
const REPAIR_ATTEMPTS = 3;

/**
 * Compares the books of the stopped cluster with the naive rebuild. The faults of `hostile` leave updates out of notifications
 * and reads, which only the shadow check finds. It needs a chain that moves, so there the cluster goes on between attempts.
 */
export async function expectBooksEqualNaiveRebuild(pipeline: Pipeline): Promise<NaiveBook[]> {
  const { profile } = await pipeline.cluster.rpc<{ profile: string }>('localnet_status');
  for (let attempt = 1; profile === 'hostile' && attempt < REPAIR_ATTEMPTS; attempt += 1) {
    try {
      return await expectStoppedBooks(pipeline);
    } catch {
      await pipeline.cluster.rpc('localnet_resume');
      await accountsCompared(pipeline, REPAIR_COMPARISONS);
    }
  }
  return expectStoppedBooks(pipeline);
}

/** Waits until the shadow check has compared the accounts of every market so many times more. */
async function accountsCompared(pipeline: Pipeline, times: number): Promise<void> {
  const comparisons = async () => {
    const url = `${pipeline.url('orderbook')}/quality`;
    const { markets } = await get<{ markets: { checks: { accounts: { comparisons: number } } }[] }>(url);
    return markets.map(({ checks }) => checks.accounts.comparisons);
  };
  const before = await comparisons();
  await eventually('comparisons of the accounts', async () =>
    (await comparisons()).every((count, at) => count >= (before[at] ?? 0) + times),
  );
}

/**
 * Stops the cluster and compares every market with the naive rebuild once its book has reached the same slot. The last
 * change of that slot may arrive later, so only a difference that stays counts.
 */
async function expectStoppedBooks(pipeline: Pipeline): Promise<NaiveBook[]> {
  await pipeline.cluster.rpc('localnet_pause');
  const { slot, books } = await naiveBooks(pipeline.cluster.faultlessUrl);
  const rest = pipeline.url('orderbook');
  for (const naive of books) {
    const market = `marketType=${naive.marketType}&marketIndex=${naive.marketIndex}`;
    await eventually(
      `book of ${naive.symbol} at slot ${slot}`,
      async () => (await get<Book>(`${rest}/l2?${market}`)).slot >= slot,
      SETTLE_MS,
    );
    const compare = async () => {
      expectLevels(await get<Book>(`${rest}/l2?${market}`), naive, slot);
      if (naive.marketType === 'perp') expectOrders(await get<Book>(`${rest}/l3?${market}`), naive);
      return true;
    };
    await eventually(`${naive.symbol} as rebuilt`, compare, IN_FLIGHT_MS).catch(compare);
  }
  return books;
}

/** Compares the perp books at processed with the accounts of the fork that the node of a stopped cluster follows. */
export async function expectProcessedBooksEqualNaiveRebuild(pipeline: Pipeline): Promise<NaiveBook[]> {
  const { books } = await naiveBooks(pipeline.cluster.faultlessUrl, 'processed');
  const perps = books.filter(({ marketType }) => marketType === 'perp');
  for (const naive of perps) {
    const query = `marketType=perp&marketIndex=${naive.marketIndex}&commitment=processed`;
    const compare = async () => {
      const l2 = await get<Book>(`${pipeline.url('orderbook')}/l2?${query}`);
      // A book without a change has the label of the slot before.
      expectLevels(l2, naive, l2.slot);
      expectOrders(await get<Book>(`${pipeline.url('orderbook')}/l3?${query}`), naive);
      return true;
    };
    await eventually(`${naive.symbol} at processed as rebuilt`, compare, IN_FLIGHT_MS).catch(compare);
  }
  return perps;
}

function expectLevels(l2: Book, naive: NaiveBook, slot: number): void {
  expect(l2.slot, `${naive.symbol} slot`).toBe(slot);
  expect(l2.marketName, 'name').toBe(naive.symbol.toUpperCase());
  if (naive.oracleData) expect(l2.oracleData, `${naive.symbol} oracle`).toEqual(naive.oracleData);
  if (naive.mmOracleData) expect(l2.mmOracleData, `${naive.symbol} oracle in force`).toMatchObject(naive.mmOracleData);
  for (const side of ['bids', 'asks'] as const) {
    expect(l2[side], `${naive.symbol} ${side} of /l2`).toEqual(naive.l2[side].slice(0, LISTED_LEVELS));
  }
}

function expectOrders(l3: Book, naive: NaiveBook): void {
  for (const side of ['bids', 'asks'] as const) {
    const better = (a: NaiveOrder, b: NaiveOrder) =>
      side === 'bids' ? BigInt(a.price) >= BigInt(b.price) : BigInt(a.price) <= BigInt(b.price);
    l3[side].slice(1).forEach((order, index) => {
      const before = l3[side][index];
      if (before) expect(better(before, order), `${naive.symbol} ${side} best first`).toBe(true);
    });
    expect([...l3[side]].sort(byPrice(side)), `${naive.symbol} ${side} of /l3`).toEqual(
      [...naive.l3[side]].sort(byPrice(side)),
    );
    const onBook = new Set(naive.clobQueue[side]);
    const queue = l3[side].map(({ maker, orderId }) => `${maker}:${orderId}`).filter((id) => onBook.has(id));
    expect(queue, `${naive.symbol} ${side} queue`).toEqual(naive.clobQueue[side].filter((id) => queue.includes(id)));
  }
}

/**
 * Waits until ClickHouse stores every event of the stopped cluster exactly once. A transaction that the node never
 * returns with logs may be missing when nobody notified it either: its slot must then lie in an open gap.
 */
export async function expectHistoryEqualsTruth(
  pipeline: Pick<Pipeline, 'cluster' | 'url' | 'lastErrors'>,
  ignoredTable = '',
): Promise<number> {
  await pipeline.cluster.rpc('localnet_pause');
  const truth = await truthLines(pipeline.cluster);
  const clickhouse = pipeline.url('clickhouse');
  const storedNow = async () => withoutTable(await storedLines(clickhouse), ignoredTable);
  const total = [...truth.values()].flat().length;
  const withheldOf = (stored: () => Promise<Lines>) => withheldLines(pipeline.cluster, truth, stored);
  // Waits for the number of rows only; the assertion compares the rows.
  const isStored = async () => {
    const rows = await storedRows(clickhouse);
    return rows >= total || rows >= total - (await withheldOf(storedNow)).length;
  };
  await eventually('all events stored', isStored, SETTLE_MS).catch(() => {});
  const stored = await storedNow();
  const withheld = await withheldOf(async () => stored);
  expect(digestsOf(stored), pipeline.lastErrors()).toEqual(digestsOf(withoutLines(truth, withheld)));
  if (withheld.length > 0) await expectInOpenGaps(pipeline, new Set(withheld.map(slotOf)));
  return total - withheld.length;
}

function withoutTable(lines: Lines, table: string): Lines {
  return new Map([...lines].filter(([name]) => name !== table));
}

function withoutLines(lines: Lines, left: readonly string[]): Lines {
  const isLeft = new Set(left);
  const others = [...lines].map(([table, rows]) => [table, rows.filter((row) => !isLeft.has(row))] as const);
  return new Map(others.filter(([, rows]) => rows.length > 0));
}

/** The history service says of each of these slots that it may lack transactions. */
async function expectInOpenGaps(pipeline: Pick<Pipeline, 'url'>, slots: ReadonlySet<number>): Promise<void> {
  const { gaps } = await get<{
    gaps: readonly { readonly fromSlot: number; readonly toSlot: number; readonly filled: boolean }[];
  }>(`${pipeline.url('history')}/freshness`);
  const open = gaps.filter(({ filled }) => !filled);
  const unnamed = [...slots].filter((slot) => !open.some(({ fromSlot, toSlot }) => fromSlot <= slot && slot <= toSlot));
  expect(unnamed, 'slots of withheld transactions without an open gap').toEqual([]);
}

/** A client gets acknowledgement, snapshot, updates with rising slots, trades and heartbeats. */
export async function expectLiveFeed(url: string, symbol: string): Promise<void> {
  const client = await FeedClient.connect(url);
  try {
    client.send({ type: 'subscribe', channel: 'orderbook', market: symbol, marketType: 'perp', grouping: 1 });
    client.send({ type: 'subscribe', channel: 'trades', market: symbol, marketType: 'perp' });
    const data = (channel: string) => client.messages.filter((message) => message.channel?.startsWith(channel));
    await eventually('updates', () => data('orderbook_').length >= 4);
    await client.waitFor('a trade', ({ channel }) => channel?.startsWith('trades_') === true);
    await client.waitFor('a heartbeat', ({ channel }) => channel === 'heartbeat');
    expect(client.messages[0]?.message).toBe(
      `Subscribe received for channel: orderbook, market: ${symbol}, marketType: perp`,
    );
    // Just after a start a market may be listed before its first book: then the second acknowledgement comes first.
    expect(data('orderbook_')[0]?.channel).toMatch(/^orderbook_perp_\d+_grouped_1$/);
    const slots = data('orderbook_').map((message) => Number(message.data?.slot));
    expect(slots).toEqual([...slots].sort((a, b) => a - b));
    expect(new Set(slots).size).toBeGreaterThan(1);
    const trade = data('trades_')[0]?.data;
    expect(trade).toMatchObject({ action: 'fill', marketType: 'perp' });
    expect(Number(trade?.baseAssetAmountFilled)).toBeGreaterThan(0);
  } finally {
    client.close();
  }
}
