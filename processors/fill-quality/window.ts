// Taker fills of one market inside the trailing window, summed by second, side and cohort: the means stay exact when fills
// expire. A minute is the piece in which state is saved.

import type { FillQualityCohort } from '../../schemas/index.ts';
import { COHORTS, type TakerFill } from './fill.ts';

/** Length of the window (docs/internals/auctions.md, "Fill quality"). */
export const WINDOW_SECONDS = 3600;
const MINUTE_SECONDS = 60;
const SIDES = ['buy', 'sell'] as const;
const CELLS = COHORTS.length * SIDES.length;

interface Sum {
  count: number;
  total: bigint;
}

/** Sums of one minute by second and cell. */
type Minute = Map<number, Sum>;

export class FillWindow {
  readonly #minutes = new Map<number, Minute>();
  readonly #sums: Sum[] = Array.from({ length: CELLS }, () => ({ count: 0, total: 0n }));
  readonly #dirty = new Set<number>();

  get isEmpty(): boolean {
    return this.#minutes.size === 0;
  }

  add({ seconds, side, cohort, microBps }: TakerFill): void {
    this.#put(seconds, cohort * SIDES.length + SIDES.indexOf(side), 1, microBps);
    this.#dirty.add(minuteOf(seconds));
  }

  /** Forgets every fill that is `WINDOW_SECONDS` or more before `nowSeconds`. */
  advance(nowSeconds: number): void {
    const last = nowSeconds - WINDOW_SECONDS;
    for (const [at, minute] of this.#minutes) {
      if (at * MINUTE_SECONDS > last) continue;
      for (const [place, sum] of minute) {
        if (Math.floor(place / CELLS) > last) continue;
        const total = this.#cell(place % CELLS);
        total.count -= sum.count;
        total.total -= sum.total;
        minute.delete(place);
      }
      if (minute.size > 0) continue;
      this.#minutes.delete(at);
      this.#dirty.add(at);
    }
  }

  /** Means over all fills, then by cohort. */
  cohorts(): FillQualityCohort[] {
    const all = SIDES.map((_, side) =>
      COHORTS.map((_cohort, cohort) => this.#cell(cohort * SIDES.length + side)).reduce(joined),
    );
    return [
      described('all', all),
      ...COHORTS.map(({ name }, cohort) =>
        described(
          name,
          SIDES.map((_, side) => this.#cell(cohort * SIDES.length + side)),
        ),
      ),
    ];
  }

  /** Minutes changed since the last call; null bytes delete the minute. */
  takeChanges(): { readonly minute: number; readonly bytes: Uint8Array | null }[] {
    const changes = [...this.#dirty].map((minute) => ({ minute, bytes: this.#encode(minute) }));
    this.#dirty.clear();
    return changes;
  }

  /** Restores a minute of `takeChanges`. */
  restore(bytes: Uint8Array): void {
    const rows = JSON.parse(Buffer.from(bytes).toString('utf8')) as [number, number, string][];
    for (const [place, count, total] of rows) {
      this.#put(Math.floor(place / CELLS), place % CELLS, count, BigInt(total));
    }
  }

  #encode(minute: number): Uint8Array | null {
    const sums = this.#minutes.get(minute);
    if (!sums) return null;
    return Buffer.from(JSON.stringify([...sums].map(([place, { count, total }]) => [place, count, String(total)])));
  }

  #put(seconds: number, cell: number, count: number, total: bigint): void {
    const at = minuteOf(seconds);
    const minute = this.#minutes.get(at) ?? new Map<number, Sum>();
    this.#minutes.set(at, minute);
    const place = seconds * CELLS + cell;
    const sum = minute.get(place) ?? { count: 0, total: 0n };
    minute.set(place, sum);
    for (const each of [sum, this.#cell(cell)]) {
      each.count += count;
      each.total += total;
    }
  }

  #cell(index: number): Sum {
    const sum = this.#sums[index];
    if (!sum) throw new RangeError(`no cell ${index}`);
    return sum;
  }
}

function minuteOf(seconds: number): number {
  return Math.floor(seconds / MINUTE_SECONDS);
}

function joined(left: Sum, right: Sum): Sum {
  return { count: left.count + right.count, total: left.total + right.total };
}

function described(cohort: string, [buys, sells]: readonly Sum[]): FillQualityCohort {
  return {
    cohort,
    takerBuys: buys?.count ?? 0,
    takerBuyMicroBps: mean(buys),
    takerSells: sells?.count ?? 0,
    takerSellMicroBps: mean(sells),
  };
}

/** Rounded half away from zero; null without fills. */
function mean(sum: Sum | undefined): bigint | null {
  if (!sum || sum.count === 0) return null;
  const count = BigInt(sum.count);
  const size = sum.total < 0n ? -sum.total : sum.total;
  const rounded = (2n * size + count) / (2n * count);
  return sum.total < 0n ? -rounded : rounded;
}
