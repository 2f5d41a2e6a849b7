// The record numbers that an event proves (docs/internals/ingest.md, "Completeness").

import bs58 from 'bs58';
import type { ChainEvent, NumberedStream } from '../../schemas/index.ts';

/** Fills of orders that no other record places: the program numbers and fills them in one step. */
const PLACED_BY_FILL: ReadonlySet<unknown> = new Set(['liquidation', 'transferPerpPosition']);

interface Numbered {
  readonly subject: string;
  readonly stream: NumberedStream;
  readonly id: number;
}

/** The numbers of an event. */
export function numbersOf({ name, data }: ChainEvent): readonly Numbered[] {
  switch (name) {
    case 'OrderRecord':
      return numbered(accountOf(data.user), 'orders', data.order_order_id);
    case 'OrderActionRecord':
      return [
        ...numbered(`${String(data.market_type)}-${String(data.market_index)}`, 'fills', data.fill_record_id),
        ...(PLACED_BY_FILL.has(data.action_explanation) && data.action === 'fill' ? ordersOf(data) : []),
      ];
    case 'FundingRateRecord':
      return numbered(`perp-${String(data.market_index)}`, 'funding', data.record_id);
    case 'DepositRecord':
      return numbered(`spot-${String(data.market_index)}`, 'deposits', data.deposit_record_id);
    case 'OrderPlaceRecordV0':
      return numbered(`perp-${String(data.market_index)}`, 'bookOrders', data.order_id);
    case 'LiquidationRecord':
      return numbered(accountOf(data.user), 'liquidations', data.liquidation_id);
    default:
      return [];
  }
}

function ordersOf(data: ChainEvent['data']): readonly Numbered[] {
  return (['taker', 'maker'] as const).flatMap((side) =>
    numbered(accountOf(data[side]), 'orders', data[`${side}_order_id`]),
  );
}

function numbered(subject: string | null, stream: NumberedStream, value: unknown): readonly Numbered[] {
  const id = typeof value === 'bigint' ? Number(value) : value;
  return subject !== null && typeof id === 'number' && Number.isSafeInteger(id) && id > 0
    ? [{ subject, stream, id }]
    : [];
}

const accountOf = (key: unknown): string | null => (key instanceof Uint8Array ? bs58.encode(key) : null);
