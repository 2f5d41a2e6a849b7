// What the routes of the history service are given.

import bs58 from 'bs58';
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

const KEY_BYTES = 32;

/** A public key as it is written, after checking that it is one. Throws a validation HistoryError. */
export function keyOf(text: string): string {
  let bytes: Uint8Array | null = null;
  try {
    bytes = bs58.decode(text);
  } catch {
    // Not base58 at all: refused below.
  }
  if (bytes?.length !== KEY_BYTES) throw new HistoryError('validation', `Invalid account ID format: ${text}`);
  return text;
}
