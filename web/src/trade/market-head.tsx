// The line above the chart: the market's prices, volume, open interest and funding, with the time to the next funding.

import type { ComponentChildren } from 'preact';
import { compact, duration, percent, price } from '../format.ts';
import { now } from '../state/clock.ts';
import { marketOf, marketsAtMs, secondsToFunding } from '../state/markets.ts';
import { isTravelling, travelOracle, travelTrades } from '../travel/travel.ts';

function Figure({ name, children, title }: { name: string; children: ComponentChildren; title?: string }) {
  return (
    <div class="figure" title={title}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

export function MarketHead({ market }: { readonly market: string }) {
  const summary = marketOf(market);
  const isPerp = summary?.marketType !== 'spot';
  if (isTravelling.value) return <EarlierHead market={market} />;
  const change = summary?.priceChange24hPercent ?? null;
  return (
    <header class="market-head">
      <h1>{market}</h1>
      <dl>
        <Figure name="Price">
          <strong class="price">{price(summary?.price ?? summary?.oraclePrice)}</strong>
        </Figure>
        <Figure name="24 h change">
          <span class={change === null ? 'muted' : change < 0 ? 'ask' : 'bid'}>{percent(change)}</span>
        </Figure>
        <Figure name="Oracle">{price(summary?.oraclePrice)}</Figure>
        {isPerp ? <Figure name="Mark">{price(summary?.markPrice)}</Figure> : null}
        <Figure name="24 h volume" title="In the quote currency">
          {compact(summary?.volume24h)}
        </Figure>
        {isPerp ? (
          <>
            <Figure name="Open interest" title="The larger side, in the base currency">
              {compact(summary?.openInterest)}
            </Figure>
            <Figure name="Funding / 1 h" title="Positive: longs pay shorts">
              <span class={(summary?.fundingRate ?? 0) < 0 ? 'ask' : 'bid'}>{percent(summary?.fundingRate, 4)}</span>
            </Figure>
            <Figure name="Next funding">in {duration(secondsToFunding(now.value))}</Figure>
          </>
        ) : null}
        <SummaryAge />
      </dl>
    </header>
  );
}

function SummaryAge() {
  const atMs = marketsAtMs.value;
  if (atMs === null) return null;
  const seconds = (now.value - atMs) / 1000;
  return (
    <Figure name="Figures" title="Time since the history service sent these figures">
      <span class={seconds > 15 ? 'warn' : 'muted'}>{duration(seconds)} old</span>
    </Figure>
  );
}

function EarlierHead({ market }: { readonly market: string }) {
  const [newest] = travelTrades.value;
  return (
    <header class="market-head">
      <h1>{market}</h1>
      <dl>
        <Figure name="Last trade then">
          <strong class="price">{price(newest?.price)}</strong>
        </Figure>
        <Figure name="Oracle then">{price(travelOracle.value)}</Figure>
      </dl>
    </header>
  );
}
