// Context of an instruction's handler: the running transaction, its arguments, and checks that Anchor makes on accounts.

import type { Idl } from '@coral-xyz/anchor';
import anchor from '@coral-xyz/anchor';
import { variantName } from '../../../schemas/index.ts';
import { chainDefinition } from '../accounts.ts';
import type { Transaction } from '../transaction.ts';
import { type Trader, traderById } from '../world.ts';
import { constraint, framework } from './errors.ts';
import type { SubmittedInstruction, SubmittedTransaction } from './message.ts';

export interface Call {
  readonly tx: Transaction;
  readonly submitted: SubmittedTransaction;
  readonly instruction: SubmittedInstruction;
  /** Accounts by their names in the IDL. */
  readonly accounts: Readonly<Record<string, string>>;
  /** Accounts after the named ones. */
  readonly remaining: readonly string[];
  /** Arguments by name: bigint for 64 bits, base58 keys, camelCase variants, null for none. */
  readonly args: Readonly<Record<string, unknown>>;
}

export type Handler = (call: Call) => void;

interface Definition {
  readonly name: string;
  readonly accounts: readonly { readonly name: string; readonly signer: boolean; readonly writable: boolean }[];
}

let coder: anchor.BorshInstructionCoder | undefined;

/** Decodes an instruction of the exchange and checks signers and mutability as its definition says. */
export function decodeCall(
  tx: Transaction,
  submitted: SubmittedTransaction,
  instruction: SubmittedInstruction,
): { readonly name: string; readonly call: Call } {
  const decoded = decode(instruction.data);
  const definition = definitionOf(decoded.name);
  const accounts: Record<string, string> = {};
  for (const [index, { name, signer, writable }] of definition.accounts.entries()) {
    const key = instruction.accounts[index];
    if (key === undefined) throw framework('AccountNotEnoughKeys');
    if (signer && !submitted.signers.has(key)) throw constraint('AccountNotSigner', name);
    if (writable && !submitted.writable.has(key)) throw constraint('ConstraintRaw', name);
    accounts[name] = key;
  }
  const remaining = instruction.accounts.slice(definition.accounts.length);
  return { name: decoded.name, call: { tx, submitted, instruction, accounts, remaining, args: decoded.args } };
}

/** Name of an instruction of the exchange. Fails as Anchor does for another one. */
export function nameOf(data: Uint8Array): string {
  return decode(data).name;
}

function decode(data: Uint8Array): { name: string; args: Record<string, unknown> } {
  coder ??= new anchor.BorshInstructionCoder(exchangeIdl());
  let decoded: ReturnType<anchor.BorshInstructionCoder['decode']>;
  try {
    decoded = coder.decode(Buffer.from(data));
  } catch {
    throw framework('InstructionDidNotDeserialize');
  }
  if (decoded === null) throw framework('InstructionFallbackNotFound');
  return { name: decoded.name, args: plain(decoded.data) as Record<string, unknown> };
}

function exchangeIdl(): Idl {
  const idl = chainDefinition().programs[0]?.idl;
  if (!idl) throw new Error('the chain definition has no program');
  return idl;
}

function definitionOf(name: string): Definition {
  const found = exchangeIdl().instructions.find((instruction) => instruction.name === name);
  if (!found) throw framework('InstructionFallbackNotFound');
  return {
    name,
    accounts: found.accounts.map((account) => ({
      name: account.name,
      signer: 'signer' in account && account.signer === true,
      writable: 'writable' in account && account.writable === true,
    })),
  };
}

/** Anchor's values as plain ones. */
function plain(value: unknown): unknown {
  if (anchor.BN.isBN(value)) return BigInt((value as { toString(): string }).toString());
  if (value instanceof anchor.web3.PublicKey) return value.toBase58();
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value);
  const [first] = entries;
  // A variant without values decodes as an object with one empty member.
  if (entries.length === 1 && first && isEmpty(first[1])) return variantName(first[0]);
  return Object.fromEntries(entries.map(([name, part]) => [name, plain(part)]));
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0 && !Array.isArray(value);
}

/** The trader of account `user`. Fails as Anchor does when the exchange has no such open account. */
export function userOf({ tx, accounts }: Call): Trader {
  const trader = tx.world.traders.find(({ key, alive }) => alive && key === accounts.user);
  if (!trader) throw constraint('AccountNotInitialized', 'user');
  return traderById(tx.world, trader.id);
}

/** The same, when `authority` may act for it: the owner or its delegate. */
export function ownUserOf(call: Call): Trader {
  const trader = userOf(call);
  const { authority, delegate } = trader.account;
  if (call.accounts.authority !== authority && call.accounts.authority !== delegate) {
    throw constraint('ConstraintRaw', 'user');
  }
  return trader;
}

/** Fails unless the named account has this key. */
export function expectKey({ accounts }: Call, name: string, key: string): void {
  if (accounts[name] !== key) throw constraint('ConstraintSeeds', name);
}

/** Fails with the exchange's error for a missing market unless every key is among the remaining accounts. */
export function expectRemaining({ remaining }: Call, keys: readonly string[], missing: () => Error): void {
  if (keys.some((key) => !remaining.includes(key))) throw missing();
}
