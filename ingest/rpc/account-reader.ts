// Complete and partial reads of the programs' accounts. A complete read that lacks a large share of the known accounts is refused: nodes cut
// such answers, and an empty one must not close every user.

import bs58 from 'bs58';
import type { AccountsWanted, AccountUpdate } from '../source.ts';
import type { AccountFilter } from './account-filters.ts';
import type { NodeCommitment } from './commitment.ts';
import { RpcError } from './errors.ts';
import { ACCOUNTS_PER_CALL, type JsonRpc, type ProgramAccount, type ReadOptions } from './json-rpc.ts';
import type { KeyCache } from './notifications.ts';
import type { PackedAccounts } from './packed-accounts.ts';

/** A read with fewer accounts of a kind than this share of the last read is refused. */
const BELIEVED_SHARE = 0.7;
/** Below this share a kind is read again, and the read with most accounts counts. In a day of downtime fewer accounts become idle. */
const SUSPECT_SHARE = 0.9;
/** Reads of a kind whose count is suspect. Each one may cost as much as all other kinds together. */
const SUSPECT_READS_MAX = 4;
/** Fewer known accounts than this say nothing about shares; only their complete absence is refused. */
const BELIEVED_MIN = 10;
/** Kinds whose accounts never close: a read that lacks one of them is refused. */
const LASTING: ReadonlySet<string> = new Set(['State', 'PerpMarket', 'SpotMarket']);

/** Owner of an account that is gone. */
const SYSTEM_PROGRAM = '1'.repeat(32);

/** Accounts in the last believed read, by program and kind. */
export type AccountCounts = Readonly<Record<string, number>>;

export interface FullRead {
  /** Slot of each filter's read, in the order of the filters. */
  readonly slots: readonly number[];
  /** Newest slot of an account. */
  readonly newestSlot: number;
  /** Made one after the other, so that they are not all in memory, and only once: they are freed as they are passed. */
  readonly updates: Iterable<AccountUpdate>;
}

/** A complete read: the accounts of each filter, packed. */
export class WholeRead implements FullRead {
  readonly #parts: readonly { readonly name: string; readonly slot: number; readonly accounts: PackedAccounts }[];

  constructor(parts: readonly { readonly name: string; readonly slot: number; readonly accounts: PackedAccounts }[]) {
    this.#parts = parts;
  }

  get slots(): readonly number[] {
    return this.#parts.map(({ slot }) => slot);
  }

  get newestSlot(): number {
    return Math.max(...this.#parts.flatMap(({ slot, accounts }) => [slot, accounts.newestSlot]));
  }

  get updates(): Iterable<AccountUpdate> {
    return this.#taken();
  }

  /** The accounts of some kinds, before `updates` are taken. */
  of(kinds: ReadonlySet<string>): AccountUpdate[] {
    return this.#parts.flatMap(({ name, accounts }) => (kinds.has(name) ? [...accounts.updates()] : []));
  }

  *#taken(): Generator<AccountUpdate> {
    for (const { accounts } of this.#parts) yield* accounts.taken();
  }
}

/** A read lacks a large share of the known accounts. The accounts that it has are current. */
export class UnbelievableRead extends RpcError {
  readonly read: WholeRead;
  constructor(message: string, read: WholeRead) {
    super(message, null, { remedy: 'later' });
    this.read = read;
  }
}

export interface AccountReaderParts {
  readonly filters: readonly AccountFilter[];
  readonly commitment: NodeCommitment;
  readonly keys: KeyCache;
}

export class AccountReader {
  readonly #parts: AccountReaderParts;
  #counts: AccountCounts = {};

  constructor(parts: AccountReaderParts) {
    this.#parts = parts;
  }

  /** Counts of the last believed read of an earlier process. */
  remember(counts: AccountCounts): void {
    this.#counts = counts;
  }

  get counts(): AccountCounts {
    return this.#counts;
  }

