// Rows of single minutes counted again from the log: as they are, and as they are without dropped transactions. The first must
// equal the stored rows. That proves that the log gave every fill and tick of the minute.

import type { MarketSample, SlotRetraction } from '../../schemas/index.ts';
import { minuteOf } from './buckets.ts';
import type { Fill } from './fill.ts';
import { type FirstFill, firstOf, putFill, putTick, tickOf } from './inputs.ts';
import { fillRow, joinFills, joinTicks, oracleRow } from './rows.ts';
import { Withdrawn } from './withdrawn.ts';

/** A fill of the log, with its transaction. */
export interface PlacedFill {
  readonly fill: Fill;
  readonly signature: Uint8Array;
  readonly eventIndex: number;
}

/** Rows of one minute; null for a row that the minute does not have. */
export interface MinuteRows {
  readonly fills: Float64Array | null;
  /** Fills that count as volume only. */
  readonly others: Float64Array | null;
  readonly ticks: Float64Array | null;
  readonly first: FirstFill | null;
}

export interface RecountedMinute {
  readonly minute: number;
  readonly before: MinuteRows;
  readonly after: MinuteRows;
}

/** The changes of one market. */
export interface MarketRecount {
  readonly marketIndex: number;
  readonly minutes: readonly RecountedMinute[];
  /** Ids that no fill has any more. */
  readonly freeIds: readonly number[];
}

/** Gives the records of the log again, as often as it is called. */
export interface Reread {
  fills(): AsyncIterable<PlacedFill>;
  samples(): AsyncIterable<MarketSample>;
}

/** Data of stored rows about the fills that a recount reads. */
export interface Stored {
  /** Transactions that the rows leave out already. */
  readonly withdrawn: Withdrawn;
  /** Minute of a market's first fill; null before it. */
  beginningOf(marketIndex: number): number | null;
}

/**
 * Counts the minutes that a retraction changes. Where a market's beginning loses all of its fills, the minute of the first fill that
 * remains is counted too: the next candles begin with its price.
 */
export async function recount(
  retraction: SlotRetraction,
  stored: Stored,
  reread: Reread,
): Promise<readonly MarketRecount[]> {
  const now = new Withdrawn();
  now.add(retraction);
  const markets = new Map<number, MinutesOf>();
  for await (const placed of reread.fills()) {
    const { marketIndex, slot } = placed.fill;
    if (!now.has(slot, placed.signature)) continue;
    const market = markets.get(marketIndex) ?? new MinutesOf(marketIndex, stored, now);
    markets.set(marketIndex, market.begin(placed));
  }
  if (markets.size === 0) return [];
  // A fill of another minute may have an id of these: it counts in one of the two.
  for (let hasGrown = true; hasGrown; ) {
    for (const market of markets.values()) market.restart();
    for await (const placed of reread.fills()) markets.get(placed.fill.marketIndex)?.take(placed);
    for (const market of markets.values()) market.addBeginning();
    hasGrown = [...markets.values()].some((market) => market.hasGrown);
  }
  for await (const sample of reread.samples()) {
    if (sample.marketType === 'perp') markets.get(sample.marketIndex)?.tick(sample);
  }
  return [...markets.values()].map((market) => market.result());
}

/** The affected minutes of one market. */
class MinutesOf {
  hasGrown = false;
  readonly #marketIndex: number;
  readonly #earlier: Withdrawn;
  readonly #now: Withdrawn;
  readonly #beginning: number | null;
  /** Oldest minute after the beginning that is not counted and has a fill of candles that remains. */
  #uncounted = Number.POSITIVE_INFINITY;
  readonly #minutes = new Set<number>();
  readonly #ids = new Set<string>();
  readonly #dropped: PlacedFill[] = [];
  #before = new Count();
  #after = new Count();

  constructor(marketIndex: number, stored: Stored, now: Withdrawn) {
    this.#marketIndex = marketIndex;
    this.#earlier = stored.withdrawn;
    this.#now = now;
    this.#beginning = stored.beginningOf(marketIndex);
  }

  begin(placed: PlacedFill): this {
    this.#minutes.add(minuteOf(placed.fill.ts));
    this.#ids.add(idOf(placed));
    this.#dropped.push(placed);
    return this;
  }

