// Emits all accounts in full between brackets of their markets, step by step: those of a first complete read, or the stored ones.

import { keyText, type MarketRef, marketKey } from '../schemas/index.ts';
import type { AccountStore } from './account-store.ts';
import type { Emit, Output } from './diff/output.ts';
import type { AccountUpdate } from './source.ts';
import { isOlder, KIND_ORDER, type Kind, StoredAccount } from './stored-account.ts';

/** An account as it came, or packed. */
export type HeldAccount = AccountUpdate | StoredAccount;

const USERS_AT = KIND_ORDER.indexOf('user');
/** Kinds of which there are few, and which name the markets. */
const BEFORE_USERS = KIND_ORDER.slice(0, USERS_AT);
/** Null: accounts that are closed or not read. */
const FROM_USERS = [...KIND_ORDER.slice(USERS_AT), null];

/** The accounts of the first complete read, until it ends. */
export class GatheredAccounts {
  readonly #byKind = new Map<Kind | null, HeldAccount[]>();

  /** `kind` is null for an account that is closed or not read. */
  add(one: HeldAccount, kind: Kind | null): void {
    const list = this.#byKind.get(kind) ?? [];
    this.#byKind.set(kind, list);
    // The cause of a state goes with its update.
    const mayPack = kind === 'user' && !(one instanceof StoredAccount) && one.signature === undefined;
    list.push(mayPack ? new StoredAccount(one, kind, true).pack() : one);
  }

  /** In the order of their arrival. */
  of(kind: Kind | null): readonly HeldAccount[] {
    return this.#byKind.get(kind) ?? [];
  }
}

/**
 * The accounts of the first complete read, with newer updates that came before it: accounts of a read that was not believed,
 * and changes since. Older accounts that the read lacks are closed, if their kind closes.
 */
export function* withEarlier(
  gathered: GatheredAccounts,
  stored: AccountStore,
  snapshotSlot: number,
): Generator<void, GatheredAccounts> {
  if (stored.isEmpty) return gathered;
  const current: [HeldAccount, Kind | null][] = [];
  const keys = new Set<string>();
  for (const kind of [...BEFORE_USERS, ...FROM_USERS]) {
    for (const one of gathered.of(kind)) {
      yield;
      const key = keyText(one.pubkey);
      const earlier = stored.get(key);
      if (earlier && isOlder(one, earlier)) continue;
      keys.add(key);
      current.push([one, kind]);
    }
  }
  const all = new GatheredAccounts();
  for (const earlier of stored.values()) {
    yield;
    const isMissing = earlier.isOpen && !keys.has(earlier.key);
    if (isMissing && (earlier.slot > snapshotSlot || !earlier.mayClose)) all.add(earlier, earlier.kind);
  }
  for (const [one, kind] of current) all.add(one, kind);
  return all;
}

export interface FullEmission<T extends HeldAccount> {
  /** The accounts of a kind. */
  of(kind: Kind | null): Iterable<T>;
  /** Emits an account in full. */
  apply(one: T, emit: Emit): void;
  /** Markets of the accounts so far. */
  markets(): readonly MarketRef[];
  /** Markets of a user's open orders. */
  marketsOf(user: T): readonly MarketRef[];
  /** Keys of the markets that have had their brackets. */
  readonly bracketed: Set<string>;
  readonly snapshotSlot: number;
  readonly emit: Emit;
}

/** Markets that have had no brackets get them. */
export function* emitInBrackets<T extends HeldAccount>(emission: FullEmission<T>): Generator<void> {
  const { of, apply, bracketed, snapshotSlot, emit } = emission;
  const outputs: Output[] = [];
  for (const kind of BEFORE_USERS) {
    for (const one of of(kind)) {
      apply(one, (output) => outputs.push(output));
      yield;
    }
  }
  // The brackets begin before any order, so the orders' markets are looked for first.
  const markets = new Map<string, MarketRef>(emission.markets().map((ref) => [marketKey(ref), ref]));
  for (const user of of('user')) {
    for (const ref of emission.marketsOf(user)) markets.set(marketKey(ref), ref);
    yield;
  }
  const fresh = [...markets].filter(([key]) => !bracketed.has(key));
  for (const [key] of fresh) bracketed.add(key);
  for (const [, ref] of fresh) emit({ name: 'BookSnapshotBegin', value: { ...ref, snapshotSlot } });
  for (const output of outputs) {
    emit(output);
    yield;
  }
  for (const kind of FROM_USERS) {
    for (const one of of(kind)) {
      apply(one, emit);
      yield;
    }
  }
  for (const [, ref] of fresh) emit({ name: 'BookSnapshotEnd', value: { ...ref, snapshotSlot } });
}
