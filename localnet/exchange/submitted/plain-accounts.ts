// Bytes of accounts that the chain definition does not describe: wallets, tokens, lookup tables, and accounts of the builder
// programme, which end in lists. See docs/internals/transactions.md, "Accounts of the simulated cluster".

import { createHash } from 'node:crypto';
import { LOOKUP_TABLE_PROGRAM } from '../../ledger/lookup-tables.ts';
import { EXCHANGE_PROGRAM, keyBytes, SYSTEM_PROGRAM, TOKEN_PROGRAM } from '../keys.ts';
import type { Stored } from '../model.ts';
import type { EscrowAccount, RevenueShareAccount, TokenAccount, WalletAccount } from './guests.ts';

const TOKEN_ACCOUNT_BYTES = 165;
const TOKEN_STATE_OFFSET = 108;
const MINT_BYTES = 82;
const INITIALIZED = 1;
const LOOKUP_HEADER_BYTES = 56;
const LOOKUP_KIND = 1;
const NEVER_DEACTIVATED = 2n ** 64n - 1n;
const REVENUE_SHARE_BYTES = 80;
const ESCROW_HEADER_BYTES = 96;
const ESCROW_ORDER_BYTES = 32;
const ESCROW_BUILDER_BYTES = 40;

export interface MintAccount {
  readonly supply: bigint;
  readonly decimals: number;
}

export interface LookupTable {
  readonly addresses: readonly string[];
  readonly extendedSlot: number;
}

export interface PlainAccount {
  readonly owner: string;
  readonly data: Uint8Array;
  /** Null: the rent-exempt balance. */
  readonly lamports: bigint | null;
}

/** The account's owner and bytes; null when the chain definition describes its type. */
export function plainAccount({ type, account }: Stored): PlainAccount | null {
  switch (type) {
    case 'Wallet':
      return { owner: SYSTEM_PROGRAM, data: new Uint8Array(0), lamports: (account as WalletAccount).lamports };
    case 'TokenAccount':
      return { owner: TOKEN_PROGRAM, data: tokenBytes(account as TokenAccount), lamports: null };
    case 'Mint':
      return { owner: TOKEN_PROGRAM, data: mintBytes(account as MintAccount), lamports: null };
    case 'LookupTable':
      return { owner: LOOKUP_TABLE_PROGRAM, data: lookupBytes(account as LookupTable), lamports: null };
    case 'RevenueShare':
      return { owner: EXCHANGE_PROGRAM, data: revenueShareBytes(account as RevenueShareAccount), lamports: null };
    case 'RevenueShareEscrow':
      return { owner: EXCHANGE_PROGRAM, data: escrowBytes(account as EscrowAccount), lamports: null };
    default:
      return null;
  }
}

function tokenBytes({ mint, owner, amount }: TokenAccount): Buffer {
  const bytes = Buffer.alloc(TOKEN_ACCOUNT_BYTES);
  bytes.set(keyBytes(mint), 0);
  bytes.set(keyBytes(owner), 32);
  bytes.writeBigUInt64LE(amount, 64);
  bytes[TOKEN_STATE_OFFSET] = INITIALIZED;
  return bytes;
}

function mintBytes({ supply, decimals }: MintAccount): Buffer {
  const bytes = Buffer.alloc(MINT_BYTES);
  bytes.writeBigUInt64LE(supply, 36);
  bytes[44] = decimals;
  bytes[45] = INITIALIZED;
  return bytes;
}

/** A frozen table: nobody can extend it. */
function lookupBytes({ addresses, extendedSlot }: LookupTable): Buffer {
  const bytes = Buffer.alloc(LOOKUP_HEADER_BYTES + 32 * addresses.length);
  bytes.writeUInt32LE(LOOKUP_KIND, 0);
  bytes.writeBigUInt64LE(NEVER_DEACTIVATED, 4);
  bytes.writeBigUInt64LE(BigInt(extendedSlot), 12);
  for (const [index, key] of addresses.entries()) bytes.set(keyBytes(key), LOOKUP_HEADER_BYTES + 32 * index);
  return bytes;
}

function revenueShareBytes(account: RevenueShareAccount): Buffer {
  const bytes = Buffer.alloc(REVENUE_SHARE_BYTES);
  bytes.set(accountDiscriminator('RevenueShare'), 0);
  bytes.set(keyBytes(account.authority), 8);
  bytes.writeBigUInt64LE(account.totalReferrerRewards, 40);
  bytes.writeBigUInt64LE(account.totalBuilderRewards, 48);
  return bytes;
}

function escrowBytes({ authority, referrer, orders, builders }: EscrowAccount): Buffer {
  const listOffset = ESCROW_HEADER_BYTES + 8 + orders * ESCROW_ORDER_BYTES;
  const bytes = Buffer.alloc(listOffset + 8 + builders.length * ESCROW_BUILDER_BYTES);
  bytes.set(accountDiscriminator('RevenueShareEscrow'), 0);
  bytes.set(keyBytes(authority), 8);
  bytes.set(keyBytes(referrer), 40);
  bytes.writeUInt32LE(orders, ESCROW_HEADER_BYTES + 4);
  bytes.writeUInt32LE(builders.length, listOffset + 4);
  for (const [index, builder] of builders.entries()) {
    const at = listOffset + 8 + index * ESCROW_BUILDER_BYTES;
    bytes.set(keyBytes(builder.authority), at);
    bytes.writeUInt16LE(builder.maxFeeTenthBps, at + 32);
  }
  return bytes;
}

function accountDiscriminator(name: string): Uint8Array {
  return createHash('sha256').update(`account:${name}`).digest().subarray(0, 8);
}
