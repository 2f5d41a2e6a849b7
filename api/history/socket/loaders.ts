// What the history socket reads from the store: the newest candle of a market, and the accounts of a wallet.

import type { CandleView } from '../../../schemas/index.ts';
import { marketParameters } from '../lists.ts';
import type { Projections } from '../projections.ts';
import type { HistoryStore } from '../store.ts';
import type { LoadCandle } from './candles.ts';
import type { LoadAccounts } from './notifications.ts';

const PRICES = ['fill', 'oracle'].flatMap((name) => ['open', 'high', 'low', 'close'].map((part) => `${name}_${part}`));

type Texts = Readonly<Record<string, string | null>>;

/** Rejects with HistoryError notBuilt while the candles are not. */
export function candleLoader(store: HistoryStore, projections: Projections): LoadCandle {
  return async ({ market, resolution }) => {
    await projections.require('candles');
    const [row] = await store.rows<Texts>(
      `SELECT ts, slot, ${PRICES.map((name) => `ifNull(${name}, 0) AS ${name}`).join(', ')},
         quote_volume, base_volume, trades, last_trade_ts, last_fill_record_id, version
       FROM {db:Identifier}.candle
       WHERE market_type = {marketType:String} AND market_index = {marketIndex:UInt16}
         AND resolution = {resolution:String}
       ORDER BY ts DESC, version DESC LIMIT 1`,
      { ...marketParameters(market), resolution },
    );
    if (!row) return null;
    const whole = (name: string) => BigInt(row[name] ?? 0);
    const optional = (name: string) => (row[name] === null ? null : whole(name));
    const { marketType, marketIndex } = market;
    return {
      marketType,
      marketIndex,
      resolution,
      ts: Number(row.ts),
      slot: Number(row.slot),
      fillOpen: whole('fill_open'),
      fillHigh: whole('fill_high'),
      fillLow: whole('fill_low'),
      fillClose: whole('fill_close'),
      oracleOpen: whole('oracle_open'),
      oracleHigh: whole('oracle_high'),
      oracleLow: whole('oracle_low'),
      oracleClose: whole('oracle_close'),
      quoteVolume: whole('quote_volume'),
      baseVolume: whole('base_volume'),
      trades: Number(row.trades),
      lastTradeTs: optional('last_trade_ts'),
      lastFillRecordId: optional('last_fill_record_id'),
      version: whole('version'),
    } satisfies CandleView;
  };
}

/** Deleted accounts are among them: nothing happens to those any more. */
export function accountLoader(store: HistoryStore): LoadAccounts {
  return async (authority) => {
    const rows = await store.rows<{ account: string }>(
      `SELECT DISTINCT base58Encode(user) AS account FROM {db:Identifier}.new_user
       WHERE user_authority = toFixedString(base58Decode({authority:String}), 32)`,
      { authority },
    );
    return rows.map(({ account }) => account);
  };
}
