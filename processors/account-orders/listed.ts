// Accounts that a whole read of a market has listed so far, saved in chunks with the offset: a batch may end inside the read.

import bs58 from 'bs58';
import type { StatePiece } from '../follow/pieces.ts';

const USER_BYTES = 32;
const CHUNK_USERS = 256;

interface Listed {
  readonly names: Set<string>;
  readonly users: Uint8Array[];
}

export class ListedAccounts {
  /** By market. */
  readonly #markets = new Map<string, Listed>();
  /** Names of pieces. */
  readonly #changed = new Set<string>();

  begin(market: string): void {
    this.end(market);
    this.#markets.set(market, { names: new Set(), users: [] });
    this.#changed.add(pieceName(market, 0));
  }

  add(market: string, name: string, user: Uint8Array): void {
    const listed = this.#markets.get(market);
    if (!listed || listed.names.has(name)) return;
    listed.names.add(name);
    listed.users.push(user);
    this.#changed.add(pieceName(market, Math.floor((listed.users.length - 1) / CHUNK_USERS)));
  }

  /** Names of the accounts of the read, which is over; null without a begin. */
  end(market: string): ReadonlySet<string> | null {
    const listed = this.#markets.get(market);
    if (!listed) return null;
    this.#markets.delete(market);
    for (let first = 0; first <= listed.users.length; first += CHUNK_USERS) {
      this.#changed.add(pieceName(market, first / CHUNK_USERS));
    }
    return listed.names;
  }

  takeChanges(): StatePiece[] {
    const pieces = [...this.#changed].map((name) => ({ name, bytes: this.#chunk(name) }));
    this.#changed.clear();
    return pieces;
  }

  restore(pieces: Iterable<{ readonly name: string; readonly bytes: Uint8Array }>): void {
    const sorted = [...pieces].sort((a, b) => partsOf(a.name)[1] - partsOf(b.name)[1]);
    for (const { name, bytes } of sorted) {
      const [market] = partsOf(name);
      if (!this.#markets.has(market)) this.#markets.set(market, { names: new Set(), users: [] });
      for (let at = 0; at < bytes.length; at += USER_BYTES) {
        const user = Uint8Array.from(bytes.subarray(at, at + USER_BYTES));
        this.add(market, bs58.encode(user), user);
      }
    }
    this.#changed.clear();
  }

  #chunk(name: string): Uint8Array | null {
    const [market, chunk] = partsOf(name);
    const users = this.#markets.get(market)?.users;
    // A market without accounts has one empty chunk, so that a restart knows of its read.
    if (!users || (chunk > 0 && chunk * CHUNK_USERS >= users.length)) return null;
    return Buffer.concat(users.slice(chunk * CHUNK_USERS, (chunk + 1) * CHUNK_USERS));
  }
}

function pieceName(market: string, chunk: number): string {
  return `${market}/${chunk}`;
}

function partsOf(name: string): [market: string, chunk: number] {
  const at = name.indexOf('/');
  return [name.slice(0, at), Number(name.slice(at + 1))];
}
