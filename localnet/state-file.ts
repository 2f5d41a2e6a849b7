// Keeps a cluster over restarts: the exchange's snapshot and the recent ledger in one file, replaced atomically. Writes in
// slices between slots. A second small file has the newest slot, so that a killed cluster replays up to it and no client
// sees a slot twice.

import { closeSync, existsSync, mkdirSync, openSync, readFileSync, readSync, writeSync } from 'node:fs';
import { type FileHandle, open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { deserialize, serialize } from 'node:v8';
import { type AccountVersion, Ledger, type LedgerHead, type LedgerOptions, type StoredBlock } from './ledger.ts';

const FORMAT = 3;
/** Bytes serialised per slice: about a millisecond. */
const SLICE_BYTES = 512 * 1024;
const HASH_LENGTH = 64;

/** Options that determine the blocks. A saved state continues only with the same ones. */
export interface ChainIdentity {
  readonly seed: number;
  readonly accounts: number | null;
  readonly ordersPerMarket: number | null;
  readonly activity: number | null;
  readonly slotSeconds?: number;
  readonly slotBurst?: number;
  readonly rarities?: boolean;
  readonly announce?: boolean;
  readonly profile?: string;
}

export interface SavedChain {
  readonly identity: ChainIdentity;
  readonly head: LedgerHead;
  readonly exchange: unknown;
}

interface Head extends SavedChain {
  readonly kind: 'head';
  readonly format: number;
}

type SavedAccount = Omit<AccountVersion, 'zstd' | 'data'> & { readonly data: Uint8Array };

interface SavedTransaction {
  readonly signature: string;
  readonly err: unknown;
  readonly logMessages: readonly string[];
  readonly accountKeys: readonly string[];
  readonly sequence: number;
  /** A number is the write version of a state that is among the saved accounts. */
  readonly writes: readonly (SavedAccount | number)[];
  readonly lostRecords?: readonly number[];
  readonly usesLookups?: boolean;
}

type SavedBlock = Omit<StoredBlock, 'transactions'> & { readonly transactions: readonly SavedTransaction[] };

type Slice =
  | Head
  | { readonly kind: 'accounts'; readonly accounts: readonly SavedAccount[] }
  | { readonly kind: 'blocks'; readonly blocks: readonly SavedBlock[] }
  | { readonly kind: 'end' };

/** Writes the state as of the call, however long the writing takes. */
export async function saveState(path: string, chain: SavedChain, ledger: Ledger): Promise<void> {
  const head = serialize({ kind: 'head', format: FORMAT, ...chain } satisfies Head);
  const accounts = ledger.accounts.versions();
  // Account states leave a block once all levels have published it, so this notes the remaining ones now.
  const blocks = [...ledger.history.range(0, Infinity)].map((block) => ({
    block,
    writes: block.transactions.map((transaction) => transaction.writes),
  }));
  const known = new Set(accounts);
  mkdirSync(dirname(path), { recursive: true });
  const temporary = `${path}.new`;
  const file = await open(temporary, 'w');
  try {
    await writeSlice(file, head);
    for (const slice of sliced(accounts.map(savedAccount), (account) => account.data.length + 200)) {
      await writeSlice(file, serialize({ kind: 'accounts', accounts: slice } satisfies Slice));
      await turn();
    }
    for (const slice of sliced(blocks, ({ block }) => 200 + block.transactions.length * 3000)) {
      const saved = slice.map(({ block, writes }) => savedBlock(block, writes, known));
      await writeSlice(file, serialize({ kind: 'blocks', blocks: saved } satisfies Slice));
      await turn();
    }
    await writeSlice(file, serialize({ kind: 'end' } satisfies Slice));
    await file.datasync();
  } finally {
    await file.close();
  }
  await rename(temporary, path);
}

/**
 * Reads a state, or returns null when there is none.
 * @throws when the file is truncated or has another format
 */
export function loadState(
  path: string,
  options: Omit<LedgerOptions, keyof LedgerHead>,
): { chain: SavedChain; ledger: Ledger } | null {
  if (!existsSync(path)) return null;
  const slices = readSlices(path);
  const head = slices.next().value;
  if (head?.kind !== 'head' || head.format !== FORMAT) {
    throw new Error(`${path} is not a localnet state of format ${FORMAT}; remove it to start a new chain`);
  }
  const ledger = new Ledger({ ...options, ...head.head });
  const keys = new Map<string, string>();
  const versions = new Map<number, AccountVersion>();
  let complete = false;
  for (const slice of slices) {
    if (slice.kind === 'accounts') {
      for (const saved of slice.accounts) {
        const version = restoredAccount(saved);
        versions.set(version.writeVersion, version);
        ledger.accounts.restore(version);
      }
    } else if (slice.kind === 'blocks') {
      for (const block of slice.blocks) ledger.restoreBlock(restoredBlock(block, keys, versions));
    } else complete = slice.kind === 'end';
  }
  if (!complete) throw new Error(`${path} is truncated; remove it to start a new chain`);
  ledger.restored(head.head);
  return { chain: { identity: head.identity, head: head.head, exchange: head.exchange }, ledger };
}

async function writeSlice(file: FileHandle, bytes: Buffer): Promise<void> {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(bytes.length);
  await file.writev([length, bytes]);
}

function* readSlices(path: string): Generator<Slice> {
  const descriptor = openSync(path, 'r');
  try {
    const length = Buffer.alloc(4);
    while (readSync(descriptor, length) === 4) {
      const bytes = Buffer.alloc(length.readUInt32LE());
      if (readSync(descriptor, bytes) !== bytes.length) return;
      yield deserialize(bytes) as Slice;
    }
  } finally {
    closeSync(descriptor);
  }
}

function* sliced<T>(items: readonly T[], bytesOf: (item: T) => number): Generator<T[]> {
  let slice: T[] = [];
  let bytes = 0;
  for (const item of items) {
    slice.push(item);
    bytes += bytesOf(item);
    if (bytes < SLICE_BYTES) continue;
    yield slice;
    slice = [];
    bytes = 0;
  }
  if (slice.length > 0) yield slice;
}

function savedAccount(account: AccountVersion): SavedAccount {
  const { pubkey, owner, lamports, data, slot, writeVersion } = account;
  return { pubkey, owner, lamports, data, slot, writeVersion };
}

function savedBlock(
  block: StoredBlock,
  writes: readonly (readonly AccountVersion[])[],
  known: ReadonlySet<AccountVersion>,
): SavedBlock {
  const savedWrite = (write: AccountVersion): SavedAccount | number =>
    known.has(write) ? write.writeVersion : savedAccount(write);
  const { slot, parentSlot, height, blockTime, blockhash, previousBlockhash } = block;
  const transactions = block.transactions.map((transaction, index) => ({
    signature: transaction.signature,
    err: transaction.err,
    logMessages: [...transaction.logMessages],
    accountKeys: [...transaction.accountKeys],
    sequence: transaction.sequence,
    writes: (writes[index] ?? []).map(savedWrite),
    ...(transaction.lostRecords.length === 0 ? {} : { lostRecords: [...transaction.lostRecords] }),
    ...(transaction.usesLookups ? { usesLookups: true } : {}),
  }));
  return { slot, parentSlot, height, blockTime, blockhash, previousBlockhash, transactions };
}

/** Copies data out of its slice, which would otherwise stay in memory. */
function restoredAccount(account: SavedAccount): AccountVersion {
  return { ...account, data: Buffer.from(new Uint8Array(account.data).buffer), zstd: null };
}

/** `keys` interns keys, so that all transactions share one string; `versions` has the states read so far. */
function restoredBlock(
  saved: SavedBlock,
  keys: Map<string, string>,
  versions: ReadonlyMap<number, AccountVersion>,
): StoredBlock {
  const shared = (key: string): string => {
    const known = keys.get(key);
    if (known !== undefined) return known;
    keys.set(key, key);
    return key;
  };
  const restoredWrite = (write: SavedAccount | number): AccountVersion => {
    if (typeof write !== 'number') return restoredAccount(write);
    const version = versions.get(write);
    if (version === undefined) throw new Error(`write ${write} is not among the accounts of the state`);
    return version;
  };
  const block: StoredBlock = { ...saved, transactions: [] };
  for (const [index, transaction] of saved.transactions.entries()) {
    block.transactions.push({
      ...transaction,
      accountKeys: transaction.accountKeys.map(shared),
      writes: transaction.writes.map(restoredWrite),
      index,
      block,
      cutLogs: null,
      lostRecords: transaction.lostRecords ?? [],
      usesLookups: transaction.usesLookups ?? false,
    });
  }
  return block;
}

/** The newest slot of a chain, written with every slot: eight bytes of slot and the genesis hash. */
export class TipFile {
  readonly #descriptor: number;
  readonly #record = Buffer.alloc(8 + HASH_LENGTH);

  constructor(path: string, genesisHash: string) {
    mkdirSync(dirname(path), { recursive: true });
    if (!existsSync(path)) closeSync(openSync(path, 'w'));
    this.#descriptor = openSync(path, 'r+');
    this.#record.write(genesisHash.padEnd(HASH_LENGTH), 8, 'latin1');
  }

  /** Newest published slot of the chain with that genesis, or null. */
  static read(path: string, genesisHash: string): number | null {
    if (!existsSync(path)) return null;
    const record = readFileSync(path);
    if (record.length < 8 + HASH_LENGTH || record.toString('latin1', 8).trimEnd() !== genesisHash) return null;
    return Number(record.readBigUInt64LE());
  }

  write(slot: number): void {
    this.#record.writeBigUInt64LE(BigInt(slot));
    writeSync(this.#descriptor, this.#record, 0, this.#record.length, 0);
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}
