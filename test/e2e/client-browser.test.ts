// The client package in a browser: its bundle, made from the packed files as a stranger makes it, runs in headless Chromium.

import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { startOrderBook } from '../../api/orderbook/start.ts';
import { type BookEvent, createDecoder, FeedClient } from '../../client/index.ts';
import { Stage, trade, until } from '../support/api/stage.ts';
import { linesOf } from '../support/client/lines.ts';
import { browserBundle, type PackedProject, packedProject } from '../support/client/packed.ts';
import { ACCOUNT, AccountLedger } from '../support/feed/account-ledger.ts';
import { change, RandomBook } from '../support/feed/random-book.ts';
import { browserPath, startBrowser } from '../support/page/browser.ts';

const executablePath = browserPath();
const CHANGES = 60;
const BOOK_VECTORS = new URL('../../client/conformance/book.jsonl', import.meta.url);
const ACCOUNT_VECTORS = new URL('../../client/conformance/accounts.jsonl', import.meta.url);
const IDL = new URL('../../schemas/chain/idl/velocity.json', import.meta.url);
const ENTRY = `export { BookKeeper, createDecoder, FeedClient } from '@slotbook/client';
export { velocityIdl } from '@slotbook/client/idl';
`;

/** Observations of a follower: lines of a book, id of a fill, open orders of an account. By stream and version. */
type Seen = Record<string, string>;

/** The names of the bundle, in the page. */
interface InPage {
  readonly bundle: typeof import('../../client/index.ts') & { readonly velocityIdl: object };
  seen: Seen;
  client: FeedClient;
}

let project: PackedProject;
let browser: Browser;
let page: Page;
beforeAll(async () => {
  if (executablePath === undefined) return;
  project = await packedProject(inject('runFolder'));
  const entry = path.join(project.folder, 'browser.js');
  writeFileSync(entry, ENTRY);
  const { code } = await browserBundle(entry);
  browser = await startBrowser(executablePath);
  page = await browser.newPage();
  await page.addScriptTag({ content: code });
});
afterAll(async () => {
  await browser?.close();
  project?.remove();
});

