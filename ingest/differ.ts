// Turns account updates into changes: keeps each account's newest state and emits the differences. Pure: no clock, no I/O.

import { keyBytes, keyText, marketKey } from '../schemas/index.ts';
import { AccountStore } from './account-store.ts';
import { AccountError, discriminatorOf } from './decode/account.ts';
import type { MarketReader } from './decode/market.ts';
import { ClobDiffer } from './diff/clobs.ts';
import { AccountKinds } from './diff/kinds.ts';
import { MarginChanges } from './diff/margins.ts';
import { MarketDiffer } from './diff/markets.ts';
import { type BookChange, changeAt, type Emit, isBookChange, parkAccount } from './diff/output.ts';
import { PlainDiffer } from './diff/plain.ts';
import { UserDiffer } from './diff/users.ts';
import { emitInBrackets, type FullEmission, GatheredAccounts, withEarlier } from './full-emission.ts';
import { LargeMap } from './large-map.ts';
import { PackRoom } from './packed.ts';
import { peekData, sizeOf, unpacked } from './packed-update.ts';
import type { Readers } from './readers.ts';
import type { AccountUpdate } from './source.ts';
import {
  type AccountState,
  currentOf,
  isOlder,
  KIND_ORDER,
  type Kind,
  peekedOf,
  StoredAccount,
  updateOf,
  type Watcher,
} from './stored-account.ts';

/** Derives the User account's address from an authority and sub-account id. Must be a pure function. */
export type DeriveUser = (authority: Uint8Array, subAccountId: number) => Uint8Array;

export class Differ {
  readonly #readers: Readers;
  readonly #kinds: AccountKinds;
  readonly #accounts = new AccountStore();
  readonly #deriveUser: DeriveUser;
  readonly #users: UserDiffer;
  #clobs: ClobDiffer | null;
  #markets = new MarketDiffer();
  readonly #plain: PlainDiffer;
  #margins: MarginChanges;
  #isMarginWhole = false;
  /** Key texts of User accounts, by authority and sub-account id. */
  readonly #addresses = new LargeMap<string>();
  #emit: Emit = () => {};
  /** Key text of the account that is compared: hundreds of thousands of texts stay, so maps share one. */
  #key = '';
  /** Accounts of the first snapshot until it is complete; null afterwards. */
  #gathered: GatheredAccounts | null = null;
  /** Number of the newest complete read, and whether a later one is under way. */
  #read = 0;
  #isReading = false;
  /** Changes of books that a later snapshot found. They wait for its end, and have its slot. */
  readonly #found: BookChange[] = [];
  #bracketed = false;
  #isEnding = false;
  /** Markets whose orders were emitted in full between brackets. */
  readonly #bracketedMarkets = new Set<string>();
  #watcher: Watcher | null = null;
  /** Data of the account that is applied. */
  readonly #heldRoom = new PackRoom();

  constructor(readers: Readers, deriveUser: DeriveUser) {
    this.#readers = readers;
    this.#kinds = new AccountKinds(readers);
    this.#deriveUser = deriveUser;
    this.#plain = new PlainDiffer(readers);
    this.#margins = new MarginChanges(readers.user);
    this.#users = this.#newUsers();
    this.#clobs = this.#newClobs();
  }

