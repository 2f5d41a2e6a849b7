// Bytes of a minute of one busy market to one client: diffs of the `book` channel against whole books of the `orderbook` channel.
// Pairs of equal cadence (every change; 50 ms, the default of both; 400 ms, the predecessor's) and depth (20 levels, or all). The
// gateway's own code makes the messages. Whole books are counted plain and deflated as a `ws` server does it; diffs plain and as
// `gatewayDeflate` sends them. The predecessor's server runs beside with the same market. `npm run bench bytes`.

import { createDeflateRaw, constants as zlib } from 'node:zlib';
import { Registry } from 'prom-client';
import { MarketFeed } from '../../api/gateway/feed/market-feed.ts';
import { feedMetrics } from '../../api/gateway/feed/metrics.ts';
import type { StreamSpec } from '../../api/gateway/feed/request.ts';
import { l2Json } from '../../api/views/bodies.ts';
import type { BookReader } from '../../api/views/book-reader.ts';
import { PublishedBook } from '../../api/views/published-book.ts';
import { SETTINGS } from '../../platform/index.ts';
import { type BookViewDiff, encodeMessage } from '../../schemas/index.ts';
import { Crowd } from './harness/crowd.ts';
import { engineBytes } from './harness/engine-bytes.ts';
import { machine } from './harness/processes.ts';
import { report } from './harness/report.ts';
import { Predecessor, subscribeTo } from './harness/stage.ts';
import { BUSY_AT_THE_TOUCH, SyntheticMarket } from './harness/synthetic-markets.ts';

/** A minute of slots of 400 ms. */
const SLOTS = 150;
const CHANGES_PER_SLOT = 20;
const SLOT_MS = 400;
const DEFAULT_TICK_MS = SETTINGS.find(({ key }) => key === 'bookTickMs')?.fallback as number;
const CHANGES_PER_TICK = (CHANGES_PER_SLOT * DEFAULT_TICK_MS) / SLOT_MS;
const BAR = 20;
const ACKNOWLEDGEMENT_AND_BOOK = 2;
const CHANNEL = 'orderbook_perp_0_grouped_1';
/** The predecessor's server sends shorter messages undeflated. */
const DEFLATE_FROM_BYTES = 1024;
/** End of a flushed block, which is not sent. */
const TAIL_BYTES = 4;

const DEPTHS = [
  ['20 levels', 20],
  ['every level', null],
] as const;
const CADENCES = [
  ['every change', 0],
  ['every 50 ms, the default', DEFAULT_TICK_MS],
  ['every 400 ms', SLOT_MS],
] as const;

/** Bytes that a `ws` server sends for a stream of messages. */
class Counted {
  messages = 0;
  raw = 0;
  deflated = 0;
  readonly #deflate = createDeflateRaw();
  #end = Promise.resolve();

  constructor() {
    this.#deflate.on('data', (chunk: Buffer) => {
      this.deflated += chunk.byteLength;
    });
  }

  take(message: Buffer | string): void {
    const bytes = Buffer.from(message);
    this.messages += 1;
    this.raw += bytes.byteLength;
    this.#end = this.#end.then(() => this.#pack(bytes));
  }

  async bytes(): Promise<{ readonly messages: number; readonly raw: number; readonly deflated: number }> {
    await this.#end;
    return { messages: this.messages, raw: this.raw, deflated: this.deflated };
  }

  async #pack(bytes: Buffer): Promise<void> {
    if (bytes.byteLength < DEFLATE_FROM_BYTES) {
      this.deflated += bytes.byteLength;
      return;
    }
    this.#deflate.write(bytes);
    await new Promise<void>((resolve) => this.#deflate.flush(zlib.Z_SYNC_FLUSH, resolve));
    this.deflated -= TAIL_BYTES;
  }
}

const market = new SyntheticMarket(0, BUSY_AT_THE_TOUCH);
const book = new PublishedBook();
book.take(market.snapshot(), 0);
book.view.tickSize = Number(market.marketView().tickSize);
const reader = {
  now: Date.now,
  bookByKey: () => book,
  markets: { byKey: () => market.marketView() },
} as unknown as BookReader;
let streamId = 0;
const ref = { marketType: 'perp', marketIndex: 0 } as const;
const feed = new MarketFeed(market.key, ref, reader, feedMetrics(new Registry()), () => ++streamId);

