// Transactions as a node prints them. The exchange gives signature, keys and log lines; the message around them is made
// here, so that every client can parse it: instructions follow the invoke lines of the logs.

import { createHash } from 'node:crypto';
import bs58 from 'bs58';
import type { StoredTransaction } from '../ledger.ts';

interface Instruction {
  readonly programIdIndex: number;
  readonly accounts: readonly number[];
  readonly stackHeight: number | null;
}

interface InnerInstructions {
  readonly index: number;
  readonly instructions: Instruction[];
}

interface Message {
  readonly accountKeys: readonly string[];
  readonly readonlyCount: number;
  readonly recentBlockhash: string;
  readonly instructions: readonly Instruction[];
  readonly innerInstructions: readonly InnerInstructions[];
}

export type TransactionEncoding = 'json' | 'jsonParsed' | 'base58' | 'base64';

/** Lamports of a transaction with one signature. */
const BASE_FEE_LAMPORTS = 5000;
/** Balances are not simulated; every account shows one SOL before and after. */
const BALANCE_LAMPORTS = 1_000_000_000;
/** Instructions address keys by one byte. */
const KEYS_MAX = 256;
const INVOKE = /^Program (\w+) invoke \[(\d+)\]$/;
const CONSUMED = /^Program \w+ consumed (\d+) of \d+ compute units$/;

/** The `transaction` member of an answer. */
export function transactionJson(transaction: StoredTransaction, encoding: TransactionEncoding): unknown {
  const message = messageOf(transaction);
  if (encoding === 'base64') return [wireBytes(transaction, message).toString('base64'), 'base64'];
  if (encoding === 'base58') return [bs58.encode(wireBytes(transaction, message)), 'base58'];
  const parsed = encoding === 'jsonParsed';
  return {
    message: {
      accountKeys: parsed
        ? message.accountKeys.map((key, index) => parsedKey(message, key, index))
        : message.accountKeys,
      addressTableLookups: [],
      ...(parsed ? {} : { header: headerOf(message) }),
      instructions: message.instructions.map((one) => instructionJson(message, one, parsed)),
      recentBlockhash: message.recentBlockhash,
    },
    signatures: [transaction.signature],
  };
}

/** The `meta` member of an answer. */
export function metaJson(transaction: StoredTransaction, encoding: TransactionEncoding): unknown {
  const message = messageOf(transaction);
  const balances = message.accountKeys.map(() => BALANCE_LAMPORTS);
  return {
    computeUnitsConsumed: computeUnits(transaction.logMessages),
    err: transaction.err,
    fee: BASE_FEE_LAMPORTS,
    innerInstructions: message.innerInstructions.map(({ index, instructions }) => ({
      index,
      instructions: instructions.map((one) => instructionJson(message, one, encoding === 'jsonParsed')),
    })),
    loadedAddresses: { readonly: [], writable: [] },
    logMessages: transaction.logMessages,
    postBalances: balances,
    postTokenBalances: [],
    preBalances: balances.map((lamports, index) => (index === 0 ? lamports + BASE_FEE_LAMPORTS : lamports)),
    preTokenBalances: [],
    rewards: [],
    status: statusJson(transaction.err),
  };
}

export function statusJson(err: unknown): unknown {
  return err === null ? { Ok: null } : { Err: err };
}

