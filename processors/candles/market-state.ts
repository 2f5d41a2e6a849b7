// State of one market: its candles, the applied fills, and the other inputs of its summary. Saved in pieces.

import type {
  CandleView,
  FundingView,
  MarketRef,
  MarketSample,
  MarketSummary,
  WithdrawnCandle,
} from '../../schemas/index.ts';
import type { StatePiece } from '../follow/pieces.ts';
import { minuteOf } from './buckets.ts';
import { CandleError, type Fill, NUMBER_MAX } from './fill.ts';
import { FillIds } from './fill-ids.ts';
import { FundingRates } from './funding.ts';
import { putFill } from './inputs.ts';
import { decodeJson, encodeJson } from './json.ts';
import { MarketCandles, type MarketHead } from './market.ts';
import type { MarketRecount } from './recount.ts';
import { FillSeries, fillRow } from './rows.ts';
import type { Series } from './series.ts';
import { newestOf, windowOf, windowStart } from './volume.ts';

const HEAD = 'head';
const FUNDING = 'funding';
const SAMPLE = 'sample';
const IDS = 'ids';
/** Versions reserved per run: outputs of a killed run may exist without its offset, so their versions must not recur. */
const VERSIONS_PER_RUN = 2 ** 20;

/** Members of the newest sample that a summary has. */
type Newest = Pick<
  MarketSample,
  'slot' | 'ts' | 'oraclePrice' | 'bidPrice' | 'askPrice' | 'openInterestLong' | 'openInterestShort'
>;

const scratch = fillRow();

export class MarketState {
  readonly ref: MarketRef;
  readonly candles: MarketCandles;
  /** Fills that count as volume only, by minute, of the last 24 hours. */
  readonly #others = new FillSeries();
  readonly #ids = new FillIds();
  readonly #funding = new FundingRates();
  #sample: Newest | null = null;
  /** False when something changed since the last summary. */
  #isPublished = true;
  #isSaved = true;
  readonly #unsaved = new Set<typeof FUNDING | typeof SAMPLE>();

  constructor(ref: MarketRef) {
    this.ref = ref;
    this.candles = new MarketCandles(ref);
  }

  /** Chunks of rows in the next `takeChanges`. */
  get unsavedChunks(): number {
    const { minutes, days } = this.candles;
    return (
      minutes.fills.unsavedChunks +
      minutes.oracles.unsavedChunks +
      days.fills.unsavedChunks +
      days.oracles.unsavedChunks
    );
  }

