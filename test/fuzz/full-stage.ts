// A stage where every route has data. It has live perp markets, a spot market, a crossed book with recent fills, fees, a
// ranking, and an oracle provider behind the internal secret.

import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import {
  type BookViewSnapshot,
  encodeMessage,
  type FillQualityView,
  type MarketRef,
  type MarketView,
  marketKey,
  TOPICS,
} from '../../schemas/index.ts';
import { Stage } from '../bench/harness/stage.ts';
import type { SyntheticMarket } from '../bench/harness/synthetic-markets.ts';
import { MAKER_KEYS } from '../support/processors/book/book-flow.ts';

/** Value of `Authorization` that opens /oracleLazer. */
export const SECRET = 'generated-inputs';
export const SPOT = { marketType: 'spot', marketIndex: 0, symbol: 'M0' } as const;
/** A known spot market without a published book. */
const BARE_SPOT = { marketType: 'spot', marketIndex: 1, symbol: 'M1' } as const;
/** A market whose best bid meets its best ask, so that version 2 of /auctionParams weighs its fills. */
export const CROSSED = { marketType: 'perp', marketIndex: 40, symbol: 'CROSSED-PERP' } as const;
/** Fills count for 600 s (docs/internals/auctions.md, "Fill quality"), so a long run publishes them again. */
const FILLS_EVERY_MS = 60_000;
const STALL_MS = 600_000;

export class FullStage {
  readonly stage: Stage;
  readonly #oracle: Worker;
  readonly #timer: NodeJS.Timeout;

  private constructor(stage: Stage, oracle: Worker) {
    this.stage = stage;
    this.#oracle = oracle;
    this.#timer = setInterval(() => {
      publishFills(stage).catch(() => {}); // a failed append shows as books that stand still
    }, FILLS_EVERY_MS);
  }

  /** Markets that do not change use the book of `markets[0]`. */
  static async start(markets: readonly SyntheticMarket[]): Promise<FullStage> {
    const oracle = new Worker(new URL('./oracle-provider.ts', import.meta.url));
    const [port] = await once(oracle, 'message');
    const stage = await Stage.start(markets, {
      INTERNAL_SECRET: SECRET,
      ORACLE_FEED_URL: `http://127.0.0.1:${port}/`,
      SLOT_STALL_MS: STALL_MS,
    });
    const [first] = markets;
    if (first) await publishOthers(stage, first);
    return new FullStage(stage, oracle);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.stage.stop();
    await this.#oracle.terminate();
  }
}

async function publishOthers({ log }: Stage, first: SyntheticMarket): Promise<void> {
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
  await publishFills({ log });
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

async function publishFills({ log }: Pick<Stage, 'log'>): Promise<void> {
  const means = { takerBuys: 3, takerBuyMicroBps: 3_250_000n, takerSells: 3, takerSellMicroBps: -2_000_000n };
  const view: FillQualityView = {
    ...refOf(CROSSED),
    updatedAtMs: Date.now(),
    cohorts: [{ cohort: 'all', ...means }],
  };
  const value = encodeMessage('FillQualityView', view);
  await log.append(TOPICS.fillQualityViews, [{ key: marketKey(view), value }]);
}