describe.skipIf(executablePath === undefined)('the client in a browser', () => {
  it('gives the result of each published vector of books', async () => {
    const lines = readFileSync(BOOK_VECTORS, 'utf8').trim().split('\n');
    const wrong = await page.evaluate((texts) => {
      const { BookKeeper } = (globalThis as unknown as InPage).bundle;
      let keeper = new BookKeeper({ level: 'l2' });
      return texts.filter((text) => {
        const line = JSON.parse(text);
        if (line.keeper) keeper = new BookKeeper(line.keeper);
        return !line.keeper && keeper.apply(line.message) !== line.result;
      });
    }, lines);
    expect(wrong).toEqual([]);
    expect(lines.length).toBeGreaterThan(1000);
  });

  it('decodes accounts as it does in Node', async () => {
    const [first = ''] = readFileSync(ACCOUNT_VECTORS, 'utf8').split('\n');
    const { data } = JSON.parse(first) as { readonly data: string };
    const bytes = [...Buffer.from(data, 'base64')];
    const theirs = await page.evaluate((values) => {
      const { createDecoder, velocityIdl } = (globalThis as unknown as InPage).bundle;
      const user = createDecoder(velocityIdl).decode('User', Uint8Array.from(values));
      return JSON.stringify(user, (_, value) => (typeof value === 'bigint' ? `${value}` : value));
    }, bytes);
    const mine = createDecoder(JSON.parse(readFileSync(IDL, 'utf8')) as object).decode('User', Uint8Array.from(bytes));
    expect(theirs).toBe(JSON.stringify(mine, (_, value) => (typeof value === 'bigint' ? `${value}` : value)));
    expect(theirs.length).toBeGreaterThan(1000);
  });

  it('follows books, fills and an account as it does in Node, across a restart of the server', async () => {
    const stage = new Stage();
    await stage.markets();
    const book = new RandomBook(0);
    const ledger = new AccountLedger(stage.log);
    await stage.books(book.snapshot());
    const drawn = fc.sample(fc.array(change, { maxLength: 5 }), { numRuns: CHANGES, seed: 20_261_123 });
    const publish = async (from: number, to: number): Promise<void> => {
      for (let index = from; index < to; index += 1) {
        await stage.books(book.diff(drawn[index] ?? []));
        await stage.trades(trade(BigInt(index + 1)));
        await ledger.change(index % 5, index % 3 === 2 ? 'cancelled' : 'placed');
      }
    };
    let role = await startOrderBook(stage.context());
    const { port } = new URL(role.endpoints.orderbook ?? '');
    const url = `ws://127.0.0.1:${port}/ws`;
    const mine: Seen = {};
    const client = new FeedClient({ url });
    const note = ({ book }: BookEvent): void => {
      const lines = { bids: linesOf(book, 'bids'), asks: linesOf(book, 'asks') };
      mine[`${book.stream} ${book.position?.epoch}/${book.position?.seq}`] = JSON.stringify(lines);
    };
    const books = client.book({ market: 'SOL-PERP' });
    books.on('snapshot', note);
    books.on('change', note);
    client.numberedTrades({ market: '*' }).on('trade', ({ seq, trade: { fillRecordId } }) => {
      mine[`fills ${seq}`] = String(fillRecordId);
    });
    client.accountOrders({ account: ACCOUNT }).on('change', ({ slot, orders }) => {
      mine[`account ${slot}`] = orders.open.map(({ orderId }) => orderId).join();
    });
    await page.evaluate(
      ({ feed, account }) => {
        const here = globalThis as unknown as InPage;
        here.seen = {};
        here.client = new here.bundle.FeedClient({ url: feed });
        const note = ({ book }: BookEvent): void => {
          const text = ({ price, size, sources }: (typeof book.bids)[number]): string =>
            `${price} ${size} ${(['dlob', 'vamm'] as const)
              .flatMap((name) => (sources[name] === undefined ? [] : [`${name}=${sources[name]}`]))
              .join()}`;
          const lines = { bids: book.bids.map(text), asks: book.asks.map(text) };
          here.seen[`${book.stream} ${book.position?.epoch}/${book.position?.seq}`] = JSON.stringify(lines);
        };
        const books = here.client.book({ market: 'SOL-PERP' });
        books.on('snapshot', note);
        books.on('change', note);
        here.client.numberedTrades({ market: '*' }).on('trade', ({ seq, trade }) => {
          here.seen[`fills ${seq}`] = String(trade.fillRecordId);
        });
        here.client.accountOrders({ account }).on('change', ({ slot, orders }) => {
          here.seen[`account ${slot}`] = orders.open.map(({ orderId }) => orderId).join();
        });
      },
      { feed: url, account: ACCOUNT },
    );
    const theirs = (): Promise<Seen> => page.evaluate(() => ({ ...(globalThis as unknown as InPage).seen }));
    const bothHave = (count: number) => () =>
      Promise.all([mine, theirs()]).then((all) =>
        all.every((seen) => `fills ${count}` in seen && `account ${100 + count}` in seen),
      );
    const bothBegan = async (): Promise<boolean> =>
      [mine, await theirs()].every((seen) => Object.keys(seen).some((key) => key.startsWith('perp_0')));
    try {
      await until(bothBegan);
      await publish(0, CHANGES / 2);
      await until(bothHave(CHANGES / 2));
      await role.stop();
      role = await startOrderBook(stage.context({ orderbookPort: Number(port) }));
      await publish(CHANGES / 2, CHANGES);
      await until(bothHave(CHANGES));
      await until(() => books.book()?.position?.seq === CHANGES);
      const last = Object.keys(mine).findLast((key) => key.startsWith('perp_0')) ?? '';
      await until(async () => last in (await theirs()));
    } finally {
      client.close();
      await page.evaluate(() => (globalThis as unknown as InPage).client.close());
      await role.stop();
    }
    const other = await theirs();
    const shared = Object.keys(mine).filter((key) => key in other);
    expect(shared.filter((key) => mine[key] !== other[key])).toEqual([]);
    for (const kind of ['perp_0', 'fills', 'account']) {
      expect(shared.filter((key) => key.startsWith(kind)).length, kind).toBeGreaterThan(10);
    }
  });
});
