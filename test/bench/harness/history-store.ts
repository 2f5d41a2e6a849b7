// A large history, made inside ClickHouse by arithmetic on row numbers: seconds instead of an hour.

import { setTimeout as sleep } from 'node:timers/promises';
import type { ClickHouse } from '../../../platform/index.ts';
import { DAY_S, dayOf } from '../../../schemas/index.ts';

/** Markets of the history; the first has most of the fills. */
export const MARKET_SYMBOLS = ['SOL-PERP', 'BTC-PERP', 'ETH-PERP', 'HYPE-PERP'] as const;
/** Less than the 31 days of rolling lists, so that every fill is inside. */
const SPAN_DAYS = 30;
/** One fill in this many is of another market than the first: 10 million fills leave over 200,000 a day to it. */
const OTHERS_EVERY = 3;
/** One fill in this many has the busy account as its taker. */
const BUSY_EVERY = 20;
const ACCOUNTS = 1_000_000;
/** Trading accounts, one for each wallet: a few trade often, most of them rarely. */
const TRADERS = 50_000;
const MAKERS = 1_000;
const CANDLE_MINUTES = 525_600;
const BATCH_ROWS = 500_000;

export interface HistoryShape {
  readonly trades: number;
  /** Time of the newest trade, Unix seconds. */
  readonly end: number;
  /** Unix seconds of the newest candle. */
  readonly candlesUntil: number;
}

/** Days that hold trades, as the sums of accounts count them. */
export function tradedDays({ end }: HistoryShape): ReadonlySet<number> {
  const [first, last] = [dayOf(end - SPAN_DAYS * DAY_S), dayOf(end)];
  return new Set(Array.from({ length: last - first + 1 }, (_, index) => first + index));
}

/** 32 bytes of a numbered account. */
const account = (numberSql: string): string =>
  `toFixedString(concat(sipHash128(${numberSql}), sipHash128(${numberSql}, 1)), 32)`;
const signature = (numberSql: string): string =>
  `toFixedString(concat(${account(numberSql)}, ${account(`${numberSql} + 1`)}), 64)`;

/** The account in one fill of twenty, base58. */
export async function busyAccount({ client }: ClickHouse): Promise<string> {
  const query = `SELECT base58Encode(${account('toUInt64(0)')}) AS key`;
  const [row] = await (await client.query({ query, format: 'JSONEachRow' })).json<{ key: string }>();
  return row?.key ?? '';
}

export async function seedHistory(clickhouse: ClickHouse, shape: HistoryShape): Promise<void> {
  for (let from = 0; from < shape.trades; from += BATCH_ROWS) {
    await run(clickhouse, fills(from, Math.min(BATCH_ROWS, shape.trades - from), shape));
  }
  for (let from = 0; from < ACCOUNTS; from += BATCH_ROWS) await run(clickhouse, orders(from, BATCH_ROWS, shape));
  await run(clickhouse, wallets(shape));
  await run(clickhouse, candles(shape));
  for (const name of ['events', 'candles', 'samples']) {
    await run(clickhouse, `INSERT INTO projection (name, built_ts, log_end) VALUES ('${name}', 1, '')`);
  }
}

const SETTLE_MAX_MS = 300_000;
const SETTLED_MS = 3_000;
const ASK_EVERY_MS = 500;

/**
 * Waits until the server has merged the new parts: a month that arrived within two minutes leaves more merges than a live
 * service has. Returns the seconds it took, at most five minutes.
 */
export async function settled({ client }: ClickHouse): Promise<number> {
  const startedMs = performance.now();
  let busyMs = startedMs;
  while (performance.now() - busyMs < SETTLED_MS && performance.now() - startedMs < SETTLE_MAX_MS) {
    const answer = await client.query({ query: 'SELECT count() AS n FROM system.merges', format: 'JSONEachRow' });
    const [row] = await answer.json<{ n: string }>();
    if (Number(row?.n) > 0) busyMs = performance.now();
    await sleep(ASK_EVERY_MS);
  }
  return (performance.now() - startedMs) / 1000;
}

async function run({ client }: ClickHouse, query: string): Promise<void> {
  await client.command({
    query,
    clickhouse_settings: {
      max_partitions_per_insert_block: '0',
      // Blocks may be equal; the server must not drop one as a copy.
      insert_deduplicate: 0,
      // The managed child has a gigabyte.
      max_insert_threads: '1',
      max_block_size: '65536',
      min_insert_block_size_rows: '65536',
      min_insert_block_size_bytes: '0',
    },
  });
}

