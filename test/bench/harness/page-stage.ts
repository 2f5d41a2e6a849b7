// The page in a browser, beside services of its own: a book that changes a thousand levels a second, and fixed summaries and
// candles.

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import Fastify from 'fastify';
import { type Browser, type CDPSession, chromium, type Page } from 'playwright-core';
import { Registry } from 'prom-client';
import { WebSocketServer } from 'ws';
import { pageRoutes } from '../../../api/page/routes.ts';
import { BookKeeper } from '../../../client/index.ts';
import { readConfig } from '../../../platform/index.ts';
import { browserPath } from '../../support/page/browser.ts';
import { seededRandom } from '../../support/platform/chance.ts';

const MARKET = 'SOL-PERP';
const LEVELS = 100;
const MIDDLE = 150_000_000n;
const TICK = 1_000n;
const CHANGES_PER_MESSAGE = 5;
const MESSAGE_MS = 5;
const SLOT_MS = 400;
const HEARTBEAT_MS = 5_000;
const CANDLES = 300;
const STREAM = 'perp_0_l2_k10';

/** A book whose levels change without end, with the checksums that a gateway sends. */
class MovingBook {
  readonly #keeper = new BookKeeper({ level: 'l2', checksum: true });
  readonly #next = seededRandom(7);
  #seq = 1;

