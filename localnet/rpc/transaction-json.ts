// Prints transactions like a node. The exchange gives signature, keys and log lines; this file builds a parsable message
// around them, with instructions from the invoke lines of the logs.

import { hash } from 'node:crypto';
import bs58 from 'bs58';
import { LRUCache } from 'lru-cache';
import { PUBKEY_BYTES } from '../../schemas/index.ts';
import type { LookupTables, Place } from '../ledger/lookup-tables.ts';
import type { StoredTransaction } from '../ledger.ts';

export interface Instruction {
  readonly programIdIndex: number;
  readonly accounts: readonly number[];
  readonly stackHeight: number | null;
}

export interface InnerInstructions {
  readonly index: number;
  readonly instructions: Instruction[];
}

/** Keys that a transaction loads from one table. */
interface Lookup {
  readonly accountKey: string;
  readonly writableIndexes: number[];
  readonly readonlyIndexes: number[];
}

export interface Message {
  /** Keys in the message, then loaded ones: first writable, then readonly. */
  readonly accountKeys: readonly string[];
  readonly writable: readonly string[];
  readonly readonly: readonly string[];
  readonly lookups: readonly Lookup[];
  readonly readonlyCount: number;
  readonly recentBlockhash: string;
  readonly instructions: readonly Instruction[];
  readonly innerInstructions: readonly InnerInstructions[];
}

export type TransactionEncoding = 'json' | 'jsonParsed' | 'base58' | 'base64';

/** Lamports of a transaction with one signature. */
export const BASE_FEE_LAMPORTS = 5000;
/** Balances are not simulated: every account has one SOL before and after. */
export const BALANCE_LAMPORTS = 1_000_000_000;
/** Instructions address keys by one byte. */
const KEYS_MAX = 256;
/** About what a signature and some locks cost a block (SIGNATURE_COST, WRITE_LOCK_UNITS of Agave). */
const BASE_COST_UNITS = 1_020;
const INVOKE = /^Program (\w+) invoke \[(\d+)\]$/;
const CONSUMED = /^Program \w+ consumed (\d+) of \d+ compute units$/;

/** The `transaction` member of an answer. */
export function transactionJson(
  transaction: StoredTransaction,
  encoding: TransactionEncoding,
  tables: LookupTables,
): unknown {
  const message = messageOf(transaction, tables);
  if (encoding === 'base64') return [wireBytes(transaction, message).toString('base64'), 'base64'];
  if (encoding === 'base58') return [bs58.encode(wireBytes(transaction, message)), 'base58'];
  const parsed = encoding === 'jsonParsed';
  return {
    message: {
      accountKeys: parsed
        ? message.accountKeys.map((key, index) => parsedKey(message, key, index))
        : staticKeys(message),
      addressTableLookups: message.lookups,
      ...(parsed ? {} : { header: headerOf(message) }),
      instructions: message.instructions.map((one) => instructionJson(message, one, parsed)),
      recentBlockhash: message.recentBlockhash,
    },
    signatures: [transaction.signature],
  };
}

