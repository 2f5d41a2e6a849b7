// What the routes of the history service are given.

import type { MarketType, MarketView } from '../../schemas/index.ts';
import { HistoryError } from '../errors.ts';
import type { MarketRegistry } from '../views/registry.ts';
import type { HistoryStore } from './store.ts';

export interface HistoryServices {
  readonly store: HistoryStore;
  readonly markets: MarketRegistry;
  /** Wall clock, unix seconds. */
  readonly now: () => number;
}

/**
 * The market of a symbol in any letter case. Throws HistoryError: notBuilt while no market is known, validation naming
 * the symbol when it is unknown or not of the type the endpoint serves.
 */
export function marketOf({ markets }: HistoryServices, symbol: string, only?: MarketType): MarketView {
  if (markets.size === 0) throw new HistoryError('notBuilt');
  const market = markets.byName(symbol);
  if (!market) throw new HistoryError('validation', `Unknown symbol: ${symbol}`);
  if (only && market.marketType !== only) {
    throw new HistoryError('validation', `Symbol ${symbol} is not a ${only} market`);
  }
  return market;
}
