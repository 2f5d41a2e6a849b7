// Requests to aggregators, and members of their answers.

import { SwapError, type SwapInstruction } from './types.ts';

export interface HttpOptions {
  /** Default: the global fetch. */
  readonly fetch?: typeof fetch;
}

export type Members = Readonly<Record<string, unknown>>;

/** The JSON object of an answer. Throws SwapError for another status or body. */
export async function jsonOf(response: Response, what: string): Promise<Members> {
  const text = await response.text();
  const body = objectIn(text);
  if (response.ok && body) return body;
  throw new SwapError(`${what} answered ${response.status}: ${body ? messageOf(body) : text.slice(0, 200)}`);
}

function objectIn(text: string): Members | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : null;
  } catch {
    return null;
  }
}

/** The text of an error body in any of the shapes that aggregators use. */
function messageOf(body: Members): string {
  const { error, message, errorCode, code } = body;
  const text = [error, message].find((one) => typeof one === 'string') ?? JSON.stringify(body).slice(0, 200);
  const number = errorCode ?? code;
  return number === undefined ? String(text) : `${String(text)} (${String(number)})`;
}

/** Throws SwapError when a body of a good status says that the request failed. */
export function refuseErrors(body: Members, what: string): void {
  const isError = body.error !== undefined && body.error !== null;
  const isCoded = body.code !== undefined && body.message !== undefined;
  if (isError || isCoded || body.errorCode !== undefined || body.issues !== undefined) {
    throw new SwapError(`${what} failed: ${messageOf(body)}`);
  }
}

/** An integer as text or number. Throws SwapError for anything else. */
export function amountOf(value: unknown, name: string): bigint {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'string' && /^\d+$/.test(value)) return BigInt(value);
  if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value);
  throw new SwapError(`the answer has no ${name}`);
}

export function listOf(value: unknown, name: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new SwapError(`the answer has no ${name}`);
  return value;
}

/** An instruction as aggregator one writes it. */
export function instructionOf(value: unknown): SwapInstruction {
  const { programId, accounts, data } = (value ?? {}) as Members;
  if (typeof programId !== 'string' || !Array.isArray(accounts) || typeof data !== 'string') {
    throw new SwapError('the answer has an instruction of another shape');
  }
  return {
    programId,
    accounts: accounts.map(({ pubkey, isSigner, isWritable }) => ({ pubkey, isSigner, isWritable })),
    data: Uint8Array.from(atob(data), (character) => character.charCodeAt(0)),
  };
}
