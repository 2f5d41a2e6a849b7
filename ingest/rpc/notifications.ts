// Converts PubSub notifications to source updates. Throws for any other shape; the caller parks it as garbage.

import bs58 from 'bs58';
import { PUBKEY_BYTES, signatureBytes } from '../../schemas/index.ts';
import type { AccountUpdate, TransactionLogs } from '../source.ts';
import { decodeAccountData } from './account-data.ts';

const KEYS_REMEMBERED = 200_000;

interface Contextual {
  readonly context?: { readonly slot?: unknown };
  readonly value?: unknown;
}

/** Caches decoded keys: the same accounts repeat, and base58 is slow. */
export class KeyCache {
  readonly #keys = new Map<string, Uint8Array>();

  decode(text: unknown): Uint8Array {
    if (typeof text !== 'string') throw new TypeError('key is not a string');
    const known = this.#keys.get(text);
    if (known) return known;
    const key = bs58.decode(text);
    if (key.length !== PUBKEY_BYTES) throw new TypeError(`key has ${key.length} bytes`);
    if (this.#keys.size >= KEYS_REMEMBERED) this.#keys.clear();
    this.#keys.set(text, key);
    return key;
  }
}

function slotOf(context: Contextual['context']): number {
  const slot = context?.slot;
  if (typeof slot !== 'number' || !Number.isSafeInteger(slot) || slot < 0) throw new TypeError('context has no slot');
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
  const { data, owner, space } = account as {
    readonly data: unknown;
    readonly owner: unknown;
    readonly space?: unknown;
  };
  if (!Array.isArray(data) || typeof data[0] !== 'string' || typeof data[1] !== 'string') {
    throw new TypeError('account data is not a pair of strings');
  }
  return {
    kind: 'account',
    slot,
    writeVersion: null,
    pubkey,
    owner: keys.decode(owner),
    data: decodeAccountData([data[0], data[1]], space),
  };
}

/** Null when the node does not record logs: the audit then fetches the transaction elsewhere. */
export function logsUpdate(result: unknown): TransactionLogs | null {
  const { context, value } = result as Contextual;
  const { signature, err, logs } = value as {
    readonly signature: unknown;
    readonly err: unknown;
    readonly logs: unknown;
  };
  const bytes = typeof signature === 'string' ? signatureBytes(signature) : null;
  if (typeof signature !== 'string' || bytes === null) throw new TypeError('signature is not 64 bytes in base58');
  if (logs === null || logs === undefined) return null;
  if (!Array.isArray(logs) || !logs.every((line) => typeof line === 'string'))
    throw new TypeError('logs are not strings');
  return {
    kind: 'transaction',
    slot: slotOf(context),
    signature,
    signatureBytes: bytes,
    failed: (err ?? null) !== null,
    logs,
    blockIndex: null,
    blockTime: null,
  };
}

export interface AnnouncedSlot {
  readonly slot: number;
  /** Slot of the block before; null when the node does not name it. */
  readonly parent: number | null;
}

export function slotUpdate(result: unknown): AnnouncedSlot {
  const { slot, parent } = result as { readonly slot?: unknown; readonly parent?: unknown };
  return { slot: slotOf({ slot }), parent: Number.isSafeInteger(parent) ? Number(parent) : null };
}
