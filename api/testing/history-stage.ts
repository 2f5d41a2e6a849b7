// The history service over a database of its own, with rows to put into it, for this room's tests.

import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import type { ClickHouse, LogFacts } from '../../platform/index.ts';
import { openTestDatabase } from '../../platform/testing.ts';
import type { MarketSummary } from '../../schemas/index.ts';
import { historyApp } from '../history/app.ts';
import { Projections } from '../history/projections.ts';
import type { HistorySettings } from '../history/services.ts';
import { HistoryStore } from '../history/store.ts';
import { MarketSummaries } from '../history/summaries.ts';
import { MarketRegistry } from '../views/registry.ts';
import { MARKETS } from './market-views.ts';

/** The service's clock: 2026-06-15 12:00:30 UTC. */
export const NOW = Date.UTC(2026, 5, 15, 12, 0, 30) / 1000;
/** The minute it is in. */
export const MINUTE = Math.floor(NOW / 60) * 60;
export const DAY = 86_400;

/** Tables that the store fills from others by itself. */
const COMPANIONS: Readonly<Record<string, readonly string[]>> = {
  order_action: ['account_action'],
  deposit: ['market_deposit'],
  swap: ['market_swap'],
  insurance_fund_stake: ['market_insurance_fund_stake'],
  liquidation: ['liquidation_by_time'],
  new_user: ['account', 'referral'],
};

const logger = pino({ level: 'silent' });
let nextId = 1n;

const NOTHING_KNOWN: LogFacts = { gaps: null, eventsNotStored: null };
const NO_SETTINGS: HistorySettings = { vaultsPath: '', fundingVenuesPath: '' };

export function registry(): MarketRegistry {
  const markets = new MarketRegistry();
  for (const view of MARKETS) markets.put(view);
  return markets;
}

/** The service over a database; `markets` are those of `MARKETS` unless given. */
export function makeApp(
  database: Pick<ClickHouse, 'client' | 'database'>,
  markets = registry(),
  {
    summaries = new MarketSummaries(markets),
    settings = NO_SETTINGS,
    logFacts = async () => NOTHING_KNOWN,
  }: {
    readonly summaries?: MarketSummaries;
    readonly settings?: HistorySettings;
    readonly logFacts?: () => Promise<LogFacts>;
  } = {},
): Promise<FastifyInstance> {
  const store = new HistoryStore(database.client, database.database);
  const projections = new Projections(store);
  return historyApp({ store, markets, projections, summaries, settings, logFacts, now: () => NOW }, logger);
}

export interface Listed {
  readonly success: boolean;
  readonly records: Record<string, unknown>[];
  readonly meta: { nextPage: string | null; [name: string]: unknown };
}

export class HistoryStage {
  readonly clickhouse: ClickHouse;
  readonly app: FastifyInstance;
  /** What the service was told of its markets' last 24 hours; empty at first. */
  readonly summaries: MarketSummaries;
  readonly #written = new Set<string>();

  private constructor(clickhouse: ClickHouse, app: FastifyInstance, summaries: MarketSummaries) {
    this.clickhouse = clickhouse;
    this.app = app;
    this.summaries = summaries;
  }

  static async open(): Promise<HistoryStage> {
    const clickhouse = await openTestDatabase();
    const markets = registry();
    const summaries = new MarketSummaries(markets);
    const stage = new HistoryStage(clickhouse, await makeApp(clickhouse, markets, { summaries }), summaries);
    await stage.markBuilt();
    return stage;
  }

  async close(): Promise<void> {
    await this.app.close();
    await this.clickhouse.stop();
  }

  /** Says that everything is built. */
  async markBuilt(): Promise<void> {
    const names = ['events', 'candles', 'samples', 'vaults'];
    await this.store(
      'projection',
      names.map((name) => ({ name, built_ts: NOW })),
    );
  }

