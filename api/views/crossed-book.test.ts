// The server never uncrosses a book whose bids reach its asks. Source: docs/internals/book-rules.md, "Levels and merge".

import { expect, it } from 'vitest';
import type { ViewOrder } from '../../schemas/index.ts';
import { FeedClient } from '../../test/support/api/feed-client.ts';
import { MAKER_A, MAKER_B, Stage, snapshot } from '../../test/support/api/stage.ts';
import { eventually } from '../../test/support/platform/eventually.ts';
import { base58 } from '../http/base58.ts';
import { startOrderBook } from '../orderbook/start.ts';

const BIDS = [81_200_000, 81_150_000, 81_100_000];
const ASKS = [81_100_000, 81_150_000, 81_250_000];

interface Body {
  readonly bids: readonly { readonly price: string; readonly size: string }[];
  readonly asks: Body['bids'];
}

it('stays crossed in /l2, /l3 and on the socket', async () => {
  const levels = (prices: readonly number[]) => prices.map((price) => ({ price, dlob: 5n, vamm: 0n }));
  const orders = (prices: readonly number[], maker: Uint8Array) =>
    prices.map((price, at): ViewOrder => ({ price, size: 5n, maker, orderId: at, source: 'user', rank: [3, 1, at] }));
  const stage = new Stage();
  await stage.markets();
  const sides = { bidOrders: orders(BIDS, MAKER_A), askOrders: orders(ASKS, MAKER_B) };
  await stage.books(snapshot({ bids: levels(BIDS), asks: levels(ASKS), ...sides }));
  const role = await startOrderBook(stage.context());
  const client = await FeedClient.connect(role.endpoints.gateway ?? '');
  try {
    const url = (path: string) => `${role.endpoints.orderbook}${path}?marketName=SOL-PERP`;
    const read = async (path: string) => (await (await fetch(url(path))).json()) as Body;
    await eventually(async () => expect((await fetch(url('/l3'))).status).toBe(200));
    const sidesOf = ({ bids, asks }: Body) => ({
      bids: bids.map(({ price, size }) => [price, size]),
      asks: asks.map(({ price, size }) => [price, size]),
    });
    const whole = { bids: BIDS.map((price) => [String(price), '5']), asks: ASKS.map((price) => [String(price), '5']) };
    const l2 = await read('/l2');
    expect(sidesOf(l2)).toEqual(whole);
    const touch = { bestBidPrice: '81200000', bestAskPrice: '81100000', spreadQuote: '0', spreadPct: '0' };
    expect(l2).toMatchObject(touch);
    const l3 = await read('/l3');
    expect(sidesOf(l3)).toEqual(whole);
    expect(l3.bids[0]).toMatchObject({ maker: base58(MAKER_A) });
    client.subscribe();
    await client.waitForCount(2);
    const [received] = client.data<Body>('orderbook_perp_0_grouped_1');
    expect(received && sidesOf(received)).toEqual(whole);
    expect(received).toMatchObject(touch);
  } finally {
    client.socket.terminate();
    await role.stop();
  }
});
