// The address of a view: `#/trade/SOL-PERP?book=l3&slot=1234`. A link names market, slot and view.

import { signal } from '@preact/signals';

export type ViewName = 'trade' | 'account' | 'status' | 'docs';
const VIEWS: readonly string[] = ['trade', 'account', 'status', 'docs'];

export interface Route {
  readonly view: ViewName;
  /** Market, account or document, by view; empty for the default one. */
  readonly subject: string;
  readonly options: Readonly<Record<string, string>>;
}

function parseRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  const [view = '', subject = ''] = path.split('/');
  return {
    view: VIEWS.includes(view) ? (view as ViewName) : 'trade',
    subject: decode(subject),
    options: Object.fromEntries(new URLSearchParams(query)),
  };
}

export function linkOf({ view, subject, options }: Route): string {
  const query = new URLSearchParams(options).toString();
  return `#/${view}${subject === '' ? '' : `/${encodeURIComponent(subject)}`}${query === '' ? '' : `?${query}`}`;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export const route = signal<Route>(parseRoute(location.hash));
window.addEventListener('hashchange', () => {
  route.value = parseRoute(location.hash);
});

/** Opens a view, as a new entry of the browser's history. */
export function go(view: ViewName, subject = '', options: Readonly<Record<string, string>> = {}): void {
  location.hash = linkOf({ view, subject, options });
}

/** Changes options of this view in place. `undefined` removes one. */
export function setOptions(changes: Readonly<Record<string, string | undefined>>): void {
  const { view, subject, options } = route.value;
  const next = { ...options, ...changes };
  const kept = Object.fromEntries(
    Object.entries(next).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  const changed = { view, subject, options: kept };
  history.replaceState(null, '', linkOf(changed));
  route.value = changed;
}
