// The candles of one market: takes fills and oracle ticks, returns changed candles. Rows are sums by bucket over a set, so
// order of arrival does not matter. Opens and quiet buckets are computed when a candle is published.

import {
  CANDLE_RESOLUTIONS,
  type CandleResolution,
  type CandleView,
  type MarketRef,
  type MarketSample,
  type WithdrawnCandle,
} from '../../schemas/index.ts';
import { bucketOf, DAY_MINUTES, firstMinuteOf, minuteOf, startOf } from './buckets.ts';
import { CandleError, type Fill } from './fill.ts';
import { type FirstFill, firstOf, putFill, putTick, tickOf } from './inputs.ts';
import type { MinuteRows, RecountedMinute } from './recount.ts';
import { CLOSE, FillSeries, type Floor, fillRow, joinFills, joinTicks, OracleSeries, oracleRow, TIME } from './rows.ts';
import { BUCKET, CLOSE_CHANGED } from './series.ts';
import { type CandleHead, candleView, closeBefore, withdrawnCandle } from './views.ts';

/** Days of minutes kept behind the market's newest; an older fill is too late. */
const HORIZON_DAYS = 41;
/** A time further ahead of its market is a fault: the chain is younger, and the market would fill with quiet candles. */
const AHEAD_DAYS_MAX = 3650;
const TS_MAX = 2 ** 33;

/** State of a market beside its rows. */
export interface MarketHead {
  readonly ts: number;
  readonly slot: number;
  readonly version: number;
  readonly first: FirstFill | null;
  readonly fillFloor: Floor | null;
  readonly oracleFloor: Floor | null;
}

/** Resolutions whose rows are never pruned; weeks and months are rebuilt from days. */
const LASTING: ReadonlySet<CandleResolution> = new Set(['D', 'W', 'M']);
const MINUTES = 0;
const HOURS_AND_LESS = CANDLE_RESOLUTIONS.filter((resolution) => resolution !== '1' && !LASTING.has(resolution));

interface Scale {
  readonly resolution: CandleResolution;
  readonly fills: FillSeries;
  readonly oracles: OracleSeries;
}

const BUCKET_MAX = 2 ** 31 - 1;

const scratchFill = fillRow();
const scratchTick = oracleRow();

