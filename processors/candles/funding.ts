// The newest funding rates of a market: a set by record id, so that repeats and order of arrival do not matter.

import { FUNDING_RECORDS, type FundingView, fundingPercent1e9, type PartialEvent } from '../../schemas/index.ts';
import { bounded, CandleError } from './fill.ts';
import { decodeJson, encodeJson } from './json.ts';

export const FUNDING_MEMBERS = [
  'slot',
  'ts',
  'record_id',
  'market_index',
  'funding_rate',
  'funding_rate_long',
  'funding_rate_short',
  'oracle_price_twap',
] as const;

/** Reads a FundingRateRecord. Throws CandleError. */
export function fundingOf({ data }: PartialEvent): FundingView {
  return {
    recordId: exact(data, 'record_id'),
    ts: bounded(data, 'ts'),
    fundingRate: exact(data, 'funding_rate'),
    fundingRateLong: exact(data, 'funding_rate_long'),
    fundingRateShort: exact(data, 'funding_rate_short'),
    oraclePriceTwap: exact(data, 'oracle_price_twap'),
  };
}

/** State of versions before 2026-11-29 has no slots. */
const UNKNOWN_SLOT = 0;

interface KeptFunding extends FundingView {
  readonly slot: number;
}

export class FundingRates {
  /** Newest first. */
  readonly #records: KeptFunding[] = [];

  get newest(): FundingView | null {
    const [newest] = this.#records;
    if (!newest) return null;
    const { slot: _, ...view } = newest;
    return view;
  }

  get count(): number {
    return this.#records.length;
  }

  get percentSum1e9(): bigint {
    return this.#records.reduce(
      (sum, record) => sum + fundingPercent1e9(record.fundingRateLong, record.oraclePriceTwap),
      0n,
    );
  }

  /**
   * Adds a record of a slot; true when it is new and one of the newest. Of two with one id that of the later slot counts: the
   * chain gives the id of a dropped record again, even in the same second.
   */
  add(view: FundingView, slot: number): boolean {
    const record = { ...view, slot };
    const older = this.#records.findIndex(({ recordId }) => recordId <= record.recordId);
    const same = this.#records[older];
    if (same?.recordId === record.recordId) {
      if (same.slot >= slot) return false;
      this.#records[older] = record;
      return true;
    }
    const place = older < 0 ? this.#records.length : older;
    if (place >= FUNDING_RECORDS) return false;
    this.#records.splice(place, 0, record);
    this.#records.length = Math.min(this.#records.length, FUNDING_RECORDS);
    return true;
  }

  encode(): Uint8Array {
    return encodeJson(this.#records);
  }

  restore(bytes: Uint8Array): void {
    const records = decodeJson<(FundingView & Partial<KeptFunding>)[]>(bytes);
    this.#records.splice(0, this.#records.length, ...records.map((record) => ({ slot: UNKNOWN_SLOT, ...record })));
  }
}

function exact(data: PartialEvent['data'], member: string): bigint {
  const value = data[member];
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number') return BigInt(value);
  throw new CandleError('candle-record', `${member} is ${String(value)}`);
}
