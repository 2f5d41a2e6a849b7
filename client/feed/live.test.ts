// FeedClient on a running server: books with changes, whole books, and trades of markets whose indexes it has to learn.

import { afterEach, describe, expect, it } from 'vitest';
import { startOrderBook } from '../../api/orderbook/start.ts';
import { logAt } from '../../platform/index.ts';
import { type BookViewDiff, encodeMessage, marketKey, TOPICS } from '../../schemas/index.ts';
import { MARKETS } from '../../test/support/api/market-views.ts';
import { diff, Stage, snapshot, trade, until } from '../../test/support/api/stage.ts';
import { FeedClient } from '../index.ts';

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

describe('FeedClient on a running server', () => {
  it('follows a book, the whole grouped book and trades over one connection', async () => {
    const stage = new Stage();
    await stage.markets();
    await stage.books(snapshot());
    const role = await startOrderBook(stage.context());
    stops.push(() => role.stop());
    const client = new FeedClient({ url: `${(role.endpoints.orderbook ?? '').replace('http', 'ws')}/ws` });
    stops.push(() => client.close());
    const book = client.book({ market: 'sol-perp' });
    const whole = client.orderbook({ market: 'SOL-PERP', grouping: 1 });
    const trades = client.trades({ market: 'SOL-PERP' });
    const fills: unknown[] = [];
    trades.on('data', ({ fillRecordId }) => fills.push(fillRecordId));
    const reader = book[Symbol.asyncIterator]();
    expect((await reader.next()).value).toMatchObject({ type: 'snapshot' });
    await until(() => whole.latest !== null);
    await stage.books(diff(2, 488, { bids: [{ price: 81_120_000, dlob: 5n, vamm: 0n }] }));
    const { value: change } = await reader.next();
    expect(change).toMatchObject({ type: 'change', bids: [{ price: 81_120_000n, size: 5n, sources: { dlob: 5n } }] });
    expect(book.book()?.bids[0]?.price).toBe(81_120_000n);
    await until(() => whole.latest?.bids[0]?.price === '81120000');
    await stage.trades(trade(1n), trade(2n), trade(9n, { marketIndex: 1 }));
    await until(() => fills.length >= 2);
    expect(fills).toEqual([1, 2]);
    const position = book.book()?.position;
    client.reconnect();
    expect((await reader.next()).value).toMatchObject({ type: 'stale', reason: 'disconnected' });
    expect((await reader.next()).value).toMatchObject({ type: 'resumed' });
    expect(book.book()?.position).toEqual(position);
  });

  it('follows a book at each commitment, and says which changes undo an abandoned slot', async () => {
    const stage = new Stage();
    const processed = logAt(stage.log, 'processed');
    const publish = async (message: BookViewDiff) =>
      processed.append(TOPICS.bookViews, [{ key: marketKey(message), value: encodeMessage('BookViewDiff', message) }]);
    const views = MARKETS.map((view) => ({ key: marketKey(view), value: encodeMessage('MarketView', view) }));
    for (const log of [stage.log, processed]) await log.append(TOPICS.marketViews, views);
    await stage.books(snapshot());
    const first = snapshot({ slot: 490 });
    await publish({ ...first, gone: [] });
    const settings = { processedBooks: 'on', source: 'rpc', rpcUrl: 'http://127.0.0.1:1' } as const;
    const role = await startOrderBook(stage.context(settings));
    stops.push(() => role.stop());
    const client = new FeedClient({ url: `${(role.endpoints.orderbook ?? '').replace('http', 'ws')}/ws` });
    stops.push(() => client.close());
    const [ahead, behind] = (['processed', 'confirmed'] as const).map((commitment) =>
      client.book({ market: 'SOL-PERP', checksum: true, commitment }),
    );
    await until(() => ahead?.book()?.slot === 490 && behind?.book()?.slot === 487);
    const reverts: (number | null)[] = [];
    ahead?.on('change', ({ revert }) => reverts.push(revert));
    const reader = ahead?.[Symbol.asyncIterator]();
    expect((await reader?.next())?.value).toMatchObject({ type: 'snapshot' });
    const merged = reader?.next();
    await publish(diff(2, 490, { revert: 489 }));
    await publish(diff(3, 491));
    await until(() => reverts.length === 2);
    expect(reverts).toEqual([489, null]);
    expect((await merged)?.value).toMatchObject({ type: 'change', revert: 489 });
    expect([ahead?.book()?.isCurrent, behind?.book()?.slot]).toEqual([true, 487]);
  });
});