/** The `meta` member of an answer. */
export function metaJson(transaction: StoredTransaction, encoding: TransactionEncoding, tables: LookupTables): object {
  const message = messageOf(transaction, tables);
  const balances = message.accountKeys.map(() => BALANCE_LAMPORTS);
  const units = computeUnits(transaction.logMessages);
  return {
    computeUnitsConsumed: units,
    costUnits: BASE_COST_UNITS + units,
    err: transaction.err,
    fee: BASE_FEE_LAMPORTS,
    innerInstructions: message.innerInstructions.map(({ index, instructions }) => ({
      index,
      instructions: instructions.map((one) => instructionJson(message, one, encoding === 'jsonParsed')),
    })),
    // The parsed form has the loaded keys among its account keys.
    ...(encoding === 'jsonParsed'
      ? {}
      : { loadedAddresses: { readonly: message.readonly, writable: message.writable } }),
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

/** Every reader asks soon after the block, for the message and for what it did. */
const MESSAGES_CACHED = 1_000;
const messages = new WeakMap<LookupTables, LRUCache<StoredTransaction, Message>>();

/** The message around the keys and logs of a transaction. */
export function messageOf(transaction: StoredTransaction, tables: LookupTables): Message {
  const ofTables = messages.get(tables) ?? new LRUCache({ max: MESSAGES_CACHED });
  messages.set(tables, ofTables);
  const known = ofTables.get(transaction);
  if (known) return known;
  const made = makeMessage(transaction, tables);
  ofTables.set(transaction, made);
  return made;
}

function makeMessage(transaction: StoredTransaction, tables: LookupTables): Message {
  const invoked = invocations(transaction.logMessages);
  const programs = [...new Set(invoked.map(({ program }) => program))];
  const called = new Set(invoked.filter(({ depth }) => depth === 1).map(({ program }) => program));
  const others = [...new Set(transaction.accountKeys)].filter((key) => !programs.includes(key));
  const first = others.length === 0 ? [bs58.encode(hash('sha256', transaction.signature, 'buffer'))] : others;
  // The payer signs and the programs of top-level instructions are named in the message, so only the rest can be loaded.
  const placeOf = (key: string): Place | null => (transaction.usesLookups ? tables.place(key) : null);
  const loaded = (keys: readonly string[]): string[] => {
    const placed = keys.filter((key) => placeOf(key) !== null);
    return placed.sort((a, b) => compare(placeOf(a)?.table ?? '', placeOf(b)?.table ?? ''));
  };
  const writable = loaded(first.slice(1));
  const readonly = loaded(programs.filter((key) => !called.has(key)));
  const inMessage = [...first, ...programs].filter((key) => !writable.includes(key) && !readonly.includes(key));
  const accountKeys = [...inMessage, ...writable, ...readonly].slice(0, KEYS_MAX);
  const lookups = lookupsOf(writable, readonly, placeOf);
  const accounts = others.map((key) => accountKeys.indexOf(key)).filter((index) => index >= 0);
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
  const readonlyCount = inMessage.filter((key) => programs.includes(key)).length;
  const recentBlockhash = transaction.block.previousBlockhash;
  return {
    accountKeys,
    writable,
    readonly,
    lookups,
    readonlyCount,
    recentBlockhash,
    instructions,
    innerInstructions,
  };
}

function lookupsOf(
  writable: readonly string[],
  readonly: readonly string[],
  placeOf: (key: string) => Place | null,
): Lookup[] {
  const lookups = new Map<string, Lookup>();
  const add = (key: string, kind: 'writableIndexes' | 'readonlyIndexes'): void => {
    const place = placeOf(key);
    if (place === null) return;
    let lookup = lookups.get(place.table);
    if (lookup === undefined) {
      lookup = { accountKey: place.table, writableIndexes: [], readonlyIndexes: [] };
      lookups.set(place.table, lookup);
    }
    lookup[kind].push(place.index);
  };
  for (const key of writable) add(key, 'writableIndexes');
  for (const key of readonly) add(key, 'readonlyIndexes');
  // Loaded keys come table by table, so the tables have one order.
  return [...lookups.values()].sort((a, b) => compare(a.accountKey, b.accountKey));
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** The keys that stand in the message itself. */
export function staticKeys({ accountKeys, writable, readonly }: Message): readonly string[] {
  return accountKeys.slice(0, accountKeys.length - writable.length - readonly.length);
}

function invocations(logMessages: readonly string[]): { program: string; depth: number }[] {
  const found: { program: string; depth: number }[] = [];
  for (const line of logMessages) {
    const match = INVOKE.exec(line);
    const program = match?.[1];
    // An injected line may look like an invoke line, but only a key can be a program.
    if (program !== undefined && isKey(program)) {
      found.push({ program, depth: Number(match?.[2]) });
    }
  }
  return found;
}

/** Few programs stand in all logs. */
const PROGRAMS_CACHED = 100;
const knownPrograms = new LRUCache<string, boolean>({ max: PROGRAMS_CACHED });

function isKey(text: string): boolean {
  const known = knownPrograms.get(text) ?? bs58.decodeUnsafe(text)?.length === PUBKEY_BYTES;
  knownPrograms.set(text, known);
  return known;
}

export function computeUnits(logMessages: readonly string[]): number {
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

export function headerOf(message: Message) {
  return {
    numReadonlySignedAccounts: 0,
    numReadonlyUnsignedAccounts: message.readonlyCount,
    numRequiredSignatures: 1,
  };
}

function parsedKey(message: Message, pubkey: string, index: number): Record<string, unknown> {
  const inMessage = staticKeys(message).length;
  if (index >= inMessage) {
    return { pubkey, signer: false, source: 'lookupTable', writable: index < inMessage + message.writable.length };
  }
  return { pubkey, signer: index === 0, source: 'transaction', writable: index < inMessage - message.readonlyCount };
}

function instructionJson(message: Message, instruction: Instruction, parsed: boolean): unknown {
  const { programIdIndex, accounts, stackHeight } = instruction;
  if (!parsed) return { accounts, data: '', programIdIndex, stackHeight };
  const programId = message.accountKeys[programIdIndex];
  return { accounts: accounts.map((index) => message.accountKeys[index]), data: '', programId, stackHeight };
}

/** The wire format of the transaction, version 0 (https://solana.com/docs/core/transactions). */
function wireBytes(transaction: StoredTransaction, message: Message): Buffer {
  const signature = Buffer.alloc(64);
  signature.set((bs58.decodeUnsafe(transaction.signature) ?? new Uint8Array()).subarray(0, 64));
  const parts: Uint8Array[] = [compact(1), signature, Buffer.from([0x80, 1, 0, message.readonlyCount])];
  const keys = staticKeys(message);
  parts.push(compact(keys.length));
  for (const key of keys) parts.push(keyBytes(key));
  parts.push(keyBytes(message.recentBlockhash), compact(message.instructions.length));
  for (const { programIdIndex, accounts } of message.instructions) {
    parts.push(Buffer.from([programIdIndex]), compact(accounts.length), Buffer.from(accounts), compact(0));
  }
  parts.push(compact(message.lookups.length));
  for (const { accountKey, writableIndexes, readonlyIndexes } of message.lookups) {
    parts.push(keyBytes(accountKey), compact(writableIndexes.length), Buffer.from(writableIndexes));
    parts.push(compact(readonlyIndexes.length), Buffer.from(readonlyIndexes));
  }
  return Buffer.concat(parts);
}

/** The same keys stand in every transaction. */
const KEYS_CACHED = 10_000;
const knownKeys = new LRUCache<string, Buffer>({ max: KEYS_CACHED });

/** Always 32 bytes, even for an invalid key of an injected transaction. Callers only read them. */
export function keyBytes(key: string): Buffer {
  const known = knownKeys.get(key);
  if (known) return known;
  const bytes = Buffer.alloc(32);
  bytes.set((bs58.decodeUnsafe(key) ?? new Uint8Array()).subarray(0, 32));
  knownKeys.set(key, bytes);
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
