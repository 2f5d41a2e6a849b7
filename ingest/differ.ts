// From accounts to changes: accepts each account's newest state and says what differs. Pure: no clock, no I/O.

import bs58 from 'bs58';
import type { ChainDefinition, MarketRef } from '../schemas/index.ts';
import { marketKey } from '../schemas/index.ts';
import { AccountError, type CompiledAccount, compileAccount, discriminatorOf } from './decode/account.ts';
import { type ClobReader, compileClob } from './decode/clob.ts';
import { DefinitionError } from './decode/layout.ts';
import {
  compileExchangeState,
  compilePerpMarket,
  compileSpotMarket,
  type ExchangeState,
  type MarketReader,
} from './decode/market.ts';
import { isOracle } from './decode/oracle.ts';
import { compileUser, type UserReader } from './decode/user.ts';
import type { Field } from './decode/values.ts';
import { compileVaults, type VaultReaders } from './decode/vault.ts';
import { ClobDiffer } from './diff/clobs.ts';
import { MarketDiffer } from './diff/markets.ts';
import { type Emit, keyText, type Output, parkAccount } from './diff/output.ts';
import { UserDiffer } from './diff/users.ts';
import type { AccountUpdate } from './source.ts';

/** Address of the User account of an authority and sub-account id; must be a pure function. */
export type DeriveUser = (authority: Uint8Array, subAccountId: number) => Uint8Array;

type Kind = 'state' | 'market' | 'oracle' | 'user' | 'clob' | 'vault';
/** Order inside the first snapshot: what others look up comes first. */
const KIND_ORDER: readonly Kind[] = ['state', 'market', 'oracle', 'user', 'clob', 'vault'];

interface Held {
  /** Newest slot at which these bytes were met, and the first. */
  slot: number;
  readonly since: number;
  writeVersion: bigint | null;
  data: Uint8Array;
  readonly kind: Kind;
  readonly owner: Uint8Array;
  readonly pubkey: Uint8Array;
}

/** Hears of every change of what is held. */
export interface Watcher {
  /** Other bytes are held now than `before`, since the slot of the update. */
  changed(key: string, before: HeldBytes | null, slot: number): void;
  /** All accounts were read anew: what was held of earlier slots may have been incomplete. */
  reread(): void;
}

/** No bytes when the account was closed. */
export interface HeldBytes {
  readonly slot: number;
  readonly since: number;
  readonly data: Uint8Array;
}

interface Readers {
  readonly exchangeId: string;
  readonly user: UserReader;
  readonly markets: ReadonlyMap<bigint, MarketReader>;
  readonly state: { readonly account: CompiledAccount; readonly read: Field<ExchangeState> } | null;
  readonly clobId: string | null;
  readonly clob: ClobReader | null;
  readonly vaultsId: string | null;
  readonly vaults: VaultReaders;
  /** All discriminators of a program (base58), wanted or not. */
  readonly discriminators: ReadonlyMap<string, ReadonlySet<bigint>>;
}

/** Compiles what the differ reads. Throws DefinitionError when the definition has no User or PerpMarket account. */
export function compileReaders(definition: ChainDefinition): Readers {
  const exchange = definition.programs.find((program) => program.accounts.has('User'));
  const user = exchange?.accounts.get('User');
  const perp = exchange?.accounts.get('PerpMarket');
  const spot = exchange?.accounts.get('SpotMarket');
  const state = exchange?.accounts.get('State');
  if (!exchange || !user || !perp) throw new DefinitionError(`${definition.name} has no User or no PerpMarket`);
  const markets = [compilePerpMarket(perp), ...(spot ? [compileSpotMarket(spot)] : [])];
  const book = definition.programs.find((program) => program.accounts.has('ClobHeaderV0'));
  const vaults = definition.programs.find((program) => program.accounts.has('Vault'));
  const header = book?.accounts.get('ClobHeaderV0');
  const node = book?.types.get('OrderNodeV0');
  return {
    exchangeId: exchange.programId,
    user: compileUser(user),
    markets: new Map(markets.map((market) => [market.account.discriminator, market])),
    state: state ? { account: compileAccount(state), read: compileExchangeState(state) } : null,
    clobId: book?.programId ?? null,
    clob: header && node ? compileClob(header, node) : null,
    vaultsId: vaults?.programId ?? null,
    vaults: vaults ? compileVaults(vaults) : new Map(),
    discriminators: new Map(
      definition.programs.map((program) => [
        program.programId,
        new Set([...program.accounts.values()].map((account) => discriminatorOf(account.discriminator))),
      ]),
    ),
  };
}

export class Differ {
  readonly #readers: Readers;
  readonly #held = new Map<string, Held>();
  readonly #users: UserDiffer;
  readonly #clobs: ClobDiffer | null;
  readonly #markets = new MarketDiffer();
  readonly #addresses = new Map<string, Uint8Array>();
  readonly #owners = new Map<string, string>();
  #emit: Emit = () => {};
  /** Accounts of the first snapshot, kept until it is complete. */
  #gathering: AccountUpdate[] | null = null;
  /** Keys met in a later snapshot. */
  #seen: Set<string> | null = null;
  #bracketed = false;
  #watcher: Watcher | null = null;

