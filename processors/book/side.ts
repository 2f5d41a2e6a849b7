// Published sizes of one side: what orders and the vAMM put on each price, and which levels a message changed.

import type { ViewLevel } from '../../schemas/index.ts';
import { Ladder, LEVEL_OWN, type Side as SideName } from './ladder.ts';
import type { OrderTable } from './orders.ts';
import { highLane, LANE, lanesToBigint, lowLane } from './size.ts';

const NONE: readonly ViewLevel[] = Object.freeze([]);

// A level's own members in the ladder: sizes as lanes, and what was published before the message under way.
const ORDER_HIGH = LEVEL_OWN;
const ORDER_LOW = LEVEL_OWN + 1;
const VAMM_HIGH = LEVEL_OWN + 2;
const VAMM_LOW = LEVEL_OWN + 3;
const WAS_ORDER_HIGH = LEVEL_OWN + 4;
const WAS_ORDER_LOW = LEVEL_OWN + 5;
const WAS_VAMM_HIGH = LEVEL_OWN + 6;
const WAS_VAMM_LOW = LEVEL_OWN + 7;
const STAMP = LEVEL_OWN + 8;

export interface VammLevel {
  readonly price: number;
  readonly size: bigint;
}

export class BookSide {
  readonly ladder: Ladder;
  private stamp = 1;
  private touched: number[] = [];
  private vamm: readonly VammLevel[] = [];

  constructor(orders: OrderTable, side: SideName) {
    this.ladder = new Ladder(orders, side);
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
    this.stamp += 1;
    const changed: ViewLevel[] = [];
    for (let i = 0; i < touched.length; i++) {
      const level = touched[i] as number;
      if (this.isChanged(level >> 1)) changed.push(this.view(level >> 1));
      if (this.ladder.isBare(level) && !this.hasSize(level >> 1)) this.ladder.close(level);
    }
    touched.length = 0;
    if (changed.length > 1) {
      const { sign } = this.ladder;
      changed.sort((left, right) => (left.price - right.price) * sign);
    }
    return changed;
  }

  /** Published levels, best first. */
  *levels(): Generator<ViewLevel> {
    for (const level of this.ladder.levels()) if (this.hasSize(level >> 1)) yield this.view(level >> 1);
  }

  private touch(level: number): void {
    const { floats } = this.ladder;
    const half = level >> 1;
    if (floats[half + STAMP] === this.stamp) return;
    floats[half + STAMP] = this.stamp;
    this.touched.push(level);
    floats[half + WAS_ORDER_HIGH] = floats[half + ORDER_HIGH] as number;
    floats[half + WAS_ORDER_LOW] = floats[half + ORDER_LOW] as number;
    floats[half + WAS_VAMM_HIGH] = floats[half + VAMM_HIGH] as number;
    floats[half + WAS_VAMM_LOW] = floats[half + VAMM_LOW] as number;
  }

  // Lanes need not be normalised: a difference of the high lanes may be made up for by the low ones.
  private isChanged(half: number): boolean {
    const { floats } = this.ladder;
    const orderHigh = (floats[half + ORDER_HIGH] as number) - (floats[half + WAS_ORDER_HIGH] as number);
    const orderLow = (floats[half + ORDER_LOW] as number) - (floats[half + WAS_ORDER_LOW] as number);
    if (orderHigh * LANE + orderLow !== 0) return true;
    const vammHigh = (floats[half + VAMM_HIGH] as number) - (floats[half + WAS_VAMM_HIGH] as number);
    const vammLow = (floats[half + VAMM_LOW] as number) - (floats[half + WAS_VAMM_LOW] as number);
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
