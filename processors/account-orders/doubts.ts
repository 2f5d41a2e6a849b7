// Orders on which events and account states differ, until one follows the other or the patience is over. Pure.

import bs58 from 'bs58';
import type { AccountOrder } from '../../schemas/index.ts';
import type { StatePiece } from '../follow/reducer-role.ts';

/** Slots to wait before a difference counts. Records of one slot arrive in any order. As in coverage. */
export const PATIENCE_SLOTS = 150;
/** About ten minutes: the patience in a part without events, and with an account of which no state came since the placing. */
export const QUIET_SLOTS = 1_500;

export interface Doubt {
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

export class Doubts {
  /** By account name, then by order key. */
  readonly #doubts = new Map<string, Map<string, Doubt>>();
  readonly #changed = new Set<string>();

  get(name: string, key: string): Doubt | undefined {
    return this.#doubts.get(name)?.get(key);
  }

  of(name: string): Iterable<Doubt> {
    return this.#doubts.get(name)?.values() ?? [];
  }

  /** Names of accounts with doubts. */
  names(): Iterable<string> {
    return this.#doubts.keys();
  }

  put(name: string, doubt: Doubt): void {
    const own = this.#doubts.get(name) ?? new Map<string, Doubt>();
    this.#doubts.set(name, own.set(doubt.key, doubt));
    this.#changed.add(pieceName(name, doubt.key));
  }

  delete(name: string, key: string): void {
    const own = this.#doubts.get(name);
    if (!own?.delete(key)) return;
    if (own.size === 0) this.#doubts.delete(name);
    this.#changed.add(pieceName(name, key));
  }

  /** Doubts whose patience is over, the oldest first, at most `count`. */
  due(clocks: Clocks, count: number): { readonly name: string; readonly doubt: Doubt }[] {
    const due: { readonly name: string; readonly doubt: Doubt }[] = [];
    for (const [name, own] of this.#doubts) {
      for (const doubt of own.values()) if (isDue(doubt, clocks)) due.push({ name, doubt });
    }
    // A restart restores the doubts in another order.
    return due.sort((a, b) => a.doubt.since - b.doubt.since || a.doubt.orderId - b.doubt.orderId).slice(0, count);
  }

  takeChanges(): StatePiece[] {
    const pieces = [...this.#changed].map((piece) => {
      const [name = '', key = ''] = partsOf(piece);
      const doubt = this.get(name, key);
      return { name: piece, bytes: doubt ? encoded(doubt) : null };
    });
    this.#changed.clear();
    return pieces;
  }

  restore(pieces: Iterable<{ readonly name: string; readonly bytes: Uint8Array }>): void {
    for (const { name: piece, bytes } of pieces) {
      const [name = '', key = ''] = partsOf(piece);
      const own = this.#doubts.get(name) ?? new Map<string, Doubt>();
      this.#doubts.set(name, own.set(key, decoded(name, key, bytes)));
    }
  }
}

function isDue({ since, isSeen }: Doubt, { events, states }: Clocks): boolean {
  if (states >= since + QUIET_SLOTS) return true;
  return isSeen && Math.min(events, states) >= since + PATIENCE_SLOTS;
}

function pieceName(name: string, key: string): string {
  return `${name} ${key}`;
}

function partsOf(piece: string): string[] {
  return piece.split(' ');
}

type Saved = Omit<Doubt, 'user' | 'key'>;
const INTEGER = /^-?\d+n$/;

function encoded({ order, orderId, slot, since, isSeen }: Doubt): Uint8Array {
  const saved: Saved = { order, orderId, slot, since, isSeen };
  return Buffer.from(
    JSON.stringify(saved, (_, value) => (typeof value === 'bigint' ? `${value}n` : value)),
    'utf8',
  );
}

function decoded(name: string, key: string, bytes: Uint8Array): Doubt {
  const saved: Saved = JSON.parse(Buffer.from(bytes).toString('utf8'), (_, value) =>
    typeof value === 'string' && INTEGER.test(value) ? BigInt(value.slice(0, -1)) : value,
  );
  return { ...saved, user: bs58.decode(name), key };
}