export class MarketCandles {
  /** Newest time and slot applied; 0 before the first. */
  ts = 0;
  slot = 0;
  /** Grows with each fill and tick. */
  version = 0;
  first: FirstFill | null = null;
  fillFloor: Floor | null = null;
  oracleFloor: Floor | null = null;
  /** Time up to which candles are published; null before the first fill. */
  #publishedTs: number | null = null;
  /** Minute where published candles began before the beginning moved on; null when it did not. */
  #beganAt: number | null = null;
  #prunedTo = 0;
  /** Fills and ticks of one minute that the rows lack so far: most fills share the minute of the previous one. */
  #waitingMinute: number | null = null;
  readonly #waitingFills = fillRow();
  readonly #waitingTicks = oracleRow();
  readonly #scales: readonly Scale[] = CANDLE_RESOLUTIONS.map((resolution) => ({
    resolution,
    fills: new FillSeries(),
    oracles: new OracleSeries(),
  }));

  readonly ref: MarketRef;

  constructor(ref: MarketRef) {
    this.ref = ref;
  }

  get minutes(): Scale {
    return this.scale('1');
  }

  get days(): Scale {
    return this.scale('D');
  }

  /** Scales that a restart rebuilds from minutes and days. */
  get unsaved(): readonly Scale[] {
    return this.#scales.filter(({ resolution }) => resolution !== '1' && resolution !== 'D');
  }

  scale(resolution: CandleResolution): Scale {
    return this.#scales[CANDLE_RESOLUTIONS.indexOf(resolution)] as Scale;
  }

  /** Oldest minute kept. */
  get horizon(): number {
    return (Math.floor(minuteOf(this.ts) / DAY_MINUTES) - HORIZON_DAYS) * DAY_MINUTES;
  }

  /** Throws CandleError when a record cannot have this time. */
  checkTime(ts: number): void {
    if (ts <= 0 || ts >= TS_MAX) throw new CandleError('candle-time', `time ${ts}`);
    if (this.ts > 0 && minuteOf(ts - this.ts) > AHEAD_DAYS_MAX * DAY_MINUTES) {
      throw new CandleError('candle-time', `time ${ts} after ${this.ts}`);
    }
  }

  /** Moves time and slot forward. Call `checkTime` first. */
  advance(ts: number, slot: number): void {
    if (slot > this.slot) this.slot = slot;
    if (ts <= this.ts) return;
    this.ts = ts;
  }

  /** Adds a fill that makes candles. Throws CandleError, with nothing changed, when its minute is pruned. */
  addFill(fill: Fill): void {
    const minute = minuteOf(fill.ts);
    if (minute < this.horizon) throw new CandleError('candle-late-fill', `fill ${fill.id} of ${fill.ts}`);
    this.advance(fill.ts, fill.slot);
    this.version++;
    this.#begin(minute, fill);
    putFill(scratchFill, fill);
    putTick(scratchTick, fill.ts, fill.slot * 2, Math.max(fill.id, 0), fill.oracle, fill.oracle, fill.oracle);
    const isNew = minute !== this.#waitingMinute;
    if (isNew) {
      this.settle();
      this.#waitingMinute = minute;
    }
    joinFills(this.#waitingFills, 0, scratchFill, 0, isNew);
    joinTicks(this.#waitingTicks, 0, scratchTick, 0, isNew);
  }

  /** Adds the waiting fills to all their buckets. Call it before rows are read. */
  settle(): void {
    const waitingMinute = this.#waitingMinute;
    const waitingFills = this.#waitingFills;
    const waitingTicks = this.#waitingTicks;
    if (waitingMinute === null) return;
    for (const { resolution, fills, oracles } of this.#scales) {
      const bucket = bucketOf(resolution, waitingMinute);
      fills.join(bucket, waitingFills);
      oracles.join(bucket, waitingTicks);
    }
    waitingFills.fill(0);
    waitingTicks.fill(0);
    this.#waitingMinute = null;
  }

  /** Adds the oracle price of a sample. A price of a pruned minute changes nothing. */
  addTick(sample: MarketSample): void {
    const minute = minuteOf(sample.ts);
    const tick = tickOf(sample);
    if (minute < this.horizon || tick === null) return;
    this.version++;
    const isPublished = this.first !== null && minute >= this.first.minute;
    for (const { resolution, oracles } of this.#scales) {
      // Candles begin with the first fill, so earlier ticks belong to none.
      if (resolution === '1' || isPublished) oracles.join(bucketOf(resolution, minute), tick);
    }
  }

  /** Whether the rows of a minute are these. */
  hasRows(minute: number, { fills, ticks }: Pick<MinuteRows, 'fills' | 'ticks'>): boolean {
    this.settle();
    return this.minutes.fills.isRow(minute, fills) && this.minutes.oracles.isRow(minute, ticks);
  }

  /** Whether the first fill that remains is in one of these minutes, or the beginning in none of them. */
  hasBeginning(recounted: readonly RecountedMinute[]): boolean {
    const { fills } = this.minutes;
    const counted = new Set(recounted.map(({ minute }) => minute));
    let oldest = this.first?.minute ?? null;
    if (oldest === null || !counted.has(oldest)) return true;
    while (counted.has(oldest)) {
      if (!fills.findAfter(oldest)) return true;
      oldest = fills.rows[fills.at + BUCKET] ?? 0;
    }
    return (earliest(recounted.map(({ after }) => after.first))?.minute ?? oldest) < oldest;
  }

  /** Replaces the rows of minutes that are not pruned, and sums the longer buckets around them again. */
  replaceRows(recounted: readonly RecountedMinute[]): void {
    this.settle();
    this.version++;
    const { minutes, days } = this;
    for (const { minute, after } of recounted) {
      minutes.fills.replace(minute, after.fills);
      minutes.oracles.replace(minute, after.ticks);
    }
    this.#beginAgain(recounted);
    for (const scale of this.#scales.slice(MINUTES + 1)) {
      const from = scale.resolution === 'W' || scale.resolution === 'M' ? days : minutes;
      const buckets = new Set(recounted.map(({ minute }) => bucketOf(scale.resolution, minute)));
      for (const bucket of buckets) this.#sumAgain(from, scale, bucket);
    }
  }

  /** Moves the beginning to the first fill that remains. Call `hasBeginning` first. */
  #beginAgain(recounted: readonly RecountedMinute[]): void {
    const { first } = this;
    const isKept = recounted.every(({ minute }) => minute !== first?.minute);
    const now = earliest([isKept ? first : null, ...recounted.map(({ after }) => after.first)]);
    this.first = now;
    if (now !== null && (first === null || now.minute < first.minute)) this.#takeTicks(now.minute, first);
    if (first === null || (now !== null && now.minute <= first.minute)) return;
    this.#beganAt = Math.min(this.#beganAt ?? first.minute, first.minute);
    for (const { resolution, oracles } of this.#scales.slice(MINUTES + 1)) {
      const last = now === null ? BUCKET_MAX : bucketOf(resolution, now.minute) - 1;
      oracles.removeRange(bucketOf(resolution, first.minute), last);
    }
  }

  #sumAgain(from: Scale, to: Scale, bucket: number): void {
    to.fills.replace(bucket, null);
    to.oracles.replace(bucket, null);
    const beginning = this.first?.minute ?? Number.MAX_SAFE_INTEGER;
    const start = Math.max(firstMinuteOf(to.resolution, bucket), beginning);
    const end = firstMinuteOf(to.resolution, bucket + 1) - 1;
    this.#joinRows(from, to, bucketOf(from.resolution, start), bucketOf(from.resolution, end));
  }

  /** Candles changed since the last call, each once, oldest first by resolution. */
  *takeCandles(): Generator<CandleView | WithdrawnCandle> {
    this.settle();
    const { first, ts } = this;
    const publishedTs = this.#publishedTs;
    if (publishedTs !== null) yield* this.#withdrawn(minuteOf(publishedTs));
    if (first !== null) {
      for (const scale of this.#scales) yield* this.#changed(scale, first, publishedTs, minuteOf(ts));
    }
    this.#publishedTs = first === null ? null : ts;
    this.#beganAt = null;
    for (const { fills, oracles } of this.#scales) {
      fills.marks.clear();
      oracles.marks.clear();
    }
    this.#prune();
  }

  head(): MarketHead {
    const { ts, slot, version, first, fillFloor, oracleFloor } = this;
    return { ts, slot, version, first, fillFloor, oracleFloor };
  }

  /** Restores `head`; rows of minutes and days must be restored already. */
  restore(head: MarketHead): void {
    this.ts = head.ts;
    this.slot = head.slot;
    this.version = head.version;
    this.first = head.first;
    this.fillFloor = head.fillFloor;
    this.oracleFloor = head.oracleFloor;
    this.#publishedTs = head.first === null ? null : head.ts;
    const from = head.first?.minute ?? Number.MAX_SAFE_INTEGER;
    const { minutes, days } = this;
    for (const resolution of HOURS_AND_LESS) this.#joinRows(minutes, this.scale(resolution), from);
    for (const resolution of ['W', 'M'] as const) this.#joinRows(days, this.scale(resolution), 0);
    for (const { fills, oracles } of this.#scales) {
      fills.marks.clear();
      oracles.marks.clear();
      fills.takeChanges();
      oracles.takeChanges();
    }
  }

  /** Adds the rows of a scale to a longer one. */
  #joinRows(from: Scale, to: Scale, fromBucket: number, toBucket = BUCKET_MAX): void {
    const longer = (bucket: number) => bucketOf(to.resolution, firstMinuteOf(from.resolution, bucket));
    from.fills.forRange(fromBucket, toBucket, (rows, at) => to.fills.join(longer(rows[at + BUCKET] ?? 0), rows, at));
    this.#joinTicks(from, to, fromBucket, toBucket);
  }

  #joinTicks(from: Scale, to: Scale, fromBucket: number, toBucket: number): void {
    const longer = (bucket: number) => bucketOf(to.resolution, firstMinuteOf(from.resolution, bucket));
    from.oracles.forRange(fromBucket, toBucket, (rows, at) =>
      to.oracles.join(longer(rows[at + BUCKET] ?? 0), rows, at),
    );
  }

  /** Moves the beginning back: ticks from there on belong to candles from now on. */
  #begin(minute: number, fill: Fill): void {
    const { first } = this;
    const now = firstOf(first, fill);
    if (now === first) return;
    this.first = now;
    this.#takeTicks(minute, first);
  }

  /** Adds the ticks from a minute until the beginning so far, or all of them without one, to longer buckets. */
  #takeTicks(minute: number, first: FirstFill | null): void {
    const newest = first === null ? minuteOf(this.ts) : first.minute - 1;
    for (const scale of this.#scales.slice(MINUTES + 1)) this.#joinTicks(this.minutes, scale, minute, newest);
  }

  /** Prunes published rows only: a batch may be longer than the horizon. */
  #prune(): void {
    const { horizon } = this;
    if (horizon === this.#prunedTo) return;
    this.#prunedTo = horizon;
    for (const { resolution, fills, oracles } of this.#scales) {
      if (LASTING.has(resolution)) continue;
      const bucket = bucketOf(resolution, horizon);
      const isMinutes = resolution === '1';
      fills.prune(bucket, (rows, at) => {
        if (isMinutes) this.fillFloor = { price: rows[at + CLOSE] ?? 0, ts: rows[at + TIME] ?? 0 };
      });
      oracles.prune(bucket, (rows, at) => {
        if (isMinutes) this.oracleFloor = { price: rows[at + CLOSE] ?? 0, ts: rows[at + TIME] ?? 0 };
      });
    }
  }

  /** Published candles before the beginning. */
  *#withdrawn(publishedMinute: number): Generator<WithdrawnCandle> {
    const [beganAt, first] = [this.#beganAt, this.first];
    if (beganAt === null) return;
    for (const { resolution } of this.#scales) {
      const before = first === null ? BUCKET_MAX : bucketOf(resolution, first.minute);
      const end = Math.min(before, bucketOf(resolution, publishedMinute) + 1);
      for (let bucket = bucketOf(resolution, beganAt); bucket < end; bucket++) {
        yield withdrawnCandle(this.#headOf(resolution, bucket));
      }
    }
  }

  *#changed(scale: Scale, first: FirstFill, publishedTs: number | null, newestMinute: number): Generator<CandleView> {
    const { resolution, fills, oracles } = scale;
    const firstBucket = bucketOf(resolution, first.minute);
    const newest = bucketOf(resolution, newestMinute);
    const ranges: [number, number][] = [];
    const published = publishedTs === null ? firstBucket - 1 : bucketOf(resolution, minuteOf(publishedTs));
    if (published < newest) ranges.push([published + 1, newest]);
    for (const series of [fills, oracles]) {
      for (const [bucket, mark] of series.marks) {
        // A changed close changes the quiet buckets after it, and the open of the next fill bucket.
        if ((mark & CLOSE_CHANGED) === 0) ranges.push([bucket, bucket]);
        else ranges.push([bucket, series.findAfter(bucket) ? (series.rows[series.at + BUCKET] ?? 0) : newest]);
      }
    }
    ranges.sort(([left], [right]) => left - right);
    let next = firstBucket;
    for (const [from, to] of ranges) {
      for (let bucket = Math.max(from, next); bucket <= to; bucket++) {
        yield this.#candle(scale, bucket, bucket === firstBucket ? first : null);
      }
      next = Math.max(next, to + 1);
    }
  }

  #candle({ resolution, fills, oracles }: Scale, bucket: number, first: FirstFill | null): CandleView {
    const fillOpen = first?.price ?? closeBefore(fills, bucket, this.fillFloor);
    const oracleOpen = first?.oracle ?? closeBefore(oracles, bucket, this.oracleFloor);
    return candleView(this.#headOf(resolution, bucket), { fills, oracles, bucket }, { fillOpen, oracleOpen });
  }

  #headOf(resolution: CandleResolution, bucket: number): CandleHead {
    const { ref, slot, version } = this;
    return { ...ref, resolution, ts: startOf(resolution, bucket), slot, version: BigInt(version) };
  }
}

/** The first fill of a market among those of different minutes. */
function earliest(firsts: readonly (FirstFill | null)[]): FirstFill | null {
  const [earliest = null] = firsts.flatMap((first) => first ?? []).sort((left, right) => left.minute - right.minute);
  return earliest;
}
