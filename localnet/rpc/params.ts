// Parses call parameters like a Solana node, with its error texts.

import bs58 from 'bs58';
import { PUBKEY_BYTES, SIGNATURE_BYTES, signatureBytes } from '../../schemas/index.ts';
import type { ChainView } from '../ledger/view.ts';
import type { Commitment } from '../ledger.ts';
import { INVALID_REQUEST, invalidParams, invalidType, MIN_CONTEXT_SLOT_NOT_REACHED, RpcError } from './errors.ts';

export type Config = Readonly<Record<string, unknown>>;

/** Cache of valid keys: decoding base58 each time costs more than the call. */
const KNOWN_KEYS_MAX = 20_000;
const knownKeys = new Set<string>();

/** Returns a public key in base58. */
export function keyOf(value: unknown): string {
  if (typeof value !== 'string') throw invalidType(value, 'a string');
  if (knownKeys.has(value)) return value;
  checkBase58(value, PUBKEY_BYTES);
  if (knownKeys.size >= KNOWN_KEYS_MAX) knownKeys.clear();
  knownKeys.add(value);
  return value;
}

/** Returns a transaction signature in base58. */
export function signatureOf(value: unknown): string {
  if (typeof value !== 'string') throw invalidType(value, 'a string');
  if (signatureBytes(value) === null) checkBase58(value, SIGNATURE_BYTES);
  return value;
}

export function integerOf(value: unknown, name = 'u64'): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) throw invalidType(value, name);
  return value;
}

export function integerOr<T>(value: unknown, otherwise: T): number | T {
  return value === undefined || value === null ? otherwise : integerOf(value);
}

export function listOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw invalidType(value, 'a sequence');
  return value;
}

/** The optional configuration object of a call. */
export function configOf(value: unknown): Config {
  if (value === undefined || value === null) return {};
  if (typeof value !== 'object' || Array.isArray(value)) throw invalidType(value, 'struct RpcContextConfig');
  return value as Config;
}

export function need(params: readonly unknown[], count: number): void {
  if (params.length < count) throw invalidParams(`\`params\` should have at least ${count} argument(s)`);
}

/** A node reads at `finalized` by default, and takes a level that it does not know for none. */
export function commitmentOf(config: Config): Commitment {
  const value = config.commitment;
  return value === 'processed' || value === 'confirmed' ? value : 'finalized';
}

/** Transaction history starts at `confirmed`. */
export function historyCommitmentOf(config: Config): Commitment {
  const commitment = commitmentOf(config);
  if (commitment === 'processed') throw invalidParams('Method does not support commitment below `confirmed`');
  return commitment;
}

/** Slot of the read; error -32016 when the caller requires a later one. */
export function contextSlot(view: ChainView, config: Config, commitment: Commitment): number {
  const slot = view.slotAt(commitment);
  const least = integerOr(config.minContextSlot, 0);
  if (slot < least) {
    throw new RpcError(MIN_CONTEXT_SLOT_NOT_REACHED, 'Minimum context slot has not been reached', {
      contextSlot: slot,
    });
  }
  return slot;
}

export function unknownVariant(value: string, variants: readonly string[]): RpcError {
  const expected = variants.map((variant) => `\`${variant}\``).join(', ');
  return invalidParams(`Invalid params: unknown variant \`${value}\`, expected one of ${expected}.`);
}

export function invalidRequest(message: string): RpcError {
  return new RpcError(INVALID_REQUEST, message);
}

function checkBase58(value: string, length: number): void {
  // A longer text is invalid anyway, and base58 takes quadratic time.
  if (value.length > 2 * length) throw invalidParams('Invalid param: WrongSize');
  const bytes = bs58.decodeUnsafe(value);
  if (bytes === undefined) throw invalidParams('Invalid param: Invalid');
  if (bytes.length !== length) throw invalidParams('Invalid param: WrongSize');
}
