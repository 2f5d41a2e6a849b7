// Indicative quotes over real processes: a maker on one gateway, clients on another, books of a busy chain under both.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { QuoteMaker, quoteOf } from '../../../support/api/quote-maker.ts';
import { eventually, type Running } from '../../../support/processes/processes.ts';
import { FeedClient, type FeedMessage } from '../keeper/feed-client.ts';
import type { OrderBookRun } from './run.ts';

const PLAIN = 'orderbook_perp_0_grouped_1';
const INDICATIVE = `${PLAIN}_indicative`;
const QUOTE_EVERY_MS = 500;
const WATCHED_BOOKS = 20;
const FIRM_LEVELS = 15;
const FLOATING_BID = '12345000000';
const BOLD_BID = '54321000000';

interface Level {
  readonly price: string;
  readonly size: string;
  readonly sources: Readonly<Record<string, string>>;
}
interface Book {
  readonly slot: number;
  readonly ts: number;
  readonly bids: readonly Level[];
  readonly asks: readonly Level[];
}

const sum = (sizes: readonly string[]) => sizes.reduce((total, size) => total + BigInt(size), 0n);
const indicative = ({ bids, asks }: Book) =>
  [...bids, ...asks].filter(({ sources }) => sources.indicative !== undefined);

/** The book without indicative sizes; levels that held nothing else are gone. */
function firm(levels: readonly Level[]): [string, bigint][] {
  return levels
    .map(({ price, size, sources }): [string, bigint] => [price, BigInt(size) - BigInt(sources.indicative ?? 0)])
    .filter(([, size]) => size > 0n);
}

const isJoined = (level: Level | undefined) => BigInt(level?.sources.indicative ?? 0) >= BigInt(BOLD_BID);

/** The best firm levels of both sides as text; quotes can push the ones beyond out of a grouped book. */
function firmText({ bids, asks }: Book): string {
  return [firm(bids), firm(asks)].map((levels) => levels.slice(0, FIRM_LEVELS).join(' ')).join(' | ');
}

function expectSound({ bids, asks }: Book): void {
  for (const [levels, sign] of [
    [bids, -1n],
    [asks, 1n],
  ] as const) {
    for (const [at, { price, size, sources }] of levels.entries()) {
      expect(BigInt(size)).toBe(sum(Object.values(sources)));
      const before = levels[at - 1];
      if (before) expect((BigInt(price) - BigInt(before.price)) * sign).toBeGreaterThan(0n);
    }
    // The touch is firm: an indicative quote may join it, never improve it.
    const [best] = levels;
    if (best) expect(Object.keys(best.sources).some((source) => source !== 'indicative')).toBe(true);
  }
}

export function describeQuotes(run: () => OrderBookRun): void {
  describe('indicative quotes', () => quoteTests(run));
}

function quoteTests(run: () => OrderBookRun): void {
  let first: Running;
  let second: Running;
  let maker: QuoteMaker;

  beforeAll(async () => {
    first = await run().openServer();
    second = run().server;
  });
  afterAll(async () => {
    maker?.socket.terminate();
    await first?.stop();
  });

  const books = (client: FeedClient, channel: string): Book[] =>
    client.messages
      .filter((message: FeedMessage) => message.channel === channel)
      .map(({ data }) => data as unknown as Book);
  const l2 = async (query: string): Promise<Book> =>
    (await (await fetch(`${second.endpoints.orderbook}/l2?marketName=SOL-PERP&${query}`)).json()) as Book;

  it('sent to one gateway join the indicative books of another, and only those, without touching the firm sizes', async () => {
    maker = await QuoteMaker.authenticated(first.endpoints.quotes ?? '');
    const client = await FeedClient.connect(second.endpoints.gateway ?? '');
    for (const channel of ['orderbook', 'orderbook_indicative']) {
      client.send({ type: 'subscribe', channel, market: 'SOL-PERP', marketType: 'perp', grouping: 1 });
    }
    // One floats a little behind the oracle; one bids far through it and must be held at the firm touch.
    const quote = () =>
      maker.quote(
        quoteOf(['-1000000', FLOATING_BID], ['1000000', '7000000000'], true),
        quoteOf(['900000000000', BOLD_BID], ['1', BOLD_BID]),
      );
    quote();
    const timer = setInterval(quote, QUOTE_EVERY_MS);
    await eventually('quotes in the feed', () => books(client, INDICATIVE).some((book) => indicative(book).length > 0));
    const from = books(client, INDICATIVE).length;
    // Held at the touch of both sides. On a machine that stalls for a second quotes lapse and come back.
    const held = () =>
      books(client, INDICATIVE)
        .slice(from)
        .filter(({ bids, asks }) => [bids[0], asks[0]].every(isJoined));
    await eventually('many books that hold both quotes', () => held().length >= WATCHED_BOOKS);
    clearInterval(timer);

    const seen = books(client, INDICATIVE).slice(from);
    for (const [at, book] of seen.entries()) {
      expectSound(book);
      const before = seen[at - 1];
      if (before) expect(book.slot >= before.slot && book.ts >= before.ts).toBe(true);
    }
    expect(books(client, PLAIN).flatMap(indicative)).toEqual([]);
    // But for the quotes, indicative books are plain books.
    const plain = new Set(books(client, PLAIN).map(firmText));
    const shared = seen.filter((book) => plain.has(firmText(book)));
    expect(shared.length).toBeGreaterThan(seen.length / 2);
    client.close();
  });

  it('are answered by REST on request', async () => {
    const own = await eventually('the quote', async () => {
      maker.quote(quoteOf(['-1000000', FLOATING_BID], null, true));
      const book = await l2('includeIndicative=true');
      return indicative(book).length === 1 && book;
    });
    expectSound(own);
    expect(indicative(own)[0]?.sources.indicative).toBe(FLOATING_BID);
    expect(indicative(await l2('includeIndicative=false'))).toEqual([]);
  });

  it('lapse when their gateway dies', async () => {
    await eventually('the quote', async () => {
      maker.quote(quoteOf(['-1000000', FLOATING_BID], null, true));
      return indicative(await l2('includeIndicative=true')).length > 0;
    });
    await first.kill9();
    await eventually('its end', async () => indicative(await l2('includeIndicative=true')).length === 0);
    expectSound(await l2('includeIndicative=true'));
  });
}
