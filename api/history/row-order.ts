// The order of rows in every list: time and slot, then the place in the block where the source gave it, else the list's own counter.

import type { RowPlace } from './cursor.ts';

/** The member of a list that decides the order. */
export interface Sequenced {
  /** SQL of a counter (UInt64, never null) that orders the rows of a slot. */
  readonly sequenceSql?: string;
}

/** Bits of an event's index below the index of its transaction. */
const EVENT_BITS = 32;

/**
 * SQL of an event's place in its block: the index of its transaction plus one, then its own index; 0 where the index is unknown.
 * The place of a row depends on nothing but the row, so the order is total where only some rows of a slot have an index.
 */
const placeSql = (txIndex: string, eventIndex: string): string =>
  `ifNull(bitShiftLeft(toUInt64(${txIndex}) + 1, ${EVENT_BITS}) + ${eventIndex}, toUInt64(0))`;

/** The place of a stored row. */
export const BLOCK_PLACE = placeSql('tx_index', 'event_index');
const PLACE_AFTER = placeSql('{txIndex:Nullable(UInt32)}', '{txSigIndex:UInt32}');

/** Whether a page continues in the order with the place in the block. Tokens of the older order keep that order to their end. */
export const hasBlockPlace = (after: RowPlace | null): boolean => after?.txIndex !== undefined || after === null;

/** SQL of the order's members. `after` is the row that the page follows. */
export const orderOf = ({ sequenceSql }: Sequenced, after: RowPlace | null): readonly string[] => [
  'ts',
  'slot',
  ...(hasBlockPlace(after) ? [BLOCK_PLACE] : []),
  ...(sequenceSql === undefined ? [] : [sequenceSql]),
  'signature',
  'event_index',
];

/** SQL that selects the rows after one. The first comparison lets the server skip newer granules; it cannot use the tuple for that. */
export function afterSql(source: Sequenced, after: RowPlace): string {
  const place = hasBlockPlace(after) ? `${PLACE_AFTER},` : '';
  const sequence = source.sequenceSql === undefined ? '' : '{sequence:UInt64},';
  return `AND ts <= {ts:Int64} AND (${orderOf(source, after).join(', ')}) < ({ts:Int64}, {slot:UInt64}, ${place} ${sequence}
    toFixedString(base58Decode({txSig:String}), 64), {txSigIndex:UInt32})`;
}

/**
 * SQL without the copies of placed rows that were stored without their index: pages before have shown these rows. All copies
 * of a row have its slot.
 */
export function withoutUnplacedCopies(
  source: { readonly from: string; readonly filterSql: string },
  after: RowPlace,
): string {
  if (!hasBlockPlace(after)) return '';
  const inSlot = 'ts = {ts:Int64} AND slot = {slot:UInt64}';
  return `AND NOT (${inSlot} AND isNull(tx_index) AND (signature, event_index) IN (
    SELECT signature, event_index FROM ${source.from} WHERE ${source.filterSql} AND ${inSlot} AND isNotNull(tx_index)))`;
}

/** Parameters of `afterSql`. */
export function afterParameters(after: RowPlace) {
  const { ts, slot, txIndex = null, sequence, txSig, txSigIndex } = after;
  return { ts, slot, txIndex, sequence, txSig, txSigIndex };
}
