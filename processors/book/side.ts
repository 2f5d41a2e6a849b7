// Published sizes of one side: what orders and the vAMM put on each price, and which levels a message changed.

import type { ViewLevel } from '../../schemas/index.ts';
import { type Ladder, LEVEL_MARK, LEVEL_OWN } from './ladder.ts';
import type { OrderTable } from './orders.ts';
import { highLane, LANE, lanesToBigint, lowLane } from './size.ts';

const NONE: readonly ViewLevel[] = Object.freeze([]);

// A level's own members in the ladder: sizes as lanes.
const ORDER_HIGH = LEVEL_OWN;
const ORDER_LOW = LEVEL_OWN + 1;
const VAMM_HIGH = LEVEL_OWN + 2;
const VAMM_LOW = LEVEL_OWN + 3;
const SIZE_LANES = 4;
const START_TOUCHED = 64;

export interface VammLevel {
  readonly price: number;
  readonly size: bigint;
}

export class BookSide {
  readonly ladder: Ladder;
  // Levels of the message under way, each marked in the ladder, and what was published of them before it.
  private readonly touched: number[] = [];
  private before = new Float64Array(START_TOUCHED * SIZE_LANES);
  private vamm: readonly VammLevel[] = [];

  constructor(ladder: Ladder) {
    this.ladder = ladder;
  }

  /** Level at a price, opened empty when there was none. */
  open(price: number): number {
    return this.ladder.open(price);
  }

  /** Adds (or takes away) order size, as lanes; the level is looked at when the message is done. */
  add(level: number, high: number, low: number): void {
    this.touch(level);
    const { floats } = this.ladder;
    const half = level >> 1;
    floats[half + ORDER_HIGH] = (floats[half + ORDER_HIGH] as number) + high;
    floats[half + ORDER_LOW] = (floats[half + ORDER_LOW] as number) + low;
  }

  /** Replaces the vAMM's levels; equal prices add up. */
  setVamm(levels: readonly VammLevel[]): void {
    for (const { price } of this.vamm) {
      const level = this.open(price);
      this.touch(level);
      this.ladder.floats[(level >> 1) + VAMM_HIGH] = 0;
      this.ladder.floats[(level >> 1) + VAMM_LOW] = 0;
    }
    for (const { price, size } of levels) {
      const level = this.open(price);
      this.touch(level);
      const { floats } = this.ladder;
      const half = level >> 1;
      floats[half + VAMM_HIGH] = (floats[half + VAMM_HIGH] as number) + highLane(size);
      floats[half + VAMM_LOW] = (floats[half + VAMM_LOW] as number) + lowLane(size);
    }
    this.vamm = levels;
  }

  /** Ends a message: the levels whose published sizes changed, best first. Closes levels that hold nothing. */
  changes(): readonly ViewLevel[] {
    const { touched } = this;
    if (touched.length === 0) return NONE;
    const changed: ViewLevel[] = [];
    for (let i = 0; i < touched.length; i++) {
      const level = touched[i] as number;
      this.ladder.ints[level + LEVEL_MARK] = 0;
      if (this.isChanged(level >> 1, i * SIZE_LANES)) changed.push(this.view(level >> 1));
      if (this.ladder.isBare(level) && !this.hasSize(level >> 1)) this.ladder.close(level);
    }
    touched.length = 0;
    if (changed.length > 1) {
      const { sign } = this.ladder;
      changed.sort((left, right) => (left.price - right.price) * sign);
    }
    return changed;
  }

  /** The side as it stands, for reading alone, over orders that stand still too. */
  still(orders: OrderTable): BookSide {
    return new BookSide(this.ladder.still(orders));
  }

  /** Published levels, best first. */
  *levels(): Generator<ViewLevel> {
    for (const level of this.ladder.levels()) if (this.hasSize(level >> 1)) yield this.view(level >> 1);
  }

  private touch(level: number): void {
    const { ints, floats } = this.ladder;
    if (ints[level + LEVEL_MARK] !== 0) return;
    ints[level + LEVEL_MARK] = 1;
    const at = this.touched.push(level) * SIZE_LANES - SIZE_LANES;
    if (at === this.before.length) this.makeRoom();
    const { before } = this;
    const half = level >> 1;
    before[at] = floats[half + ORDER_HIGH] as number;
    before[at + 1] = floats[half + ORDER_LOW] as number;
    before[at + 2] = floats[half + VAMM_HIGH] as number;
    before[at + 3] = floats[half + VAMM_LOW] as number;
  }

  private makeRoom(): void {
    const wider = new Float64Array(this.before.length * 2);
    wider.set(this.before);
    this.before = wider;
  }

  // Lanes need not be normalised: a difference of the high lanes may be made up for by the low ones.
  private isChanged(half: number, at: number): boolean {
    const { before } = this;
    const { floats } = this.ladder;
    const orderHigh = (floats[half + ORDER_HIGH] as number) - (before[at] as number);
    const orderLow = (floats[half + ORDER_LOW] as number) - (before[at + 1] as number);
    if (orderHigh * LANE + orderLow !== 0) return true;
    const vammHigh = (floats[half + VAMM_HIGH] as number) - (before[at + 2] as number);
    const vammLow = (floats[half + VAMM_LOW] as number) - (before[at + 3] as number);
    return vammHigh * LANE + vammLow !== 0;
  }

  private view(half: number): ViewLevel {
    const { floats } = this.ladder;
    const vammHigh = floats[half + VAMM_HIGH] as number;
    const vammLow = floats[half + VAMM_LOW] as number;
    return {
      price: this.ladder.price(half << 1),
      dlob: lanesToBigint(floats[half + ORDER_HIGH] as number, floats[half + ORDER_LOW] as number),
      vamm: vammHigh === 0 && vammLow === 0 ? 0n : lanesToBigint(vammHigh, vammLow),
    };
  }

  private hasSize(half: number): boolean {
    const { floats } = this.ladder;
    return (
      (floats[half + ORDER_HIGH] as number) > 0 ||
      (floats[half + ORDER_LOW] as number) > 0 ||
      (floats[half + VAMM_HIGH] as number) > 0 ||
      (floats[half + VAMM_LOW] as number) > 0
    );
  }
}