  /** Reads all accounts at `minSlot` or later. Throws UnbelievableRead, or RpcError when no node answers. */
  async read(
    rpc: JsonRpc,
    minSlot: number,
    options: { isBackground?: boolean; signal?: AbortSignal } = {},
  ): Promise<WholeRead> {
    const { filters, commitment } = this.#parts;
    const parts: { name: string; slot: number; accounts: PackedAccounts }[] = [];
    const counts: Record<string, number> = {};
    // One kind after the other: the event loop runs in between, and the node is not asked for everything at once.
    for (const { program, name, snapshotFilters } of filters) {
      const kind = `${program}/${name}`;
      const least = leastUnrepeated(name, this.#counts[kind] ?? 0);
      const readKind = () => rpc.programAccounts(program, snapshotFilters, { commitment, minSlot, ...options });
      let { slot, accounts } = await readKind();
      for (let reads = 1; accounts.count < least && reads < SUSPECT_READS_MAX; reads++) {
        const again = await readKind();
        if (again.accounts.count > accounts.count) ({ slot, accounts } = again);
      }
      parts.push({ name, slot, accounts });
      counts[kind] = accounts.count;
    }
    const read = new WholeRead(parts);
    for (const [kind, known] of Object.entries(this.#counts)) {
      const count = counts[kind] ?? 0;
      const name = kind.split('/')[1] ?? '';
      if (count < leastBelieved(name, known)) {
        throw new UnbelievableRead(`the node returned ${count} of ${known} accounts (${name})`, read);
      }
    }
    this.#counts = counts;
    return read;
  }

  /**
   * Reads the accounts that changed at `minSlot` or later or, where no node can list them, those of the wanted keys. An account
   * that is gone has no data. Throws RpcError when no node answers.
   */
  async readSome(rpc: JsonRpc, minSlot: number, { changedSince, keys }: AccountsWanted): Promise<FullRead> {
    const { filters, commitment } = this.#parts;
    const options = { commitment, minSlot, isBackground: true };
    const parts: { name: string; slot: number; accounts: PackedAccounts }[] = [];
    for (const { program, name, snapshotFilters } of filters) {
      const changed = await rpc.changedAccounts(program, snapshotFilters, changedSince, options);
      if (changed === null) return this.#readKeys(rpc, keys(), options);
      parts.push({ name, ...changed });
    }
    return new WholeRead(parts);
  }

  async #readKeys(
    rpc: JsonRpc,
    keys: readonly Uint8Array[],
    options: ReadOptions & { readonly minSlot: number },
  ): Promise<FullRead> {
    const slots: number[] = [];
    const updates: AccountUpdate[] = [];
    const names = keys.map((key) => bs58.encode(key));
    for (let at = 0; at < names.length; at += ACCOUNTS_PER_CALL) {
      const part = names.slice(at, at + ACCOUNTS_PER_CALL);
      const { slot, accounts } = await rpc.accounts(part, options);
      slots.push(slot);
      const read = part.map((pubkey, index) => accounts[index] ?? goneAccount(pubkey));
      updates.push(...this.#updates(slot, read));
    }
    if (slots.length === 0) slots.push(options.minSlot);
    return { slots, newestSlot: Math.max(...slots), updates };
  }

  #updates(slot: number, accounts: readonly ProgramAccount[]): AccountUpdate[] {
    const { keys } = this.#parts;
    return accounts.map(({ pubkey, owner, data }) => ({
      kind: 'account',
      slot,
      writeVersion: null,
      pubkey: keys.decode(pubkey),
      owner: keys.decode(owner),
      data,
    }));
  }
}

function goneAccount(pubkey: string): ProgramAccount {
  return { pubkey, owner: SYSTEM_PROGRAM, data: Buffer.alloc(0) };
}

/** Least number of accounts in a read that is not repeated. Few accounts say nothing about shares. */
function leastUnrepeated(kind: string, known: number): number {
  return LASTING.has(kind) || known < BELIEVED_MIN ? known : known * SUSPECT_SHARE;
}

/** Least number of accounts in a read that is believed. */
function leastBelieved(kind: string, known: number): number {
  if (LASTING.has(kind)) return known;
  return known >= BELIEVED_MIN ? known * BELIEVED_SHARE : Math.min(known, 1);
}
