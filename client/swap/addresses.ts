// Addresses that the begin and end instructions name, derived from the program's id.

import { PublicKey } from '@solana/web3.js';

export const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
export const TOKEN_2022_PROGRAM = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb';
export const ASSOCIATED_TOKEN_PROGRAM = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL';
export const SYSTEM_PROGRAM = '11111111111111111111111111111111';
export const COMPUTE_BUDGET_PROGRAM = 'ComputeBudget111111111111111111111111111111';
export const INSTRUCTIONS_SYSVAR = 'Sysvar1nstructions1111111111111111111111111';
const DRIFT_PROGRAM = 'dRiftyHA39MWEi3m9aunc5MzRF1JYuBsbn6VPcn33UH';

const utf8 = new TextEncoder();

function derive(programId: string, ...seeds: readonly (string | Uint8Array)[]): string {
  const bytes = seeds.map((seed) => (typeof seed === 'string' ? utf8.encode(seed) : seed));
  const [address] = PublicKey.findProgramAddressSync(bytes, new PublicKey(programId));
  return address.toBase58();
}

const u16 = (value: number): Uint8Array => Uint8Array.of(value & 0xff, value >> 8);
const keyBytes = (key: string): Uint8Array => new PublicKey(key).toBytes();

export interface ProgramAddresses {
  readonly state: string;
  readonly signer: string;
  user(authority: string, subAccountId: number): string;
  userStats(authority: string): string;
  perpMarket(index: number): string;
  spotMarket(index: number): string;
}

/** Addresses of a program. Drift and Velocity name their state and signer by their own seeds. */
export function addressesOf(programId: string): ProgramAddresses {
  const name = programId === DRIFT_PROGRAM ? 'drift' : 'velocity';
  return {
    state: derive(programId, `${name}_state`),
    signer: derive(programId, `${name}_signer`),
    user: (authority, subAccountId) => derive(programId, 'user', keyBytes(authority), u16(subAccountId)),
    userStats: (authority) => derive(programId, 'user_stats', keyBytes(authority)),
    perpMarket: (index) => derive(programId, 'perp_market', u16(index)),
    spotMarket: (index) => derive(programId, 'spot_market', u16(index)),
  };
}

/** The associated token account of a wallet. */
export function tokenAccount(owner: string, mint: string, tokenProgram: string): string {
  return derive(ASSOCIATED_TOKEN_PROGRAM, keyBytes(owner), keyBytes(tokenProgram), keyBytes(mint));
}
