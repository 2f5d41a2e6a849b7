// Property of wallets outside the simulation: lamports, token accounts, and accounts of the builder programme. Plain data, part of
// the world.

import { PublicKey } from '@solana/web3.js';
import { ASSOCIATED_TOKEN_PROGRAM, publicKeyOf, TOKEN_PROGRAM } from '../keys.ts';
import type { Stored } from '../model.ts';

export interface TokenAccount {
  readonly mint: string;
  readonly owner: string;
  amount: bigint;
}

export interface RevenueShareAccount {
  readonly authority: string;
  totalReferrerRewards: bigint;
  totalBuilderRewards: bigint;
}

export interface ApprovedBuilder {
  readonly authority: string;
  maxFeeTenthBps: number;
}

export interface EscrowAccount {
  readonly authority: string;
  readonly referrer: string;
  readonly orders: number;
  readonly builders: ApprovedBuilder[];
}

export interface WalletAccount {
  lamports: bigint;
}

/** The fee that an order pays its builder. */
export interface BuilderTerms {
  /** Place of the builder in the escrow. */
  readonly index: number;
  readonly feeTenthBps: number;
}

/** Each map is by address of the account. */
export interface Guests {
  readonly wallets: Map<string, Stored<WalletAccount>>;
  readonly tokens: Map<string, Stored<TokenAccount>>;
  readonly revenueShares: Map<string, Stored<RevenueShareAccount>>;
  readonly escrows: Map<string, Stored<EscrowAccount>>;
  /** By address of the user account and order id. */
  readonly builderTerms: Map<string, BuilderTerms>;
}

export const termsKey = (user: string, orderId: number): string => `${user}/${orderId}`;

export function noGuests(): Guests {
  return {
    wallets: new Map(),
    tokens: new Map(),
    revenueShares: new Map(),
    escrows: new Map(),
    builderTerms: new Map(),
  };
}

/** The wallet's own account, opened with no lamports if absent. */
export function walletOf(guests: Guests, key: string): Stored<WalletAccount> {
  return opened(guests.wallets, { key, type: 'Wallet', grown: 0, account: { lamports: 0n } });
}

/** The wallet's associated token account, opened empty if absent. */
export function tokenAccountOf(guests: Guests, owner: string, mint: string): Stored<TokenAccount> {
  const key = associatedTokenAddress(owner, mint);
  return opened(guests.tokens, { key, type: 'TokenAccount', grown: 0, account: { mint, owner, amount: 0n } });
}

function opened<T extends object>(accounts: Map<string, Stored<T>>, fresh: Stored<T>): Stored<T> {
  const known = accounts.get(fresh.key);
  if (known) return known;
  accounts.set(fresh.key, fresh);
  return fresh;
}

export function associatedTokenAddress(owner: string, mint: string): string {
  const seeds = [owner, TOKEN_PROGRAM, mint].map((key) => publicKeyOf(key).toBytes());
  return PublicKey.findProgramAddressSync(seeds, publicKeyOf(ASSOCIATED_TOKEN_PROGRAM))[0].toBase58();
}
