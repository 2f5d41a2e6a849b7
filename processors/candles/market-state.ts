// Everything kept of one market: its candles, which fills were applied, and what its summary needs beside candles; and how
// it is saved, piece by piece.

import type { CandleView, FundingView, MarketRef, MarketSample, MarketSummary } from '../../schemas/index.ts';
import { minuteOf } from './buckets.ts';
import { CandleError, type Fill, NUMBER_MAX } from './fill.ts';
import { FillIds } from './fill-ids.ts';
import { FundingRates } from './funding.ts';
import { decodeJson, encodeJson } from './json.ts';
import { MarketCandles, type MarketHead, putFill } from './market.ts';
import { FillSeries, fillRow } from './rows.ts';
import type { Series } from './series.ts';
import { newestOf, windowOf, windowStart } from './volume.ts';

export interface Piece {
  readonly name: string;
  /** null: the piece is gone. */
  readonly bytes: Uint8Array | null;
}

const HEAD = 'head';
const FUNDING = 'funding';
const SAMPLE = 'sample';
const IDS = 'ids';
/** A run that begins after another left outputs without position must not give versions that were given. */
const VERSIONS_OF_A_RUN = 2 ** 20;

/** What a summary takes from the newest sample. */
type Newest = Pick<
  MarketSample,
  'slot' | 'ts' | 'oraclePrice' | 'bidPrice' | 'askPrice' | 'openInterestLong' | 'openInterestShort'
>;

const scratch = fillRow();

export class MarketState {
  readonly ref: MarketRef;
  readonly candles: MarketCandles;
  /** Fills that only count as volume, by minute, of the last 24 hours. */
  private readonly others = new FillSeries();
  private readonly ids = new FillIds();
  private readonly funding = new FundingRates();
  private sample: Newest | null = null;
  /** Something changed since the last outputs, and since the last pieces. */
  private isTold = true;
  private isSaved = true;
  private readonly unsaved = new Set<typeof FUNDING | typeof SAMPLE>();

  constructor(ref: MarketRef) {
    this.ref = ref;
    this.candles = new MarketCandles(ref);
  }

  /** Chunks of rows that the next `takeChanges` gives. */
  get unsavedChunks(): number {
    const { minutes, days } = this.candles;
    return (
      minutes.fills.unsavedChunks +
      minutes.oracles.unsavedChunks +
      days.fills.unsavedChunks +
      days.oracles.unsavedChunks
    );
  }

  /** A fill, its id not negative or known to be new. False when it was applied before. Throws CandleError. */
  addFill(fill: Fill): boolean {
    this.candles.checkTime(fill.ts);
    if (fill.use === 'candle' && minuteOf(fill.ts) < this.candles.horizon) {
      if (fill.id >= 0 && this.ids.has(fill.id)) return false;
      throw new CandleError('candle-late-fill', `fill ${fill.id} of ${fill.ts}`);
    }
    if (fill.id >= 0 && !this.ids.add(fill.id)) return false;
    this.change();
    if (fill.use === 'candle') this.candles.addFill(fill);
    else this.candles.advance(fill.ts, fill.slot);
    if (fill.use === 'volume') this.addVolume(fill);
    return true;
  }

  /** Something happened at this time. Throws CandleError. */
  advance(ts: number, slot: number): void {
    this.candles.checkTime(ts);
    if (ts <= this.candles.ts && slot <= this.candles.slot) return;
    this.change();
    this.candles.advance(ts, slot);
  }

  /** Throws CandleError. */
  addFunding(record: FundingView, slot: number): void {
    this.advance(record.ts, slot);
    if (!this.funding.add(record)) return;
    this.change();
    this.unsaved.add(FUNDING);
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
    this.change();
    const [price = 0, high = 0, low = 0] = prices;
    if (oraclePrice !== null) this.candles.addTick(ts, slot, price, Math.max(price, high), Math.min(price, low));
    if (this.sample !== null && slot < this.sample.slot) return;
    const { bidPrice, askPrice, openInterestLong, openInterestShort } = sample;
    this.sample = { slot, ts, oraclePrice, bidPrice, askPrice, openInterestLong, openInterestShort };
    this.unsaved.add(SAMPLE);
  }

  /** Candles changed since the last call. To be walked to its end. */
  takeCandles(): Iterable<CandleView> {
    return this.candles.takeCandles();
  }

  /** The summary when something changed since the last call. */
  takeSummary(): MarketSummary | null {
    if (this.isTold) return null;
    this.isTold = true;
    const { candles, others, funding, sample } = this;
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
  takeChanges(): Piece[] {
    if (this.isSaved) return [];
    this.isSaved = true;
    this.others.prune(windowStart(this.candles.ts), () => {});
    const pieces: Piece[] = [{ name: HEAD, bytes: encodeJson(this.candles.head()) }];
    if (this.unsaved.delete(FUNDING)) pieces.push({ name: FUNDING, bytes: this.funding.encode() });
    if (this.unsaved.delete(SAMPLE) && this.sample) pieces.push({ name: SAMPLE, bytes: encodeJson(this.sample) });
    for (const { name, bytes } of this.ids.takeChanges()) pieces.push({ name: `${IDS}:${name}`, bytes });
    for (const [kind, series] of this.saved()) {
      for (const { chunk, bytes } of series.takeChanges()) pieces.push({ name: `${kind}:${chunk}`, bytes });
    }
    for (const { fills, oracles } of this.candles.unsaved) {
      fills.takeChanges();
      oracles.takeChanges();
    }
    return pieces;
  }

  /** Takes back pieces given by `takeChanges`, all of them at once and in any order. */
  restore(pieces: Iterable<{ readonly name: string; readonly bytes: Uint8Array }>): void {
    const series = new Map(this.saved());
    let head: MarketHead | null = null;
    for (const { name, bytes } of pieces) {
      const [kind = '', rest = ''] = name.split(':');
      if (kind === HEAD) head = decodeJson<MarketHead>(bytes);
      else if (kind === FUNDING) this.funding.restore(bytes);
      else if (kind === SAMPLE) this.sample = decodeJson<Newest>(bytes);
      else if (kind === IDS) this.ids.restore(rest, bytes);
      else series.get(kind)?.restore(Number(rest), bytes);
    }
    if (head === null) return;
    const version = (Math.floor(head.version / VERSIONS_OF_A_RUN) + 1) * VERSIONS_OF_A_RUN;
    this.candles.restore({ ...head, version });
  }

  private addVolume(fill: Fill): void {
    const minute = minuteOf(fill.ts);
    if (minute < windowStart(this.candles.ts)) return;
    putFill(scratch, fill);
    this.others.join(minute, scratch);
    this.others.marks.clear();
  }

  private change(): void {
    this.isTold = false;
    this.isSaved = false;
  }

  private saved(): [string, Series][] {
    const { minutes, days } = this.candles;
    return [
      ['fills', minutes.fills],
      ['ticks', minutes.oracles],
      ['day-fills', days.fills],
      ['day-ticks', days.oracles],
      ['others', this.others],
    ];
  }
}
