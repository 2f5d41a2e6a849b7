// The frame of the page: navigation, theme, keys, and the view that the address names.

import { useEffect } from 'preact/hooks';
import { lazy } from './parts/lazy.tsx';
import { chosenTheme, theme } from './parts/palette.ts';
import { go, route, type ViewName } from './route.ts';
import { freshness } from './state/freshness.ts';
import { TradeView } from './trade/trade-view.tsx';
import { isTravelling, travelSlot, travelTo } from './travel/travel.ts';

const AccountView = lazy(async () => (await import('./account/account-view.tsx')).AccountView);
const StatusView = lazy(async () => (await import('./status/status-view.tsx')).StatusView);
const DocsView = lazy(async () => (await import('./docs/docs-view.tsx')).DocsView);

const NAVIGATION: readonly { readonly view: ViewName; readonly label: string; readonly key: string }[] = [
  { view: 'trade', label: 'Trade', key: '1' },
  { view: 'account', label: 'Account', key: '2' },
  { view: 'status', label: 'Status', key: '3' },
  { view: 'docs', label: 'Docs', key: '4' },
];

export function App() {
  useKeys();
  const { view } = route.value;
  useEffect(() => {
    document.title = `Slotbook: ${NAVIGATION.find((one) => one.view === view)?.label ?? ''}`;
  }, [view]);
  return (
    <>
      <button type="button" class="skip" onClick={() => document.getElementById('content')?.focus()}>
        Skip to the content
      </button>
      <nav class="top" aria-label="Views">
        <span class="brand">Slotbook</span>
        {NAVIGATION.map(({ view: name, label, key }) => (
          <a key={name} href={`#/${name}`} aria-current={name === view ? 'page' : undefined} title={`Key ${key}`}>
            {label}
          </a>
        ))}
        <span class="fill" />
        {view === 'trade' || view === 'status' ? (
          <span class={`state ${freshness.value.kind}`}>{freshness.value.label}</span>
        ) : null}
        <button
          type="button"
          onClick={() => {
            chosenTheme.value = theme.value === 'dark' ? 'light' : 'dark';
          }}
        >
          {theme.value === 'dark' ? 'Light' : 'Dark'}
        </button>
      </nav>
      <main id="content" tabIndex={-1}>
        {view === 'trade' ? <TradeView /> : null}
        {view === 'account' ? <AccountView /> : null}
        {view === 'status' ? <StatusView /> : null}
        {view === 'docs' ? <DocsView /> : null}
      </main>
    </>
  );
}

const FIELDS = 'input, select, textarea, [contenteditable]';

/** Keys of the page, outside fields: 1 to 4 open a view, / finds a market, [ and ] step by a slot, . goes live. */
function useKeys(): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isTyping = event.target instanceof Element && event.target.matches(FIELDS);
      if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
      const view = NAVIGATION.find(({ key }) => key === event.key)?.view;
      const slot = travelSlot.value;
      if (view) go(view);
      else if (event.key === '/') document.getElementById('market-search')?.focus();
      else if (slot !== null && event.key === '[') travelTo(slot - 1);
      else if (slot !== null && event.key === ']') travelTo(slot + 1);
      else if (isTravelling.value && event.key === '.') travelTo(null);
      else return;
      event.preventDefault();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
}
