// Reads who may act for a User account: its authority and its delegate, from the cluster. No event contains a delegate.

import bs58 from 'bs58';
import {
  type AccountDefinition,
  DISCRIMINATOR_BYTES,
  loadDefinition,
  PUBKEY_BYTES,
  type StructLayout,
} from '../../../schemas/index.ts';
import { HistoryError } from '../../http/errors.ts';

/** Base58 keys. */
export interface AccountOwners {
  readonly authority: string;
  readonly delegate: string;
}

export interface AccountSource {
  /** Null when no User account has this key (base58). Throws HistoryError rpcAway when the chain cannot be read. */
  owners(account: string): Promise<AccountOwners | null>;
}

export interface RpcAccountSourceOptions {
  /** Empty: nothing can be read. */
  readonly rpcUrl: string;
  /** As in the setting. */
  readonly definition: string;
  /** Newest slot in the log; null while none is known. */
  readonly ingestedSlot: () => number | null;
}

const COMMITMENT = 'confirmed';
/**
 * How far a node may be behind the log. A pool of nodes may have one that stands still, which would still show a delegate whom
 * the owner removed. About 13 s; a confirmed slot is a few slots old.
 */
const MAX_SLOTS_BEHIND = 32;
const TIMEOUT_MS = 3000;
/** More requests at once are refused, so that clients cannot make this service flood the node. */
const MAX_CONCURRENT_READS = 16;

interface AccountAnswer {
  readonly result?: { readonly value?: { readonly owner?: unknown; readonly data?: readonly unknown[] } | null };
}

export class RpcAccountSource implements AccountSource {
  readonly #options: RpcAccountSourceOptions;
  readonly #programId: string;
  readonly #user: AccountDefinition;
  readonly #authorityAt: number;
  readonly #delegateAt: number;
  /** Reads under way, by account. */
  readonly #reads = new Map<string, Promise<AccountOwners | null>>();

  /** Throws an Error when the definition has no User account with both fields. */
  constructor(options: RpcAccountSourceOptions) {
    this.#options = options;
    const program = loadDefinition(options.definition).programs.find(({ accounts }) => accounts.has('User'));
    const user = program?.accounts.get('User');
    if (!program || !user) throw new Error(`definition ${options.definition} has no User account`);
    this.#programId = program.programId;
    this.#user = user;
    this.#authorityAt = offsetOf(user.layout, 'authority');
    this.#delegateAt = offsetOf(user.layout, 'delegate');
  }

  owners(account: string): Promise<AccountOwners | null> {
    const running = this.#reads.get(account);
    if (running) return running;
    if (this.#options.rpcUrl === '' || this.#reads.size >= MAX_CONCURRENT_READS) {
      return Promise.reject(new HistoryError('rpcAway'));
    }
    const read = this.#read(account).finally(() => this.#reads.delete(account));
    this.#reads.set(account, read);
    return read;
  }

  async #read(account: string): Promise<AccountOwners | null> {
    const slot = this.#options.ingestedSlot();
    const config = {
      encoding: 'base64',
      commitment: COMMITMENT,
      dataSlice: { offset: 0, length: Math.max(this.#authorityAt, this.#delegateAt) + PUBKEY_BYTES },
      ...(slot === null ? {} : { minContextSlot: Math.max(0, slot - MAX_SLOTS_BEHIND) }),
    };
    const value = (await this.#request([account, config]))?.result?.value;
    if (value === null) return null;
    const data = value?.data?.[0];
    if (typeof data !== 'string') throw new HistoryError('rpcAway');
    return value?.owner === this.#programId ? this.#decode(Buffer.from(data, 'base64')) : null;
  }

  async #request(params: readonly unknown[]): Promise<AccountAnswer | null> {
    try {
      const response = await fetch(this.#options.rpcUrl, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getAccountInfo', params }),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      return (await response.json()) as AccountAnswer | null;
    } catch (error) {
      // The error text may contain the URL, and URLs contain API keys.
      throw new HistoryError('rpcAway', undefined, { cause: error instanceof Error ? error.name : 'unknown' });
    }
  }

  #decode(bytes: Buffer): AccountOwners | null {
    const isUser = bytes.subarray(0, DISCRIMINATOR_BYTES).equals(this.#user.discriminator);
    const key = (at: number) => bytes.subarray(at, at + PUBKEY_BYTES);
    const delegate = key(this.#delegateAt);
    if (!isUser || delegate.length !== PUBKEY_BYTES) return null;
    return { authority: bs58.encode(key(this.#authorityAt)), delegate: bs58.encode(delegate) };
  }
}

function offsetOf(layout: StructLayout, name: string): number {
  const field = layout.fields.find((each) => each.name === name);
  if (!field) throw new Error(`${layout.name} has no field ${name}`);
  return field.offset;
}
