// All markets: price, change, volume, open interest, funding. The chosen one is the page's market.

import { useSignal } from '@preact/signals';
import type { MarketSummary } from '../../../client/index.ts';
import { compact, percent, price } from '../format.ts';
import { linkOf } from '../route.ts';
import { markets, marketsError } from '../state/markets.ts';

type SortName = 'volume' | 'change' | 'name';

const SORTS: Readonly<Record<SortName, (left: MarketSummary, right: MarketSummary) => number>> = {
  volume: (left, right) => right.volume24h - left.volume24h,
  change: (left, right) => (right.priceChange24hPercent ?? 0) - (left.priceChange24hPercent ?? 0),
  name: (left, right) => left.symbol.localeCompare(right.symbol),
};

export function MarketList({ market }: { readonly market: string }) {
  const search = useSignal('');
  const sort = useSignal<SortName>('volume');
  const wanted = search.value.trim().toUpperCase();
  const matching = markets.value
    .filter(({ symbol }) => symbol.includes(wanted))
    .toSorted((left, right) => left.marketType.localeCompare(right.marketType) || SORTS[sort.value](left, right));
  return (
    <div class="market-list">
      <div class="filters">
        <input
          id="market-search"
          type="search"
          placeholder="Market ( / )"
          aria-label="Find a market"
          value={search.value}
          onInput={({ currentTarget }) => {
            search.value = currentTarget.value;
          }}
        />
        <select
          aria-label="Order of the markets"
          value={sort.value}
          onChange={({ currentTarget }) => {
            sort.value = currentTarget.value as SortName;
          }}
        >
          <option value="volume">volume</option>
          <option value="change">change</option>
          <option value="name">name</option>
        </select>
      </div>
      {marketsError.value === null ? null : <p class="problem">{marketsError.value}</p>}
      <ul>
        {matching.map((one) => (
          <li key={one.symbol}>
            <MarketRow market={one} isChosen={one.symbol === market} />
          </li>
        ))}
      </ul>
    </div>
  );
}

function MarketRow({ market, isChosen }: { readonly market: MarketSummary; readonly isChosen: boolean }) {
  const { symbol, priceChange24hPercent: change = null, volume24h, openInterest, fundingRate, marketType } = market;
  const isPerp = marketType === 'perp';
  return (
    <a
      class="market-row"
      href={linkOf({ view: 'trade', subject: symbol, options: {} })}
      aria-current={isChosen ? 'page' : undefined}
    >
      <strong>{symbol}</strong>
      <span class="number">{price(market.price ?? market.oraclePrice)}</span>
      <span class={`number ${change === null ? 'muted' : change < 0 ? 'ask' : 'bid'}`}>{percent(change)}</span>
      <span class="muted">Vol {compact(volume24h)}</span>
      <span class="muted number">{isPerp ? `OI ${compact(openInterest)}` : 'spot'}</span>
      <span class="muted number">{isPerp ? percent(fundingRate, 3) : ''}</span>
    </a>
  );
}