const pairs = DEPTHS.flatMap(([depthName, depth]) =>
  CADENCES.map(([cadenceName, conflationMs]) => {
    const spec: StreamSpec = { level: 'l2', depth, conflationMs, checksumLevels: 0, hasCause: false };
    return {
      name: `${depthName}, ${cadenceName}`,
      depth,
      conflationMs,
      stream: feed.stream(spec),
      diffs: [] as Buffer[],
      books: new Counted(),
    };
  }),
);

function wholeBook(depth: number | null): string {
  const levels = depth === null ? book.view.l2(Number.MAX_SAFE_INTEGER) : book.view.grouped(1);
  return JSON.stringify({ channel: CHANNEL, data: l2Json(book, market.marketView(), levels) });
}

function flush(conflationMs: number): void {
  for (const pair of pairs) {
    if (pair.conflationMs !== conflationMs) continue;
    const frame = pair.stream.flush();
    if (frame) pair.diffs.push(Buffer.from(frame));
    pair.books.take(wholeBook(pair.depth));
  }
}

function publish(diff: BookViewDiff): void {
  book.take(diff, 0);
  feed.apply({ key: market.key, message: diff, bytes: encodeMessage('BookViewDiff', diff), offset: BigInt(diff.seq) });
  flush(0);
}

const isVisible = ({ bids, asks }: BookViewDiff): boolean => {
  const { bids: best, asks: offers } = book.view.l2(20);
  const [bid = Number.NaN, ask = Number.NaN] = [best.at(-1)?.price, offers.at(-1)?.price];
  return bids.some(({ price }) => price >= bid) || asks.some(({ price }) => price <= ask);
};

/** The predecessor with the same market and one client; it gets one book per slot. */
const peerMarket = new SyntheticMarket(0, BUSY_AT_THE_TOUCH);
const peer = await Predecessor.start([peerMarket]);
const client = new Crowd();
const says = [subscribeTo(peerMarket)];
await client.open({ url: peer.gateway, clients: 1, deflate: true, says, framesEach: ACKNOWLEDGEMENT_AND_BOOK });
await client.mark();

let changes = 0;
let visible = 0;
for (let slot = 0; slot < SLOTS; slot += 1) {
  market.nextSlot();
  peerMarket.nextSlot();
  const theirs = peerMarket.stepMid();
  for (const diff of market.stepMid()) publish(diff);
  for (let made = 0; made < CHANGES_PER_SLOT; made += 1) {
    const diff = market.change();
    theirs.push(peerMarket.change());
    changes += 1;
    publish(diff);
    if (isVisible(diff)) visible += 1;
    if (Math.floor(made / CHANGES_PER_TICK) !== Math.floor((made + 1) / CHANGES_PER_TICK)) flush(DEFAULT_TICK_MS);
  }
  flush(SLOT_MS);
  peer.publish(theirs.map((diff) => ({ market: peerMarket, diff })));
  await client.received(slot + 1);
}
const { bytes: predecessorSent } = await client.counts();
await client.stop();
await peer.stop();

const flow = { ...BUSY_AT_THE_TOUCH, slots: SLOTS, orderChanges: changes, inTop20: visible / changes };
for (const { name, conflationMs, diffs, books } of pairs) {
  const whole = await books.bytes();
  const diff = {
    messages: diffs.length,
    raw: diffs.reduce((sum, { byteLength }) => sum + byteLength, 0),
    shared: await engineBytes(diffs, 'shared'),
    dedicated: await engineBytes(diffs, 'dedicated'),
  };
  const beside = { diff, whole, predecessorSent, flow, ...machine() };
  const unit = 'x fewer';
  // The bar is that of our own two channels; at the predecessor's cadence it does not hold, as docs/benchmarks/ says.
  const bar = conflationMs === SLOT_MS ? undefined : { atLeast: BAR };
  report({ name: `bytes: ${name}`, value: whole.raw / diff.raw, unit, ...(bar && { bar }), ...beside });
  report({ name: `bytes: ${name}, whole books deflated`, value: whole.deflated / diff.raw, unit, ...beside });
}