  /** Adds a fill whose id is not negative or known to be new; false when it was applied already. Throws CandleError. */
  addFill(fill: Fill): boolean {
    this.candles.checkTime(fill.ts);
    if (fill.use === 'price' && minuteOf(fill.ts) < this.candles.horizon) {
      if (fill.id >= 0 && this.#ids.has(fill.id)) return false;
      throw new CandleError('candle-late-fill', `fill ${fill.id} of ${fill.ts}`);
    }
    if (fill.id >= 0 && !this.#ids.add(fill.id)) return false;
    this.#change();
    if (fill.use === 'price') this.candles.addFill(fill);
    else this.candles.advance(fill.ts, fill.slot);
    if (fill.use === 'volume') this.#addVolume(fill);
    return true;
  }

  /** Whether a recount proves all rows of its minutes, none of which is pruned, and has the market's first fill. */
  isProven({ minutes }: MarketRecount): boolean {
    const areRows = minutes.every(({ minute, before }) => {
      if (minute < this.candles.horizon) return false;
      const isVolume = minute < windowStart(this.candles.ts) || this.#others.isRow(minute, before.others);
      return isVolume && this.candles.hasRows(minute, before);
    });
    return areRows && this.candles.hasBeginning(minutes);
  }

  /** Applies a proven recount. */
  correct({ minutes, freeIds }: MarketRecount): void {
    for (const id of freeIds) this.#ids.remove(id);
    this.candles.replaceRows(minutes);
    for (const { minute, after } of minutes) {
      if (minute >= windowStart(this.candles.ts)) this.#others.replace(minute, after.others);
    }
    this.#others.marks.clear();
    this.#change();
  }

  /** Moves the market's time forward. Throws CandleError. */
  advance(ts: number, slot: number): void {
    this.candles.checkTime(ts);
    if (ts <= this.candles.ts && slot <= this.candles.slot) return;
    this.#change();
    this.candles.advance(ts, slot);
  }

  /** Throws CandleError. */
  addFunding(record: FundingView, slot: number): void {
    this.advance(record.ts, slot);
    if (!this.#funding.add(record, slot)) return;
    this.#change();
    this.#unsaved.add(FUNDING);
  }

  /** Throws CandleError. */
  addSample(sample: MarketSample): void {
    const { ts, slot, oraclePrice } = sample;
    const prices = [oraclePrice, sample.oracleHigh, sample.oracleLow].map((price) =>
      Number(price ?? oraclePrice ?? 0n),
    );
    if (slot >= NUMBER_MAX || prices.some((price) => Math.abs(price) >= NUMBER_MAX)) {
      throw new CandleError('candle-record', `a sample of slot ${slot} with oracle prices ${prices.join(', ')}`);
    }
    this.advance(ts, slot);
    this.#change();
    this.candles.addTick(sample);
    if (this.#sample !== null && slot < this.#sample.slot) return;
    const { bidPrice, askPrice, openInterestLong, openInterestShort } = sample;
    this.#sample = { slot, ts, oraclePrice, bidPrice, askPrice, openInterestLong, openInterestShort };
    this.#unsaved.add(SAMPLE);
  }

  /** Candles changed since the last call. Walk it to its end. */
  takeCandles(): Iterable<CandleView | WithdrawnCandle> {
    return this.candles.takeCandles();
  }

  /** The summary; null when nothing changed since the last call. */
  takeSummary(): MarketSummary | null {
    if (this.#isPublished) return null;
    this.#isPublished = true;
    const { candles } = this;
    const [others, funding, sample] = [this.#others, this.#funding, this.#sample];
    const { fills, oracles } = candles.minutes;
    const oracle = newestOf(oracles, candles.oracleFloor);
    return {
      ...this.ref,
      slot: candles.slot,
      ts: candles.ts,
      ...windowOf({ fills, others, oracles, fillFloor: candles.fillFloor }, candles.ts),
      funding: funding.newest,
      fundingRecords24h: funding.count,
      fundingPercentSum1e9: funding.percentSum1e9,
      oraclePrice: oracle === null ? null : BigInt(oracle.price),
      sampleSlot: sample?.slot ?? 0,
      sampleTs: sample?.ts ?? 0,
      openInterestLong: sample?.openInterestLong ?? 0n,
      openInterestShort: sample?.openInterestShort ?? 0n,
      bidPrice: sample?.bidPrice ?? null,
      askPrice: sample?.askPrice ?? null,
    };
  }

  /** Pieces changed since the last call. */
  takeChanges(): StatePiece[] {
    if (this.#isSaved) return [];
    this.#isSaved = true;
    this.#others.prune(windowStart(this.candles.ts), () => {});
    const pieces: StatePiece[] = [{ name: HEAD, bytes: encodeJson(this.candles.head()) }];
    if (this.#unsaved.delete(FUNDING)) pieces.push({ name: FUNDING, bytes: this.#funding.encode() });
    if (this.#unsaved.delete(SAMPLE) && this.#sample) pieces.push({ name: SAMPLE, bytes: encodeJson(this.#sample) });
    for (const { name, bytes } of this.#ids.takeChanges()) pieces.push({ name: `${IDS}:${name}`, bytes });
    for (const [kind, series] of this.#saved()) {
      for (const { chunk, bytes } of series.takeChanges()) pieces.push({ name: `${kind}:${chunk}`, bytes });
    }
    for (const { fills, oracles } of this.candles.unsaved) {
      fills.takeChanges();
      oracles.takeChanges();
    }
    return pieces;
  }

  /** Restores pieces of `takeChanges`, all at once and in any order. */
  restore(pieces: Iterable<{ readonly name: string; readonly bytes: Uint8Array }>): void {
    const series = new Map(this.#saved());
    let head: MarketHead | null = null;
    for (const { name, bytes } of pieces) {
      const [kind = '', rest = ''] = name.split(':');
      if (kind === HEAD) head = decodeJson<MarketHead>(bytes);
      else if (kind === FUNDING) this.#funding.restore(bytes);
      else if (kind === SAMPLE) this.#sample = decodeJson<Newest>(bytes);
      else if (kind === IDS) this.#ids.restore(rest, bytes);
      else series.get(kind)?.restore(Number(rest), bytes);
    }
    if (head === null) return;
    const version = (Math.floor(head.version / VERSIONS_PER_RUN) + 1) * VERSIONS_PER_RUN;
    this.candles.restore({ ...head, version });
  }

  #addVolume(fill: Fill): void {
    const minute = minuteOf(fill.ts);
    if (minute < windowStart(this.candles.ts)) return;
    putFill(scratch, fill);
    this.#others.join(minute, scratch);
    this.#others.marks.clear();
  }

  #change(): void {
    this.#isPublished = false;
    this.#isSaved = false;
  }

  #saved(): [string, Series][] {
    const { minutes, days } = this.candles;
    return [
      ['fills', minutes.fills],
      ['ticks', minutes.oracles],
      ['day-fills', days.fills],
      ['day-ticks', days.oracles],
      ['others', this.#others],
    ];
  }
}
