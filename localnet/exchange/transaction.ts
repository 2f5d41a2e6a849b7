// One running transaction: its log with the invoke stack, its emitted records and written accounts.

import type { LedgerAccount, LedgerTransaction } from '../ledger-types.ts';
import { encodeAccount } from './accounts.ts';
import { clobBytes } from './clob-bytes.ts';
import { CLOB_PROGRAM, COMPUTE_BUDGET_PROGRAM, EXCHANGE_PROGRAM, JIT_PROXY_PROGRAM, VAULT_PROGRAM } from './keys.ts';
import type { Stored } from './model.ts';
import { encodeRecord, type RecordData } from './records.ts';
import type { OpenSwap } from './submitted/open-swap.ts';
import { plainAccount } from './submitted/plain-accounts.ts';
import type { World } from './world.ts';

export interface EmittedRecord {
  readonly name: string;
  readonly data: RecordData;
}

export interface Transaction {
  readonly world: World;
  readonly slot: number;
  /** Unix seconds. */
  readonly now: number;
  readonly logs: string[];
  readonly records: EmittedRecord[];
  /** Index of each record's log line. */
  readonly recordLines: number[];
  readonly written: Map<string, Stored>;
  readonly closed: Set<string>;
  readonly keys: Set<string>;
  readonly frames: Frame[];
  /** Silent setup for the genesis: changes accounts without records. */
  readonly silent: boolean;
  /** Compute units that the transaction may use, as its logs print them. */
  unitsLimit: number;
  /** Between begin and end of a swap. */
  swap: OpenSwap | null;
  err: unknown;
}

interface Frame {
  readonly program: string;
  readonly firstLine: number;
}

/** Records printed as bare base64 after `Program log: `; all others use `Program data: `. */
const PRINTED_RECORDS: ReadonlySet<string> = new Set([
  'OrderRecord',
  'OrderActionRecord',
  'RevenueShareSettleRecord',
  'LPSwapRecord',
  'LPMintRedeemRecord',
]);

export const COMPUTE_UNITS_LIMIT = 1_400_000;
/** Rent-exempt balance: 6960 lamports for each byte, 128 bytes of overhead. */
const LAMPORTS_PER_BYTE = 6960;
const ACCOUNT_OVERHEAD_BYTES = 128;

export function beginTransaction(world: World, silent = false): Transaction {
  return {
    world,
    slot: world.slot,
    now: world.now,
    logs: [],
    records: [],
    recordLines: [],
    written: new Map(),
    closed: new Set(),
    keys: new Set(),
    frames: [],
    silent,
    unitsLimit: COMPUTE_UNITS_LIMIT,
    swap: null,
    err: null,
  };
}

/** Invokes a program. An instruction name adds Anchor's log line. */
export function enter(tx: Transaction, program: string, instruction?: string): void {
  tx.keys.add(program);
  tx.frames.push({ program, firstLine: tx.logs.length });
  tx.logs.push(`Program ${program} invoke [${tx.frames.length}]`);
  if (instruction !== undefined) tx.logs.push(`Program log: Instruction: ${instruction}`);
}

/** Ends the innermost invocation with its compute-unit line. */
export function leave(tx: Transaction): void {
  const frame = tx.frames.pop();
  if (!frame) throw new Error('no program is running');
  if (frame.program !== COMPUTE_BUDGET_PROGRAM) tx.logs.push(consumedLine(tx, frame));
  tx.logs.push(`Program ${frame.program} success`);
}

/** Fails every running invocation of top-level instruction `index`. The transaction then changes nothing. */
export function fail(tx: Transaction, code: number | string, index = 1): void {
  const reason = typeof code === 'number' ? `custom program error: 0x${code.toString(16)}` : code;
  for (let frame = tx.frames.pop(); frame; frame = tx.frames.pop()) {
    if (frame.program !== COMPUTE_BUDGET_PROGRAM) tx.logs.push(consumedLine(tx, frame));
    tx.logs.push(`Program ${frame.program} failed: ${reason}`);
  }
  tx.err = { InstructionError: [index, typeof code === 'number' ? { Custom: code } : code] };
}

