// Published sizes of one side: what orders and the vAMM put on each price, and which levels a message changed.

import type { ViewLevel } from '../../schemas/index.ts';
import { Ladder, type Side as SideName } from './ladder.ts';
import { copyInto, type OrderTable } from './orders.ts';
import { highLane, LANE, lanesToBigint, lowLane } from './size.ts';

const START = 128;
const NONE: readonly ViewLevel[] = Object.freeze([]);

export interface VammLevel {
  readonly price: number;
  readonly size: bigint;
}

export class BookSide {
  readonly ladder: Ladder;
  private stamp = 1;
  private touched: number[] = [];
  private vamm: readonly VammLevel[] = [];
  private orderHigh = new Float64Array(START);
  private orderLow = new Float64Array(START);
  private vammHigh = new Float64Array(START);
  private vammLow = new Float64Array(START);
  // What was published before the message under way, for levels it touched.
  private stamps = new Float64Array(START);
  private wasOrderHigh = new Float64Array(START);
  private wasOrderLow = new Float64Array(START);
  private wasVammHigh = new Float64Array(START);
  private wasVammLow = new Float64Array(START);

  constructor(orders: OrderTable, side: SideName) {
    this.ladder = new Ladder(orders, side);
  }

  /** Level at a price, opened empty when there was none. */
  open(price: number): number {
    const level = this.ladder.open(price);
    if (level >= this.stamps.length) this.grow();
    return level;
  }

  /** Adds (or takes away) order size, as lanes. */
  add(level: number, high: number, low: number): void {
    this.touch(level);
    this.orderHigh[level] = (this.orderHigh[level] as number) + high;
    this.orderLow[level] = (this.orderLow[level] as number) + low;
  }

  /** A level whose order left or moved must be looked at when the message is done, whatever the size was. */
  touch(level: number): void {
    if (this.stamps[level] === this.stamp) return;
    this.stamps[level] = this.stamp;
    this.touched.push(level);
    this.wasOrderHigh[level] = this.orderHigh[level] as number;
    this.wasOrderLow[level] = this.orderLow[level] as number;
    this.wasVammHigh[level] = this.vammHigh[level] as number;
    this.wasVammLow[level] = this.vammLow[level] as number;
  }

  /** Replaces the vAMM's levels; equal prices add up. */
  setVamm(levels: readonly VammLevel[]): void {
    for (const { price } of this.vamm) {
      const level = this.open(price);
      this.touch(level);
      this.vammHigh[level] = 0;
      this.vammLow[level] = 0;
    }
    for (const { price, size } of levels) {
      const level = this.open(price);
      this.touch(level);
      this.vammHigh[level] = (this.vammHigh[level] as number) + highLane(size);
      this.vammLow[level] = (this.vammLow[level] as number) + lowLane(size);
    }
    this.vamm = levels;
  }

  vammLevels(): readonly VammLevel[] {
    return this.vamm;
  }

  /** Ends a message: the levels whose published sizes changed, best first. Closes levels that hold nothing. */
  changes(): readonly ViewLevel[] {
    const { touched } = this;
    if (touched.length === 0) return NONE;
    this.stamp += 1;
    const changed: ViewLevel[] = [];
    for (let i = 0; i < touched.length; i++) {
      const level = touched[i] as number;
      const dlobChanged =
        !equalLanes(this.orderHigh, this.wasOrderHigh, level, this.orderLow, this.wasOrderLow) ||
        !equalLanes(this.vammHigh, this.wasVammHigh, level, this.vammLow, this.wasVammLow);
      if (dlobChanged) changed.push(this.view(level));
      if (this.isEmpty(level)) this.close(level);
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
    for (const level of this.ladder.levels()) if (this.hasSize(level)) yield this.view(level);
  }

  private view(level: number): ViewLevel {
    return {
      price: this.ladder.price[level] as number,
      dlob: lanesToBigint(this.orderHigh[level] as number, this.orderLow[level] as number),
      vamm: lanesToBigint(this.vammHigh[level] as number, this.vammLow[level] as number),
    };
  }

  private hasSize(level: number): boolean {
    return (
      (this.orderHigh[level] as number) * LANE + (this.orderLow[level] as number) > 0 ||
      (this.vammHigh[level] as number) * LANE + (this.vammLow[level] as number) > 0
    );
  }

  private isEmpty(level: number): boolean {
    return (this.ladder.head[level] as number) < 0 && !this.hasSize(level);
  }

  private close(level: number): void {
    this.orderHigh[level] = 0;
    this.orderLow[level] = 0;
    this.vammHigh[level] = 0;
    this.vammLow[level] = 0;
    this.ladder.close(level);
  }

  private grow(): void {
    const size = this.ladder.capacity;
    this.orderHigh = copyInto(new Float64Array(size), this.orderHigh);
    this.orderLow = copyInto(new Float64Array(size), this.orderLow);
    this.vammHigh = copyInto(new Float64Array(size), this.vammHigh);
    this.vammLow = copyInto(new Float64Array(size), this.vammLow);
    this.stamps = copyInto(new Float64Array(size), this.stamps);
    this.wasOrderHigh = copyInto(new Float64Array(size), this.wasOrderHigh);
    this.wasOrderLow = copyInto(new Float64Array(size), this.wasOrderLow);
    this.wasVammHigh = copyInto(new Float64Array(size), this.wasVammHigh);
    this.wasVammLow = copyInto(new Float64Array(size), this.wasVammLow);
  }
}

// Lanes need not be normalised: the difference of the high lanes must be made up for by the low ones.
function equalLanes(
  high: Float64Array,
  wasHigh: Float64Array,
  at: number,
  low: Float64Array,
  wasLow: Float64Array,
): boolean {
  return ((high[at] as number) - (wasHigh[at] as number)) * LANE + ((low[at] as number) - (wasLow[at] as number)) === 0;
}
