// Addresses: program ids, PDAs by the program's seeds, and wallets derived from the exchange's seed.

import { hash } from 'node:crypto';
import { PublicKey } from '@solana/web3.js';
import bs58 from 'bs58';
import { signatureText } from '../../schemas/index.ts';

export const EXCHANGE_PROGRAM = 'vELoC1audYbSYVRXn1vPaV8Axoa9oU6BYmNGZZBDZ1P';
export const CLOB_PROGRAM = 'BPX47ur8TbgZQgtJcGJvdcQMMFbmBP7ZrhpiUmLuHKqU';
export const JIT_PROXY_PROGRAM = 'J1TnP8zvVxbtF5KFp5xRmWuvG9McnhzmBd9XGfCyuxFP';
/** Id of the vault program on the localnet, from its IDL. */
export const VAULT_PROGRAM = 'vAuLTsyrvSfZRuRB3XgvkPwNGgYSs9YRYymVebLKoxR';
/** Exchanges tokens for a swap, as an aggregator's program does on a cluster. */
export const ROUTER_PROGRAM = 'BAarkfwMwWCX3p5U2vi9Wny3i6TaAW4wNBuDPKTtaubE';
export const LAZER_PROGRAM = 'pytd2yyk641x7ak7mkaasSJVXh6YYZnC7wTmtgAyxPt';
export const COMPUTE_BUDGET_PROGRAM = 'ComputeBudget111111111111111111111111111111';
export const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
export const ASSOCIATED_TOKEN_PROGRAM = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL';
export const SYSTEM_PROGRAM = '11111111111111111111111111111111';
export const INSTRUCTIONS_SYSVAR = 'Sysvar1nstructions1111111111111111111111111';
export const RENT_SYSVAR = 'SysvarRent111111111111111111111111111111111';
export const NO_KEY = '11111111111111111111111111111111';

const programKey = new PublicKey(EXCHANGE_PROGRAM);
const vaultProgramKey = new PublicKey(VAULT_PROGRAM);
const publicKeys = new Map<string, PublicKey>();
const bytesOfKeys = new Map<string, Uint8Array>();
const exchangeAddresses = new Map<string, string>();
const vaultProgramAddresses = new Map<string, string>();

/** Parses a base58 key. Cached, because the same keys appear in every slot. */
export function publicKeyOf(key: string): PublicKey {
  let parsed = publicKeys.get(key);
  if (!parsed) {
    parsed = new PublicKey(key);
    publicKeys.set(key, parsed);
  }
  return parsed;
}

/** The 32 bytes of a key, which callers only read: they are cached too. */
export function keyBytes(key: string): Uint8Array {
  let known = bytesOfKeys.get(key);
  if (!known) {
    known = publicKeyOf(key).toBytes();
    bytesOfKeys.set(key, known);
  }
  return known;
}

/** A key without a private key, deterministic in seed and label. */
export function deriveKey(seed: number, label: string): string {
  return bs58.encode(hash('sha256', `${seed}:${label}`, 'buffer'));
}

/** Signature of transaction `index` of `slot`: 64 deterministic bytes in base58. */
export function signatureOf(seed: number, slot: number, index: number): string {
  return signatureText(hash('sha512', `${seed}:${slot}:${index}`, 'buffer'));
}

/** Program derived address of the exchange; `parts` are seeds: text, raw key bytes or little-endian numbers. */
export function exchangeAddress(...parts: Uint8Array[]): string {
  return derivedAddress(programKey, parts, exchangeAddresses);
}

/** Program derived address of the vault program, like `exchangeAddress`. */
export function vaultProgramAddress(...parts: Uint8Array[]): string {
  return derivedAddress(vaultProgramKey, parts, vaultProgramAddresses);
}

/** Cached, because exchanges of the same seed in one process have the same addresses. */
function derivedAddress(program: PublicKey, parts: Uint8Array[], known: Map<string, string>): string {
  // The address depends on the joined seeds alone.
  const seeds = Buffer.concat(parts).toString('latin1');
  let address = known.get(seeds);
  if (address === undefined) {
    address = PublicKey.findProgramAddressSync(parts, program)[0].toBase58();
    known.set(seeds, address);
  }
  return address;
}

export function text(value: string): Uint8Array {
  return new TextEncoder().encode(value);
}

export function u16le(value: number): Uint8Array {
  return Uint8Array.of(value & 0xff, value >>> 8);
}

export function u32le(value: number): Uint8Array {
  return Uint8Array.of(value & 0xff, (value >>> 8) & 0xff, (value >>> 16) & 0xff, value >>> 24);
}

export function userAddress(authority: string, subAccountId: number): string {
  return exchangeAddress(text('user'), keyBytes(authority), u16le(subAccountId));
}
