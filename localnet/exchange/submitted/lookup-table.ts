// The exchange's address lookup table: every key that its instructions name and no wallet owns.

import {
  ASSOCIATED_TOKEN_PROGRAM,
  CLOB_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  deriveKey,
  EXCHANGE_PROGRAM,
  INSTRUCTIONS_SYSVAR,
  NO_KEY,
  RENT_SYSVAR,
  ROUTER_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
} from '../keys.ts';
import type { Stored } from '../model.ts';
import type { World } from '../world.ts';
import type { LookupTable, MintAccount } from './plain-accounts.ts';

/** Slot of the last extension; a table is usable in later slots. */
const EXTENDED_SLOT = 1;
const MINT_SUPPLY = 10n ** 18n;

export function lookupTableKey(seed: number): string {
  return deriveKey(seed, 'lookup-table');
}

export function lookupTable(world: World, seed: number): Stored<LookupTable> {
  const account = { addresses: tableAddresses(world), extendedSlot: EXTENDED_SLOT };
  return { key: lookupTableKey(seed), type: 'LookupTable', grown: 0, account };
}

/** The mints of the spot markets. */
export function mints(world: World): Stored<MintAccount>[] {
  return world.spots.map(({ account }) => ({
    key: account.mint,
    type: 'Mint',
    grown: 0,
    account: { supply: MINT_SUPPLY, decimals: account.decimals },
  }));
}

/** The same keys in the same order for the life of the chain: markets neither come nor go. */
export function tableAddresses(world: World): string[] {
  const keys = [
    world.state.key,
    world.state.account.signer,
    EXCHANGE_PROGRAM,
    CLOB_PROGRAM,
    TOKEN_PROGRAM,
    ASSOCIATED_TOKEN_PROGRAM,
    COMPUTE_BUDGET_PROGRAM,
    SYSTEM_PROGRAM,
    RENT_SYSVAR,
    INSTRUCTIONS_SYSVAR,
    ROUTER_PROGRAM,
    ...world.spots.flatMap(({ key, account }) => [key, account.oracle, account.vault, account.mint]),
    ...world.perps.flatMap(({ key, account }) => [key, account.oracle, account.clob_market, account.quoter_slab]),
  ];
  return [...new Set(keys)].filter((key) => key !== NO_KEY || key === SYSTEM_PROGRAM);
}
