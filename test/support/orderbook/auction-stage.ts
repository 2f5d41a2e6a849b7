// /auctionParams with books and fills on a log in memory.

import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { expect } from 'vitest';
import { orderbookApp } from '../../../api/orderbook/app.ts';
import { auctionSettings } from '../../../api/orderbook/auction/settings.ts';
import { BookReader } from '../../../api/views/book-reader.ts';
import { FillQualityFollower } from '../../../api/views/fill-quality.ts';
import type { Config } from '../../../platform/index.ts';
import {
  type BookViewSnapshot,
  encodeMessage,
  type FillQualityCohort,
  marketKey,
  TOPICS,
} from '../../../schemas/index.ts';
import { marketView } from '../api/market-views.ts';
import { ORACLE, Stage, snapshot, until } from '../api/stage.ts';

export const NOW_MS = 1_783_268_433_645;
/** Chain time, far from the wall clock: a replay, or a simulated cluster that runs ahead. */
const CHAIN_MS = NOW_MS - 86_400_000;
const MARKET = { marketType: 'perp', marketIndex: 0 } as const;

/** The query of most tests. Undefined members are absent. */
export const DEFAULT_QUERY = {
  marketIndex: '0',
  marketType: 'perp',
  direction: 'long',
  amount: '1000000000',
  assetType: 'base',
};

export const level = (price: number, dlob: bigint, vamm = 0n) => ({ price, dlob, vamm });
const oracle = { ...ORACLE, price: 100_000_000n };

/** A book with mark 99 and oracle 100. */
export const book = (overrides: Partial<BookViewSnapshot> = {}): BookViewSnapshot =>
  snapshot({
    oracle,
    mmOracle: oracle,
    bids: [level(98_000_000, 0n, 1_000_000_000n), level(97_000_000, 500_000_000n)],
    asks: [
      level(100_000_000, 0n, 400_000_000n),
      level(102_000_000, 0n, 600_000_000n),
      level(110_000_000, 1_000_000_000n),
    ],
    bidOrders: [],
    askOrders: [],
    ...overrides,
  });

export class AuctionStage extends Stage {
  /** Wall clock of the server. */
  nowMs = NOW_MS;
  #app: FastifyInstance | null = null;
  #reader: BookReader | null = null;
  #fillQuality: FillQualityFollower | null = null;

  async serve(books: readonly BookViewSnapshot[] = [book()], settings: Partial<Config> = {}): Promise<void> {
    await this.markets([
      marketView(),
      marketView({ marketIndex: 13, symbol: 'MID-PERP' }),
      marketView({ marketIndex: 20, symbol: 'SMALL-PERP', oraclePrice: 50_000_000n }),
      marketView({ marketType: 'spot', marketIndex: 1, symbol: 'SOL', oraclePrice: null }),
    ]);
    await this.books(...books);
    const context = this.context(settings);
    const clock = (): number => this.nowMs;
    const reader = new BookReader({ ...context, clock });
    const fillQuality = new FillQualityFollower({ ...context, clock });
    this.#reader = reader;
    this.#fillQuality = fillQuality;
    await Promise.all([reader.start(), fillQuality.start()]);
    if (books.length > 0) await until(() => reader.ready);
    const accounts = { read: async () => [] };
    const auction = auctionSettings(context.config);
    const services = { reader, accounts, slotStallMs: 5000, auction, fillQuality };
    this.#app = await orderbookApp(services, pino({ level: 'silent' }));
  }

  async stop(): Promise<void> {
    await this.#app?.close();
    await this.#fillQuality?.stop();
    await this.#reader?.stop();
  }

  get fillQuality(): FillQualityFollower {
    if (!this.#fillQuality) throw new Error('not served yet');
    return this.#fillQuality;
  }

  /** Publishes means of all cohorts, aged `ageMs` of chain time: a view of another market advances the chain time. */
  async fills(buyMicroBps: bigint | null, ageMs: number): Promise<void> {
    await this.publishMeans(buyMicroBps, ageMs);
    await until(() => this.fillQuality.recent(MARKET) !== null);
  }

  /** The same, for a server that may not run yet. */
  async publishMeans(buyMicroBps: bigint | null, ageMs: number): Promise<void> {
    const all: FillQualityCohort = {
      cohort: 'all',
      takerBuys: 1,
      takerBuyMicroBps: buyMicroBps,
      takerSells: 0,
      takerSellMicroBps: null,
    };
    const views = [
      { ...MARKET, updatedAtMs: CHAIN_MS - ageMs, cohorts: [all] },
      { ...MARKET, marketIndex: 13, updatedAtMs: CHAIN_MS, cohorts: [] },
    ];
    await this.log.append(
      TOPICS.fillQualityViews,
      views.map((view) => ({ key: marketKey(view), value: encodeMessage('FillQualityView', view) })),
    );
  }

  /** The chain finalizes a block, `aheadS` seconds after the newest means. */
  async finalize(aheadS: number): Promise<void> {
    const value = encodeMessage('ChainFinality', { slot: 1, ts: Math.ceil(CHAIN_MS / 1_000) + aheadS });
    await this.log.append(TOPICS.finality, [{ key: 'chain', value }]);
  }

  async ask(overrides: Record<string, string | undefined> = {}) {
    if (!this.#app) throw new Error('not served yet');
    const pairs = Object.entries({ ...DEFAULT_QUERY, ...overrides }).filter(
      (pair): pair is [string, string] => pair[1] !== undefined,
    );
    return this.#app.inject({ method: 'GET', url: `/auctionParams?${new URLSearchParams(pairs)}` });
  }

  /** The member `data` of a successful answer. */
  async data(overrides: Record<string, string> = {}) {
    const answer = await this.ask(overrides);
    expect([answer.statusCode, answer.body]).toEqual([200, expect.stringMatching(/^{"data":/)]);
    return answer.json().data;
  }
}
