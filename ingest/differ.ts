// Turns account updates into changes: keeps each account's newest state and emits the differences. Pure: no clock, no I/O.

import type { MarketRef } from '../schemas/index.ts';
import { marketKey } from '../schemas/index.ts';
import { AccountError, discriminatorOf } from './decode/account.ts';
import type { MarketReader } from './decode/market.ts';
import { ClobDiffer } from './diff/clobs.ts';
import { AccountKinds } from './diff/kinds.ts';
import { MarginChanges } from './diff/margins.ts';
import { MarketDiffer } from './diff/markets.ts';
import { type Emit, keyText, notAfter, type Output, parkAccount } from './diff/output.ts';
import { UserDiffer } from './diff/users.ts';
import type { Readers } from './readers.ts';
import type { AccountUpdate } from './source.ts';
import {
  type AccountState,
  AFTER_ORDERS,
  currentOf,
  isOlder,
  KIND_ORDER,
  type Kind,
  type StoredAccount,
  updateOf,
  type Watcher,
} from './stored-account.ts';

/** Derives the User account's address from an authority and sub-account id. Must be a pure function. */
export type DeriveUser = (authority: Uint8Array, subAccountId: number) => Uint8Array;

export class Differ {
  readonly #readers: Readers;
  readonly #kinds: AccountKinds;
  readonly #accounts = new Map<string, StoredAccount>();
  readonly #deriveUser: DeriveUser;
  #users: UserDiffer;
  #clobs: ClobDiffer | null;
  #markets = new MarketDiffer();
  /** Unstaking periods by spot market. */
  readonly #unstaking = new Map<number, bigint>();
  #margins: MarginChanges;
  #isMarginWhole = false;
  readonly #addresses = new Map<string, Uint8Array>();
  #emit: Emit = () => {};
  /** Accounts of the first snapshot until it is complete; null afterwards. */
  #gathering: AccountUpdate[] | null = null;
  /** Keys of the accounts in a later snapshot; null outside one. */
  #seen: Set<string> | null = null;
  /** Newest complete slot before a later snapshot: no book message inside it is newer. */
  #completeSlot = 0;
  /** States of a later snapshot that wait for its orders. */
  #late: AccountUpdate[] = [];
  #bracketed = false;
  #isEnding = false;
  /** Markets whose orders were emitted in full between brackets. */
  readonly #bracketedMarkets = new Set<string>();
  #watcher: Watcher | null = null;

  constructor(readers: Readers, deriveUser: DeriveUser) {
    this.#readers = readers;
    this.#kinds = new AccountKinds(readers);
    this.#deriveUser = deriveUser;
    this.#margins = new MarginChanges(readers.user);
    this.#users = this.#newUsers();
    this.#clobs = this.#newClobs();
  }

