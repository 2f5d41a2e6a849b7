// Compares the freshness that the history reports with the newest record of each kind that the chain emitted.

import { compared, type StatsCheck, type StatsResult } from './answers.ts';
import { getJson } from './paging.ts';
import type { Sample } from './stored-samples.ts';
import type { Data, MonthTruth } from './truth.ts';

/** Stream and its record, apart from the list of the service: a wrong entry there shows. */
const STREAMS: Readonly<Record<string, string>> = {
  trades: 'OrderActionRecord',
  orderActions: 'OrderActionRecord',
  orders: 'OrderRecord',
  fundingRates: 'FundingRateRecord',
  fundingPayments: 'FundingPaymentRecord',
  deposits: 'DepositRecord',
  swaps: 'SwapRecord',
  settlements: 'SettlePnlRecord',
  liquidations: 'LiquidationRecord',
  insuranceFund: 'InsuranceFundRecord',
  insuranceFundStakes: 'InsuranceFundStakeRecord',
  accounts: 'NewUserRecord',
  spotInterest: 'SpotInterestRecord',
  ammCurve: 'AmmCurveChanged',
  bookFills: 'FillRecordV0',
};

interface Freshness {
  readonly newest: { readonly slot: number; readonly ts: number };
  readonly eventsNotStored: number | null;
  readonly streams: readonly Readonly<Record<'stream' | 'lastSlot' | 'lastTs' | 'lagSlots' | 'lagSeconds', unknown>>[];
  readonly gaps: readonly { readonly filled: boolean }[] | null;
}

export function freshnessChecks(truth: MonthTruth, samples: readonly Sample[]): readonly StatsCheck[] {
  return [{ endpoint: '/freshness', run: (base) => freshness(truth, samples, base) }];
}

/** Every stream ends with its newest record, every event is stored, and every gap is closed. */
async function freshness(truth: MonthTruth, samples: readonly Sample[], base: string): Promise<StatsResult> {
  const body = await getJson<Freshness>(`${base}/freshness`);
  const isFill = (data: Data): boolean => data.action === 'fill';
  const last = (stream: string, record: string) => {
    const { slot, ts } = truth.of(record, stream === 'trades' ? isFill : undefined).at(-1) ?? { slot: null, ts: null };
    return { stream, slot, ts };
  };
  const sample = samples.at(-1);
  const ends = [
    ...Object.entries(STREAMS).map(([stream, record]) => last(stream, record)),
    { stream: 'samples', slot: Number(sample?.slot), ts: Number(sample?.ts) },
  ];
  const { slot: newestSlot, ts: newestTs } = body.newest;
  const expected = ends.map(({ stream, slot, ts }) => ({
    stream,
    lastSlot: slot,
    lastTs: ts,
    lagSlots: slot === null ? null : newestSlot - slot,
    lagSeconds: ts === null ? null : newestTs - ts,
  }));
  const got = body.streams
    .filter(({ stream }) => stream !== 'candles')
    .map(({ stream, lastSlot, lastTs, lagSlots, lagSeconds }) => ({ stream, lastSlot, lastTs, lagSlots, lagSeconds }));
  const newest = Math.max(...ends.map(({ slot }) => slot ?? 0));
  // A log without ingest reports neither gaps nor events that are not stored.
  const wanted = body.gaps === null ? null : 0;
  const faults = [
    ...(newestSlot >= newest ? [] : [`newest slot ${newestSlot}, expected ${newest}`]),
    ...(body.eventsNotStored === wanted ? [] : [`${body.eventsNotStored} events not stored`]),
    ...((body.gaps ?? []).every(({ filled }) => filled) ? [] : ['a gap that is not filled']),
  ];
  return faults.length > 0 ? { rows: 0, requests: 1, difference: faults.join(', ') } : compared(expected, got, 1);
}
