// Boards of authorities: who traded how much, who gained how much.

import type { HistoryStore } from '../store.ts';
import { VOLUME_FILLS } from './volumes.ts';

/** Each account with its wallet, from the record of its making. Accounts made before the history began have none. */
const OWNERS = 'SELECT user, any(user_authority) AS authority FROM {db:Identifier}.account GROUP BY user';

export interface VolumePlace {
  readonly authority: string;
  /** Quote 1e6. */
  readonly volume: string;
}

/**
 * Quote volume of perp fills by wallet on one side with from <= ts < to, largest first, ties by key. The AMM is no maker; a
 * fill of a wallet with itself counts on both sides.
 */
export function sideVolumes(
  store: HistoryStore,
  side: 'maker' | 'taker',
  from: number,
  to: number,
): Promise<readonly VolumePlace[]> {
  return store.rows<VolumePlace>(
    `SELECT base58Encode(owners.authority) AS authority, toString(sum(quote)) AS volume
     FROM (
       SELECT assumeNotNull(${side}) AS user, sum(toUInt256(ifNull(quote_asset_amount_filled, 0))) AS quote
       FROM {db:Identifier}.order_action FINAL
       WHERE ts >= {from:Int64} AND ts < {to:Int64} AND ${side} IS NOT NULL AND market_type = 'perp' AND ${VOLUME_FILLS}
       GROUP BY user
     ) AS fills INNER JOIN (${OWNERS}) AS owners ON fills.user = owners.user
     GROUP BY owners.authority ORDER BY sum(quote) DESC, authority`,
    { from, to },
  );
}

export interface Standing {
  readonly authority: string;
  /** Quote 1e6. */
  readonly volume: string;
  readonly pnl: string;
}

/**
 * Oracle price 1e6 of perp markets at a time, by index: the newest sample within a day before it, else that of the newest
 * fill; markets with neither are absent.
 */
async function pricesAt(
  store: HistoryStore,
  indexes: readonly number[],
  ts: number,
): Promise<Readonly<Record<string, string>>> {
  const sampled = await store.rows<{ index: number; price: string }>(
    `SELECT market_index AS index, toString(argMax(assumeNotNull(oracle_price), (ts, slot))) AS price
     FROM {db:Identifier}.market_sample
     WHERE market_type = 'perp' AND oracle_price IS NOT NULL AND ts <= {ts:Int64} AND ts > {ts:Int64} - 86400
     GROUP BY market_index`,
    { ts },
  );
  const missing = indexes.filter((index) => !sampled.some((row) => row.index === index));
  // By the order of the table's key, so that only the end of a market's fills is read.
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
 * Every wallet that has a position at either end or did anything between: volume of its accounts' perp fills with from < ts
 * <= to (both sides, liquidations among them, position transfers not), and the P&L of that time: quote received less paid
 * less fees of its perp fills, plus funding payments, plus the worth of its positions at the end less that at the beginning.
 * A position is base bought less sold since the history began, worth base * oracle / 1e9 (truncated toward zero, per account
 * and market) at the newest sample within a day before, else at the oracle price of the market's newest fill. In order of
 * their keys.
 */
export async function standings(
  store: HistoryStore,
  perpIndexes: readonly number[],
  from: number,
  to: number,
): Promise<readonly Standing[]> {
  const [opening, closing] = await Promise.all([from, to].map((ts) => pricesAt(store, perpIndexes, ts)));
  const worth = (base: string, prices: string) =>
    `intDiv(${base} * toInt256OrZero({${prices}:Map(String, String)}[toString(market_index)]), toInt256(1000000000))`;
  return store.rows<Standing>(
    `SELECT base58Encode(owners.authority) AS authority, toString(sum(volume)) AS volume, toString(sum(pnl)) AS pnl
     FROM (
       SELECT user, volume, cash + ${worth('base_end', 'closing')} - ${worth('base_start', 'opening')} AS pnl
       FROM (
         SELECT user, market_index,
           sumIf(quote, inside AND action_explanation != 'transferPerpPosition') AS volume,
           sumIf(-sign * quote - paid, inside) AS cash, sum(sign * base) AS base_end,
           sumIf(sign * base, NOT inside) AS base_start
         FROM (
           SELECT tupleElement(own, 1) AS user, market_index, action_explanation, ts > {from:Int64} AS inside,
             if(tupleElement(own, 2) = 'long', 1, -1) AS sign, toInt128(ifNull(base_asset_amount_filled, 0)) AS base,
             toInt128(ifNull(quote_asset_amount_filled, 0)) AS quote, tupleElement(own, 3) AS paid
           FROM {db:Identifier}.order_action FINAL
           ARRAY JOIN arrayFilter(one -> isNotNull(tupleElement(one, 1)), [
             (taker, taker_order_direction, toInt128(ifNull(taker_fee, 0))),
             (maker, maker_order_direction, toInt128(ifNull(maker_fee, 0)))]) AS own
           WHERE action = 'fill' AND market_type = 'perp' AND ts <= {to:Int64}
         ) GROUP BY user, market_index
         HAVING base_end != 0 OR base_start != 0 OR countIf(inside) > 0
       ) AS traded
       UNION ALL
       SELECT user, toInt256(0) AS volume, sum(toInt256(funding_payment)) AS pnl
       FROM {db:Identifier}.funding_payment FINAL WHERE ts > {from:Int64} AND ts <= {to:Int64} GROUP BY user
     ) AS results INNER JOIN (${OWNERS}) AS owners ON results.user = owners.user
     GROUP BY owners.authority ORDER BY authority`,
    { from, to, opening: opening ?? {}, closing: closing ?? {} },
  );
}
