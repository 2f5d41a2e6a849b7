// The final candles of a sequence of event records, without members that depend on the order of arrival.

import { Candles } from '../../../../processors/candles/reducer.ts';

/** By market, resolution and bucket; records of other markets than perps make none. */
export function candlesOf(records: readonly Uint8Array[]): ReadonlyMap<string, object> {
  const candles = new Candles();
  const found = new Map<string, object>();
  for (const bytes of records) candles.applyEvent(bytes);
  for (const { version: _, slot: __, ...view } of candles.takeCandles()) {
    found.set(`${view.marketType}-${view.marketIndex}/${view.resolution}/${view.ts}`, view);
  }
  return found;
}
