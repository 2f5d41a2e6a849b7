// GET /freshness: newest row of each stream, events that are not stored yet, and gaps of the chain data.

import type { FastifyInstance } from 'fastify';
import type { HistoryCompleteness } from '../../../platform/index.ts';
import type { ChainGap, StreamCoverage } from '../../../schemas/index.ts';
import { HistoryError } from '../../http/errors.ts';
import { described, errorResponses } from '../route-schemas.ts';
import { DAY_S } from '../seconds.ts';
import type { HistoryServices } from '../services.ts';
import type { HistoryStore } from '../store.ts';

/** Streams with the stored rows they consist of. */
const STREAMS: readonly Stream[] = [
  { stream: 'trades', table: 'order_action', filter: "action = 'fill'" },
  { stream: 'orderActions', table: 'order_action' },
  { stream: 'orders', table: 'order' },
  { stream: 'fundingRates', table: 'funding_rate' },
  { stream: 'fundingPayments', table: 'funding_payment' },
  { stream: 'deposits', table: 'deposit' },
  { stream: 'swaps', table: 'swap' },
  { stream: 'settlements', table: 'settle_pnl' },
  { stream: 'liquidations', table: 'liquidation' },
  { stream: 'insuranceFund', table: 'insurance_fund' },
  { stream: 'insuranceFundStakes', table: 'insurance_fund_stake' },
  { stream: 'accounts', table: 'new_user' },
  { stream: 'spotInterest', table: 'spot_interest' },
  { stream: 'ammCurve', table: 'amm_curve_changed' },
  { stream: 'bookFills', table: 'fill_v0' },
  { stream: 'samples', table: 'market_sample' },
  { stream: 'candles', table: 'candle' },
];

interface Stream {
  readonly stream: string;
  readonly table: string;
  readonly filter?: string;
}

interface Newest {
  readonly slot: number;
  readonly ts: number;
}

/** Older parts are read only for streams without newer rows. */
const RECENT_S = 2 * DAY_S;
/** Gaps in an answer. */
const GAPS_MAX = 200;
/** Streams in an answer: those with missing records first. */
const COVERAGE_MAX = 500;
/** How long requests share one answer. */
const FRESH_MS = 1_000;

const integer = (description: string) => ({ type: 'integer', description });
const optional = (description: string) => ({ type: ['integer', 'null'], description });

