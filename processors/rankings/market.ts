// One market: positions and what their P&L depends on in, a ranking out when asked for at the end of a slot. Pure.

import {
  encodeMessage,
  type MarketRef,
  marketKey,
  type PnlRanking,
  type PositionMarket,
  type PositionState,
} from '../../schemas/index.ts';
import type { Holding } from './pnl.ts';
import { PositionTable } from './positions.ts';
import { rank } from './sweep.ts';

/** One thing to remember; null: to forget. */
export interface Change {
  readonly key: string;
  readonly value: Uint8Array | null;
}

const POSITION_STATE = 'position:';
const MARKET_STATE = 'market:';
const POSITION_BYTES = 32;
const KEY_BYTES = 32;

export class MarketRanking {
  readonly ref: MarketRef;
  readonly key: string;
  readonly positions = new PositionTable();
  #market: PositionMarket | null = null;
  /** Something changed since the last ranking. */
  #due = false;
  /** Positions met since a full telling began; null outside of one. */
  #seen: Set<string> | null = null;
  readonly #changed = new Set<string>();
  /** The market or whether a ranking is due. */
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

  /** All positions follow; an unfinished telling before this one is void. */
  begin(): void {
    this.#seen = new Set();
  }

  /** What was not told since `begin` is gone. Without a `begin` nothing is. */
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

  /** True while positions are being told in full: what is held is neither the old state nor the new. */
  get isBeingTold(): boolean {
    return this.#seen !== null;
  }

  /** The ranking at the end of `slot`; null when nothing changed since the last one, or too little is known. */
  rankingAt(slot: number): PnlRanking | null {
    if (!this.#due || this.isBeingTold || !this.#market) return null;
    this.#setDue(false);
    return { ...this.ref, slot, ...rank(this.positions, this.#market) };
  }

  /** What must be remembered to go on from here, as far as it changed since the last call. */
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

  /** Takes back what `takeChanges` gave. */
  restorePosition(user: Uint8Array, held: Holding): void {
    this.positions.put(user, held);
  }

  restoreMarket(state: PositionMarket, due: boolean): void {
    this.#market = state;
    this.#due = due;
  }
}

/** What a state key and value say; null for keys of something else. */
export type Remembered =
  | { readonly is: 'position'; readonly marketKey: string; readonly user: Uint8Array; readonly held: Holding }
  | { readonly is: 'market'; readonly marketKey: string; readonly due: boolean; readonly message: Uint8Array };

export function remembered(key: string, value: Uint8Array): Remembered | null {
  if (key.startsWith(MARKET_STATE)) {
    const due = value[0] === 1;
    return { is: 'market', marketKey: key.slice(MARKET_STATE.length), due, message: value.subarray(1) };
  }
  if (!key.startsWith(POSITION_STATE)) return null;
  const [market = '', hex = ''] = key.slice(POSITION_STATE.length).split(':');
  const user = new Uint8Array(Buffer.from(hex, 'hex'));
  if (user.length !== KEY_BYTES || value.length !== POSITION_BYTES) return null;
  return { is: 'position', marketKey: market, user, held: unpacked(value) };
}

function packed(held: Holding): Uint8Array {
  const bytes = Buffer.alloc(POSITION_BYTES);
  bytes.writeBigInt64LE(held.baseAssetAmount, 0);
  bytes.writeBigInt64LE(held.quoteAssetAmount, 8);
  bytes.writeBigInt64LE(held.quoteEntryAmount, 16);
  bytes.writeBigInt64LE(held.lastCumulativeFundingRate, 24);
  return bytes;
}

function unpacked(value: Uint8Array): Holding {
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  return {
    baseAssetAmount: bytes.readBigInt64LE(0),
    quoteAssetAmount: bytes.readBigInt64LE(8),
    quoteEntryAmount: bytes.readBigInt64LE(16),
    lastCumulativeFundingRate: bytes.readBigInt64LE(24),
  };
}
