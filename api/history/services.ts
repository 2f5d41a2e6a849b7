// What the routes of the history service are given.

import bs58 from 'bs58';
import type { LogFacts } from '../../platform/index.ts';
import type { MarketType, MarketView } from '../../schemas/index.ts';
import { HistoryError } from '../errors.ts';
import type { MarketRegistry } from '../views/registry.ts';
import type { Projections } from './projections.ts';
import type { HistoryStore } from './store.ts';
import type { MarketSummaries } from './summaries.ts';

export interface HistoryServices {
  readonly store: HistoryStore;
  readonly markets: MarketRegistry;
  readonly projections: Projections;
  readonly summaries: MarketSummaries;
  readonly settings: HistorySettings;
  /** Gaps of the chain data, and events that are not stored yet. Rejects when the log is away. */
  readonly logFacts: () => Promise<LogFacts>;
  /** Wall clock, unix seconds. */
  readonly now: () => number;
}

/** What a deployment says of itself. */
export interface HistorySettings {
  /** JSON file with the array of /vaults; empty: no vaults. */
  readonly vaultsPath: string;
  /** JSON file with the venues of /stats/fundingRates/external; empty: none. */
  readonly fundingVenuesPath: string;
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

/** Whether a text is a public key in base58. */
export function isPublicKey(text: string): boolean {
  try {
    return bs58.decode(text).length === KEY_BYTES;
  } catch {
    return false;
  }
}

/** A public key as it is written, after checking that it is one. Throws a validation HistoryError. */
export function keyOf(text: string): string {
  if (!isPublicKey(text)) throw new HistoryError('validation', `Invalid account ID format: ${text}`);
  return text;
}
