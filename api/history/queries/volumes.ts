// Volumes of the markets over a period.

import { IS_TRANSFER_SQL } from '../../../schemas/index.ts';
import type { HistoryStore } from '../store.ts';

/** Fills that count as market activity: liquidations do, position transfers do not. */
const VOLUME_FILLS = `action = 'fill' AND NOT ${IS_TRANSFER_SQL}`;

export interface VolumeRow {
  readonly marketType: string;
  readonly marketIndex: number;
  /** Raw integers: base in the market's base units, quote 1e6. */
  readonly baseVolume: string;
  readonly quoteVolume: string;
}

/** Volumes of fills with from <= ts < to, Unix seconds. Each fill counts once; markets without fills are absent. */
export function marketVolumes(store: HistoryStore, from: number, to: number): Promise<readonly VolumeRow[]> {
  return store.rows<VolumeRow>(
    `SELECT market_type AS marketType, market_index AS marketIndex,
       toString(sum(toUInt128(ifNull(base_asset_amount_filled, 0)))) AS baseVolume,
       toString(sum(toUInt128(ifNull(quote_asset_amount_filled, 0)))) AS quoteVolume
     FROM {db:Identifier}.order_action FINAL
     WHERE ${VOLUME_FILLS} AND ts >= {from:Int64} AND ts < {to:Int64}
     GROUP BY market_type, market_index`,
    { from, to },
  );
}
