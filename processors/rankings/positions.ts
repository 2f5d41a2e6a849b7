// The open positions of one market in columns: exact numbers, and doubles for the sweep over all of them.

import type { PositionState } from '../../schemas/index.ts';
import { type PnlPosition, surplusOf } from './pnl.ts';

const ROWS_MIN = 64;

export class PositionTable {
  size = 0;
  base = new Float64Array(ROWS_MIN);
  quote = new Float64Array(ROWS_MIN);
  lastFunding = new Float64Array(ROWS_MIN);
  surplus = new Float64Array(ROWS_MIN);
  #exact = new BigInt64Array(ROWS_MIN * 4);
  readonly #users: Uint8Array[] = [];
  readonly #keys: string[] = [];
  readonly #rows = new Map<string, number>();

  /** Sets a position, or removes it when it has neither base nor quote. Returns its key, and whether it exists now. */
  put(user: Uint8Array, held: PnlPosition): { readonly key: string; readonly kept: boolean } {
    const key = userKey(user);
    const kept = held.baseAssetAmount !== 0n || held.quoteAssetAmount !== 0n;
    if (kept) this.#write(this.#rows.get(key) ?? this.#append(key, user), held);
    else this.remove(key);
    return { key, kept };
  }

  remove(key: string): void {
    const row = this.#rows.get(key);
    if (row === undefined) return;
    const last = this.size - 1;
    if (row !== last) this.#move(last, row);
    this.#rows.delete(key);
    this.#users.length = last;
    this.#keys.length = last;
    this.size = last;
  }

  user(row: number): Uint8Array {
    return this.#users[row] ?? new Uint8Array(0);
  }

  /** Sort key of users with the same P&L. */
  key(row: number): string {
    return this.#keys[row] ?? '';
  }

  keys(): Iterable<string> {
    return this.#rows.keys();
  }

  /** The exact position in a row. */
  positionAt(row: number): PnlPosition {
    const at = row * 4;
    const exact = this.#exact;
    return {
      baseAssetAmount: exact[at] ?? 0n,
      quoteAssetAmount: exact[at + 1] ?? 0n,
      quoteEntryAmount: exact[at + 2] ?? 0n,
      lastCumulativeFundingRate: exact[at + 3] ?? 0n,
    };
  }

  find(key: string): PnlPosition | null {
    const row = this.#rows.get(key);
    return row === undefined ? null : this.positionAt(row);
  }

  #append(key: string, user: Uint8Array): number {
    const row = this.size;
    if (row === this.base.length) this.#grow();
    this.size = row + 1;
    this.#rows.set(key, row);
    this.#users[row] = user;
    this.#keys[row] = key;
    return row;
  }

  #write(row: number, held: PnlPosition): void {
    const at = row * 4;
    this.#exact[at] = held.baseAssetAmount;
    this.#exact[at + 1] = held.quoteAssetAmount;
    this.#exact[at + 2] = held.quoteEntryAmount;
    this.#exact[at + 3] = held.lastCumulativeFundingRate;
    this.base[row] = Number(held.baseAssetAmount);
    this.quote[row] = Number(held.quoteAssetAmount);
    this.lastFunding[row] = Number(held.lastCumulativeFundingRate);
    this.surplus[row] = Number(surplusOf(held));
  }

  #move(from: number, to: number): void {
    const key = this.key(from);
    this.#users[to] = this.user(from);
    this.#keys[to] = key;
    this.#rows.set(key, to);
    this.#write(to, this.positionAt(from));
  }

  #grow(): void {
    const rows = this.base.length * 2;
    const wider = (column: Float64Array<ArrayBuffer>): Float64Array<ArrayBuffer> => {
      const grown = new Float64Array(rows);
      grown.set(column);
      return grown;
    };
    this.base = wider(this.base);
    this.quote = wider(this.quote);
    this.lastFunding = wider(this.lastFunding);
    this.surplus = wider(this.surplus);
    const exact = new BigInt64Array(rows * 4);
    exact.set(this.#exact);
    this.#exact = exact;
  }
}

/** A user account in hex, so that keys sort like bytes. */
function userKey(user: PositionState['user']): string {
  return Buffer.from(user.buffer, user.byteOffset, user.byteLength).toString('hex');
}
