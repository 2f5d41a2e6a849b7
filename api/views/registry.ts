// The markets of the exchange: the newest MarketView of each, found by name or by type and index.

import { type MarketRef, type MarketType, type MarketView, marketKey } from '../../schemas/index.ts';

const TYPE_ORDER: readonly MarketType[] = ['perp', 'spot'];

type NameListener = (key: string, before: string | null) => void;

export class MarketRegistry {
  readonly #byKey = new Map<string, MarketView>();
  readonly #listeners = new Set<NameListener>();
  readonly #byName: Record<MarketType, Map<string, MarketView>> = { perp: new Map(), spot: new Map() };

  #changes = 0;

  /** Number of accepted descriptions. */
  get changes(): number {
    return this.#changes;
  }

  /** Stores a description of a market. Ignores an older slot than the known one. */
  put(view: MarketView): void {
    const key = marketKey(view);
    const known = this.#byKey.get(key);
    if (known && known.slot > view.slot) return;
    const names = this.#byName[view.marketType];
    const name = known?.symbol.toUpperCase() ?? '';
    // Another market may have the name by now.
    if (names.get(name) === known) names.delete(name);
    this.#byKey.set(key, view);
    this.#changes++;
    names.set(view.symbol.toUpperCase(), view);
    if (known?.symbol === view.symbol) return;
    for (const listener of this.#listeners) listener(key, known?.symbol ?? null);
  }

  /** Calls `listener` when a market gets its first name, `before` null, or another one. Returns a function that unsubscribes. */
  onNamed(listener: NameListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** True once the book role has loaded the market's book completely; false for an unknown market. */
  isLoaded(key: string): boolean {
    return this.#byKey.get(key)?.isLoading === false;
  }

  get size(): number {
    return this.#byKey.size;
  }

  get(market: MarketRef): MarketView | null {
    return this.#byKey.get(marketKey(market)) ?? null;
  }

  byKey(key: string): MarketView | null {
    return this.#byKey.get(key) ?? null;
  }

  /** By symbol in any letter case. Without a type, searches perp markets before spot markets. */
  byName(symbol: string, marketType?: MarketType): MarketView | null {
    const name = symbol.toUpperCase();
    for (const type of marketType ? [marketType] : TYPE_ORDER) {
      const found = this.#byName[type].get(name);
      if (found) return found;
    }
    return null;
  }

  /** Every market, perps first, then by index. */
  list(): readonly MarketView[] {
    return [...this.#byKey.values()].sort(
      (a, b) => TYPE_ORDER.indexOf(a.marketType) - TYPE_ORDER.indexOf(b.marketType) || a.marketIndex - b.marketIndex,
    );
  }
}
