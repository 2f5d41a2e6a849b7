// The instructions of a swap: the aggregator's, filtered, between beginSwap and endSwap of the exchange.

import { sha256 } from '@noble/hashes/sha2.js';
import {
  ASSOCIATED_TOKEN_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  INSTRUCTIONS_SYSVAR,
  type ProgramAddresses,
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
  tokenAccount,
} from './addresses.ts';
import type { SwapAccountMeta, SwapInstruction } from './types.ts';

export type SwapReduceOnly = 'In' | 'Out';

export interface SwapMarket {
  readonly index: number;
  readonly mint: string;
  readonly vault: string;
  readonly tokenProgram: string;
}

export interface Bracket {
  readonly programId: string;
  readonly addresses: ProgramAddresses;
  readonly authority: string;
  readonly user: string;
  readonly inMarket: SwapMarket;
  readonly outMarket: SwapMarket;
  readonly amountIn: bigint;
  readonly reduceOnly: SwapReduceOnly | null;
  /** Accounts behind the fixed ones: oracles, markets, token programs and mints. */
  readonly remaining: readonly SwapAccountMeta[];
}

const MINT_POSITION = 3;
const CREATE_IDEMPOTENT = 1;

const readable = (pubkey: string): SwapAccountMeta => ({ pubkey, isSigner: false, isWritable: false });
const writable = (pubkey: string): SwapAccountMeta => ({ pubkey, isSigner: false, isWritable: true });
const signing = (pubkey: string, isWritable = false): SwapAccountMeta => ({ pubkey, isSigner: true, isWritable });

/**
 * The aggregator's instructions that may stand between begin and end. Compute budget, token and system instructions go, and
 * creations of the two token accounts, which stand before begin.
 */
export function filterRoute(
  instructions: readonly SwapInstruction[],
  inMint: string,
  outMint: string,
): SwapInstruction[] {
  return instructions.filter(({ programId, accounts }) => {
    if ([COMPUTE_BUDGET_PROGRAM, TOKEN_PROGRAM, SYSTEM_PROGRAM].includes(programId)) return false;
    if (programId !== ASSOCIATED_TOKEN_PROGRAM) return true;
    const mint = accounts[MINT_POSITION]?.pubkey;
    return mint !== inMint && mint !== outMint;
  });
}

/** Both token accounts when missing, begin, the route, end. */
export function bracket(swap: Bracket, route: readonly SwapInstruction[]): SwapInstruction[] {
  const { authority, inMarket, outMarket, amountIn, reduceOnly } = swap;
  const markets = [...u16(inMarket.index), ...u16(outMarket.index)];
  // endSwap: no limit price; reduce-only as an option of an enum.
  const end = [0, ...(reduceOnly === null ? [0] : [1, reduceOnly === 'In' ? 0 : 1])];
  return [
    createTokenAccount(authority, inMarket),
    createTokenAccount(authority, outMarket),
    exchangeInstruction(swap, 'begin_swap', [...markets, ...u64(amountIn)]),
    ...route,
    exchangeInstruction(swap, 'end_swap', [...markets, ...end]),
  ];
}

function exchangeInstruction(swap: Bracket, name: string, args: readonly number[]): SwapInstruction {
  const { programId, addresses, authority, user, inMarket, outMarket, remaining } = swap;
  return {
    programId,
    accounts: [
      readable(addresses.state),
      writable(user),
      writable(addresses.userStats(authority)),
      signing(authority),
      writable(outMarket.vault),
      writable(inMarket.vault),
      writable(tokenAccount(authority, inMarket.mint, inMarket.tokenProgram)),
      writable(tokenAccount(authority, outMarket.mint, outMarket.tokenProgram)),
      readable(inMarket.tokenProgram),
      readable(addresses.signer),
      readable(INSTRUCTIONS_SYSVAR),
      ...remaining,
    ],
    data: Uint8Array.from([...sha256(`global:${name}`).subarray(0, 8), ...args]),
  };
}

function createTokenAccount(authority: string, { mint, tokenProgram }: SwapMarket): SwapInstruction {
  return {
    programId: ASSOCIATED_TOKEN_PROGRAM,
    accounts: [
      signing(authority, true),
      writable(tokenAccount(authority, mint, tokenProgram)),
      readable(authority),
      readable(mint),
      readable(SYSTEM_PROGRAM),
      readable(tokenProgram),
    ],
    data: Uint8Array.of(CREATE_IDEMPOTENT),
  };
}

const u16 = (value: number): number[] => [value & 0xff, value >> 8];

function u64(value: bigint): number[] {
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, value, true);
  return [...new Uint8Array(view.buffer)];
}
