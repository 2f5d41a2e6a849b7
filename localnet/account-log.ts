// A file with every account as each slot left it, so that a test can rebuild the state of any slot from the chain alone.
// One frame a slot: its length (u32, little endian), then the deflated slot.

import { closeSync, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import { deserialize, serialize } from 'node:v8';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { AccountVersion, StoredBlock } from './ledger.ts';

/** Accounts are mostly zeros: more effort gains little. */
const DEFLATE_LEVEL = 1;
const LENGTH_BYTES = 4;

/** An account as a slot left it; empty data means that it was closed. */
export type LoggedAccount = Pick<AccountVersion, 'pubkey' | 'owner' | 'data'>;

export interface LoggedSlot {
  readonly slot: number;
  /** What the slot wrote, each account once; in the first slot of a file all accounts there are. */
  readonly accounts: readonly LoggedAccount[];
}

export class AccountLog {
  readonly #file: number;

  /** Begins a file anew with the accounts that exist at `slot`. */
  constructor(path: string, slot: number, accounts: readonly LoggedAccount[]) {
    this.#file = openSync(path, 'w');
    this.#write({ slot, accounts });
  }

  /** Adds what a block left of the accounts it wrote. */
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

/** Reads such a file slot by slot, also while it grows. */
export class AccountLogReader {
  readonly #file: number;
  #position = 0;

  constructor(path: string) {
    this.#file = openSync(path, 'r');
  }

  /** The next slot, or null while it has not been written whole. */
  next(): LoggedSlot | null {
    const left = fstatSync(this.#file).size - this.#position;
    if (left < LENGTH_BYTES) return null;
    const length = this.#read(this.#position, LENGTH_BYTES).readUInt32LE();
    if (left < LENGTH_BYTES + length) return null;
    const body = this.#read(this.#position + LENGTH_BYTES, length);
    this.#position += LENGTH_BYTES + length;
    return deserialize(inflateRawSync(body)) as LoggedSlot;
  }

  close(): void {
    closeSync(this.#file);
  }

  #read(position: number, length: number): Buffer {
    const bytes = Buffer.alloc(length);
    readSync(this.#file, bytes, 0, length, position);
    return bytes;
  }
}
