// Reads why a transaction fails: the program's code, name and text from logs and error, with a hint where one helps.

import { LangErrorCode, LangErrorMessage } from '@coral-xyz/anchor';
import type { TransactionError } from '@solana/web3.js';
import type { ExchangeProgram } from './program.ts';

export interface TransactionFailure {
  readonly success: false;
  readonly error: string;
  readonly code?: number;
  readonly name?: string;
  readonly details?: string;
}

const ANCHOR_LINE = /Error Code: (\w+)\. Error Number: (\d+)\. Error Message: (.+?)\.?$/;
const PROGRAM_LINE = /^Program log: Error: (.+)$/;
const FAILED_LINE = /^Program (\w+) failed: /;
const TOKEN_INSUFFICIENT = 'insufficient funds';
/** Below this, Anchor itself raises an error. */
const PROGRAM_CODES_FROM = 6_000;
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

/** The failure of a transaction, from its error and its logs. */
export function failureOf(
  program: ExchangeProgram,
  err: TransactionError | string,
  logs: readonly string[],
): TransactionFailure {
  const named = fromAnchorLine(logs) ?? fromToken(logs) ?? fromCode(program, err, logs);
  if (named === null) return { success: false, error: plainText(err), ...lastLines(logs) };
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

function fromCode(program: ExchangeProgram, err: TransactionError | string, logs: readonly string[]): Named | null {
  const code = customCode(err);
  if (code === null || failedProgram(logs) !== program.programId.toBase58()) return null;
  if (code >= PROGRAM_CODES_FROM) return program.errorOf(code);
  const name = Object.entries(LangErrorCode).find(([, number]) => number === code)?.[0];
  return name === undefined ? null : { code, name, text: LangErrorMessage.get(code) ?? name };
}

/** The innermost program that failed prints first. */
function failedProgram(logs: readonly string[]): string | null {
  return logs.map((line) => FAILED_LINE.exec(line)?.[1]).find((program) => program !== undefined) ?? null;
}

function customCode(err: TransactionError | string): number | null {
  if (typeof err !== 'object' || err === null || !('InstructionError' in err)) return null;
  const reason: unknown = (err as { InstructionError: readonly unknown[] }).InstructionError[1];
  const custom = typeof reason === 'object' && reason !== null ? (reason as { Custom?: unknown }).Custom : null;
  return typeof custom === 'number' ? custom : null;
}

function plainText(err: TransactionError | string): string {
  return `Transaction simulation failed: ${typeof err === 'string' ? err : JSON.stringify(err)}`;
}

function lastLines(logs: readonly string[]): { details?: string } {
  return logs.length === 0 ? {} : { details: logs.slice(-LOG_LINES_MAX).join('\n') };
}