function messageOf(transaction: StoredTransaction): Message {
  const invoked = invocations(transaction.logMessages);
  const programs = [...new Set(invoked.map(({ program }) => program))];
  const others = [...new Set(transaction.accountKeys)].filter((key) => !programs.includes(key));
  const payer = bs58.encode(createHash('sha256').update(transaction.signature).digest());
  const accountKeys = [...(others.length === 0 ? [payer] : others), ...programs].slice(0, KEYS_MAX);
  const accounts = others.slice(0, KEYS_MAX).map((_, index) => index);
  const instructions: Instruction[] = [];
  const innerInstructions: InnerInstructions[] = [];
  for (const { program, depth } of invoked) {
    const programIdIndex = accountKeys.indexOf(program);
    if (programIdIndex < 0) continue;
    if (depth === 1) instructions.push({ programIdIndex, accounts, stackHeight: 1 });
    else if (instructions.length > 0) {
      const index = instructions.length - 1;
      let inner = innerInstructions.at(-1);
      if (inner?.index !== index) {
        inner = { index, instructions: [] };
        innerInstructions.push(inner);
      }
      inner.instructions.push({ programIdIndex, accounts: [], stackHeight: depth });
    }
  }
  const readonlyCount = accountKeys.filter((key) => programs.includes(key)).length;
  const recentBlockhash = transaction.block.previousBlockhash;
  return { accountKeys, readonlyCount, recentBlockhash, instructions, innerInstructions };
}

function invocations(logMessages: readonly string[]): { program: string; depth: number }[] {
  const found: { program: string; depth: number }[] = [];
  for (const line of logMessages) {
    const match = INVOKE.exec(line);
    const program = match?.[1];
    // Injected garbage may look like an invoke line; only a key can be a program.
    if (program !== undefined && bs58.decodeUnsafe(program)?.length === 32) {
      found.push({ program, depth: Number(match?.[2]) });
    }
  }
  return found;
}

function computeUnits(logMessages: readonly string[]): number {
  let units = 0;
  let depth = 0;
  for (const line of logMessages) {
    const invoke = INVOKE.exec(line);
    if (invoke !== null) depth = Number(invoke[2]);
    const consumed = CONSUMED.exec(line);
    if (consumed !== null && depth <= 1) units += Number(consumed[1]);
    if (/^Program \w+ (success|failed)/.test(line)) depth -= 1;
  }
  return units;
}

function headerOf(message: Message): Record<string, number> {
  return {
    numReadonlySignedAccounts: 0,
    numReadonlyUnsignedAccounts: message.readonlyCount,
    numRequiredSignatures: 1,
  };
}

function parsedKey(message: Message, pubkey: string, index: number): Record<string, unknown> {
  const writable = index < message.accountKeys.length - message.readonlyCount;
  return { pubkey, signer: index === 0, source: 'transaction', writable };
}

function instructionJson(message: Message, instruction: Instruction, parsed: boolean): unknown {
  const { programIdIndex, accounts, stackHeight } = instruction;
  if (!parsed) return { accounts, data: '', programIdIndex, stackHeight };
  const programId = message.accountKeys[programIdIndex];
  return { accounts: accounts.map((index) => message.accountKeys[index]), data: '', programId, stackHeight };
}

/** The transaction as it went over the wire, version 0 (https://solana.com/docs/core/transactions). */
function wireBytes(transaction: StoredTransaction, message: Message): Buffer {
  const signature = Buffer.alloc(64);
  signature.set((bs58.decodeUnsafe(transaction.signature) ?? new Uint8Array()).subarray(0, 64));
  const parts: Uint8Array[] = [compact(1), signature, Buffer.from([0x80, 1, 0, message.readonlyCount])];
  parts.push(compact(message.accountKeys.length));
  for (const key of message.accountKeys) parts.push(keyBytes(key));
  parts.push(keyBytes(message.recentBlockhash), compact(message.instructions.length));
  for (const { programIdIndex, accounts } of message.instructions) {
    parts.push(Buffer.from([programIdIndex]), compact(accounts.length), Buffer.from(accounts), compact(0));
  }
  parts.push(compact(0));
  return Buffer.concat(parts);
}

/** Always 32 bytes, whatever an injected transaction named as its keys. */
function keyBytes(key: string): Buffer {
  const bytes = Buffer.alloc(32);
  bytes.set((bs58.decodeUnsafe(key) ?? new Uint8Array()).subarray(0, 32));
  return bytes;
}

/** Solana's compact-u16: seven bits a byte, low ones first. */
function compact(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  while (rest >= 0x80) {
    bytes.push((rest & 0x7f) | 0x80);
    rest >>>= 7;
  }
  bytes.push(rest);
  return Buffer.from(bytes);
}
