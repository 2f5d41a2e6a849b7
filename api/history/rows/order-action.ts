// Rows of order actions built from events, for streams. They use the fields of the REST lists, so both have the same members.

import bs58 from 'bs58';
import type { ChainEvent, MarketView } from '../../../schemas/index.ts';
import { type Row, type RowField, snake, toRow } from '../fields.ts';
import { describingParameters } from '../lists.ts';

/** Values of the event's head by row member. */
const HEAD_COLUMNS: Readonly<Record<string, (event: ChainEvent) => unknown>> = {
  txSig: ({ signature }) => bs58.encode(signature),
  txSigIndex: ({ eventIndex }) => eventIndex,
  slot: ({ slot }) => slot,
  txIndex: ({ txIndex }) => txIndex,
};

/**
 * The row of an OrderActionRecord as REST answers it, with raw integers as text. `market` is null for an unknown market;
 * `user` is the account of the list, null in market lists.
 */
export function orderActionRow(
  fields: readonly RowField[],
  event: ChainEvent,
  market: MarketView | null,
  user: string | null = null,
): Row {
  const source = Object.fromEntries(
    fields.map(({ name }) => [name, HEAD_COLUMNS[name]?.(event) ?? stored(event.data[snake(name)])]),
  );
  return toRow(fields, source, {
    ...(market === null ? {} : describingParameters([market])),
    ...(user === null ? {} : { user }),
  });
}

/** A value of an event in the form of a store answer. */
const stored = (value: unknown): unknown => (value instanceof Uint8Array ? bs58.encode(value) : value);