  constructor(readers: Readers, deriveUser: DeriveUser) {
    this.#readers = readers;
    this.#users = new UserDiffer(readers.user, {
      learned: (user, authority, subAccountId) => this.#addresses.set(addressKey(authority, subAccountId), user),
      positionChanged: (user, marketIndex, slot) =>
        this.#clobs?.positionChanged(user, marketIndex, slot, (output) => this.#emit(output)),
    });
    this.#clobs =
      readers.clob &&
      new ClobDiffer(readers.clob, {
        userOf: (authority, subAccountId) => {
          const key = addressKey(authority, subAccountId);
          const known = this.#addresses.get(key) ?? deriveUser(authority, subAccountId);
          this.#addresses.set(key, known);
          return known;
        },
        cappingBase: (user, marketIndex) => this.#users.cappingBase(user, marketIndex),
      });
  }

  watch(watcher: Watcher): void {
    this.#watcher = watcher;
  }

  /** Takes one account update; older and identical ones change nothing. */
  account(update: AccountUpdate, emit: Emit): void {
    if (this.#gathering) {
      this.#gathering.push(update);
      return;
    }
    this.#apply(update, emit, false);
  }

  /** A complete read of all accounts follows. */
  snapshotBegin(): void {
    if (this.#bracketed) this.#seen = new Set();
    else this.#gathering = [];
  }

  /**
   * The read is complete. The first one is told in full between brackets per market, since readers may hold what an
   * earlier process wrote; a later one is a difference, and accounts it lacks are closed.
   */
  snapshotEnd(snapshotSlot: number, emit: Emit): void {
    if (this.#gathering) {
      const updates = this.#gathering;
      this.#gathering = null;
      this.#bracketed = true;
      this.#tellAll(updates, snapshotSlot, emit);
    } else if (this.#seen) {
      const seen = this.#seen;
      this.#seen = null;
      for (const [key, held] of this.#held) {
        if (seen.has(key) || held.slot > snapshotSlot || held.data.length === 0) continue;
        if (held.kind !== 'user' && held.kind !== 'clob') continue;
        const { pubkey, owner } = held;
        const gone: AccountUpdate = {
          kind: 'account',
          slot: snapshotSlot,
          writeVersion: null,
          pubkey,
          owner,
          data: new Uint8Array(0),
        };
        this.#apply(gone, emit, false);
      }
    }
    this.#watcher?.reread();
  }

  /** False while a complete read is being taken in: what is held is then partly older than it. */
  get isSettled(): boolean {
    return this.#bracketed && this.#gathering === null && this.#seen === null;
  }

  /** What is held of an account, by its key text (`keyText`). */
  held(key: string): HeldBytes | null {
    return this.#held.get(key) ?? null;
  }

  /** The update that brought what is held of an account; without data when that closed it. */
  lastUpdate(key: string): AccountUpdate | null {
    const held = this.#held.get(key);
    return held ? updateOf(held) : null;
  }

  /** Accounts held (of some kinds), closed ones left out, each as the update that brought it. */
  *accounts(kinds: readonly Kind[] = KIND_ORDER): Generator<AccountUpdate> {
    for (const held of this.#held.values()) {
      if (held.data.length > 0 && kinds.includes(held.kind)) yield updateOf(held);
    }
  }

  /** Whether the account is of a kind that a complete read lacks once it is closed (or idle). */
  mayClose(pubkey: Uint8Array): boolean {
    const kind = this.#held.get(keyText(pubkey))?.kind;
    return kind === 'user' || kind === 'clob';
  }

  /** Accounts held, closed ones not counted. */
  get size(): number {
    let size = 0;
    for (const held of this.#held.values()) if (held.data.length > 0) size += 1;
    return size;
  }

  #tellAll(updates: readonly AccountUpdate[], snapshotSlot: number, emit: Emit): void {
    const outputs: Output[] = [];
    const kinds = updates.map((update) => ({ update, rank: this.#rank(update) }));
    for (const { update } of kinds.sort((a, b) => a.rank - b.rank)) {
      this.#apply(update, (output) => outputs.push(output), true);
    }
    const markets = new Map<string, MarketRef>(this.#markets.refs().map((ref) => [marketKey(ref), ref]));
    for (const output of outputs) {
      if (output.name !== 'BookOrders') continue;
      const { marketType, marketIndex } = output.value;
      markets.set(marketKey(output.value), { marketType, marketIndex });
    }
    for (const ref of markets.values()) emit({ name: 'BookSnapshotBegin', value: { ...ref, snapshotSlot } });
    for (const output of outputs) emit(output);
    for (const ref of markets.values()) emit({ name: 'BookSnapshotEnd', value: { ...ref, snapshotSlot } });
  }

  #rank(update: AccountUpdate): number {
    const kind = update.data.length === 0 ? null : this.#kindOf(update);
    return kind === null ? KIND_ORDER.length : KIND_ORDER.indexOf(kind);
  }

  #apply(update: AccountUpdate, emit: Emit, everything: boolean): void {
    const key = keyText(update.pubkey);
    this.#seen?.add(key);
    const held = this.#held.get(key);
    if (held && isOlder(update, held)) return;
    if (held && sameBytes(update.data, held.data)) {
      held.slot = update.slot;
      held.writeVersion = update.writeVersion;
      return;
    }
    this.#emit = emit;
    const closed = update.data.length === 0;
    const kind = closed ? (held?.kind ?? null) : this.#kindOf(update);
    if (kind === null) {
      if (!closed) this.#unread(update, emit);
      return;
    }
    try {
      if (closed) this.#close(update, kind, emit);
      else this.#read(update, kind, emit, everything);
    } catch (error) {
      if (!(error instanceof AccountError)) throw error;
      parkAccount(emit, update, error.reason, error.message);
      return;
    }
    const { slot, writeVersion, data, owner, pubkey } = update;
    this.#held.set(key, { slot, since: slot, writeVersion, data, kind, owner, pubkey });
    this.#watcher?.changed(key, held ?? null, slot);
  }

  #read(update: AccountUpdate, kind: Kind, emit: Emit, everything: boolean): void {
    if (kind === 'user') this.#users.apply(update, emit, everything);
    else if (kind === 'clob') this.#readClob(update, emit);
    else if (kind === 'oracle') this.#markets.oracle(update, emit);
    else if (kind === 'state') this.#readState(update, emit);
    else if (kind === 'vault') this.#readVault(update, emit);
    else {
      const reader = this.#readers.markets.get(discriminatorOf(update.data));
      if (reader) this.#readMarket(update, reader, emit);
    }
  }

  /** When a market names another account as its book, the old one's orders go and the new one's come, if it is held. */
  #readMarket(update: AccountUpdate, reader: MarketReader, emit: Emit): void {
    const marketIndex = reader.marketIndex(reader.account.open(update.data));
    const isPerp = reader.marketType === 'perp';
    const before = isPerp ? this.#markets.clobKey(marketIndex) : null;
    this.#markets.market(update, reader, emit);
    const after = isPerp ? this.#markets.clobKey(marketIndex) : null;
    if (before === after) return;
    for (const key of [before, after]) {
      const held = key === null ? undefined : this.#held.get(key);
      if (held?.kind !== 'clob' || held.data.length === 0) continue;
      this.#readClob({ ...held, kind: 'account', slot: Math.max(held.slot, update.slot) }, emit);
    }
  }

  /** Of a market's book accounts only the one that the market itself names is its book (protocol 1.1, 1.9). */
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

  /** Markets, oracles, vaults and the State account never close; their last state stays. */
  #close(update: AccountUpdate, kind: Kind, emit: Emit): void {
    if (kind === 'user') this.#users.close(update, emit);
    else if (kind === 'clob') this.#clobs?.close(update, emit);
  }

  #kindOf(update: AccountUpdate): Kind | null {
    const readers = this.#readers;
    const owner = this.#ownerText(update.owner);
    const discriminator = discriminatorOf(update.data);
    if (owner === readers.exchangeId) {
      if (discriminator === readers.user.account.discriminator) return 'user';
      if (readers.markets.has(discriminator)) return 'market';
      if (discriminator === readers.state?.account.discriminator) return 'state';
    } else if (owner === readers.clobId && discriminator === readers.clob?.account.discriminator) return 'clob';
    else if (owner === readers.vaultsId && readers.vaults.has(discriminator)) return 'vault';
    return isOracle(update.data) ? 'oracle' : null;
  }

  /** Account kinds of the programs that nothing here needs are passed over; anything else is parked. */
  #unread(update: AccountUpdate, emit: Emit): void {
    const known = this.#readers.discriminators.get(this.#ownerText(update.owner));
    const discriminator = discriminatorOf(update.data);
    if (known?.has(discriminator)) return;
    const head = Buffer.from(update.data.subarray(0, 8)).toString('hex');
    parkAccount(emit, update, 'unknown_discriminator', `${update.data.length} bytes beginning with ${head}`);
  }

  #ownerText(owner: Uint8Array): string {
    const key = keyText(owner);
    let text = this.#owners.get(key);
    if (text === undefined) {
      text = bs58.encode(owner);
      this.#owners.set(key, text);
    }
    return text;
  }
}

function updateOf({ since, pubkey, owner, data }: Held): AccountUpdate {
  return { kind: 'account', slot: since, writeVersion: null, pubkey, owner, data };
}

/** By slot, then by write version where both are known; at equal standing the later arrival is taken. */
function isOlder(update: AccountUpdate, held: Held): boolean {
  if (update.slot !== held.slot) return update.slot < held.slot;
  if (update.writeVersion === null || held.writeVersion === null) return false;
  return update.writeVersion < held.writeVersion;
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && Buffer.compare(a, b) === 0;
}

function addressKey(authority: Uint8Array, subAccountId: number): string {
  return `${keyText(authority)}${subAccountId}`;
}
