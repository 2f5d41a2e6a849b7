// PubSub notifications as source updates. Whatever does not have the shape throws, and is parked as garbage by the caller.

import bs58 from 'bs58';
import type { AccountUpdate, TransactionLogs } from '../source.ts';
import { decodeAccountData } from './json-rpc.ts';

const KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;
const KEYS_REMEMBERED = 200_000;

interface Contextual {
  readonly context?: { readonly slot?: unknown };
  readonly value?: unknown;
}

/** Decoded keys are kept: the same accounts come again and again, and base58 is slow. */
export class KeyCache {
  readonly #keys = new Map<string, Uint8Array>();

  decode(text: unknown): Uint8Array {
    if (typeof text !== 'string') throw new TypeError('key is no text');
    const known = this.#keys.get(text);
    if (known) return known;
    const key = bs58.decode(text);
    if (key.length !== KEY_BYTES) throw new TypeError(`key has ${key.length} bytes`);
    if (this.#keys.size >= KEYS_REMEMBERED) this.#keys.clear();
    this.#keys.set(text, key);
    return key;
  }
}

function slotOf(context: Contextual['context']): number {
  const slot = context?.slot;
  if (typeof slot !== 'number' || !Number.isSafeInteger(slot) || slot < 0) throw new TypeError('no slot in context');
  return slot;
}

export function programAccountUpdate(result: unknown, keys: KeyCache): AccountUpdate {
  const { context, value } = result as Contextual;
  const { pubkey, account } = value as { readonly pubkey: unknown; readonly account: unknown };
  return accountUpdate(slotOf(context), keys.decode(pubkey), account, keys);
}

export function singleAccountUpdate(result: unknown, pubkey: Uint8Array, keys: KeyCache): AccountUpdate {
  const { context, value } = result as Contextual;
  return accountUpdate(slotOf(context), pubkey, value, keys);
}

function accountUpdate(slot: number, pubkey: Uint8Array, account: unknown, keys: KeyCache): AccountUpdate {
  const { data, owner } = account as { readonly data: unknown; readonly owner: unknown };
  if (!Array.isArray(data) || typeof data[0] !== 'string' || typeof data[1] !== 'string') {
    throw new TypeError('account data is no pair of texts');
  }
  return {
    kind: 'account',
    slot,
    writeVersion: null,
    pubkey,
    owner: keys.decode(owner),
    data: decodeAccountData([data[0], data[1]]),
  };
}

export function logsUpdate(result: unknown): TransactionLogs {
  const { context, value } = result as Contextual;
  const { signature, err, logs } = value as {
    readonly signature: unknown;
    readonly err: unknown;
    readonly logs: unknown;
  };
  if (typeof signature !== 'string' || bs58.decode(signature).length !== SIGNATURE_BYTES) {
    throw new TypeError('signature is not 64 bytes');
  }
  if (!Array.isArray(logs) || !logs.every((line) => typeof line === 'string')) throw new TypeError('logs are no texts');
  return {
    kind: 'transaction',
    slot: slotOf(context),
    signature,
    failed: (err ?? null) !== null,
    logs,
    blockIndex: null,
    blockTime: null,
  };
}

export function slotUpdate(result: unknown): number {
  return slotOf(result as { readonly slot?: unknown });
}
