// The history service over its own database, with rows to store, for history tests.

import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { historyApp } from '../../../api/history/app.ts';
import { BuiltParts } from '../../../api/history/built-parts.ts';
import { Downloads } from '../../../api/history/downloads.ts';
import type { ExportAccess } from '../../../api/history/exports/access.ts';
import type { RequestLimits } from '../../../api/history/request-limits.ts';
import type { HistorySettings } from '../../../api/history/services.ts';
import { HistoryStore } from '../../../api/history/store.ts';
import { MarketSummaries } from '../../../api/history/summaries.ts';
import type { WalletAuth } from '../../../api/history/wallet/wallets.ts';
import type { NotificationServices } from '../../../api/notifications/services.ts';
import { AccountStates } from '../../../api/views/account-states.ts';
import { MarketRegistry } from '../../../api/views/registry.ts';
import type { ClickHouse, HistoryCompleteness } from '../../../platform/index.ts';
import type { ChainFinality, MarketSummary } from '../../../schemas/index.ts';
import { openTestDatabase } from '../platform.ts';
import { MARKETS } from './market-views.ts';

/** The service's clock: 2026-06-15 12:00:30 UTC. */
export const NOW = Date.UTC(2026, 5, 15, 12, 0, 30) / 1000;
/** Start of the clock's minute. */
export const MINUTE = Math.floor(NOW / 60) * 60;
export const DAY = 86_400;
/** The newest final block time in tests. */
export const FINAL = { slot: 1, ts: NOW - 15 };

/** Tables that the store derives from others. */
const DERIVED_TABLES: Readonly<Record<string, readonly string[]>> = {
  order_action: ['account_action', 'account_fill'],
  deposit: ['market_deposit'],
  swap: ['market_swap'],
  insurance_fund_stake: ['market_insurance_fund_stake'],
  liquidation: ['liquidation_by_time'],
  new_user: ['account', 'referral'],
};

const logger = pino({ level: 'silent' });
let nextId = 1n;

const NOTHING_KNOWN: HistoryCompleteness = { gaps: null, coverage: [], accounts: [], eventsNotStored: null };
const NO_SETTINGS: HistorySettings = { vaultsPath: '', fundingVenuesPath: '' };

export function registry(): MarketRegistry {
  const markets = new MarketRegistry();
  for (const view of MARKETS) markets.put(view);
  return markets;
}

/** The service over a database; `markets` defaults to `MARKETS`. */
export function makeApp(
  database: Pick<ClickHouse, 'client' | 'database'>,
  markets = registry(),
  {
    summaries = new MarketSummaries(markets),
    settings = NO_SETTINGS,
    completeness = async () => NOTHING_KNOWN,
    wallets,
    notifications,
    limits,
    accountStates = new AccountStates(),
    exports,
    downloads = new Downloads(),
    queryTimeoutMs,
    now = () => NOW,
    finality = () => FINAL,
  }: {
    readonly summaries?: MarketSummaries;
    readonly settings?: HistorySettings;
    readonly completeness?: () => Promise<HistoryCompleteness>;
    readonly wallets?: WalletAuth;
    readonly notifications?: NotificationServices;
    readonly limits?: RequestLimits;
    readonly accountStates?: AccountStates;
    readonly exports?: ExportAccess;
    readonly downloads?: Downloads;
    readonly queryTimeoutMs?: number;
    readonly now?: () => number;
    readonly finality?: () => ChainFinality | null;
  } = {},
): Promise<FastifyInstance> {
  const timeout = queryTimeoutMs === undefined ? {} : { queryTimeoutMs };
  const store = new HistoryStore(database.client, database.database, timeout);
  const builtParts = new BuiltParts(store);
  const parts = { store, markets, builtParts, summaries, settings, completeness, accountStates, downloads };
  const optional = {
    ...(wallets && { wallets }),
    ...(limits && { limits }),
    ...(notifications && { notifications }),
    ...(exports && { exports }),
  };
  return historyApp({ ...parts, now, finality, ...optional }, logger);
}

export interface Listed {
  readonly success: boolean;
  readonly records: Record<string, unknown>[];
  readonly meta: { nextPage: string | null; [name: string]: unknown };
}

export class HistoryStage {
  readonly clickhouse: ClickHouse;
  readonly app: FastifyInstance;
  /** Market summaries of the service; empty at first. */
  readonly summaries: MarketSummaries;
  /** Builder accounts and insurance funds of the service; empty at first. */
  readonly accountStates: AccountStates;
  readonly #written = new Set<string>();

  private constructor(
    clickhouse: ClickHouse,
    { app, summaries, accountStates }: Pick<HistoryStage, 'app' | 'summaries' | 'accountStates'>,
  ) {
    this.clickhouse = clickhouse;
    this.app = app;
    this.summaries = summaries;
    this.accountStates = accountStates;
  }

  static async open(): Promise<HistoryStage> {
    const clickhouse = await openTestDatabase();
    const markets = registry();
    const summaries = new MarketSummaries(markets);
    const accountStates = new AccountStates();
    const app = await makeApp(clickhouse, markets, { summaries, accountStates });
    const stage = new HistoryStage(clickhouse, { app, summaries, accountStates });
    await stage.markBuilt();
    return stage;
  }

  async close(): Promise<void> {
    await this.app.close();
    await this.clickhouse.stop();
  }

  /** Marks every part as built. */
  async markBuilt(): Promise<void> {
    const names = ['events', 'candles', 'samples', 'vaults', 'notifications', 'notificationMarks'];
    await this.store(
      'projection',
      names.map((name) => ({ name, built_ts: NOW })),
    );
  }

  /** Empties the written tables and their derived tables; ids restart at 1. */
  async reset(): Promise<void> {
    nextId = 1n;
    const { client, database } = this.clickhouse;
    for (const table of [...this.#written].flatMap((name) => [name, ...(DERIVED_TABLES[name] ?? [])])) {
      await client.command({ query: `TRUNCATE TABLE ${database}.\`${table}\`` });
    }
    this.#written.clear();
  }

  /** Inserts rows; keys and signatures are the bytes of their text. */
  async store(table: string, values: readonly Record<string, unknown>[]): Promise<void> {
    if (table !== 'projection') this.#written.add(table);
    const name = `${this.clickhouse.database}.\`${table}\``;
    await this.clickhouse.client.insert({
      table: name,
      values,
      format: 'JSONEachRow',
      // Keeps copies within an insert until a merge, like copies of different inserts.
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

/** A stored minute candle of SOL-PERP, whose prices are all `price`, 1e6. */
export function candleRow(ts: number, price: string, members: Record<string, unknown> = {}): Record<string, unknown> {
  const prices = ['fill', 'oracle'].flatMap((of) => ['open', 'high', 'low', 'close'].map((part) => `${of}_${part}`));
  return {
    market_type: 'perp',
    market_index: 0,
    resolution: '1',
    ts,
    ...Object.fromEntries(prices.map((name) => [name, price])),
    quote_volume: '225300000',
    base_volume: '1500000001',
    version: 1,
    ...members,
  };
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

/** An hourly funding rate of SOL-PERP; each call goes one hour further back. */
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

/** A summary of SOL-PERP with members replaced: a fill at 150.2, one day after a fill at 150. */
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
