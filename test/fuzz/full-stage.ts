// A stage where every route has data: live perp markets, a spot market, a crossed book with recent fills, fees, a ranking, and
// an oracle provider behind the internal secret.

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  type BookViewSnapshot,
  encodeMessage,
  type FillQualityView,
  type MarketRef,
  type MarketView,
  marketKey,
  TOPICS,
} from '../../schemas/index.ts';
import { MAKER_KEYS } from '../bench/harness/book-flow.ts';
import { Stage } from '../bench/harness/stage.ts';
import type { SyntheticMarket } from '../bench/harness/synthetic-markets.ts';

/** Value of `Authorization` that opens /oracleLazer. */
export const SECRET = 'generated-inputs';
export const SPOT = { marketType: 'spot', marketIndex: 0, symbol: 'M0' } as const;
/** A known spot market without a published book. */
const BARE_SPOT = { marketType: 'spot', marketIndex: 1, symbol: 'M1' } as const;
/** A market whose best bid meets its best ask, so that version 2 of /auctionParams weighs its fills. */
export const CROSSED = { marketType: 'perp', marketIndex: 40, symbol: 'CROSSED-PERP' } as const;
/** Feeds up to this id have prices. */
const FEEDS_KNOWN = 100;
/** Fills count for 600 s (docs/internals/auctions.md, "Fill quality"), so a long run publishes them again. */
const FILLS_EVERY_MS = 60_000;
const STALL_MS = 600_000;

export class FullStage {
  readonly stage: Stage;
  readonly #oracle: Server;
  readonly #timer: NodeJS.Timeout;

  private constructor(stage: Stage, oracle: Server) {
    this.stage = stage;
    this.#oracle = oracle;
    this.#timer = setInterval(() => {
      tellFills(stage).catch(() => {}); // a failed append shows as books that stand still
    }, FILLS_EVERY_MS);
  }

  /** Markets that do not change use the book of `markets[0]`. */
  static async start(markets: readonly SyntheticMarket[]): Promise<FullStage> {
    const oracle = await startOracle();
    const { port } = oracle.address() as AddressInfo;
    const stage = await Stage.start(markets, {
      INTERNAL_SECRET: SECRET,
      ORACLE_FEED_URL: `http://127.0.0.1:${port}/`,
      SLOT_STALL_MS: STALL_MS,
    });
    const [first] = markets;
    if (first) await publishStanding(stage, first);
    return new FullStage(stage, oracle);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.stage.stop();
    await new Promise((resolve) => this.#oracle.close(resolve));
  }
}

async function publishStanding({ log }: Stage, first: SyntheticMarket): Promise<void> {
  const topics = [TOPICS.feeViews, TOPICS.rankingViews, TOPICS.fillQualityViews];
  await log.ensureTopics(topics);
  const view = first.marketView();
  const views: MarketView[] = [SPOT, BARE_SPOT, CROSSED].map((market) => ({ ...view, ...market }));
  await log.append(
    TOPICS.marketViews,
    views.map((value) => ({ key: marketKey(value), value: encodeMessage('MarketView', value) })),
  );
  const book = first.snapshot();
  const books: BookViewSnapshot[] = [
    { ...book, ...refOf(SPOT) },
    { ...crossed(book), ...refOf(CROSSED) },
  ];
  await log.append(
    TOPICS.bookViews,
    books.map((value) => ({ key: marketKey(value), value: encodeMessage('BookViewSnapshot', value) })),
  );
  const levels = { min: 0, low: 2, medium: 10_082.5, high: 100_000, veryHigh: 1_200_000, unsafeMax: 5_000_000 };
  const ranked = (sign: bigint) =>
    MAKER_KEYS.slice(0, 20).map((user, at) => ({ user, pnl: sign * BigInt(20 - at) * 1_520_331n }));
  for (const ref of [refOf(first), refOf(SPOT)]) {
    const value = encodeMessage('FeeLevels', { ...ref, atMs: Date.now(), ...levels });
    await log.append(TOPICS.feeViews, [{ key: marketKey(ref), value }]);
  }
  const ref = refOf(first);
  const ranking = { ...ref, slot: first.slot, gainers: ranked(1n), losers: ranked(-1n) };
  await log.append(TOPICS.rankingViews, [{ key: marketKey(ref), value: encodeMessage('PnlRanking', ranking) }]);
  await tellFills({ log });
}

function refOf({ marketIndex, ...rest }: { marketIndex: number; marketType?: MarketRef['marketType'] }): MarketRef {
  return { marketType: rest.marketType ?? 'perp', marketIndex };
}

/** The same book with its best ask at the price of the best bid. */
function crossed(book: BookViewSnapshot): BookViewSnapshot {
  const [bid] = book.bids;
  const [ask, ...asks] = book.asks;
  return bid && ask ? { ...book, asks: [{ ...ask, price: bid.price }, ...asks], askOrders: [] } : book;
}

async function tellFills({ log }: Pick<Stage, 'log'>): Promise<void> {
  const means = { takerBuys: 3, takerBuyMicroBps: 3_250_000n, takerSells: 3, takerSellMicroBps: -2_000_000n };
  const view: FillQualityView = {
    ...refOf(CROSSED),
    updatedAtMs: Date.now(),
    cohorts: [{ cohort: 'all', ...means }],
  };
  const value = encodeMessage('FillQualityView', view);
  await log.append(TOPICS.fillQualityViews, [{ key: marketKey(view), value }]);
}

/** Answers `latest_price` with one price for every known feed. */
function startOracle(): Promise<Server> {
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const { priceFeedIds } = JSON.parse(Buffer.concat(parts).toString()) as { priceFeedIds: number[] };
    const known = priceFeedIds.filter((id) => id <= FEEDS_KNOWN);
    const prices = { price: '8112233000', bestBidPrice: '8112200000', bestAskPrice: '8112300000', exponent: -8 };
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify({
        parsed: { priceFeeds: known.map((priceFeedId) => ({ priceFeedId, ...prices })) },
        solana: { encoding: 'hex', data: 'b9011a82' },
      }),
    );
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve(server));
  });
}
