// Orders on which events and account states differ, until discrepancy follows the other or the patience is over. Pure.

import bs58 from 'bs58';
import type { AccountOrder } from '../../schemas/index.ts';
import type { StatePiece } from '../follow/pieces.ts';

/** Slots to wait before a difference counts. Records of discrepancy slot arrive in any order. As in coverage. */
export const PATIENCE_SLOTS = 150;
/** About ten minutes: the patience in a part without events, and with an account of which no state came since the placing. */
export const QUIET_SLOTS = 1_500;

export interface Discrepancy {
  readonly user: Uint8Array;
  /** Of the order (`orderKey`). */
  readonly key: string;
  readonly orderId: number;
  /** The open order of the account; null: the account does not have it. */
  readonly order: AccountOrder | null;
  /** Slot of the account's state; of the placing while no state is known. */
  readonly slot: number;
  /** Newest slot when the difference began. */
  readonly since: number;
  /** False for a placing of which no state is known. */
  readonly isSeen: boolean;
}

/** How far the two inputs are, as slots. */
export interface Clocks {
  readonly events: number;
  readonly states: number;
}

export class Discrepancies {
  /** By account name, then by order key. */
  readonly #found = new Map<string, Map<string, Discrepancy>>();
  readonly #changed = new Set<string>();

  get(name: string, key: string): Discrepancy | undefined {
    return this.#found.get(name)?.get(key);
  }

  of(name: string): Iterable<Discrepancy> {
    return this.#found.get(name)?.values() ?? [];
  }

  /** Names of accounts with discrepancies. */
  names(): Iterable<string> {
    return this.#found.keys();
  }

  put(name: string, discrepancy: Discrepancy): void {
    const own = this.#found.get(name) ?? new Map<string, Discrepancy>();
    this.#found.set(name, own.set(discrepancy.key, discrepancy));
    this.#changed.add(pieceName(name, discrepancy.key));
  }

  delete(name: string, key: string): void {
    const own = this.#found.get(name);
    if (!own?.delete(key)) return;
    if (own.size === 0) this.#found.delete(name);
    this.#changed.add(pieceName(name, key));
  }

  /** Discrepancies whose patience is over, the oldest first, at most `count`. */
  due(clocks: Clocks, count: number): { readonly name: string; readonly discrepancy: Discrepancy }[] {
    const due: { readonly name: string; readonly discrepancy: Discrepancy }[] = [];
    for (const [name, own] of this.#found) {
      for (const discrepancy of own.values()) if (isDue(discrepancy, clocks)) due.push({ name, discrepancy });
    }
    // A restart restores the discrepancies in another order.
    return due
      .sort((a, b) => a.discrepancy.since - b.discrepancy.since || a.discrepancy.orderId - b.discrepancy.orderId)
      .slice(0, count);
  }

  takeChanges(): StatePiece[] {
    const pieces = [...this.#changed].map((piece) => {
      const [name = '', key = ''] = partsOf(piece);
      const discrepancy = this.get(name, key);
      return { name: piece, bytes: discrepancy ? encoded(discrepancy) : null };
    });
    this.#changed.clear();
    return pieces;
  }

  restore(pieces: Iterable<{ readonly name: string; readonly bytes: Uint8Array }>): void {
    for (const { name: piece, bytes } of pieces) {
      const [name = '', key = ''] = partsOf(piece);
      const own = this.#found.get(name) ?? new Map<string, Discrepancy>();
      this.#found.set(name, own.set(key, decoded(name, key, bytes)));
    }
  }
}

function isDue({ since, isSeen }: Discrepancy, { events, states }: Clocks): boolean {
  if (states >= since + QUIET_SLOTS) return true;
  return isSeen && Math.min(events, states) >= since + PATIENCE_SLOTS;
}

function pieceName(name: string, key: string): string {
  return `${name} ${key}`;
}

function partsOf(piece: string): string[] {
  return piece.split(' ');
}

type Saved = Omit<Discrepancy, 'user' | 'key'>;
const INTEGER = /^-?\d+n$/;

function encoded({ order, orderId, slot, since, isSeen }: Discrepancy): Uint8Array {
  const saved: Saved = { order, orderId, slot, since, isSeen };
  return Buffer.from(
    JSON.stringify(saved, (_, value) => (typeof value === 'bigint' ? `${value}n` : value)),
    'utf8',
  );
}

function decoded(name: string, key: string, bytes: Uint8Array): Discrepancy {
  const saved: Saved = JSON.parse(Buffer.from(bytes).toString('utf8'), (_, value) =>
    typeof value === 'string' && INTEGER.test(value) ? BigInt(value.slice(0, -1)) : value,
  );
  return { ...saved, user: bs58.decode(name), key };
}
