// Address lookup tables of the chain: where a version 0 transaction can load a key from.

import bs58 from 'bs58';
import { PUBKEY_BYTES } from '../../schemas/index.ts';
import type { LedgerAccount } from '../ledger-types.ts';

export const LOOKUP_TABLE_PROGRAM = 'AddressLookupTab1e1111111111111111111111111';
/** LOOKUP_TABLE_META_SIZE of Solana: bytes before the addresses. */
const META_BYTES = 56;
/** Addresses are named by one byte. */
const ADDRESSES_MAX = 256;
const KIND_LOOKUP_TABLE = 1;
const NEVER = 0xffff_ffff_ffff_ffffn;
const LAMPORTS = 2_000_000_000;

export interface Place {
  readonly table: string;
  readonly index: number;
}

export class LookupTables {
  readonly #places = new Map<string, Place>();

  /** Reads the table accounts among the given ones. */
  constructor(accounts: readonly Pick<LedgerAccount, 'pubkey' | 'owner' | 'data'>[]) {
    for (const { pubkey, owner, data } of accounts) {
      if (owner !== LOOKUP_TABLE_PROGRAM) continue;
      for (let index = 0; META_BYTES + (index + 1) * PUBKEY_BYTES <= data.length; index++) {
        const start = META_BYTES + index * PUBKEY_BYTES;
        this.#places.set(bs58.encode(data.subarray(start, start + PUBKEY_BYTES)), { table: pubkey, index });
      }
    }
  }

  /** Where a key stands, or null when no table has it. */
  place(key: string): Place | null {
    return this.#places.get(key) ?? null;
  }
}

/** Table accounts with these keys; `named` returns the address of the nth table. */
export function tableAccounts(keys: readonly string[], named: (table: number) => string): LedgerAccount[] {
  const tables: LedgerAccount[] = [];
  for (let from = 0; from < keys.length; from += ADDRESSES_MAX) {
    const data = tableData(keys.slice(from, from + ADDRESSES_MAX));
    tables.push({ pubkey: named(tables.length), owner: LOOKUP_TABLE_PROGRAM, lamports: LAMPORTS, data });
  }
  return tables;
}

/** The layout of the program: kind, two slots, a start index and no authority, then the addresses. */
function tableData(keys: readonly string[]): Buffer {
  const data = Buffer.alloc(META_BYTES + keys.length * PUBKEY_BYTES);
  data.writeUInt32LE(KIND_LOOKUP_TABLE, 0);
  data.writeBigUInt64LE(NEVER, 4);
  for (const [index, key] of keys.entries()) data.set(bs58.decode(key), META_BYTES + index * PUBKEY_BYTES);
  return data;
}