function fills(from: number, count: number, { trades, end }: HistoryShape): string {
  const start = end - SPAN_DAYS * DAY_S;
  const trader = `toUInt64(${TRADERS} * pow(cityHash64(number, 4) / 18446744073709551616., 3))`;
  const taker = `if(number % ${BUSY_EVERY} = 0, ${account('toUInt64(0)')}, ${account(trader)})`;
  return `INSERT INTO order_action (signature, event_index, slot, ts, action, action_explanation, market_index, market_type,
      filler, filler_reward, fill_record_id, base_asset_amount_filled, quote_asset_amount_filled, taker_fee, maker_fee,
      quote_asset_amount_surplus, taker, taker_order_id, taker_order_direction, taker_order_base_asset_amount,
      taker_order_cumulative_base_asset_amount_filled, taker_order_cumulative_quote_asset_amount_filled,
      maker, maker_order_id, maker_order_direction, maker_order_base_asset_amount,
      maker_order_cumulative_base_asset_amount_filled, maker_order_cumulative_quote_asset_amount_filled,
      oracle_price, bit_flags)
    SELECT ${signature('number')}, 2, 300000000 + intDiv(number, 4),
      ${start} + intDiv(number * ${SPAN_DAYS * DAY_S}, ${trades}), 'fill', 'orderFilledWithMatch',
      if(number % ${OTHERS_EVERY} = 0, intDiv(number, ${OTHERS_EVERY}) % 3 + 1, 0), 'perp',
      ${account('toUInt64(7)')}, 10000, number, 1000000000 + cityHash64(number) % 1000000000,
      150000000 + cityHash64(number, 1) % 1000000, 78855, -5632, 0,
      ${taker}, number % 4000000000, if(number % 2 = 0, 'long', 'short'), 5000000000, 1500000000, 225300000,
      ${account(`cityHash64(number, 2) % ${MAKERS}`)}, number % 4000000000, if(number % 2 = 0, 'short', 'long'), 5000000000,
      1500000000, 225300000, 150000000 + cityHash64(number, 3) % 1000000, 0
    FROM numbers(${from}, ${count})`;
}

/** Wallets of the trading accounts. */
function wallets({ end }: HistoryShape): string {
  return `INSERT INTO new_user (signature, event_index, slot, ts, user_authority, user)
    SELECT ${signature('number + 40000000')}, 0, 299999999, ${end - (SPAN_DAYS + 1) * DAY_S}, ${account('number + 50000000')},
      ${account('number')}
    FROM numbers(${TRADERS})`;
}

/** One order of each account. */
function orders(from: number, count: number, { end }: HistoryShape): string {
  return `INSERT INTO \`order\` (signature, event_index, slot, ts, user, order_slot, order_price, order_base_asset_amount,
      order_base_asset_amount_filled, order_quote_asset_amount_filled, order_trigger_price, order_max_ts,
      order_oracle_price_offset, order_order_id, order_market_index, order_status, order_order_type, order_market_type,
      order_user_order_id, order_existing_position_direction, order_direction, order_reduce_only, order_post_only,
      order_immediate_or_cancel, order_trigger_condition, order_posted_slot_tail, order_bit_flags)
    SELECT ${signature('number + 20000000')}, 1, 300000000, ${end - DAY_S}, ${account('number')}, 300000000, 150000000,
      5000000000, 0, 0, 0, 0, 0, number % 4000000000, 0, 'open', 'limit', 'perp', 0, 'long',
      if(number % 2 = 0, 'long', 'short'), 0, 1, 0, 'above', 0, 0
    FROM numbers(${from}, ${count})`;
}

/** A year of minutes of every market. */
function candles({ candlesUntil }: HistoryShape): string {
  const price = '150000000 + cityHash64(minute, market) % 1000000';
  const prices = Array.from({ length: 8 }, () => price).join(', ');
  return `INSERT INTO candle (market_type, market_index, resolution, ts, slot, fill_open, fill_high, fill_low, fill_close,
      oracle_open, oracle_high, oracle_low, oracle_close, quote_volume, base_volume, trades, version)
    SELECT 'perp', market, '1', ${Math.floor(candlesUntil / 60) * 60} - minute * 60, 300000000, ${prices}, 225300000, 1500000000, 1, 1
    FROM (SELECT number % ${CANDLE_MINUTES} AS minute, intDiv(number, ${CANDLE_MINUTES}) AS market
      FROM numbers(${CANDLE_MINUTES * MARKET_SYMBOLS.length}))`;
}