  /** Empties the tables that were written, and those filled from them; ids begin at 1 again. */
  async reset(): Promise<void> {
    nextId = 1n;
    const { client, database } = this.clickhouse;
    for (const table of [...this.#written].flatMap((name) => [name, ...(COMPANIONS[name] ?? [])])) {
      await client.command({ query: `TRUNCATE TABLE ${database}.\`${table}\`` });
    }
    this.#written.clear();
  }

  /** Inserts rows, keys and signatures as the bytes of their text. */
  async store(table: string, values: readonly Record<string, unknown>[]): Promise<void> {
    if (table !== 'projection') this.#written.add(table);
    const name = `${this.clickhouse.database}.\`${table}\``;
    await this.clickhouse.client.insert({
      table: name,
      values,
      format: 'JSONEachRow',
      // Copies within an insert stay copies until a merge takes them away, as those of different inserts do.
      clickhouse_settings: { optimize_on_insert: 0 },
    });
  }

  /** The body of a 200 answer. */
  async list(url: string): Promise<Listed> {
    const answer = await this.app.inject(url);
    if (answer.statusCode !== 200) throw new Error(`${answer.statusCode} ${answer.body}`);
    return answer.json<Listed>();
  }
}

/** A fill of SOL-PERP: 1.5 base at 150.2; ids, signatures and slots grow from call to call. */
export function fill(members: Record<string, unknown> = {}): Record<string, unknown> {
  const id = nextId++;
  return {
    signature: id.toString().padStart(64, 's'),
    event_index: 2,
    slot: (1000n + id).toString(),
    tx_index: null,
    ts: NOW - 100,
    action: 'fill',
    action_explanation: 'orderFilledWithMatch',
    market_index: 0,
    market_type: 'perp',
    fill_record_id: id.toString(),
    base_asset_amount_filled: '1500000000',
    quote_asset_amount_filled: '225300000',
    taker_fee: '78855',
    maker_fee: '-5632',
    quote_asset_amount_surplus: '0',
    taker: 't'.repeat(32),
    taker_order_id: 3,
    taker_order_direction: 'long',
    taker_order_base_asset_amount: '18446744073709551615',
    maker: null,
    oracle_price: '150180000',
    bit_flags: 0,
    ...members,
  };
}

/** A fill of `base` whole units at `price`. */
export function fillAt(
  ts: number,
  price: number,
  base = 1,
  members: Record<string, unknown> = {},
): Record<string, unknown> {
  return fill({
    ts,
    base_asset_amount_filled: String(base * 1e9),
    quote_asset_amount_filled: String(Math.round(price * base * 1e6)),
    oracle_price: String(Math.round(price * 1e6) + 1_000_000),
    ...members,
  });
}

/** An hourly funding rate of SOL-PERP, each an hour older than the one before. */
export function fundingRate(members: Record<string, unknown> = {}): Record<string, unknown> {
  const id = nextId++;
  return {
    signature: id.toString().padStart(64, 'f'),
    event_index: 0,
    slot: (2000n + id).toString(),
    tx_index: null,
    ts: NOW - 3600 * Number(id),
    record_id: id.toString(),
    market_index: 0,
    funding_rate: '11857755',
    funding_rate_long: '11857755',
    funding_rate_short: '11857755',
    cumulative_funding_rate_long: '170141183460469231731687303715884105727',
    cumulative_funding_rate_short: '-5',
    oracle_price_twap: '150000000',
    mark_price_twap: '150000001',
    base_asset_amount_with_amm: '-1',
    ...members,
  };
}

/** A summary of SOL-PERP with members replaced: one fill at 150.2, a day after one at 150. */
export function marketSummary(members: Partial<MarketSummary> = {}): MarketSummary {
  return {
    marketType: 'perp',
    marketIndex: 0,
    slot: 200,
    ts: NOW - 5,
    quoteVolume24h: 450_600_000n,
    baseVolume24h: 3_000_000_000n,
    trades24h: 2,
    lastFillPrice: 150_200_000n,
    lastFillTs: NOW - 60,
    fillPrice24hAgo: 150_000_000n,
    fillHigh24h: 151_000_000n,
    fillLow24h: 149_500_000n,
    oracleHigh24h: 151_100_000n,
    oracleLow24h: 149_400_000n,
    funding: {
      recordId: 7n,
      ts: NOW - 1800,
      fundingRate: 11_857_755n,
      fundingRateLong: 11_857_755n,
      fundingRateShort: 11_857_755n,
      oraclePriceTwap: 150_000_000n,
    },
    fundingRecords24h: 24,
    fundingPercentSum1e9: 189_724_080n,
    oraclePrice: 150_180_000n,
    sampleSlot: 190,
    sampleTs: NOW - 9,
    openInterestLong: 2_000_000_000n,
    openInterestShort: -2_500_000_000n,
    bidPrice: 150_100_000n,
    askPrice: 150_300_000n,
    ...members,
  };
}
