// A file with every account after each slot, so that a test can rebuild the state of any slot from the chain alone. One
// frame per slot: its length (u32, little endian), then the deflated slot.

import { closeSync, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import { deserialize, serialize } from 'node:v8';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { AccountVersion, StoredBlock } from './ledger.ts';

/** Accounts are mostly zeros: more effort gains little. */
const DEFLATE_LEVEL = 1;
const LENGTH_BYTES = 4;

/** An account at the end of a slot. Empty data means closed. */
export type LoggedAccount = Pick<AccountVersion, 'pubkey' | 'owner' | 'data'>;

export interface LoggedSlot {
  readonly slot: number;
  /** Accounts written in the slot, each once. The first slot of a file has all accounts. */
  readonly accounts: readonly LoggedAccount[];
}

export class AccountLog {
  readonly #file: number;

  /** Starts a new file with the accounts that exist at `slot`. */
  constructor(path: string, slot: number, accounts: readonly LoggedAccount[]) {
    this.#file = openSync(path, 'w');
    this.#write({ slot, accounts });
  }

  /** Appends the last state of each account that a block wrote. */
  append({ slot, transactions }: StoredBlock): void {
    const written = new Map<string, LoggedAccount>();
    for (const { writes } of transactions) for (const account of writes) written.set(account.pubkey, account);
    this.#write({ slot, accounts: [...written.values()] });
  }

  close(): void {
    closeSync(this.#file);
  }

  #write({ slot, accounts }: LoggedSlot): void {
    const kept = accounts.map(({ pubkey, owner, data }) => ({ pubkey, owner, data }));
    const body = deflateRawSync(serialize({ slot, accounts: kept }), { level: DEFLATE_LEVEL });
    const length = Buffer.alloc(LENGTH_BYTES);
    length.writeUInt32LE(body.byteLength);
    writeSync(this.#file, Buffer.concat([length, body]));
  }
}

/** Reads an account log slot by slot, even while it grows. */
export class AccountLogReader {
  readonly #file: number;
  #at = 0;

  constructor(path: string) {
    this.#file = openSync(path, 'r');
  }

  /** The next slot, or null while its frame is incomplete. */
  next(): LoggedSlot | null {
    const left = fstatSync(this.#file).size - this.#at;
    if (left < LENGTH_BYTES) return null;
    const length = this.#read(this.#at, LENGTH_BYTES).readUInt32LE();
    if (left < LENGTH_BYTES + length) return null;
    const body = this.#read(this.#at + LENGTH_BYTES, length);
    this.#at += LENGTH_BYTES + length;
    return deserialize(inflateRawSync(body)) as LoggedSlot;
  }

  close(): void {
    closeSync(this.#file);
  }

  #read(at: number, length: number): Buffer {
    const bytes = Buffer.alloc(length);
    readSync(this.#file, bytes, 0, length, at);
    return bytes;
  }
}
