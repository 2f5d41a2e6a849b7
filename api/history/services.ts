// Services that the routes of the history service use.

import { type HistoryCompleteness, readKey } from '../../platform/index.ts';
import type { ChainFinality, MarketType, MarketView } from '../../schemas/index.ts';
import { HistoryError } from '../http/errors.ts';
import type { NotificationServices } from '../notifications/services.ts';
import type { AccountStates } from '../views/account-states.ts';
import type { MarketRegistry } from '../views/registry.ts';
import type { BuiltParts } from './built-parts.ts';
import type { Downloads } from './downloads.ts';
import type { ExportAccess } from './exports/access.ts';
import type { HistoryMetrics } from './metrics.ts';
import type { RequestLimits } from './request-limits.ts';
import type { HistoryStore } from './store.ts';
import type { MarketSummaries } from './summaries.ts';
import type { TransactionServices } from './transactions/services.ts';
import type { WalletAuth } from './wallet/wallets.ts';

export interface HistoryServices {
  readonly store: HistoryStore;
  readonly markets: MarketRegistry;
  readonly builtParts: BuiltParts;
  readonly summaries: MarketSummaries;
  readonly settings: HistorySettings;
  readonly downloads: Downloads;
  /** Gaps of the chain data, and events that are not stored yet. Rejects when the log is away. */
  readonly completeness: () => Promise<HistoryCompleteness>;
  /** The newest final block time; null while the source has not said it. */
  readonly finality: () => ChainFinality | null;
  /** Wall clock, unix seconds. */
  readonly now: () => number;
  readonly metrics?: HistoryMetrics;
  /** States of builder accounts and insurance funds. Absent in tests without them. */
  readonly accountStates?: AccountStates;
  /** Absent: this service has no chain, and `/tx/*` answers 503. */
  readonly transactions?: TransactionServices | null;
  /** Rate limits. Absent: none. */
  readonly limits?: RequestLimits;
  /** The sender of a request. Absent in tests without wallet signatures. */
  readonly wallets?: WalletAuth;
  /** Absent in tests without notifications. */
  readonly notifications?: NotificationServices;
  /** Jobs and files of statement exports. Absent in tests without them. */
  readonly exports?: ExportAccess;
}

/** Deployment settings that routes read. */
export interface HistorySettings {
  /** JSON file with the array of /vaults; empty: no vaults. */
  readonly vaultsPath: string;
  /** JSON file with the venues of /stats/fundingRates/external; empty: none. */
  readonly fundingVenuesPath: string;
}

/**
 * Unix seconds: the chain takes no row back whose time is lower. At most the end of the asked range (exclusive, null without an end), so
 * that the answer for a final range never changes. Null while the source has not said what is final.
 */
export function finalBeforeOf({ finality }: HistoryServices, end: number | null): number | null {
  const final = finality();
  return final === null ? null : Math.min(final.ts, end ?? final.ts);
}

/** Wallet signatures. Throws HistoryError notBuilt without them. */
export function walletsOf({ wallets }: HistoryServices): WalletAuth {
  if (!wallets) throw new HistoryError('notBuilt');
  return wallets;
}

/**
 * The market of a symbol in any letter case. Throws HistoryError: notBuilt while no market is known, validation with the
 * symbol when it is unknown or has the wrong market type.
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

/** Whether a text is a public key in base58. */
export const isPublicKey = (text: string): boolean => readKey(text) !== null;

/** Returns a public key unchanged after validation. Throws a validation HistoryError. */
export function keyOf(text: string): string {
  if (!isPublicKey(text)) throw new HistoryError('validation', `Invalid account ID format: ${text}`);
  return text;
}
