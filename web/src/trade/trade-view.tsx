// The trading view: markets, chart, book and trades of one market, at the newest slot or at an earlier one.

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { Candles } from '../charts/candles.tsx';
import { amount } from '../format.ts';
import { lazy } from '../parts/lazy.tsx';
import { Tabs } from '../parts/tabs.tsx';
import { route, setOptions } from '../route.ts';
import { followBooks, headSlot } from '../state/book-feed.ts';
import { marketOf, markets, parametersOf, perpMarkets } from '../state/markets.ts';
import { stored } from '../state/stored.ts';
import { followTrades } from '../state/trades.ts';
import { isTravelling, travelTo } from '../travel/travel.ts';
import { groups, ownAccounts, showsIndicative } from './book-view.ts';
import { FeedLine } from './feed-line.tsx';
import { Ladder } from './ladder.tsx';
import { MarketHead } from './market-head.tsx';
import { MarketList } from './market-list.tsx';
import { groupChoices } from './rows.ts';
import { TradeList } from './trade-list.tsx';

const Panels = lazy(async () => (await import('./lower-panels.tsx')).LowerPanels);
const Depth = lazy(async () => (await import('./depth.tsx')).Depth);
const Orders = lazy(async () => (await import('./orders.tsx')).Orders);
const OwnAccountsForm = lazy(async () => (await import('./own-accounts.tsx')).OwnAccountsForm);
const TravelBar = lazy(async () => (await import('../travel/travel-bar.tsx')).TravelBar);

const lastMarket = stored<string>('market', '');
type BookTab = 'l2' | 'l3' | 'depth';
type PhoneTab = 'chart' | 'book' | 'trades' | 'markets' | 'more';

const BOOK_TABS = [
  { name: 'l2', label: 'Book' },
  { name: 'l3', label: 'Orders' },
  { name: 'depth', label: 'Depth' },
] as const;
const PHONE_TABS = [
  { name: 'chart', label: 'Chart' },
  { name: 'book', label: 'Book' },
  { name: 'trades', label: 'Trades' },
  { name: 'markets', label: 'Markets' },
  { name: 'more', label: 'More' },
] as const;

/** The market in the address, else the last one, else the first perp market. */
function marketName(): string {
  return route.value.subject.toUpperCase() || lastMarket.value || (perpMarkets.value[0]?.symbol ?? '');
}

export function TradeView() {
  const market = marketName();
  const phone = useSignal<PhoneTab>('chart');
  const isKnown = marketOf(market) !== undefined;
  const isListLoaded = markets.value.length > 0;
  useFeeds(market);
  useEffect(() => {
    if (isKnown) lastMarket.value = market;
  }, [market, isKnown]);
  if (isListLoaded && !isKnown) return <NoMarket market={market} />;
  return (
    <div class="trade" data-phone={phone.value}>
      <MarketHead market={market} />
      <FeedLine />
      {isTravelling.value ? <TravelBar market={market} /> : null}
      <div class="phone-tabs">
        <Tabs
          id="phone"
          label="Part of the trading view"
          choices={PHONE_TABS}
          chosen={phone.value}
          onChoose={(name) => {
            phone.value = name;
          }}
        />
      </div>
      <aside class="panel markets-panel" aria-label="Markets">
        <MarketList market={market} />
      </aside>
      <section class="panel chart-panel" aria-label="Chart">
        {market === '' ? null : <Candles market={market} />}
      </section>
      <section class="panel book-panel" aria-label="Order book">
        <BookPanel market={market} />
      </section>
      <section class="panel trades-panel" aria-label="Trades">
        <h2>Trades</h2>
        <TradeList market={market} />
      </section>
      <section class="panel lower-panel" aria-label="More about the market">
        <Panels market={market} />
      </section>
    </div>
  );
}

function NoMarket({ market }: { readonly market: string }) {
  return (
    <div class="page">
      <h1>No market {market}</h1>
      <p class="problem">This deployment lists no market of that name. Choose one of these:</p>
      <MarketList market={market} />
    </div>
  );
}

/** Follows what the view shows of a market, and only that. */
function useFeeds(market: string): void {
  // A name says its kind before the summaries are there: perp markets end in -PERP.
  const marketType = marketOf(market)?.marketType ?? (market.endsWith('-PERP') ? 'perp' : 'spot');
  const needsOrders = bookTab() === 'l3' || ownAccounts.value.length > 0;
  const isIndicative = showsIndicative.value && marketType === 'perp';
  const { baseDecimals } = parametersOf(market);
  useEffect(() => {
    if (market !== '') followBooks(market, marketType, needsOrders ? ['l2', 'l3'] : ['l2']);
  }, [market, marketType, needsOrders]);
  useEffect(
    () => (market === '' ? undefined : followTrades(market, marketType, baseDecimals)),
    [market, marketType, baseDecimals],
  );
  useEffect(() => {
    if (!isIndicative || market === '') return;
    const stop = import('./indicative.ts').then(({ followIndicative }) => followIndicative(market, marketType));
    return () => void stop.then((end) => end());
  }, [market, marketType, isIndicative]);
}

function bookTab(): BookTab {
  const named = route.value.options.book;
  return named === 'l3' || named === 'depth' ? named : 'l2';
}

function BookPanel({ market }: { readonly market: string }) {
  const tab = bookTab();
  return (
    <>
      <BookBar market={market} tab={tab} />
      <Tabs
        id="book"
        label="View of the book"
        choices={BOOK_TABS}
        chosen={tab}
        onChoose={(name) => setOptions({ book: name === 'l2' ? undefined : name })}
      >
        {tab === 'l2' ? <Ladder market={market} /> : null}
        {tab === 'l3' ? <Orders market={market} /> : null}
        {tab === 'depth' ? <Depth market={market} /> : null}
      </Tabs>
    </>
  );
}

function BookBar({ market, tab }: { readonly market: string; readonly tab: BookTab }) {
  const { tickSize } = parametersOf(market);
  const isPerp = marketOf(market)?.marketType !== 'spot';
  return (
    <div class="book-bar">
      <label class={tab === 'l2' ? '' : 'invisible'}>
        <span class="hidden">Group prices by</span>
        <select
          id="grouping"
          value={groups.value[market] ?? '0'}
          onChange={({ currentTarget }) => {
            groups.value = { ...groups.value, [market]: currentTarget.value };
          }}
        >
          {groupChoices(BigInt(tickSize)).map((width) => (
            <option key={String(width)} value={String(width)}>
              {width === 0n ? 'every price' : amount(width, 6)}
            </option>
          ))}
        </select>
      </label>
      {isPerp && !isTravelling.value ? (
        <label>
          <input
            type="checkbox"
            checked={showsIndicative.value}
            onChange={({ currentTarget }) => {
              showsIndicative.value = currentTarget.checked;
            }}
          />{' '}
          indicative
        </label>
      ) : null}
      <OwnAccounts />
      {isTravelling.value ? null : (
        <button type="button" disabled={headSlot.value === null} onClick={() => travelTo((headSlot.value ?? 1) - 1)}>
          Earlier
        </button>
      )}
    </div>
  );
}

/** The form is loaded when it is opened. */
function OwnAccounts() {
  const isOpen = useSignal(false);
  const marked = ownAccounts.value.length;
  return (
    <details
      class="own-accounts"
      onToggle={({ currentTarget }) => {
        isOpen.value = currentTarget.open;
      }}
    >
      <summary>{marked === 0 ? 'My orders' : `My orders (${marked})`}</summary>
      {isOpen.value ? <OwnAccountsForm /> : null}
    </details>
  );
}
