// Published sizes of one side: sums of orders and vAMM per price, and the levels that a message changed.

import type { ViewLevel } from '../../schemas/index.ts';
import { type Ladder, LEVEL_MARK, LEVEL_OWN } from './ladder.ts';
import type { OrderTable } from './orders.ts';
import { highWord, lowWord, WORD, wordsToBigint } from './size.ts';

const NONE: readonly ViewLevel[] = Object.freeze([]);

// A level's own members in the ladder: sizes as high and low words.
const ORDER_HIGH = LEVEL_OWN;
const ORDER_LOW = LEVEL_OWN + 1;
const VAMM_HIGH = LEVEL_OWN + 2;
const VAMM_LOW = LEVEL_OWN + 3;
const SIZE_WORDS = 4;
const START_TOUCHED = 64;

export interface VammLevel {
  readonly price: number;
  readonly size: bigint;
}

export class BookSide {
  readonly ladder: Ladder;
  // Levels of the current message, each marked in the ladder, and their published sizes before it.
  readonly #touched: number[] = [];
  #before = new Float64Array(START_TOUCHED * SIZE_WORDS);
  #vamm: readonly VammLevel[] = [];

  constructor(ladder: Ladder) {
    this.ladder = ladder;
  }

  /** Level at a price; opens an empty one when there is none. */
  open(price: number): number {
    return this.ladder.open(price);
  }

  /** Adds (or subtracts) order size as words; the end of the message looks at the level. */
  add(level: number, high: number, low: number): void {
    this.#touch(level);
    const { floats } = this.ladder;
    const half = level >> 1;
    floats[half + ORDER_HIGH] = (floats[half + ORDER_HIGH] as number) + high;
    floats[half + ORDER_LOW] = (floats[half + ORDER_LOW] as number) + low;
  }

  /** Replaces the vAMM's levels; equal prices add up. */
  setVamm(levels: readonly VammLevel[]): void {
    for (const { price } of this.#vamm) {
      const level = this.open(price);
      this.#touch(level);
      this.ladder.floats[(level >> 1) + VAMM_HIGH] = 0;
      this.ladder.floats[(level >> 1) + VAMM_LOW] = 0;
    }
    for (const { price, size } of levels) {
      const level = this.open(price);
      this.#touch(level);
      const { floats } = this.ladder;
      const half = level >> 1;
      floats[half + VAMM_HIGH] = (floats[half + VAMM_HIGH] as number) + highWord(size);
      floats[half + VAMM_LOW] = (floats[half + VAMM_LOW] as number) + lowWord(size);
    }
    this.#vamm = levels;
  }

  /** Ends a message and returns the levels whose published sizes changed, best first. Closes empty levels. */
  changes(): readonly ViewLevel[] {
    const touched = this.#touched;
    if (touched.length === 0) return NONE;
    const changed: ViewLevel[] = [];
    for (let i = 0; i < touched.length; i++) {
      const level = touched[i] as number;
      this.ladder.ints[level + LEVEL_MARK] = 0;
      if (this.#isChanged(level >> 1, i * SIZE_WORDS)) changed.push(this.#view(level >> 1));
      if (this.ladder.isBare(level) && !this.#hasSize(level >> 1)) this.ladder.close(level);
    }
    touched.length = 0;
    if (changed.length > 1) {
      const { sign } = this.ladder;
      changed.sort((left, right) => (left.price - right.price) * sign);
    }
    return changed;
  }

  /** A read-only copy of the side, over a frozen order table. */
  freeze(orders: OrderTable): BookSide {
    return new BookSide(this.ladder.freeze(orders));
  }

  /** Published levels, best first. */
  *levels(): Generator<ViewLevel> {
    for (const level of this.ladder.levels()) if (this.#hasSize(level >> 1)) yield this.#view(level >> 1);
  }

  #touch(level: number): void {
    const { ints, floats } = this.ladder;
    if (ints[level + LEVEL_MARK] !== 0) return;
    ints[level + LEVEL_MARK] = 1;
    const at = this.#touched.push(level) * SIZE_WORDS - SIZE_WORDS;
    if (at === this.#before.length) this.#makeRoom();
    const before = this.#before;
    const half = level >> 1;
    before[at] = floats[half + ORDER_HIGH] as number;
    before[at + 1] = floats[half + ORDER_LOW] as number;
    before[at + 2] = floats[half + VAMM_HIGH] as number;
    before[at + 3] = floats[half + VAMM_LOW] as number;
  }

  #makeRoom(): void {
    const wider = new Float64Array(this.#before.length * 2);
    wider.set(this.#before);
    this.#before = wider;
  }

  // Words need not be normalised: low words may compensate a difference of the high words.
  #isChanged(half: number, at: number): boolean {
    const before = this.#before;
    const { floats } = this.ladder;
    const orderHigh = (floats[half + ORDER_HIGH] as number) - (before[at] as number);
    const orderLow = (floats[half + ORDER_LOW] as number) - (before[at + 1] as number);
    if (orderHigh * WORD + orderLow !== 0) return true;
    const vammHigh = (floats[half + VAMM_HIGH] as number) - (before[at + 2] as number);
    const vammLow = (floats[half + VAMM_LOW] as number) - (before[at + 3] as number);
    return vammHigh * WORD + vammLow !== 0;
  }

  #view(half: number): ViewLevel {
    const { floats } = this.ladder;
    const vammHigh = floats[half + VAMM_HIGH] as number;
    const vammLow = floats[half + VAMM_LOW] as number;
    return {
      price: this.ladder.price(half << 1),
      dlob: wordsToBigint(floats[half + ORDER_HIGH] as number, floats[half + ORDER_LOW] as number),
      vamm: vammHigh === 0 && vammLow === 0 ? 0n : wordsToBigint(vammHigh, vammLow),
    };
  }

  #hasSize(half: number): boolean {
    const { floats } = this.ladder;
    return (
      (floats[half + ORDER_HIGH] as number) > 0 ||
      (floats[half + ORDER_LOW] as number) > 0 ||
      (floats[half + VAMM_HIGH] as number) > 0 ||
      (floats[half + VAMM_LOW] as number) > 0
    );
  }
}
