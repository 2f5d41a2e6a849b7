// The last funding rates of a perp market, as a strip of bars below the candles.

import type { HistoryRecord } from '../../../client/index.ts';
import { dateTimeOf, percent } from '../format.ts';
import { usePolled } from '../parts/use-polled.ts';
import { history } from '../services.ts';
import { marketOf } from '../state/markets.ts';
import { travelTs } from '../travel/travel.ts';

const LISTED_RATES = 50;
const REFRESH_MS = 30_000;
const HALF = 14;
const FUNDING_UNITS = 1e9;
const PRICE_UNITS = 1e6;

export type FundingRecord = HistoryRecord<'/market/{symbol}/fundingRates'>;

/** Percent an hour. */
export function fundingPercent({ fundingRate, oraclePriceTwap }: FundingRecord): number {
  const oracle = Number(oraclePriceTwap) / PRICE_UNITS;
  return oracle === 0 ? 0 : (Number(fundingRate) / FUNDING_UNITS / oracle) * 100;
}

export function FundingStrip({ market }: { readonly market: string }) {
  const isPerp = marketOf(market)?.marketType === 'perp';
  const endTs = travelTs.value ?? undefined;
  const interval = endTs === undefined ? {} : { startTs: 0, endTs };
  const { data } = usePolled(
    isPerp ? `${market} ${endTs}` : null,
    (signal) =>
      history.get('/market/{symbol}/fundingRates', { symbol: market, limit: LISTED_RATES, ...interval }, { signal }),
    REFRESH_MS,
  );
  const rates = (data?.records ?? []).toReversed();
  const most = Math.max(1e-9, ...rates.map((record) => Math.abs(fundingPercent(record))));
  const newest = rates.at(-1);
  const words = newest ? `newest ${percent(fundingPercent(newest), 4)} an hour` : 'none yet';
  return (
    <svg class="funding-strip" viewBox={`0 0 ${LISTED_RATES * 4} ${2 * HALF}`} preserveAspectRatio="none" role="img">
      <title>{`Funding rates of ${market}: ${words}`}</title>
      <line x1="0" x2={LISTED_RATES * 4} y1={HALF} y2={HALF} class="axis" />
      {rates.map((record, index) => {
        const share = fundingPercent(record) / most;
        const height = Math.max(1, Math.abs(share) * (HALF - 1));
        return (
          <rect
            key={`${record.ts}/${record.slot}`}
            x={(LISTED_RATES - rates.length + index) * 4}
            y={share < 0 ? HALF : HALF - height}
            width="3"
            height={height}
            class={share < 0 ? 'ask' : 'bid'}
          >
            <title>{`${dateTimeOf(record.ts)}: ${percent(fundingPercent(record), 4)} an hour`}</title>
          </rect>
        );
      })}
    </svg>
  );
}
