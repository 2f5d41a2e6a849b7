// Accounts after the named ones (docs/internals/transactions.md, "Remaining accounts"). The program reads oracles, spot markets
// and perp markets for the margin of a user; others are written by the instruction.

import type { AccountMeta, PublicKey } from '@solana/web3.js';
import type { Markets, UserAccount } from './accounts.ts';

/** The quote asset is spot market 0. */
export const QUOTE_SPOT_INDEX = 0;

export interface Wanted {
  readonly user: UserAccount | null;
  readonly perps?: readonly number[];
  readonly spots?: readonly number[];
  readonly writablePerps?: readonly number[];
  readonly writableSpots?: readonly number[];
}

/** A market that the chain does not list. */
export class UnlistedMarket extends Error {
  override readonly name = 'UnlistedMarket';
}

/** Oracles first, then spot markets, then perp markets; each key once, in the order of its first mention. */
export function remainingAccounts(markets: Markets, wanted: Wanted): AccountMeta[] {
  const oracles = new Map<string, AccountMeta>();
  const spots = new Map<number, AccountMeta>();
  const perps = new Map<number, AccountMeta>();
  const addSpot = (index: number, isWritable: boolean): void => {
    const market = markets.spots[index];
    if (!market) throw new UnlistedMarket(`spot market ${index}`);
    spots.set(index, meta(market.key, isWritable));
    if (market.oracle) oracles.set(market.oracle.toBase58(), meta(market.oracle, false));
  };
  const addPerp = (index: number, isWritable: boolean): void => {
    const market = markets.perps[index];
    if (!market) throw new UnlistedMarket(`perp market ${index}`);
    perps.set(index, meta(market.key, isWritable));
    oracles.set(market.oracle.toBase58(), meta(market.oracle, isWritable && market.isPrelaunch));
    addSpot(market.quoteSpotIndex, false);
  };
  for (const { index, hasOrders } of wanted.user?.spotIndexes ?? []) {
    addSpot(index, false);
    if (hasOrders) addSpot(QUOTE_SPOT_INDEX, false);
  }
  for (const index of wanted.user?.perpIndexes ?? []) addPerp(index, false);
  for (const index of wanted.perps ?? []) addPerp(index, false);
  for (const index of wanted.spots ?? []) addSpot(index, false);
  for (const index of wanted.writablePerps ?? []) addPerp(index, true);
  for (const index of wanted.writableSpots ?? []) addSpot(index, true);
  return [...oracles.values(), ...spots.values(), ...perps.values()];
}

export function meta(pubkey: PublicKey, isWritable: boolean): AccountMeta {
  return { pubkey, isSigner: false, isWritable };
}
