// Store queries of the history socket: the newest candle of a market, and the unread notifications of a wallet.

import { type CandleView, NOTIFICATION_STATUSES } from '../../../schemas/index.ts';
import { FEED_PAGE_ROWS } from '../../notifications/limits.ts';
import type { NotificationServices } from '../../notifications/services.ts';
import type { BuiltParts } from '../built-parts.ts';
import { marketParameters } from '../lists.ts';
import { feedPage } from '../queries/notifications.ts';
import type { HistoryStore } from '../store.ts';
import type { LoadCandle } from './candles.ts';
import type { LoadUnread } from './notifications.ts';

const PRICES = ['fill', 'oracle'].flatMap((name) => ['open', 'high', 'low', 'close'].map((part) => `${name}_${part}`));

type Texts = Readonly<Record<string, string | null>>;

/** Null also where the newest candle, and so each, is withdrawn. Rejects with HistoryError notBuilt until the candles are built. */
export function candleLoader(store: HistoryStore, builtParts: BuiltParts): LoadCandle {
  return async ({ market, resolution }) => {
    await builtParts.require('candles');
    const [row] = await store.rows<Texts>(
      `SELECT ts, slot, ${PRICES.join(', ')},
         quote_volume, base_volume, trades, last_trade_ts, last_fill_record_id, version
       FROM {db:Identifier}.candle
       WHERE market_type = {marketType:String} AND market_index = {marketIndex:UInt16}
         AND resolution = {resolution:String}
       ORDER BY ts DESC, version DESC LIMIT 1`,
      { ...marketParameters(market), resolution },
    );
    if (!row || row.fill_close === null) return null;
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

/** The newest unread notifications. Rejects with HistoryError notBuilt until notifications are built. */
export function unreadLoader(
  store: HistoryStore,
  builtParts: BuiltParts,
  marks: Pick<NotificationServices['marks'], 'of'>,
): LoadUnread {
  return async (authority) => {
    await builtParts.require('notifications', 'notificationMarks');
    return feedPage(store, {
      authority,
      after: null,
      statuses: NOTIFICATION_STATUSES.filter((status) => status !== 'READ'),
      limit: FEED_PAGE_ROWS,
      marks: marks.of(authority),
    });
  };
}
