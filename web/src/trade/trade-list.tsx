// The newest fills, with the side of the taker; liquidations are marked.

import { count, decimal, price, timeOf } from '../format.ts';
import { type DisplayedTrade, isTradesLoaded, trades, tradesError } from '../state/trades.ts';
import { isTravelLoading, isTravelling, travelTrades } from '../travel/travel.ts';

const LISTED_TRADES = 60;

export function TradeList({ market }: { readonly market: string }) {
  const list = (isTravelling.value ? travelTrades.value : trades.value).slice(0, LISTED_TRADES);
  const error = tradesError.value;
  const isLoaded = isTravelling.value ? !isTravelLoading.value : isTradesLoaded.value;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling list must be reachable by key
    <section class="trades" data-testid="trades" aria-label="Newest trades" tabIndex={0}>
      {error === null ? null : <p class="problem">{error}</p>}
      <table class="records compact">
        <caption class="hidden">Newest trades of {market}</caption>
        <thead>
          <tr>
            <th scope="col" class="number">
              Price
            </th>
            <th scope="col" class="number">
              Size
            </th>
            <th scope="col" class="number">
              Time
            </th>
          </tr>
        </thead>
        <tbody>
          {list.map((trade) => (
            <TradeRow key={trade.id} trade={trade} />
          ))}
        </tbody>
      </table>
      {list.length === 0 && error === null ? (
        <p class="note">{isLoaded ? `No trade of ${market} yet.` : 'Loading.'}</p>
      ) : null}
    </section>
  );
}

function TradeRow({ trade }: { readonly trade: DisplayedTrade }) {
  const { side, size, ts, slot, isLiquidation, txSig } = trade;
  const words = `${side === 'buy' ? 'Bought' : 'Sold'} by the taker at slot ${count(slot)}, transaction ${txSig}`;
  return (
    <tr class={isLiquidation ? 'liquidation' : ''} title={words}>
      <td class={`number ${side === 'buy' ? 'bid' : 'ask'}`}>
        <span class="hidden">{side === 'buy' ? 'Buy' : 'Sell'} </span>
        {price(trade.price)}
      </td>
      <td class="number">
        {isLiquidation ? <abbr title="Liquidation">Liq</abbr> : null} {decimal(size, 0, size >= 1000 ? 1 : 4)}
      </td>
      <td class="number muted">{timeOf(ts)}</td>
    </tr>
  );
}
