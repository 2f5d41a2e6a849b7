// Reads why a transaction fails: the program's code, name and text from logs and error, with a hint where one helps.

import { LangErrorCode, LangErrorMessage } from '@coral-xyz/anchor';
import type { TransactionError, VersionedTransaction } from '@solana/web3.js';
import { TX_ERRORS } from '../../http/errors.ts';
import type { ExchangeProgram } from './program.ts';

export interface TransactionFailure {
  readonly success: false;
  readonly error: string;
  readonly code?: number;
  readonly name?: string;
  readonly details?: string;
  /** Signature, base58, of a transaction that failed on the chain. */
  readonly txSig?: string;
}

const ANCHOR_LINE = /Error Code: (\w+)\. Error Number: (\d+)\. Error Message: (.+?)\.?$/;
const PROGRAM_LINE = /^Program log: Error: (.+)$/;
const FAILED_LINE = /^Program (\w+) failed: /;
const TOKEN_INSUFFICIENT = 'insufficient funds';
/** Below this, Anchor itself raises an error. */
const PROGRAM_CODES_FROM = 6_000;
/** Below this (ERROR_CODE_OFFSET of Anchor), native and token programs number their errors. */
const ANCHOR_CODES_FROM = 100;
const LOG_LINES_MAX = 8;

const HINTS: Readonly<Record<string, string>> = {
  InsufficientCollateral: 'Deposit more collateral, or use a smaller size.',
  InsufficientDeposit: 'Use a larger amount.',
  InvalidOrderMinOrderSize: 'The size is below the minimum of the market.',
  InvalidOrderSizeTooSmall: 'The size is below one step of the market.',
  MaxNumberOfOrders: 'Cancel an open order first.',
  MaxNumberOfPositions: 'Close a position first.',
  NoUnsettledPnl: 'This market has no P&L to settle.',
  PlacePostOnlyLimitFailure: 'A post-only order must not cross the book: move its price.',
  TokenInsufficientFunds: 'The token account of the wallet holds less than the amount.',
  UserHasNoPositionInMarket: 'The account has no position in this market.',
  AccountNotInitialized: 'An account that the transaction needs does not exist yet.',
};

/** The failure of a simulated transaction, from its error and its logs. */
export function failureOf(
  program: ExchangeProgram,
  err: TransactionError | string,
  logs: readonly string[],
): TransactionFailure {
  const raised = failedProgram(logs) === program.programId.toBase58();
  const named = fromAnchorLine(logs) ?? fromToken(logs) ?? (raised ? fromCode(program, customCode(err)) : null);
  if (named !== null) return namedFailure(named);
  return { success: false, error: `Transaction simulation failed: ${plainText(err)}`, ...lastLines(logs) };
}

/**
 * The failure of a transaction on the chain, whose status has no logs. It names the instruction, not the inner program that
 * raised the error. Codes of the exchange's instructions are named from `ANCHOR_CODES_FROM` on: token and system programs have
 * lower ones.
 */
export function landedFailureOf(
  program: ExchangeProgram,
  err: TransactionError | string,
  { message }: VersionedTransaction,
  txSig: string,
): TransactionFailure {
  const code = customCode(err);
  const call = message.compiledInstructions[failedInstruction(err) ?? -1];
  const isOurs = call !== undefined && message.staticAccountKeys[call.programIdIndex]?.equals(program.programId);
  const named = isOurs && code !== null && code >= ANCHOR_CODES_FROM ? fromCode(program, code) : null;
  if (named !== null) return { ...namedFailure(named), txSig };
  return { success: false, error: TX_ERRORS.landed.text.replace('$', () => plainText(err)), txSig };
}

function namedFailure(named: Named): TransactionFailure {
  const details = HINTS[named.name];
  return {
    success: false,
    error: named.text,
    code: named.code,
    name: named.name,
    ...(details === undefined ? {} : { details }),
  };
}

interface Named {
  readonly code: number;
  readonly name: string;
  readonly text: string;
}

function fromAnchorLine(logs: readonly string[]): Named | null {
  const match = logs.map((line) => ANCHOR_LINE.exec(line)).find((found) => found !== null);
  if (!match) return null;
  const [, name = '', code = '', text = ''] = match;
  return { code: Number(code), name, text };
}

function fromToken(logs: readonly string[]): Named | null {
  const found = logs.some((line) => PROGRAM_LINE.exec(line)?.[1]?.toLowerCase() === TOKEN_INSUFFICIENT);
  return found ? { code: 1, name: 'TokenInsufficientFunds', text: 'Insufficient funds' } : null;
}

/** The error with this code, of the exchange or of Anchor. */
function fromCode(program: ExchangeProgram, code: number | null): Named | null {
  if (code === null) return null;
  if (code >= PROGRAM_CODES_FROM) return program.errorOf(code);
  const name = Object.entries(LangErrorCode).find(([, number]) => number === code)?.[0];
  return name === undefined ? null : { code, name, text: LangErrorMessage.get(code) ?? name };
}

/** The innermost program that failed prints first. */
function failedProgram(logs: readonly string[]): string | null {
  return logs.map((line) => FAILED_LINE.exec(line)?.[1]).find((program) => program !== undefined) ?? null;
}

function customCode(err: TransactionError | string): number | null {
  const reason = instructionError(err)?.[1];
  const custom = typeof reason === 'object' && reason !== null ? (reason as { Custom?: unknown }).Custom : null;
  return typeof custom === 'number' ? custom : null;
}

function failedInstruction(err: TransactionError | string): number | null {
  const index = instructionError(err)?.[0];
  return typeof index === 'number' ? index : null;
}

function instructionError(err: TransactionError | string): readonly unknown[] | null {
  if (typeof err !== 'object' || err === null || !('InstructionError' in err)) return null;
  return (err as { InstructionError: readonly unknown[] }).InstructionError;
}

function plainText(err: TransactionError | string): string {
  return typeof err === 'string' ? err : JSON.stringify(err);
}

function lastLines(logs: readonly string[]): { details?: string } {
  return logs.length === 0 ? {} : { details: logs.slice(-LOG_LINES_MAX).join('\n') };
}