  restart(): void {
    this.hasGrown = false;
    this.#uncounted = Number.POSITIVE_INFINITY;
    this.#before = new Count();
    this.#after = new Count();
  }

  take(placed: PlacedFill): void {
    const { slot, ts, use } = placed.fill;
    const [minute, id] = [minuteOf(ts), idOf(placed)];
    const isInside = this.#minutes.has(minute);
    const isEarlier = this.#earlier.has(slot, placed.signature);
    const remains = !isEarlier && !this.#now.has(slot, placed.signature);
    if (!isInside && !this.#ids.has(id)) {
      if (remains && use === 'price' && minute > (this.#beginning ?? 0))
        this.#uncounted = Math.min(this.#uncounted, minute);
      return;
    }
    this.hasGrown ||= !isInside || !this.#ids.has(id);
    this.#minutes.add(minute);
    this.#ids.add(id);
    if (!isEarlier) this.#before.add(placed);
    if (remains) this.#after.add(placed);
  }

  /** Adds the oldest minute with a fill that remains, where the market's beginning is counted and loses all of its fills. */
  addBeginning(): void {
    if (this.hasGrown || this.#beginning === null || !this.#minutes.has(this.#beginning)) return;
    const counted = [...this.#minutes].filter((minute) => this.#after.rowsOf(minute).first !== null);
    if (this.#uncounted >= Math.min(...counted)) return;
    this.#minutes.add(this.#uncounted);
    this.hasGrown = true;
  }

  tick(sample: MarketSample): void {
    if (!this.#minutes.has(minuteOf(sample.ts))) return;
    this.#before.tick(sample);
    this.#after.tick(sample);
  }

  result(): MarketRecount {
    const minutes = [...this.#minutes].map((minute) => {
      return { minute, before: this.#before.rowsOf(minute), after: this.#after.rowsOf(minute) };
    });
    const free = this.#dropped.filter((placed) => placed.fill.id >= 0 && !this.#after.has(placed));
    return { marketIndex: this.#marketIndex, minutes, freeIds: free.map(({ fill }) => fill.id) };
  }
}

/** Counts each fill once, by minute. */
class Count {
  readonly #seen = new Set<string>();
  readonly #minutes = new Map<number, { -readonly [Key in keyof MinuteRows]: MinuteRows[Key] }>();

  has(placed: PlacedFill): boolean {
    return this.#seen.has(idOf(placed));
  }

  add(placed: PlacedFill): void {
    if (this.has(placed)) return;
    this.#seen.add(idOf(placed));
    const { fill } = placed;
    const rows = this.#rows(minuteOf(fill.ts));
    if (fill.use === 'price') {
      rows.fills = joinedFill(rows.fills, fill);
      rows.first = firstOf(rows.first, fill);
      const row = oracleRow();
      putTick(row, fill.ts, fill.slot * 2, Math.max(fill.id, 0), fill.oracle, fill.oracle, fill.oracle);
      rows.ticks = joinedTick(rows.ticks, row);
    } else if (fill.use === 'volume') rows.others = joinedFill(rows.others, fill);
  }

  tick(sample: MarketSample): void {
    const row = tickOf(sample);
    if (row === null) return;
    const rows = this.#rows(minuteOf(sample.ts));
    rows.ticks = joinedTick(rows.ticks, row);
  }

  rowsOf(minute: number): MinuteRows {
    return this.#rows(minute);
  }

  #rows(minute: number) {
    const rows = this.#minutes.get(minute) ?? { fills: null, others: null, ticks: null, first: null };
    this.#minutes.set(minute, rows);
    return rows;
  }
}

function joinedFill(to: Float64Array | null, fill: Fill): Float64Array {
  const row = fillRow();
  putFill(row, fill);
  const joined = to ?? fillRow();
  joinFills(joined, 0, row, 0, to === null);
  return joined;
}

function joinedTick(to: Float64Array | null, row: Float64Array): Float64Array {
  const joined = to ?? oracleRow();
  joinTicks(joined, 0, row, 0, to === null);
  return joined;
}

/** Two fills with the same text are the same fill. */
function idOf({ fill, signature, eventIndex }: PlacedFill): string {
  if (fill.id >= 0) return String(fill.id);
  return `${Buffer.from(signature).toString('latin1')}${eventIndex}`;
}
