// Leaderboards: traded volume and P&L by authority.

import {
  BASE_PRECISION,
  fillSidesByTime,
  fillSumsSql,
  fundingRows,
  moneySumsSql,
  quoteValueSql,
} from '../../../schemas/index.ts';
import type { HistoryStore } from '../store.ts';
import { both, cleanDays, DB, END_OF_DAY, sharesOf, storedFills, storedMoney } from './account-days.ts';
import { PRICE_LOOKBACK_S } from './snapshots.ts';

/** Each account with its wallet, from its creation record. Accounts created before the stored history have none. */
const OWNERS = 'SELECT user, any(user_authority) AS authority FROM {db:Identifier}.account GROUP BY user';

export interface VolumePlace {
  readonly authority: string;
  /** Quote 1e6. */
  readonly volume: string;
}

/**
 * Quote volume of perp fills by wallet on one side with from <= ts < to, largest first, ties by key. The AMM is no maker; a
 * wallet that fills itself counts on both sides.
 */
export async function sideVolumes(
  source: HistoryStore,
  side: 'maker' | 'taker',
  from: number,
  to: number,
): Promise<readonly VolumePlace[]> {
  const store = source.pinned();
  const shares = sharesOf(await cleanDays(store), { after: from - 1, until: to - 1, cuts: [] });
  const stored = storedFills('1', `market_type = 'perp' AND ${shares.stored}`);
  const open = fillSumsSql(fillSidesByTime(DB, `market_type = 'perp' AND side = '${side}' AND ${shares.open}`), '1');
  return store.rows<VolumePlace>(
    `SELECT base58Encode(owners.authority) AS authority, toString(sum(quote)) AS volume
     FROM (
       SELECT user, sum(toInt256(${side}_volume)) AS quote FROM ${both(stored, open)}
       WHERE ${side}_trades > 0 GROUP BY user
     ) AS traded INNER JOIN (${OWNERS}) AS owners ON traded.user = owners.user
     GROUP BY owners.authority ORDER BY sum(quote) DESC, authority`,
    {},
  );
}

export interface LeaderboardPlace {
  readonly authority: string;
  /** Quote 1e6. */
  readonly volume: string;
  readonly pnl: string;
}

/**
 * Oracle price 1e6 of perp markets at a time, by index: the newest sample within a day before it, else the price of the newest
 * fill. Markets with neither are absent.
 */
async function pricesAt(
  store: HistoryStore,
  indexes: readonly number[],
  ts: number,
): Promise<Readonly<Record<string, string>>> {
  const sampled = await store.rows<{ index: number; price: string }>(
    `SELECT market_index AS index, toString(argMax(assumeNotNull(oracle_price), (ts, slot))) AS price
     FROM {db:Identifier}.market_sample
     WHERE market_type = 'perp' AND oracle_price IS NOT NULL AND ts <= {ts:Int64} AND ts > {ts:Int64} - ${PRICE_LOOKBACK_S}
     GROUP BY market_index`,
    { ts },
  );
  const missing = indexes.filter((index) => !sampled.some((row) => row.index === index));
  // The order of the table's key, so the server reads only the end of a market's fills.
  const filled = await Promise.all(
    missing.map((index) =>
      store.rows<{ index: number; price: string }>(
        `SELECT market_index AS index, toString(oracle_price) AS price FROM {db:Identifier}.order_action
         WHERE market_type = 'perp' AND market_index = {index:UInt16} AND action = 'fill' AND ts <= {ts:Int64}
         ORDER BY ts DESC, slot DESC LIMIT 1`,
        { index, ts },
      ),
    ),
  );
  return Object.fromEntries([...sampled, ...filled.flat()].map(({ index, price }) => [index, price]));
}

/**
 * Volume and P&L of every wallet with a position at either end or activity in between, sorted by key.
 *
 * - Volume: the accounts' perp fills with from < ts <= to, on both sides. Liquidations count, position transfers do not.
 * - P&L: quote received less quote paid less fees of these fills, plus funding payments, plus the change in position value.
 * - A position is base bought less base sold since the stored history began. Its value is base * oracle / 1e9 per account and
 *   market, truncated toward zero. The oracle price is that of `pricesAt`.
 */
export async function leaderboard(
  source: HistoryStore,
  perpIndexes: readonly number[],
  from: number,
  to: number,
): Promise<readonly LeaderboardPlace[]> {
  const store = source.pinned();
  const [clean, opening, closing] = await Promise.all([
    cleanDays(store),
    ...[from, to].map((ts) => pricesAt(store, perpIndexes, ts)),
  ] as const);
  const all = sharesOf(clean, { until: to, cuts: [from] });
  const stored = storedFills(`${END_OF_DAY} > ${from}`, `market_type = 'perp' AND ${all.stored}`);
  const open = fillSumsSql(fillSidesByTime(DB, `market_type = 'perp' AND ${all.open}`), `ts > ${from}`);
  const late = sharesOf(clean, { after: from, until: to, cuts: [] });
  const funding = both(storedMoney('1', late.stored), moneySumsSql(fundingRows(DB, late.open), '1'));
  const worth = (base: string, prices: string) =>
    quoteValueSql(base, `toInt256OrZero({${prices}:Map(String, String)}[toString(market_index)])`, BASE_PRECISION);
  return store.rows<LeaderboardPlace>(
    `SELECT base58Encode(owners.authority) AS authority, toString(sum(volume)) AS volume, toString(sum(pnl)) AS pnl
     FROM (
       SELECT user, volume, gained + ${worth('base_end', 'closing')} - ${worth('base_start', 'opening')} AS pnl
       FROM (
         SELECT user, market_index, sumIf(toInt256(taker_volume + maker_volume), period = 1) AS volume,
           sumIf(cash, period = 1) AS gained, sum(base) AS base_end, sumIf(base, period = 0) AS base_start
         FROM ${both(stored, open)} GROUP BY user, market_index
         HAVING base_end != 0 OR base_start != 0 OR countIf(period = 1) > 0
       ) AS traded
       UNION ALL
       SELECT user, toInt256(0) AS volume, sum(funding) AS pnl FROM ${funding} WHERE fundings > 0 GROUP BY user
     ) AS results INNER JOIN (${OWNERS}) AS owners ON results.user = owners.user
     GROUP BY owners.authority ORDER BY authority`,
    { opening: opening ?? {}, closing: closing ?? {} },
  );
}
