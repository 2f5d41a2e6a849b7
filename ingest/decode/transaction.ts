// Turns a transaction's logs into encoded events for the log, each identified by (signature, index).

import bs58 from 'bs58';
import type { DeadLetter } from '../../schemas/index.ts';
import { encodeEvent, eventKey, keyText, signatureBytes, UNKNOWN_RECORD } from '../../schemas/index.ts';
import { deadLetter } from '../dead-letter.ts';
import type { TransactionLogs } from '../source.ts';
import { type DecodedRecord, type EventDecoder, unknownRecord } from './events.ts';
import { type Payload, parseLogs } from './logs.ts';

export interface EncodedEvent {
  /** Identity that stays the same over restarts. */
  readonly id: string;
  readonly name: string;
  readonly key: string;
  readonly slot: number;
  readonly value: Buffer;
  /** Whether it is a trade of a market. */
  readonly isFill: boolean;
}

export interface DecodedTransaction {
  readonly events: readonly EncodedEvent[];
  readonly parked: readonly DeadLetter[];
  /** The log or a record line was truncated, so records may be missing. */
  readonly incomplete: boolean;
}

export function eventId(signature: Uint8Array, eventIndex: number): string {
  return `${keyText(signature)}${eventIndex}`;
}

/** Counts records from 0 over all types and programs, unreadable ones included, so that an index never shifts. */
export function decodeTransaction(transaction: TransactionLogs, decoder: EventDecoder): DecodedTransaction {
  const { payloads, incomplete } = parseLogs(transaction.logs, decoder.known);
  if (payloads.length === 0) return { events: [], parked: [], incomplete };
  const signature =
    transaction.signatureBytes ?? signatureBytes(transaction.signature) ?? bs58.decode(transaction.signature);
  const parked: DeadLetter[] = [];
  let damaged = incomplete;
  const events = payloads.map((payload, index) => {
    let record = decoder.decode(payload);
    let value = tryEncode(record, transaction, signature, index);
    if (value instanceof RangeError) {
      record = unknownRecord(payload, record.name, 'damaged_record', value.message);
      value = encode(record, transaction, signature, index);
    }
    if (record.problem) {
      damaged ||= record.problem.reason === 'damaged_record';
      parked.push(park(record, payload, transaction));
    }
    const { name, data } = record;
    const key = eventKey({ name, data });
    const isFill = name === 'OrderActionRecord' && data.action === 'fill';
    return { id: eventId(signature, index), name, key, slot: transaction.slot, value, isFill };
  });
  return { events, parked, incomplete: damaged };
}

function tryEncode(
  record: DecodedRecord,
  transaction: TransactionLogs,
  signature: Uint8Array,
  index: number,
): Buffer | RangeError {
  if (record.name === UNKNOWN_RECORD) return encode(record, transaction, signature, index);
  try {
    return encode(record, transaction, signature, index);
  } catch (error) {
    if (error instanceof RangeError) return error;
    throw error;
  }
}

function encode(record: DecodedRecord, transaction: TransactionLogs, signature: Uint8Array, index: number): Buffer {
  return encodeEvent({
    name: record.name,
    signature,
    eventIndex: index,
    slot: transaction.slot,
    txIndex: transaction.blockIndex,
    data: record.data,
  });
}

function park(record: DecodedRecord, payload: Payload, transaction: TransactionLogs): DeadLetter {
  const { reason, detail } = record.problem ?? { reason: 'unknown_record', detail: '' };
  return deadLetter(reason, detail, transaction.slot, transaction.signature, payload.bytes);
}