  snapshot(): string {
    const side = (sign: bigint) =>
      Array.from({ length: LEVELS }, (_, index) => [
        String(MIDDLE + sign * TICK * BigInt(index + 1)),
        String(1_000_000_000n + BigInt(Math.floor(this.#next() * 1e9))),
      ]);
    const levels =
      this.#keeper.position === null
        ? { bids: side(-1n), asks: side(1n) }
        : { bids: this.#entries('bids'), asks: this.#entries('asks') };
    const message = {
      ...{ channel: 'book', type: 'snapshot', stream: STREAM, streamId: 0, market: MARKET, level: 'l2' },
      ...{ marketType: 'perp', marketIndex: 0, epoch: 1, seq: this.#seq, slot: slotNow(), ts: Date.now(), ...levels },
    };
    return this.#withChecksum(message);
  }

  diff(): string {
    const prevSeq = this.#seq;
    this.#seq += 1;
    const entry = (sign: bigint): [string, string] => [
      String(MIDDLE + sign * TICK * BigInt(1 + Math.floor(this.#next() * 40))),
      String(100_000_000n + BigInt(Math.floor(this.#next() * 2e9))),
    ];
    const entries = Array.from({ length: CHANGES_PER_MESSAGE }, () => this.#next() < 0.5);
    const bids = entries.filter((isBid) => isBid).map(() => entry(-1n));
    const asks = entries.filter((isBid) => !isBid).map(() => entry(1n));
    const version = { epoch: 1, seq: this.#seq, prevSeq, slot: slotNow(), ts: Date.now() };
    return this.#withChecksum({ diff: 0, ...version, bids, asks });
  }

  #entries(side: 'bids' | 'asks'): [string, string][] {
    return this.#keeper.levels(side).map(({ price, size }) => [String(price), String(size)]);
  }

  #withChecksum(message: object): string {
    this.#keeper.apply(message as Parameters<BookKeeper['apply']>[0]);
    return JSON.stringify({ ...message, checksum: this.#keeper.checksum() });
  }
}

function slotNow(): number {
  return Math.floor(Date.now() / SLOT_MS);
}

function candles(): object[] {
  const minute = Math.floor(Date.now() / 60_000) * 60;
  return Array.from({ length: CANDLES }, (_, index) => ({
    ...{ ts: minute - index * 60, fillOpen: 150, fillHigh: 151, fillLow: 149, fillClose: 150.5, quoteVolume: 1e5 },
    ...{ oracleOpen: 150, oracleHigh: 151, oracleLow: 149, oracleClose: 150.2, baseVolume: 700 },
  }));
}

const SUMMARY = {
  ...{ marketIndex: 0, symbol: MARKET, marketType: 'perp', oraclePrice: 150, volume24h: 1e6, openInterest: 1e4 },
  ...{ fundingRate: 0.001, fundingRate24hAvg: 0.001, status: 'active', ts: 1, price: 150, priceChange24hPercent: 1 },
  ...{ priceHigh24h: 151, priceLow24h: 149, markPrice: 150, fundingRateUpdateTs: 1 },
};
const PARAMETERS = { symbol: MARKET, marketIndex: 0, marketType: 'perp', baseDecimals: 9, tickSize: String(TICK) };

function answerOf(path: string): object {
  if (path === '/stats/markets') return [SUMMARY];
  if (path === '/params') return { params: { markets: [PARAMETERS] } };
  if (path.endsWith('/bulk')) return { records: candles().toReversed() };
  if (path.includes('/candles/')) return { records: candles() };
  if (path === '/amm/openInterest') return { data: [] };
  return { success: true, records: [], data: { leaderboard: [] }, meta: { nextPage: null } };
}

/** Answers every request of the page, and sends the book to every socket that asks for one. */
function startServices(): Promise<Server> {
  const server = createServer((request, response) => {
    const body = JSON.stringify(answerOf((request.url ?? '').split('?', 1)[0] ?? ''));
    response.writeHead(200, { 'content-type': 'application/json', 'access-control-allow-origin': '*' }).end(body);
  });
  new WebSocketServer({ server }).on('connection', (socket) => {
    const timers: ReturnType<typeof setInterval>[] = [];
    socket.on('message', (data) => {
      if (!String(data).includes('"book"')) return;
      const book = new MovingBook();
      socket.send(book.snapshot());
      let sent = 0;
      const startedMs = performance.now();
      const catchUp = () => {
        for (; sent < (performance.now() - startedMs) / MESSAGE_MS; sent += 1) socket.send(book.diff());
      };
      timers.push(setInterval(catchUp, MESSAGE_MS));
      const heartbeat = () =>
        socket.send(
          JSON.stringify({
            ...{
              channel: 'book',
              type: 'heartbeat',
              ts: Date.now(),
              headSlot: slotNow(),
              slotsBehind: 0,
              sequences: {},
            },
          }),
        );
      timers.push(setInterval(heartbeat, HEARTBEAT_MS));
    });
    socket.on('close', () => timers.forEach(clearInterval));
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

export interface Timings {
  readonly work: readonly number[];
  readonly toPixels: readonly number[];
}

export interface PageStage {
  readonly browser: string;
  readonly page: Page;
  readonly url: string;
  /** Drops what was measured so far. */
  reset(): Promise<void>;
  timings(): Promise<Timings>;
  /** Bytes in use after a garbage collection. */
  heapBytes(): Promise<number>;
  stop(): Promise<void>;
}

export const CHANGES_PER_SECOND = (CHANGES_PER_MESSAGE * 1000) / MESSAGE_MS;

export async function startPageStage(): Promise<PageStage> {
  const executablePath = browserPath();
  if (executablePath === undefined) throw new Error('the page bench needs Chromium');
  const services = await startServices();
  const { port } = services.address() as AddressInfo;
  const config = readConfig({}, { orderbookPort: port, gatewayPort: port, historyPort: port });
  const app = Fastify();
  pageRoutes(app, { config, metrics: new Registry() });
  const url = `${await app.listen({ port: 0, host: '127.0.0.1' })}/#/trade/${MARKET}`;
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const browser: Browser = await chromium.launch({ executablePath, args: [...args, '--disable-dev-shm-usage'] });
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  const session: CDPSession = await context.newCDPSession(page);
  await page.goto(url);
  // The page's policy refuses a predicate as text.
  await untilBook(page);
  return {
    ...{ browser: `Chromium ${browser.version()}`, page, url },
    reset: async () => {
      await page.evaluate('window.slotbook.timings.work.length = window.slotbook.timings.toPixels.length = 0');
    },
    timings: () => page.evaluate('window.slotbook.timings'),
    heapBytes: async () => {
      await session.send('HeapProfiler.collectGarbage');
      return (await session.send('Runtime.getHeapUsage')).usedSize;
    },
    stop: async () => {
      await browser.close();
      await app.close();
      services.closeAllConnections();
      services.close();
    },
  };
}

const LOOK_MS = 20;

/** Resolves to the milliseconds from the opening of the page to its first drawn book. */
export async function untilBook(page: Page): Promise<number> {
  for (;;) {
    const drawnMs = await page.evaluate('window.slotbook?.firstDrawnMs()');
    if (typeof drawnMs === 'number') return drawnMs;
    await sleep(LOOK_MS);
  }
}
