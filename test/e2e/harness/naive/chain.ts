// Accounts of the cluster by kind. Anchor's own coder decodes each at its first use.

import { BorshAccountsCoder, type Idl } from '@coral-xyz/anchor';
import { loadDefinition } from '../../../../schemas/index.ts';
import type { Fields } from './curve.ts';

const KINDS = ['User', 'PerpMarket', 'SpotMarket', 'PythLazerOracle', 'State'] as const;
type Kind = (typeof KINDS)[number];

export interface NaiveAccount {
  readonly pubkey: string;
  readonly fields: Fields;
  /** Of a User, else empty. */
  readonly openOrders: readonly Fields[];
}

export class NaiveChain {
  readonly exchangeId: string;
  readonly clobId: string;
  /** Market-level order accounts, undecoded. */
  readonly clobAccounts = new Map<string, Buffer>();
  readonly #coder: BorshAccountsCoder;
  readonly #kinds: readonly { readonly kind: Kind; readonly discriminator: Buffer; readonly bytesMin: number }[];
  readonly #accounts = new Map<Kind, Map<string, Buffer | NaiveAccount>>(KINDS.map((kind) => [kind, new Map()]));

  constructor() {
    const [exchange, clob] = loadDefinition('velocity').programs;
    if (!exchange || !clob) throw new Error('the definition lacks a program');
    const coder = new BorshAccountsCoder(exchange.idl as unknown as Idl);
    this.exchangeId = exchange.programId;
    this.clobId = clob.programId;
    this.#coder = coder;
    this.#kinds = KINDS.map((kind) => ({
      kind,
      discriminator: Buffer.from(coder.accountDiscriminator(kind)),
      bytesMin: exchange.accounts.get(kind)?.layout.size ?? 0,
    }));
  }

  get programIds(): readonly string[] {
    return [this.exchangeId, this.clobId];
  }

  /** Takes the newest state of an account; without data it is closed. */
  put({ pubkey, owner, data }: { readonly pubkey: string; readonly owner: string; readonly data: Uint8Array }): void {
    for (const accounts of this.#accounts.values()) accounts.delete(pubkey);
    this.clobAccounts.delete(pubkey);
    const bytes = Buffer.from(data);
    if (owner === this.clobId) this.clobAccounts.set(pubkey, bytes);
    if (owner !== this.exchangeId) return;
    // Tests write accounts that are too short for a discriminator.
    const found = this.#kinds.find(
      ({ discriminator, bytesMin }) => bytes.subarray(0, 8).equals(discriminator) && bytes.length >= bytesMin,
    );
    if (found) this.#accounts.get(found.kind)?.set(pubkey, bytes);
  }

  all(kind: Kind): readonly NaiveAccount[] {
    const accounts = this.#accounts.get(kind) ?? new Map<string, Buffer | NaiveAccount>();
    return Array.from(accounts, ([pubkey, account]) => {
      if (!Buffer.isBuffer(account)) return account;
      const fields = this.#coder.decode(kind, account) as Fields;
      const orders = kind === 'User' ? (fields.orders as Fields[]) : [];
      const decoded = { pubkey, fields, openOrders: orders.filter(({ status }) => variant(status) === 'open') };
      accounts.set(pubkey, decoded);
      return decoded;
    });
  }
}

/** Name of a decoded enum's variant, in small letters. */
export function variant(value: unknown): string {
  return String(Object.keys(value as object)[0]).toLowerCase();
}
