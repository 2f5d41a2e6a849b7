// Members of a body of `/tx/*`. Each function throws TxError with the published text.

import { PublicKey } from '@solana/web3.js';
import { readKey } from '../../../platform/index.ts';
import { TxError, type TxErrorCode } from '../../http/errors.ts';
import { parseAmount } from './amounts.ts';

export type Body = Readonly<Record<string, unknown>>;

/** A member as text. A JSON number counts as its text; null counts as absent. */
export function text(body: Body, name: string): string {
  const value = body[name];
  if (typeof value === 'string') return value;
  return typeof value === 'number' ? String(value) : '';
}

/** Throws unless every member is there. */
export function requireMembers(body: Body, names: readonly string[]): void {
  const missing = names.filter((name) => text(body, name) === '');
  if (missing.length > 0) throw new TxError('missing', missing.join(', '));
}

export function publicKey(body: Body, name: string): PublicKey {
  const bytes = readKey(text(body, name));
  if (bytes === null) throw new TxError('publicKey', name);
  return new PublicKey(bytes);
}

export function flag(body: Body, name: string, fallback: boolean): boolean {
  const value = body[name] ?? fallback;
  if (typeof value !== 'boolean') throw new TxError('boolean', name);
  return value;
}

export function oneOf<T extends string>(
  body: Body,
  name: string,
  choices: readonly T[],
  code: TxErrorCode,
  fallback?: T,
): T {
  const value = body[name] ?? fallback;
  const found = choices.find((choice) => choice === value);
  if (found === undefined) throw new TxError(code);
  return found;
}

export function amountOf(body: Body, name: string, decimals: number, code: TxErrorCode): bigint {
  const value = parseAmount(text(body, name), decimals);
  if (value === null) throw new TxError(code);
  return value;
}

export function isWhole(value: unknown, maximum: number): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= maximum;
}
