// One market: takes positions and the market state, returns the ranking at the end of a slot. Pure.

import {
  encodeMessage,
  type MarketRef,
  marketKey,
  type PnlRanking,
  type PositionMarket,
  type PositionState,
  PUBKEY_BYTES,
} from '../../schemas/index.ts';
import type { PnlPosition } from './pnl.ts';
import { PositionTable } from './positions.ts';
import { rank } from './sweep.ts';

/** One state write; null deletes it. */
export interface Change {
  readonly key: string;
  readonly value: Uint8Array | null;
}

const POSITION_STATE = 'position:';
const MARKET_STATE = 'market:';
const POSITION_BYTES = 32;

export class MarketRanking {
  readonly ref: MarketRef;
  readonly key: string;
  readonly positions = new PositionTable();
  #market: PositionMarket | null = null;
  /** Whether something changed since the last ranking. */
  #due = false;
  /** Positions received since a whole read began; null outside of one. */
  #seen: Set<string> | null = null;
  readonly #changed = new Set<string>();
  /** Whether the market state or `#due` changed since the last saved state. */
  #headChanged = false;

  constructor({ marketType, marketIndex }: MarketRef) {
    this.ref = { marketType, marketIndex };
    this.key = marketKey(this.ref);
  }

  position(state: PositionState): void {
    const { key } = this.positions.put(state.user, state);
    this.#seen?.add(key);
    this.#changed.add(key);
    this.#setDue(true);
  }

  market(state: PositionMarket): void {
    this.#market = state;
    this.#headChanged = true;
    this.#due = true;
  }

  /** Begins a whole read of all positions; it replaces an unfinished one. */
  begin(): void {
    this.#seen = new Set();
  }

  /** Ends a whole read: removes every position that it did not contain. Without a `begin` it does nothing. */
  end(): void {
    const seen = this.#seen;
    this.#seen = null;
    if (!seen) return;
    for (const key of [...this.positions.keys()]) {
      if (seen.has(key)) continue;
      this.positions.remove(key);
      this.#changed.add(key);
    }
    this.#setDue(true);
  }

  /** True during a whole read: the positions are neither the old state nor the new one. */
  get isReading(): boolean {
    return this.#seen !== null;
  }

  /** The ranking at the end of `slot`; null when nothing changed since the last one, or the market state is unknown. */
  rankingAt(slot: number): PnlRanking | null {
    if (!this.#due || this.isReading || !this.#market) return null;
    this.#setDue(false);
    return { ...this.ref, slot, ...rank(this.positions, this.#market) };
  }

  /** State that changed since the last call. */
  takeChanges(): Change[] {
    const changes: Change[] = [];
    for (const key of this.#changed) {
      const held = this.positions.find(key);
      changes.push({ key: `${POSITION_STATE}${this.key}:${key}`, value: held && packed(held) });
    }
    this.#changed.clear();
    if (this.#headChanged && this.#market) {
      const value = Buffer.concat([Buffer.of(this.#due ? 1 : 0), encodeMessage('PositionMarket', this.#market)]);
      changes.push({ key: MARKET_STATE + this.key, value });
    }
    this.#headChanged = false;
    return changes;
  }

  #setDue(due: boolean): void {
    if (due !== this.#due) this.#headChanged = true;
    this.#due = due;
  }

  /** Restores a position of `takeChanges`. */
  restorePosition(user: Uint8Array, held: PnlPosition): void {
    this.positions.put(user, held);
  }

  restoreMarket(state: PositionMarket, due: boolean): void {
    this.#market = state;
    this.#due = due;
  }
}

/** Meaning of a state key and value; null for other keys. */
export type SavedValue =
  | { readonly is: 'position'; readonly marketKey: string; readonly user: Uint8Array; readonly held: PnlPosition }
  | { readonly is: 'market'; readonly marketKey: string; readonly due: boolean; readonly message: Uint8Array };

export function savedValue(key: string, value: Uint8Array): SavedValue | null {
  if (key.startsWith(MARKET_STATE)) {
    const due = value[0] === 1;
    return { is: 'market', marketKey: key.slice(MARKET_STATE.length), due, message: value.subarray(1) };
  }
  if (!key.startsWith(POSITION_STATE)) return null;
  const [market = '', hex = ''] = key.slice(POSITION_STATE.length).split(':');
  const user = new Uint8Array(Buffer.from(hex, 'hex'));
  if (user.length !== PUBKEY_BYTES || value.length !== POSITION_BYTES) return null;
  return { is: 'position', marketKey: market, user, held: unpacked(value) };
}

function packed(held: PnlPosition): Uint8Array {
  const bytes = Buffer.alloc(POSITION_BYTES);
  bytes.writeBigInt64LE(held.baseAssetAmount, 0);
  bytes.writeBigInt64LE(held.quoteAssetAmount, 8);
  bytes.writeBigInt64LE(held.quoteEntryAmount, 16);
  bytes.writeBigInt64LE(held.lastCumulativeFundingRate, 24);
  return bytes;
}

function unpacked(value: Uint8Array): PnlPosition {
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  return {
    baseAssetAmount: bytes.readBigInt64LE(0),
    quoteAssetAmount: bytes.readBigInt64LE(8),
    quoteEntryAmount: bytes.readBigInt64LE(16),
    lastCumulativeFundingRate: bytes.readBigInt64LE(24),
  };
}