const response = {
  description: 'state of the history, at most a second old',
  type: 'object',
  required: ['success', 'newest', 'eventsNotStored', 'streams', 'gaps', 'coverage', 'accounts'],
  properties: {
    success: { type: 'boolean', const: true },
    newest: {
      type: ['object', 'null'],
      description: 'newest slot of any stream; null before the first event',
      required: ['slot', 'ts', 'behindClock'],
      properties: {
        slot: integer('slot'),
        ts: integer('unix seconds'),
        behindClock: integer('seconds that it lies behind the clock of the service'),
      },
    },
    eventsNotStored: optional(
      'events in the log that the store does not hold yet; null when the log was never written',
    ),
    streams: {
      type: 'array',
      description: 'a stream without events for a while lags without being late; eventsNotStored is the true lag',
      items: {
        type: 'object',
        required: ['stream', 'table', 'lastSlot', 'lastTs', 'lagSlots', 'lagSeconds'],
        properties: {
          stream: { type: 'string', enum: STREAMS.map(({ stream }) => stream) },
          table: { type: 'string', description: 'where it is stored' },
          lastSlot: optional('slot of its newest row; null for an empty stream'),
          lastTs: optional('unix seconds of its newest row; of candles the start of the bucket'),
          lagSlots: optional('slots behind the newest slot'),
          lagSeconds: optional('seconds behind the newest slot'),
        },
      },
    },
    coverage: {
      type: 'array',
      description: `numbered streams of markets, and of accounts with missing records; at most ${COVERAGE_MAX}`,
      items: {
        type: 'object',
        required: ['subject', 'stream', 'firstId', 'lastId', 'chainId', 'missing', 'holes'],
        properties: {
          subject: { type: 'string', description: 'market, such as perp-0, or account' },
          stream: { type: 'string', description: 'fills, funding, deposits, bookOrders, orders or liquidations' },
          firstId: optional('first stored number; null before the first record'),
          lastId: optional('newest stored number; null before the first record'),
          chainId: optional('newest number on the chain; null when unknown'),
          missing: integer('records missing between the first stored one and the newest on the chain'),
          holes: {
            type: 'array',
            description: 'missing numbers, oldest first',
            items: {
              type: 'object',
              required: ['fromId', 'toId', 'fromSlot', 'toSlot', 'lost', 'reconstructed', 'reconstructedOrders'],
              properties: {
                fromId: integer('first missing number'),
                toId: integer('last missing number'),
                fromSlot: integer('slot'),
                toSlot: integer('slot'),
                lost: { type: 'boolean', description: 'true when the blocks were read again without them' },
                reconstructed: {
                  type: 'array',
                  description:
                    'of lost fills, the exact sum for each order that later records or account states prove; a hole of ' +
                    'several numbers may have more',
                  items: {
                    type: 'object',
                    required: ['user', 'orderId', 'direction', 'baseAssetAmount', 'quoteAssetAmount'],
                    properties: {
                      user: { type: 'string', description: 'account' },
                      orderId: integer('order'),
                      direction: { type: 'string', description: 'direction of the order' },
                      baseAssetAmount: { type: 'string', description: 'sum of its lost fills, base 1e9' },
                      quoteAssetAmount: {
                        type: ['string', 'null'],
                        description: 'the same in quote, 1e6; null where an account state without it bounds the sum',
                      },
                    },
                  },
                },
                reconstructedOrders: {
                  type: 'array',
                  description: 'of lost orders of an account, those that states of the account showed',
                  items: {
                    type: 'object',
                    required: [
                      ...['orderId', 'market', 'direction', 'orderType', 'price', 'baseAssetAmount', 'placedSlot'],
                    ],
                    properties: {
                      orderId: integer('order'),
                      market: { type: 'string', description: 'market, such as perp-0' },
                      direction: { type: 'string' },
                      orderType: { type: 'string' },
                      price: { type: 'string', description: 'price 1e6' },
                      baseAssetAmount: { type: 'string', description: 'size, base 1e9' },
                      placedSlot: integer('slot in which it was placed'),
                    },
                  },
                },
              },
            },
          },
        },
      },
    },
    accounts: {
      type: 'array',
      description: 'totals of the numbered streams of accounts; accounts with missing records are in coverage',
      items: {
        type: 'object',
        required: ['stream', 'accounts', 'withHoles', 'missing', 'lost', 'forgotten'],
        properties: {
          stream: { type: 'string', description: 'orders or liquidations' },
          accounts: integer('accounts with a record or a count'),
          withHoles: integer('accounts with missing records'),
          missing: integer('missing records of all accounts'),
          lost: integer('missing records that no node has'),
          forgotten: integer('accounts that are no longer followed, because there were too many'),
        },
      },
    },
    gaps: {
      type: ['array', 'null'],
      description: `gaps in the chain data, newest first, at most ${GAPS_MAX}, open ones before filled ones; null when the log was never written`,
      items: {
        type: 'object',
        required: ['fromSlot', 'toSlot', 'reason', 'filled', 'lasting', 'foundTs', 'filledTs'],
        properties: {
          fromSlot: integer('slot'),
          toSlot: integer('slot'),
          reason: { type: 'string' },
          filled: { type: 'boolean', description: 'true when all its slots were read later' },
          lasting: { type: 'boolean', description: 'true when its data cannot be recovered' },
          foundTs: integer('unix seconds'),
          filledTs: optional('unix seconds'),
        },
      },
    },
  },
};

type Answer = Awaited<ReturnType<typeof freshness>>;

export function freshnessRoutes(app: FastifyInstance, services: HistoryServices): void {
  let latest: { readonly atMs: number; readonly answer: Promise<Answer> } | null = null;
  const schema = described({
    summary: 'Newest rows of each stream, and gaps',
    tags: ['Stats'],
    response: { 200: response, ...errorResponses },
  });
  app.get('/freshness', { schema }, () => {
    const atMs = performance.now();
    if (!latest || atMs - latest.atMs >= FRESH_MS) latest = { atMs, answer: freshness(services) };
    return latest.answer;
  });
}

