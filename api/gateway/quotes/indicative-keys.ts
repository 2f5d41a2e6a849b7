// `makerIndicativeKey` of a fill. Fills name the maker's user account, quoters prove the key that owns it. User account addresses
// derive from the key: docs/internals/accounts.md, "Addresses".

import { PublicKey } from '@solana/web3.js';
import { LRUCache } from 'lru-cache';
import { loadDefinition, marketKey, type TradeView } from '../../../schemas/index.ts';
import { base58 } from '../../http/base58.ts';
import type { KnownQuoters } from '../../views/indicative-quoters.ts';

/** Sub-accounts derived per key, from 0 on. Makers of the predecessor quote from their first few. */
export const SUB_ACCOUNTS = 8;
/** Keys whose accounts one fill derives. Each takes 2 ms, so the other keys wait for the next fills. */
const DERIVED_PER_FILL = 2;
/** Keys with remembered accounts; the oldest leaves first. */
const MAX_REMEMBERED = 4096;

export class IndicativeKeys {
  readonly #quoters: KnownQuoters;
  readonly #program: PublicKey;
  readonly #clock: () => number;
  /** Base58 user accounts by base58 key. */
  readonly #accounts = new LRUCache<string, ReadonlySet<string>>({ max: MAX_REMEMBERED });

  /** `clock`: wall clock, milliseconds. */
  constructor(quoters: KnownQuoters, programId: string, clock: () => number = Date.now) {
    this.#quoters = quoters;
    this.#program = new PublicKey(programId);
    this.#clock = clock;
  }

  /** Base58 key of the quoter that made a fill; null when the maker is not a quoter. */
  of(trade: Pick<TradeView, 'marketType' | 'marketIndex' | 'maker'>): string | null {
    if (!trade.maker) return null;
    const account = base58(trade.maker);
    let derived = 0;
    for (const key of this.#quoters.in(marketKey(trade), this.#clock())) {
      const name = base58(key);
      if (name === account) return name;
      let accounts = this.#accounts.peek(name);
      if (!accounts) {
        if (derived >= DERIVED_PER_FILL) continue;
        derived += 1;
        accounts = this.#derive(name, key);
      }
      if (accounts.has(account)) return name;
    }
    return null;
  }

  #derive(name: string, key: Uint8Array): ReadonlySet<string> {
    const accounts = new Set<string>();
    for (let subAccount = 0; subAccount < SUB_ACCOUNTS; subAccount += 1) {
      accounts.add(userAccount(this.#program, key, subAccount).toBase58());
    }
    this.#accounts.set(name, accounts);
    return accounts;
  }
}

/** Id of the program that owns user accounts. Throws when the definition has none. */
export function exchangeProgram(definition: string): string {
  const exchange = loadDefinition(definition).programs.find(({ accounts }) => accounts.has('User'));
  if (!exchange) throw new Error(`the definition ${definition} has no user accounts`);
  return exchange.programId;
}

/** Address of a user account of an authority. */
export function userAccount(program: PublicKey, authority: Uint8Array, subAccount: number): PublicKey {
  const id = Buffer.alloc(2);
  id.writeUInt16LE(subAccount);
  return PublicKey.findProgramAddressSync([Buffer.from('user'), authority, id], program)[0];
}