function consumedLine(tx: Transaction, frame: Frame): string {
  const used = 4_200 + 3_111 * (tx.logs.length - frame.firstLine);
  return `Program ${frame.program} consumed ${used} of ${tx.unitsLimit} compute units`;
}

/** Sets the compute budget, as most clients do first. */
export function computeBudget(tx: Transaction): void {
  enter(tx, COMPUTE_BUDGET_PROGRAM);
  leave(tx);
}

export function enterExchange(tx: Transaction, instruction: string): void {
  enter(tx, EXCHANGE_PROGRAM, instruction);
}

export function enterClob(tx: Transaction, instruction: string): void {
  enter(tx, CLOB_PROGRAM, instruction);
}

export function enterVaults(tx: Transaction, instruction: string): void {
  enter(tx, VAULT_PROGRAM, instruction);
}

/** Calls the exchange through another program, like arbitrage bots. Close it with `leave` twice. */
export function enterThroughProxy(tx: Transaction, instruction: string): void {
  enter(tx, JIT_PROXY_PROGRAM, 'ArbPerp');
  tx.logs.push('Program log: arb perp: checking position');
  enterExchange(tx, instruction);
}

export function note(tx: Transaction, line: string): void {
  tx.logs.push(`Program log: ${line}`);
}

export function emit(tx: Transaction, name: string, data: RecordData): void {
  if (tx.silent) return;
  tx.records.push({ name, data });
  tx.recordLines.push(tx.logs.length);
  const prefix = PRINTED_RECORDS.has(name) ? 'Program log: ' : 'Program data: ';
  tx.logs.push(prefix + encodeRecord(name, data));
}

/** Marks an account as written. The ledger receives its bytes at the end of the transaction. */
export function touch(tx: Transaction, ...accounts: readonly Stored[]): void {
  for (const account of accounts) {
    tx.written.set(account.key, account);
    tx.keys.add(account.key);
  }
}

export function mention(tx: Transaction, ...keys: readonly string[]): void {
  for (const key of keys) tx.keys.add(key);
}

export function close(tx: Transaction, account: Stored): void {
  touch(tx, account);
  tx.closed.add(account.key);
}

/** Programs that own accounts of a type; the exchange owns the rest. */
const OTHER_OWNERS: Readonly<Record<string, string>> = {
  ClobHeaderV0: CLOB_PROGRAM,
  Vault: VAULT_PROGRAM,
  VaultDepositor: VAULT_PROGRAM,
};

/** The account as the ledger stores it. */
export function ledgerAccount(stored: Stored): LedgerAccount {
  const plain = plainAccount(stored);
  if (plain) {
    const lamports = plain.lamports === null ? rentOf(plain.data.length) : Number(plain.lamports);
    return { pubkey: stored.key, owner: plain.owner, lamports, data: plain.data };
  }
  const isClob = stored.type === 'ClobHeaderV0';
  const data = isClob ? clobBytes(stored) : encodeAccount(stored);
  return {
    pubkey: stored.key,
    owner: OTHER_OWNERS[stored.type] ?? EXCHANGE_PROGRAM,
    lamports: rentOf(data.length),
    data,
  };
}

/** Rent-exempt balance of an account, lamports. */
function rentOf(bytes: number): number {
  return LAMPORTS_PER_BYTE * (ACCOUNT_OVERHEAD_BYTES + bytes);
}

export function finish(tx: Transaction, signature: string): LedgerTransaction {
  if (tx.frames.length > 0) throw new Error('a program is still running');
  const writes: LedgerAccount[] = [];
  if (tx.err === null) {
    for (const account of tx.written.values()) {
      const gone = tx.closed.has(account.key);
      writes.push(gone ? { ...ledgerAccount(account), lamports: 0, data: new Uint8Array(0) } : ledgerAccount(account));
    }
  }
  const { err, logs, recordLines } = tx;
  return { signature, err, logMessages: logs, accountKeys: [...tx.keys], writes, recordLines };
}