  #newUsers(): UserDiffer {
    return new UserDiffer(this.#readers.user, {
      stored: (key) => this.#openUser(key)?.data ?? null,
      userFound: (authority, subAccountId) => this.#addresses.set(addressKey(authority, subAccountId), this.#key),
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
        const known = this.#addresses.get(key);
        if (known !== undefined) return keyBytes(known);
        const address = this.#deriveUser(authority, subAccountId);
        this.#addresses.set(key, keyText(address));
        return address;
      },
      cappingBase: (user, marketIndex) => this.#users.cappingBase(user, marketIndex),
    });
  }

  watch(watcher: Watcher): void {
    this.#watcher = watcher;
  }

  /** Applies one account update. Older and identical updates change nothing. */
  account(update: AccountUpdate, emit: Emit): void {
    if (this.#gathered) this.#gathered.add(update, sizeOf(update) > 0 ? this.#kinds.of(update) : null);
    else this.#apply(update, this.#isReading ? this.#keeping(emit) : emit, false);
  }

  /** Starts a complete read of all accounts. */
  snapshotBegin(): void {
    this.#read += 1;
    if (this.#bracketed) this.#isReading = true;
    else this.#gathered = new GatheredAccounts();
  }

  /**
   * Ends a complete read, which has every change up to `snapshotSlot`. The first read, and one with a new market, is emitted in full
   * between brackets per market, because readers may hold other state. Any other closes the accounts that it lacks and emits
   * differences at its slot alone, so that no book of an earlier slot has them.
   */
  snapshotEnd(snapshotSlot: number, emit: Emit): void {
    for (const _ of this.snapshotEnding(snapshotSlot, emit));
  }

  /** `snapshotEnd` in small steps. Between two of them nothing else may be applied. */
  *snapshotEnding(snapshotSlot: number, emit: Emit): Generator<void> {
    this.#isEnding = true;
    if (this.#gathered) {
      const gathered = yield* withEarlier(this.#gathered, this.#accounts, snapshotSlot);
      this.#gathered = null;
      this.#bracketed = true;
      this.#forget();
      const of = (kind: Kind | null) => gathered.of(kind);
      const apply = (one: AccountUpdate | StoredAccount, into: Emit) => this.#applyHeld(one, into);
      yield* this.#inBrackets({ of, apply }, snapshotSlot, emit);
    } else if (this.#isReading) {
      this.#isReading = false;
      yield* this.#closeMissing(snapshotSlot, this.#keeping(emit));
      for (const change of this.#found.splice(0)) {
        emit(changeAt(snapshotSlot, change));
        yield;
      }
      if (this.#markets.refs().some((ref) => !this.#bracketedMarkets.has(marketKey(ref)))) {
        this.#restart();
        const of = (kind: Kind | null) => this.#openOf([kind]);
        yield* this.#inBrackets({ of, apply: (one, into) => this.#repeat(one, into) }, snapshotSlot, emit);
      }
    }
    this.#isEnding = false;
    this.#watcher?.reread();
  }

  /** Keeps changes of books until the end of the snapshot. */
  #keeping(emit: Emit): Emit {
    return (output) => (isBookChange(output) ? void this.#found.push(output) : emit(output));
  }

  *#closeMissing(snapshotSlot: number, emit: Emit): Generator<void> {
    for (const stored of this.#accounts.values()) {
      yield;
      if (stored.read === this.#read || stored.slot > snapshotSlot || !stored.isOpen || !stored.mayClose) continue;
      const { pubkey, owner } = stored;
      const data = new Uint8Array(0);
      this.#apply({ kind: 'account', slot: snapshotSlot, writeVersion: null, pubkey, owner, data }, emit, false);
    }
  }

  /**
   * Emits the margins that changed since the last call. The first call after a complete read emits all of them behind a
   * `MarginBegin`, and returns true.
   */
  margins(slot: number, emit: Emit): boolean {
    const steps = this.marginSteps(slot, emit);
    for (;;) {
      const step = steps.next();
      if (step.done) return step.value;
    }
  }

  /** `margins` in small steps. Between two of them nothing else may be applied. */
  *marginSteps(slot: number, emit: Emit): Generator<void, boolean> {
    if (this.#gathered || this.#isReading) return false;
    const isWhole = this.#bracketed && !this.#isMarginWhole;
    const markets = this.#markets.margins();
    if (isWhole) {
      this.#isMarginWhole = true;
      emit({ name: 'MarginBegin', value: { slot } });
      yield* this.#margins.emitAll(markets, this.#openOf(['user']), emit);
    } else yield* this.#margins.emit(markets, (key) => this.#openUser(key), emit);
    return isWhole;
  }

  /** False during a complete read: some stored accounts are then older than the read. */
  get isSettled(): boolean {
    return this.#bracketed && this.#gathered === null && !this.#isReading && !this.#isEnding;
  }

  /** The stored state of an account, by its key text (`keyText`). The same object until other bytes replace it. */
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
    for (const stored of this.#openOf(kinds)) yield updateOf(stored);
  }

  /** Key texts of the open accounts. */
  *keys(): Generator<string> {
    for (const { key } of this.#openOf(KIND_ORDER)) yield key;
  }

  /** Whether a complete read lacks accounts of this kind once they are closed (or idle). */
  mayClose(pubkey: Uint8Array): boolean {
    return this.#accounts.get(keyText(pubkey))?.mayClose === true;
  }

  /** Number of open accounts. */
  get size(): number {
    return this.#accounts.open;
  }

  *#openOf(kinds: readonly (Kind | null)[]): Generator<StoredAccount> {
    for (const stored of this.#accounts.values()) if (stored.isOpen && kinds.includes(stored.kind)) yield stored;
  }

  #openUser(key: string): StoredAccount | null {
    const stored = this.#accounts.get(key);
    return stored?.kind === 'user' && stored.isOpen ? stored : null;
  }

  /** Starts anew: the next updates are emitted in full. */
  #forget(): void {
    if (this.#accounts.isEmpty) return;
    this.#accounts.clear();
    this.#restart();
  }

  /** Forgets emitted states, and keeps the accounts. */
  #restart(): void {
    this.#plain.forget();
    this.#clobs = this.#newClobs();
    this.#markets = new MarketDiffer();
    this.#margins = new MarginChanges(this.#readers.user);
  }

  #inBrackets<T extends AccountUpdate | StoredAccount>(
    accounts: Pick<FullEmission<T>, 'of' | 'apply'>,
    snapshotSlot: number,
    emit: Emit,
  ): Generator<void> {
    const room = new PackRoom();
    return emitInBrackets({
      ...accounts,
      markets: () => this.#markets.refs(),
      marketsOf: (user) =>
        this.#users.openMarkets(user instanceof StoredAccount ? user.peek(room) : peekData(user, room)),
      bracketed: this.#bracketedMarkets,
      snapshotSlot,
      emit,
    });
  }

  /** Applies an account of the first complete read. Only one that is listed twice has a stored state to be compared with. */
  #applyHeld(one: AccountUpdate | StoredAccount, emit: Emit): void {
    if (!(one instanceof StoredAccount)) this.#apply(one, emit, true);
    else this.#apply(this.#accounts.get(one.key) ? currentOf(one) : peekedOf(one, this.#heldRoom), emit, true, one);
  }

  /** Applies an update. `prepared`: the same as a stored account. */
  #apply(given: AccountUpdate, emit: Emit, everything: boolean, prepared: StoredAccount | null = null): void {
    const key = keyText(given.pubkey);
    const stored = this.#accounts.get(key);
    if (stored) stored.read = this.#read;
    if (stored && isOlder(given, stored)) return;
    if (stored?.holds(given)) {
      stored.slot = given.slot;
      stored.writeVersion = given.writeVersion;
      return;
    }
    const update = unpacked(given);
    const closed = update.data.length === 0;
    const kind = closed ? (stored?.kind ?? null) : this.#kinds.of(update, stored);
    if (kind === null) {
      if (!closed) this.#kinds.parkUnknown(update, emit);
      return;
    }
    const before = kind === 'user' ? (this.#openUser(key)?.data ?? null) : null;
    this.#key = prepared?.key ?? key;
    if (!this.#emitted(update, kind, before, emit, everything)) return;
    const isActive = stored !== undefined && !this.#isReading;
    // One that changes is stored as it was just unpacked: the next change reads it again.
    const next = prepared ?? new StoredAccount(isActive ? update : given, kind, false, stored ?? null);
    next.read = this.#read;
    this.#accounts.set(next, isActive);
    if (kind === 'user') this.#marginOf(key, update, before);
    this.#watcher?.changed(key, stored ?? null, update.slot);
  }

  /** Emits a stored account in full. */
  #repeat(stored: StoredAccount, emit: Emit): void {
    const update = currentOf(stored);
    this.#key = stored.key;
    if (this.#emitted(update, stored.kind, null, emit, true) && stored.kind === 'user')
      this.#marginOf(stored.key, update, null);
  }

  /** Emits the changes of an account. False when its data cannot be read: they are parked, and nothing changes. */
  #emitted(update: AccountUpdate, kind: Kind, before: Uint8Array | null, emit: Emit, everything: boolean): boolean {
    this.#emit = emit;
    try {
      if (update.data.length === 0) this.#close(update, kind, before, emit);
      else this.#compare(update, kind, before, emit, everything);
      return true;
    } catch (error) {
      if (!(error instanceof AccountError)) throw error;
      parkAccount(emit, update, error.reason, error.message);
      return false;
    }
  }

  #marginOf(key: string, { slot, data }: AccountUpdate, before: Uint8Array | null): void {
    // The margins of a first complete read follow as a whole.
    if (this.#isEnding && !this.#isMarginWhole) return;
    const { user } = this.#readers;
    const isOpen = data.length > 0;
    if (isOpen && before && user.margin.isSame(before, data)) return;
    const authority = isOpen || !before ? null : user.authority(user.account.open(before));
    this.#margins.account(key, { slot, authority });
  }

  /** `before`: the data of an open User account. */
  #compare(update: AccountUpdate, kind: Kind, before: Uint8Array | null, emit: Emit, everything: boolean): void {
    if (kind === 'user') this.#users.apply(update, before, emit, everything);
    else if (kind === 'clob') this.#readClob(update, emit);
    else if (kind === 'oracle') this.#markets.oracle(update, emit);
    else if (kind === 'state') this.#readState(update, emit);
    else if (kind === 'vault') this.#plain.vault(update, emit);
    else if (kind === 'builder') this.#plain.builder(update, emit);
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
    if (!isPerp) this.#plain.fund(view, marketIndex, update.slot, emit);
    const before = isPerp ? this.#markets.clobKey(marketIndex) : null;
    this.#markets.market(update, reader, emit);
    const after = isPerp ? this.#markets.clobKey(marketIndex) : null;
    if (before === after) return;
    for (const key of [before, after]) {
      const stored = key === null ? undefined : this.#accounts.get(key);
      if (stored?.kind !== 'clob' || !stored.isOpen) continue;
      this.#readClob({ ...currentOf(stored), slot: Math.max(stored.slot, update.slot) }, emit);
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

  /** Markets, oracles, vaults, builders and the State account never close, so their last state stays. */
  #close(update: AccountUpdate, kind: Kind, before: Uint8Array | null, emit: Emit): void {
    if (kind === 'user') this.#users.close(update, before, emit);
    else if (kind === 'clob') this.#clobs?.close(update, emit);
  }
}

function addressKey(authority: Uint8Array, subAccountId: number): string {
  return `${keyText(authority)}${subAccountId}`;
}
