// The order-book server over real processes: its contracts, its feeds, fills beside the book, orders of accounts, and indicative
// quotes, on one running pipeline.

import { afterAll, beforeAll } from 'vitest';
import { describeAccountOrders } from './harness/order-book/account-orders.ts';
import { describeContracts } from './harness/order-book/contracts.ts';
import { describeFeeds } from './harness/order-book/feeds.ts';
import { describeFills } from './harness/order-book/fills.ts';
import { describeQuotes } from './harness/order-book/quotes.ts';
import { type OrderBookRun, startOrderBookRun } from './harness/order-book/run.ts';

let run: OrderBookRun;

beforeAll(async () => {
  run = await startOrderBookRun();
});
afterAll(() => run?.stop());

describeContracts(() => run);
describeFills(() => run);
describeAccountOrders(() => run);
describeQuotes(() => run);
// Last, because it pauses the cluster and kills the process of the rankings.
describeFeeds(() => run);
