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

export class FundingRates {
  /** Newest first. */
  readonly #records: FundingView[] = [];

  get newest(): FundingView | null {
    return this.#records[0] ?? null;
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
   * Adds a record; true when it is new and one of the newest. Of two with one id the later counts: the chain gives the id of a
   * dropped record again.
   */
  add(record: FundingView): boolean {
    const older = this.#records.findIndex(({ recordId }) => recordId <= record.recordId);
    const same = this.#records[older];
    if (same?.recordId === record.recordId) {
      if (same.ts >= record.ts) return false;
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
    this.#records.splice(0, this.#records.length, ...decodeJson<FundingView[]>(bytes));
  }
}

function exact(data: PartialEvent['data'], member: string): bigint {
  const value = data[member];
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number') return BigInt(value);
  throw new CandleError('candle-record', `${member} is ${String(value)}`);
}
