// FeedClient on a running server: books with changes, whole books, and trades of markets whose indexes it has to learn.

import { afterEach, describe, expect, it } from 'vitest';
import { startOrderBook } from '../../api/orderbook/start.ts';
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
});