async function freshness({ store, markets, completeness, now }: HistoryServices) {
  const [last, state] = await Promise.all([lastRows(store, now() - RECENT_S), readCompleteness(completeness)]);
  const rows = STREAMS.map(({ stream, table }) => ({ stream, table, last: last.get(stream) ?? null }));
  const marketSlot = markets.list().reduce((slot, market) => Math.max(slot, market.slot), 0);
  const ends = rows.flatMap((row) => (row.last ? [row.last] : []));
  const ts = ends.reduce((most, end) => Math.max(most, end.ts), 0);
  const slot = ends.reduce((most, end) => Math.max(most, end.slot), marketSlot);
  return {
    success: true,
    newest: ends.length === 0 ? null : { slot, ts, behindClock: now() - ts },
    eventsNotStored: state.eventsNotStored,
    streams: rows.map((row) => ({
      stream: row.stream,
      table: row.table,
      lastSlot: row.last?.slot ?? null,
      lastTs: row.last?.ts ?? null,
      lagSlots: row.last && slot - row.last.slot,
      lagSeconds: row.last && ts - row.last.ts,
    })),
    coverage: [...state.coverage]
      .sort((a, b) => Number(b.missing > 0) - Number(a.missing > 0))
      .slice(0, COVERAGE_MAX)
      .map(coverageRow),
    accounts: state.accounts.map(({ slot: _, ...totals }) => totals),
    gaps: state.gaps && listedGaps(state.gaps).map(gapRow),
  };
}

/** Newest first. Beyond the limit the open ones that may be filled count most, then other open ones, then filled ones. */
function listedGaps(gaps: readonly ChainGap[]): readonly ChainGap[] {
  const newest = [...gaps].reverse();
  if (newest.length <= GAPS_MAX) return newest;
  const weight = ({ filledAtMs, isLasting }: ChainGap) => (filledAtMs === null ? (isLasting ? 1 : 2) : 0);
  const kept = new Set(newest.toSorted((a, b) => weight(b) - weight(a)).slice(0, GAPS_MAX));
  return newest.filter((gap) => kept.has(gap));
}

function coverageRow({ subject, stream, firstId, lastId, chainId, missing, holes }: StreamCoverage) {
  const rows = holes.map(({ isLost, ...hole }) => ({ ...hole, lost: isLost }));
  return { subject, stream, firstId, lastId, chainId, missing, holes: rows };
}

function gapRow({ fromSlot, toSlot, reason, isLasting, foundAtMs, filledAtMs }: ChainGap) {
  return {
    fromSlot,
    toSlot,
    reason,
    filled: filledAtMs !== null,
    lasting: isLasting,
    foundTs: Math.floor(foundAtMs / 1000),
    filledTs: filledAtMs === null ? null : Math.floor(filledAtMs / 1000),
  };
}

/** Maps an unreadable log to `storeAway`. */
async function readCompleteness(completeness: () => Promise<HistoryCompleteness>): Promise<HistoryCompleteness> {
  try {
    return await completeness();
  } catch (cause) {
    throw new HistoryError('storeAway', undefined, { cause });
  }
}

/** Newest slot and time of each stream that has rows. */
async function lastRows(store: HistoryStore, from: number): Promise<ReadonlyMap<string, Newest>> {
  const recent = await lastRowsOf(store, STREAMS, from);
  const silent = STREAMS.filter(({ stream }) => !recent.has(stream));
  return silent.length === 0 ? recent : new Map([...recent, ...(await lastRowsOf(store, silent, 0))]);
}

async function lastRowsOf(
  store: HistoryStore,
  streams: readonly Stream[],
  from: number,
): Promise<ReadonlyMap<string, Newest>> {
  const selects = streams.map(
    ({ stream, table, filter = '1' }) =>
      `SELECT '${stream}' AS stream, count() AS n, max(slot) AS lastSlot, max(ts) AS lastTs
       FROM {db:Identifier}.\`${table}\` WHERE ts >= {from:Int64} AND ${filter}`,
  );
  const rows = await store.rows<{ stream: string; n: string; lastSlot: string; lastTs: string }>(
    selects.join(' UNION ALL '),
    { from },
  );
  const found = rows.filter(({ n }) => n !== '0');
  return new Map(found.map(({ stream, lastSlot, lastTs }) => [stream, { slot: Number(lastSlot), ts: Number(lastTs) }]));
}