  #newUsers(): UserDiffer {
    return new UserDiffer(this.#readers.user, {
      userFound: (user, authority, subAccountId) => this.#addresses.set(addressKey(authority, subAccountId), user),
      positionChanged: (user, marketIndex, write) =>
        this.#clobs?.positionChanged(user, marketIndex, write, (output) => this.#emit(output)),
    });
  }

  #newClobs(): ClobDiffer | null {
    const { clob } = this.#readers;
    if (!clob) return null;
    return new ClobDiffer(clob, {
      userOf: (authority, subAccountId) => {
        const key = addressKey(authority, subAccountId);
        const known = this.#addresses.get(key) ?? this.#deriveUser(authority, subAccountId);
        this.#addresses.set(key, known);
        return known;
      },
      cappingBase: (user, marketIndex) => this.#users.cappingBase(user, marketIndex),
    });
  }

  watch(watcher: Watcher): void {
    this.#watcher = watcher;
  }

  /** Applies one account update. Older and identical updates change nothing. */
  account(update: AccountUpdate, emit: Emit): void {
    if (this.#gathering) {
      this.#gathering.push(update);
      return;
    }
    if (this.#seen === null) this.#apply(update, emit, false);
    else if (update.data.length > 0 && AFTER_ORDERS.has(this.#kinds.of(update))) this.#late.push(update);
    else this.#apply(update, notAfter(this.#completeSlot, emit), false);
  }

  /** Starts a complete read of all accounts. `completeSlot` is the newest slot whose changes are all applied. */
  snapshotBegin(completeSlot = 0): void {
    this.#completeSlot = completeSlot;
    this.#late = [];
    if (this.#bracketed) this.#seen = new Set();
    else this.#gathering = [];
  }

  /**
   * Ends a complete read. The first read is emitted in full between brackets per market, because readers may hold the
   * state of an earlier process. A later read emits differences and closes the accounts that it lacks. It emits all again, with
   * brackets, when it has a market that no read before had.
   */
  snapshotEnd(snapshotSlot: number, emit: Emit): void {
    for (const _ of this.snapshotEnding(snapshotSlot, emit));
  }

  /** `snapshotEnd` in small steps. Between two of them nothing else may be applied. */
  *snapshotEnding(snapshotSlot: number, emit: Emit): Generator<void> {
    this.#isEnding = true;
    if (this.#gathering) {
      const updates = this.#withEarlier(this.#gathering, snapshotSlot);
      this.#gathering = null;
      this.#bracketed = true;
      this.#forget();
      yield* this.#emitAll(updates, snapshotSlot, emit);
    } else if (this.#seen) {
      const seen = this.#seen;
      this.#seen = null;
      const bounded = notAfter(this.#completeSlot, emit);
      for (const [key, stored] of this.#accounts) {
        yield;
        if (seen.has(key) || stored.slot > snapshotSlot || stored.data.length === 0) continue;
        if (stored.kind !== 'user' && stored.kind !== 'clob') continue;
        const { pubkey, owner } = stored;
        const gone: AccountUpdate = {
          kind: 'account',
          slot: snapshotSlot,
          writeVersion: null,
          pubkey,
          owner,
          data: new Uint8Array(0),
        };
        this.#apply(gone, bounded, false);
      }
      for (const update of this.#late.splice(0)) this.#apply(update, notAfter(snapshotSlot, emit), false);
      if (this.#markets.refs().some((ref) => !this.#bracketedMarkets.has(marketKey(ref)))) {
        const updates = [...this.#accounts.values()].filter(({ data }) => data.length > 0);
        this.#forget();
        // In one step, because others read the stored states, which are incomplete meanwhile.
        for (const _ of this.#emitAll(updates.map(currentOf), snapshotSlot, emit));
      }
    }
    this.#isEnding = false;
    this.#watcher?.reread();
  }

  /**
   * Emits the margins that changed since the last call. The first call after a complete read emits all of them behind a
   * `MarginBegin`, and returns true.
   */
  margins(slot: number, emit: Emit): boolean {
    if (this.#gathering || this.#seen) return false;
    const isWhole = this.#bracketed && !this.#isMarginWhole;
    if (isWhole) {
      this.#isMarginWhole = true;
      this.#margins.repeatMarkets();
      emit({ name: 'MarginBegin', value: { slot } });
      for (const [key, stored] of this.#accounts) {
        if (stored.kind === 'user' && stored.data.length > 0) this.#marginOf(key, stored, null);
      }
    }
    this.#margins.emit(this.#markets.margins(), emit);
    return isWhole;
  }

  /** False during a complete read: some stored accounts are then older than the read. */
  get isSettled(): boolean {
    return this.#bracketed && this.#gathering === null && this.#seen === null && !this.#isEnding;
  }

  /** The stored state of an account, by its key text (`keyText`). */
  stored(key: string): AccountState | null {
    return this.#accounts.get(key) ?? null;
  }

  /** The update that led to the stored state of an account, without data for a closed one. */
  lastUpdate(key: string): AccountUpdate | null {
    const stored = this.#accounts.get(key);
    return stored ? updateOf(stored) : null;
  }

  /** Open accounts of the given kinds, each as the update that led to its state. */
  *accounts(kinds: readonly Kind[] = KIND_ORDER): Generator<AccountUpdate> {
    for (const stored of this.#accounts.values()) {
      if (stored.data.length > 0 && kinds.includes(stored.kind)) yield updateOf(stored);
    }
  }

  /** Whether a complete read lacks accounts of this kind once they are closed (or idle). */
  mayClose(pubkey: Uint8Array): boolean {
    const kind = this.#accounts.get(keyText(pubkey))?.kind;
    return kind === 'user' || kind === 'clob';
  }

  /** Number of open accounts. */
  get size(): number {
    let size = 0;
    for (const stored of this.#accounts.values()) if (stored.data.length > 0) size += 1;
    return size;
  }

  /**
   * The updates of the first complete read, with what came before it and is newer: accounts of a read that was not believed,
   * and changes since. Older accounts that the read lacks are closed, if their kind closes.
   */
  #withEarlier(updates: readonly AccountUpdate[], snapshotSlot: number): readonly AccountUpdate[] {
    if (this.#accounts.size === 0) return updates;
    const current = updates.filter((update) => {
      const stored = this.#accounts.get(keyText(update.pubkey));
      return stored === undefined || !isOlder(update, stored);
    });
    const keys = new Set(current.map(({ pubkey }) => keyText(pubkey)));
    const earlier = [...this.#accounts].filter(([key, { data, slot, kind }]) => {
      const mayClose = kind === 'user' || kind === 'clob';
      return data.length > 0 && !keys.has(key) && (slot > snapshotSlot || !mayClose);
    });
    return [...earlier.map(([, stored]) => currentOf(stored)), ...current];
  }

  /** Starts anew: the next updates are emitted in full. */
  #forget(): void {
    if (this.#accounts.size === 0) return;
    this.#accounts.clear();
    this.#unstaking.clear();
    this.#users = this.#newUsers();
    this.#clobs = this.#newClobs();
    this.#markets = new MarketDiffer();
    this.#margins = new MarginChanges(this.#readers.user);
  }

  *#emitAll(updates: readonly AccountUpdate[], snapshotSlot: number, emit: Emit): Generator<void> {
    const outputs: Output[] = [];
    const byRank: AccountUpdate[][] = Array.from({ length: KIND_ORDER.length + 1 }, () => []);
    for (const update of updates) {
      byRank[this.#rank(update)]?.push(update);
      yield;
    }
    for (const update of inOrder(byRank)) {
      this.#apply(update, (output) => outputs.push(output), true);
      yield;
    }
    const markets = new Map<string, MarketRef>(this.#markets.refs().map((ref) => [marketKey(ref), ref]));
    for (const output of outputs) {
      if (output.name !== 'BookOrders' && output.name !== 'UserOrders') continue;
      const { marketType, marketIndex } = output.value;
      markets.set(marketKey(output.value), { marketType, marketIndex });
    }
    const fresh = [...markets].filter(([key]) => !this.#bracketedMarkets.has(key));
    for (const [key] of fresh) this.#bracketedMarkets.add(key);
    for (const [, ref] of fresh) emit({ name: 'BookSnapshotBegin', value: { ...ref, snapshotSlot } });
    for (const output of outputs) {
      emit(output);
      yield;
    }
    for (const [, ref] of fresh) emit({ name: 'BookSnapshotEnd', value: { ...ref, snapshotSlot } });
  }

  #rank(update: AccountUpdate): number {
    const kind = update.data.length === 0 ? null : this.#kinds.of(update);
    return kind === null ? KIND_ORDER.length : KIND_ORDER.indexOf(kind);
  }

  #apply(update: AccountUpdate, emit: Emit, everything: boolean): void {
    const key = keyText(update.pubkey);
    this.#seen?.add(key);
    const stored = this.#accounts.get(key);
    if (stored && isOlder(update, stored)) return;
    if (stored && sameBytes(update.data, stored.data)) {
      stored.slot = update.slot;
      stored.writeVersion = update.writeVersion;
      return;
    }
    this.#emit = emit;
    const closed = update.data.length === 0;
    const kind = closed ? (stored?.kind ?? null) : this.#kinds.of(update, stored);
    if (kind === null) {
      if (!closed) this.#kinds.parkUnknown(update, emit);
      return;
    }
    try {
      if (closed) this.#close(update, kind, emit);
      else this.#read(key, update, kind, emit, everything);
    } catch (error) {
      if (!(error instanceof AccountError)) throw error;
      parkAccount(emit, update, error.reason, error.message);
      return;
    }
    const { slot, writeVersion, data, owner, pubkey } = update;
    this.#accounts.set(key, { slot, since: slot, writeVersion, data, kind, owner, pubkey });
    if (kind === 'user') this.#marginOf(key, update, stored ?? null);
    this.#watcher?.changed(key, stored ?? null, slot);
  }

  #marginOf(
    key: string,
    { pubkey, slot, data }: Omit<AccountState, 'since'> & Pick<StoredAccount, 'pubkey'>,
    before: AccountState | null,
  ): void {
    const { user } = this.#readers;
    const isOpen = data.length > 0;
    if (isOpen && before && before.data.length > 0 && user.margin.isSame(before.data, data)) return;
    const view = user.account.open(isOpen ? data : (before?.data ?? data));
    const authority = user.authority(view);
    this.#margins.account(key, { user: pubkey, authority, slot, view: isOpen ? view : null });
  }

  #read(key: string, update: AccountUpdate, kind: Kind, emit: Emit, everything: boolean): void {
    if (kind === 'user') this.#users.apply(key, update, emit, everything);
    else if (kind === 'clob') this.#readClob(update, emit);
    else if (kind === 'oracle') this.#markets.oracle(update, emit);
    else if (kind === 'state') this.#readState(update, emit);
    else if (kind === 'vault') this.#readVault(update, emit);
    else if (kind === 'builder') this.#readBuilder(update, emit);
    else {
      const reader = this.#readers.markets.get(discriminatorOf(update.data));
      if (reader) this.#readMarket(update, reader, emit);
    }
  }

  /** When a market names another book account, removes the old account's orders and adds those of the new one, if known. */
  #readMarket(update: AccountUpdate, reader: MarketReader, emit: Emit): void {
    const view = reader.account.open(update.data);
    const marketIndex = reader.marketIndex(view);
    const isPerp = reader.marketType === 'perp';
    if (!isPerp) this.#readFund(view, marketIndex, update.slot, emit);
    const before = isPerp ? this.#markets.clobKey(marketIndex) : null;
    this.#markets.market(update, reader, emit);
    const after = isPerp ? this.#markets.clobKey(marketIndex) : null;
    if (before === after) return;
    for (const key of [before, after]) {
      const stored = key === null ? undefined : this.#accounts.get(key);
      if (stored?.kind !== 'clob' || stored.data.length === 0) continue;
      this.#readClob({ ...stored, kind: 'account', slot: Math.max(stored.slot, update.slot) }, emit);
    }
  }

  /** Only the account that a market names is its book (docs/internals/accounts.md, "Market-level order account"). */
  #readClob(update: AccountUpdate, emit: Emit): void {
    const { clob } = this.#readers;
    if (!clob) return;
    const marketIndex = clob.marketIndex(clob.open(update.data));
    if (this.#markets.clobKey(marketIndex) === keyText(update.pubkey)) this.#clobs?.apply(update, emit);
    else this.#clobs?.close(update, emit);
  }

  #readState(update: AccountUpdate, emit: Emit): void {
    const { state } = this.#readers;
    if (state) this.#markets.exchange(state.read(state.account.open(update.data)), update.slot, emit);
  }

  #readVault({ data, pubkey, slot }: AccountUpdate, emit: Emit): void {
    const read = this.#readers.vaults.get(discriminatorOf(data));
    if (read) emit(read(data, pubkey, slot));
  }

  #readBuilder({ data, pubkey, slot }: AccountUpdate, emit: Emit): void {
    const read = this.#readers.builders.get(discriminatorOf(data));
    if (read) emit(read(data, pubkey, slot));
  }

  /** Spot markets change all the time, their insurance fund's terms hardly ever. */
  #readFund(view: DataView, marketIndex: number, slot: number, emit: Emit): void {
    const unstakingPeriod = this.#readers.unstakingPeriod?.(view);
    if (unstakingPeriod === undefined || this.#unstaking.get(marketIndex) === unstakingPeriod) return;
    this.#unstaking.set(marketIndex, unstakingPeriod);
    emit({ name: 'InsuranceFundState', value: { marketIndex, slot, unstakingPeriod } });
  }

  /** Markets, oracles, vaults, builders and the State account never close, so their last state stays. */
  #close(update: AccountUpdate, kind: Kind, emit: Emit): void {
    if (kind === 'user') this.#users.close(update, emit);
    else if (kind === 'clob') this.#clobs?.close(update, emit);
  }
}

function* inOrder(lists: readonly (readonly AccountUpdate[])[]): Generator<AccountUpdate> {
  for (const list of lists) yield* list;
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && Buffer.compare(a, b) === 0;
}

function addressKey(authority: Uint8Array, subAccountId: number): string {
  return `${keyText(authority)}${subAccountId}`;
}
