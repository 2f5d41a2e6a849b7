// The accounts that ingest reads, as filters for account queries and subscriptions.

import bs58 from 'bs58';
import type { ChainDefinition } from '../../schemas/index.ts';
import { findField } from '../decode/layout.ts';

/** Account kinds that the differ reads. */
const ACCOUNT_KINDS = [
  'State',
  'PerpMarket',
  'SpotMarket',
  'PythLazerOracle',
  'PrelaunchOracle',
  'User',
  'ClobHeaderV0',
  'Vault',
  'VaultDepositor',
  'RevenueShare',
  'RevenueShareEscrow',
];
/** Kinds of accounts that name an oracle, and the oracles among the accounts that are read. */
export const MARKET_KINDS: ReadonlySet<string> = new Set(['PerpMarket', 'SpotMarket']);
export const ORACLE_KINDS: ReadonlySet<string> = new Set([...MARKET_KINDS, 'PythLazerOracle', 'PrelaunchOracle']);
/** One zero byte in base58. */
const ZERO_BYTE = '1';

export interface AccountFilter {
  readonly program: string;
  readonly name: string;
  /** First bytes of every account of the kind. */
  readonly discriminator: Uint8Array;
  /** For complete reads. They leave out idle users, which have neither orders nor positions. */
  readonly snapshotFilters: readonly unknown[];
  /**
   * For the subscription: every account of the kind, idle ones included. The update that removes a user's last order may
   * be the update that makes the user idle.
   */
  readonly liveFilters: readonly unknown[];
}

/** One entry per account kind. Filters use discriminator and flag bytes, never the data size: accounts grow. */
export function accountFilters(definition: ChainDefinition): AccountFilter[] {
  const filters: AccountFilter[] = [];
  for (const program of definition.programs) {
    for (const name of ACCOUNT_KINDS) {
      const account = program.accounts.get(name);
      if (!account) continue;
      const kind = { memcmp: { offset: 0, bytes: bs58.encode(account.discriminator) } };
      const idle = name === 'User' ? findField(account.layout, 'idle') : null;
      filters.push({
        program: program.programId,
        name,
        discriminator: account.discriminator,
        liveFilters: [kind],
        snapshotFilters: idle ? [kind, { memcmp: { offset: idle.offset, bytes: ZERO_BYTE } }] : [kind],
      });
    }
  }
  return filters;
}
