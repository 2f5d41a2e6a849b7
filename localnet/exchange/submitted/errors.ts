// Failures of a submitted transaction: a program's error code with Anchor's log line, or an error of the runtime.

import { chainDefinition } from '../accounts.ts';

/** A failed instruction. The whole transaction then changes nothing. */
export class ProgramFailure extends Error {
  override readonly name = 'ProgramFailure';
  /** Custom code, or the runtime's name of the error. */
  readonly code: number | string;
  /** Lines that the program prints before it fails. */
  readonly lines: readonly string[];

  constructor(code: number | string, lines: readonly string[] = []) {
    super(String(code));
    this.code = code;
    this.lines = lines;
  }
}

/** A transaction that the runtime refuses before any instruction. `error` is Solana's JSON error. */
export class RefusedTransaction extends Error {
  override readonly name = 'RefusedTransaction';
  readonly error: unknown;
  constructor(error: unknown, text: string) {
    super(text);
    this.error = error;
  }
}

/** Anchor's own errors that the checks here raise. */
const FRAMEWORK_ERRORS = {
  InstructionFallbackNotFound: [101, 'Fallback functions are not supported'],
  InstructionDidNotDeserialize: [102, 'The program could not deserialize the given instruction'],
  ConstraintRaw: [2003, 'A raw constraint was violated'],
  ConstraintSeeds: [2006, 'A seeds constraint was violated'],
  AccountNotEnoughKeys: [3005, 'Not enough account keys given to the instruction'],
  AccountNotSigner: [3010, 'The given account did not sign'],
  AccountNotInitialized: [3012, 'The program expected this account to be already initialized'],
} as const satisfies Record<string, readonly [number, string]>;

export type FrameworkError = keyof typeof FRAMEWORK_ERRORS;

/** An Anchor error, as the constraint of one account raises it. */
export function constraint(name: FrameworkError, account: string): ProgramFailure {
  const [code, text] = FRAMEWORK_ERRORS[name];
  return new ProgramFailure(code, [
    `AnchorError caused by account: ${account}. Error Code: ${name}. Error Number: ${code}. Error Message: ${text}.`,
  ]);
}

export function framework(name: FrameworkError): ProgramFailure {
  const [code, text] = FRAMEWORK_ERRORS[name];
  return new ProgramFailure(code, [anchorLine(name, code, text)]);
}

/** An error of the exchange program by its name in the IDL. `why` is printed before it. */
export function exchangeError(name: string, why?: string): ProgramFailure {
  const found = chainDefinition().programs[0]?.idl.errors?.find((error) => error.name === name);
  if (!found) throw new Error(`the chain definition has no error ${name}`);
  const line = anchorLine(name, found.code, found.msg ?? '');
  return new ProgramFailure(found.code, why === undefined ? [line] : [why, line]);
}

/** The token program's "insufficient funds". */
export function insufficientFunds(): ProgramFailure {
  return new ProgramFailure(1, ['Error: insufficient funds']);
}

/** The system program's "account already in use". */
export function alreadyInUse(key: string): ProgramFailure {
  return new ProgramFailure(0, [`Allocate: account Address { address: ${key}, base: None } already in use`]);
}

function anchorLine(name: string, code: number, text: string): string {
  return `AnchorError occurred. Error Code: ${name}. Error Number: ${code}. Error Message: ${text}.`;
}
