// The part of /quality about numbered records: what the log has of each stream of a market, and which holes stay.

import type { CoverageTail } from '../../../platform/index.ts';
import type { CoverageHole, StreamCoverage } from '../../../schemas/index.ts';
import { amountText, count, flag, key, list, nullable, object, text } from '../../http/contract/json-schema.ts';

/** Holes of a stream in an answer, oldest first; /freshness has more. */
const HOLES_MAX = 20;

const hole = object({
  fromId: count('first missing number'),
  toId: count('last missing number'),
  fromSlot: count('slot'),
  toSlot: count('slot'),
  lost: flag('true when the blocks were read again without the records: no node has them'),
  reconstructed: list(
    object({
      user: key('account'),
      orderId: count('order'),
      direction: text('direction of the order'),
      baseAssetAmount: amountText('sum of its lost fills, base 1e9'),
      quoteAssetAmount: nullable(
        amountText('the same in quote, 1e6; null where an account state without it bounds the sum'),
      ),
    }),
    'of lost fills, the exact sum for each order that later records or account states prove; a hole of several numbers may have more',
  ),
});

export const MARKET_RECORDS = list(
  object({
    stream: text('fills, funding, deposits or bookOrders'),
    firstId: nullable(count('first stored number; null before the first record')),
    lastId: nullable(count('newest stored number; null before the first record')),
    chainId: nullable(count('newest number on the chain; null when unknown')),
    missing: count('records missing up to the newest on the chain'),
    lost: count('missing records that no node has'),
    holes: list(hole, `missing numbers, oldest first, at most ${HOLES_MAX}`),
  }),
  'numbered records of the market in the log; without holes it is complete from firstId to chainId',
);

export const ACCOUNT_RECORDS = list(
  object({
    stream: text('orders or liquidations'),
    accounts: count('accounts with a record or a count'),
    withHoles: count('accounts with missing records'),
    missing: count('missing records of all accounts'),
    lost: count('missing records that no node has'),
    forgotten: count('accounts that are no longer followed, because there were too many'),
  }),
  'numbered records of all accounts in the log',
);

export interface Records {
  readonly of: (subject: string) => readonly ReturnType<typeof streamBody>[];
  readonly accounts: readonly object[];
}

/** The newest coverage. While the log is away, the coverage before. */
export async function recordsOf(tail: CoverageTail | undefined): Promise<Records> {
  const streams = (await tail?.read().catch(() => tail.known)) ?? [];
  return {
    of: (subject) => streams.filter((one) => one.subject === subject).map(streamBody),
    accounts: (tail?.accounts ?? []).map(({ slot: _, ...totals }) => totals),
  };
}

function streamBody({ stream, firstId, lastId, chainId, missing, holes }: StreamCoverage) {
  const lost = holes.filter(({ isLost }) => isLost).reduce((sum, { fromId, toId }) => sum + toId - fromId + 1, 0);
  return { stream, firstId, lastId, chainId, missing, lost, holes: holes.slice(0, HOLES_MAX).map(holeBody) };
}

/** Without reconstructed orders: streams of a market have none. */
const holeBody = ({ isLost, reconstructedOrders: _, ...rest }: CoverageHole) => ({ ...rest, lost: isLost });
