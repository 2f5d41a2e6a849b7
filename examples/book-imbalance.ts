// Book imbalance: does the larger side at the top of the book predict the next taker's direction?
//
//   npm run example book-imbalance -- [--symbol SOL-PERP] [--orders 200] [--levels 1]
//
// Data: /market/{symbol}/trades of the history service, and /l2?slot= of the order-book server: the book at the slot before
// each taker order. Fills of one transaction and taker are one order.
// - imbalance = (bid size - ask size) / (bid size + ask size) over the best `levels`, from -1 (only asks) to 1 (only bids).
// - buy %: share of taker orders that bought. Flow: signed quote of those orders, thousands.
// - slip bps: mean of side * (first fill price / mid before - 1) * 1e4: the cost of crossing.
// - corr: correlation of imbalance and direction (+1 buy, -1 sell) over all orders.
// The order-book server keeps a day of slots, so the script skips older orders.

import { setTimeout as sleep } from 'node:timers/promises';
import { decimals, getRows, printTable, readFlags } from './shared.ts';

interface Trade {
  readonly slot: number;
  readonly txSig: string;
  readonly taker: string | null;
  readonly takerOrderDirection: string | null;
  readonly actionExplanation: string;
  readonly quoteAssetAmountFilled: string | null;
  readonly price: string | null;
}
interface Order {
  readonly txSig: string;
  readonly slot: number;
  /** 1 buys, -1 sells. */
  readonly side: number;
  /** Quote units. */
  readonly quote: number;
  readonly price: number;
}
interface Level {
  readonly price: string;
  readonly size: string;
}
interface Book {
  readonly bids: readonly Level[];
  readonly asks: readonly Level[];
}

const PAGE_ROWS = 50;
const AT_ONCE = 2;
/** The server looks up only a few past books at once. A rejected request is repeated. */
const BUSY = 503;
const BUSY_RETRY_MS = 100;
const BUSY_RETRIES = 100;
const BUCKETS = [-0.6, -0.2, 0.2, 0.6];

const flags = readFlags(['symbol', 'orders', 'levels']);
const symbol = flags.text('symbol', 'SOL-PERP');
const levels = flags.number('levels', 1);
const wanted = flags.number('orders', 200);

/** Groups fills (newest first) into taker orders (newest first). */
function takerOrders(trades: readonly Trade[]): readonly Order[] {
  const orders = new Map<string, Order>();
  for (const { slot, txSig, taker, takerOrderDirection, actionExplanation, quoteAssetAmountFilled, price } of trades) {
    if (taker === null || takerOrderDirection === null || price === null || /liquidation/.test(actionExplanation))
      continue;
    const key = `${txSig}/${taker}`;
    const quote = Number(quoteAssetAmountFilled ?? 0) / 1e6;
    const side = takerOrderDirection === 'long' ? 1 : -1;
    // Rows come newest first, so the last row of an order is its first fill.
    orders.set(key, { txSig, slot, side, quote: quote + (orders.get(key)?.quote ?? 0), price: Number(price) / 1e6 });
  }
  return [...orders.values()];
}

const books = new Map<number, Promise<Book | null>>();

/** The book at a slot; null when the server no longer has it. */
function bookAt(slot: number): Promise<Book | null> {
  const known = books.get(slot);
  if (known) return known;
  const url = `${flags.endpoint('orderbook')}/l2?marketName=${symbol}&slot=${slot}&depth=${levels}`;
  const asked = readBook(url);
  books.set(slot, asked);
  return asked;
}

async function readBook(url: string): Promise<Book | null> {
  for (let attempt = 0; ; attempt++) {
    const response = await fetch(url);
    if (response.ok) return (await response.json()) as Book;
    await response.text();
    if (response.status !== BUSY || attempt === BUSY_RETRIES) return null;
    await sleep(BUSY_RETRY_MS);
  }
}

const sizeOf = (side: readonly Level[]) => side.reduce((sum, { size }) => sum + Number(size), 0);

async function measured(order: Order) {
  const book = await bookAt(order.slot - 1);
  const [bid] = book?.bids ?? [];
  const [ask] = book?.asks ?? [];
  if (!book || !bid || !ask) return null;
  const bidSize = sizeOf(book.bids);
  const askSize = sizeOf(book.asks);
  const mid = (Number(bid.price) + Number(ask.price)) / 2 / 1e6;
  const imbalance = (bidSize - askSize) / (bidSize + askSize);
  return { ...order, imbalance, slipBps: order.side * (order.price / mid - 1) * 10_000 };
}

type Measured = NonNullable<Awaited<ReturnType<typeof measured>>>;

async function measureAll(orders: readonly Order[]): Promise<readonly Measured[]> {
  const found: Measured[] = [];
  for (let index = 0; index < orders.length; index += AT_ONCE) {
    const part = await Promise.all(orders.slice(index, index + AT_ONCE).map(measured));
    found.push(...part.filter((one) => one !== null));
  }
  return found;
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Pearson's correlation; null when one of the two does not vary. */
function correlation(xs: readonly number[], ys: readonly number[]): number | null {
  const [meanX, meanY] = [mean(xs), mean(ys)];
  const sum = (of: (x: number, y: number) => number) => xs.reduce((all, x, index) => all + of(x, ys[index] ?? 0), 0);
  const both = sum((x, y) => (x - meanX) * (y - meanY));
  const spread = Math.sqrt(sum((x) => (x - meanX) ** 2) * sum((_, y) => (y - meanY) ** 2));
  return spread > 0 ? both / spread : null;
}

/** Bucket of an imbalance: the number of bounds at or below it. */
const bucketOf = (imbalance: number) => BUCKETS.filter((bound) => imbalance >= bound).length;
const bucketName = (bucket: number) => `${BUCKETS[bucket - 1] ?? -1} .. ${BUCKETS[bucket] ?? 1}`;

const trades = await getRows<Trade>(`${flags.endpoint('history')}/market/${symbol}/trades`, wanted * 3, PAGE_ROWS);
const orders = await measureAll(takerOrders(trades).slice(0, wanted));
const corr = correlation(
  orders.map(({ imbalance }) => imbalance),
  orders.map(({ side }) => side),
);
const buckets = [0, 1, 2, 3, 4].map((bucket) => {
  const inside = orders.filter(({ imbalance }) => bucketOf(imbalance) === bucket);
  const flow = inside.reduce((sum, { side, quote }) => sum + side * quote, 0);
  return {
    bucket: bucketName(bucket),
    orders: inside.length,
    buyShare: inside.length === 0 ? null : inside.filter(({ side }) => side > 0).length / inside.length,
    flowQuote: flow,
    slipBps: inside.length === 0 ? null : mean(inside.map(({ slipBps }) => slipBps)),
  };
});
if (!flags.json) {
  process.stdout.write(`${symbol}: ${orders.length} taker orders after the book one slot before, best ${levels}\n`);
}
printTable(
  flags,
  ['imbalance', 'orders', 'buy %', 'flow k', 'slip bps'],
  [
    ...buckets.map((row) => [
      row.bucket,
      row.orders,
      decimals(row.buyShare === null ? null : row.buyShare * 100, 0),
      decimals(row.flowQuote / 1000, 1),
      decimals(row.slipBps, 2),
    ]),
    ['corr', decimals(corr, 3), '', '', ''],
  ],
  { symbol, levels, correlation: corr, buckets, orders },
);
