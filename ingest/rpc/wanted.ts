// Which accounts of which programs are read, as the filters that account queries and subscriptions take.

import bs58 from 'bs58';
import type { ChainDefinition } from '../../schemas/index.ts';
import { place } from '../decode/layout.ts';

/** Account kinds the differ reads. */
const WANTED = [
  'State',
  'PerpMarket',
  'SpotMarket',
  'PythLazerOracle',
  'PrelaunchOracle',
  'User',
  'ClobHeaderV0',
  'Vault',
  'VaultDepositor',
];
/** base58 of one zero byte. */
const ZERO_BYTE = '1';

export interface WantedAccounts {
  readonly program: string;
  readonly name: string;
  /** For the initial read: idle users are left out, they have neither orders nor positions. */
  readonly snapshotFilters: readonly unknown[];
  /**
   * For the subscription: every account of the kind, also when it turns idle, since the update that removes the last
   * order may be the one that makes the user idle.
   */
  readonly liveFilters: readonly unknown[];
}

/** One entry per account kind. Filters go by discriminator and flag bytes, never by data size: accounts grow. */
export function wantedAccounts(definition: ChainDefinition): WantedAccounts[] {
  const wanted: WantedAccounts[] = [];
  for (const program of definition.programs) {
    for (const name of WANTED) {
      const account = program.accounts.get(name);
      if (!account) continue;
      const kind = { memcmp: { offset: 0, bytes: bs58.encode(account.discriminator) } };
      const idle = name === 'User' ? place(account.layout, 'idle') : null;
      wanted.push({
        program: program.programId,
        name,
        liveFilters: [kind],
        snapshotFilters: idle ? [kind, { memcmp: { offset: idle.offset, bytes: ZERO_BYTE } }] : [kind],
      });
    }
  }
  return wanted;
}
