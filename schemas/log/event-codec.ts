// Encodes and decodes program events: a head with the record's place on the chain, then its flat fields.

import type { Type } from 'avsc';
import avro from 'avsc';
import type { ChainEvent } from '../chain/event.ts';
import { type AvroRecord, UNKNOWN_RECORD } from '../chain/event-schemas.ts';
import { HEAD_FIELDS } from '../chain/flatten.ts';
import { parseSchema } from './parse-schema.ts';
import { allWriters, decodeBody, explainInvalid, openRecord, SchemaError, type Writer } from './wire.ts';

interface Head {
  signature: Uint8Array;
  event_index: number;
  slot: number;
  tx_index: number | null;
}

/** Avro writes the fields of a record one after another, so head and data can each have their own type. */
interface EventCodec {
  readonly writer: Writer;
  readonly head: Type;
  readonly data: Type;
}

const writers = new Map(allWriters().flatMap((writer) => (writer.kind === 'event' ? [[writer.name, writer]] : [])));
const codecs = new Map<string, EventCodec>();

/** Codecs are made when they are needed: all of them take a tenth of a second, and no process needs all. */
function codecOf(name: string): EventCodec | undefined {
  const known = codecs.get(name);
  if (known) return known;
  const writer = writers.get(name);
  if (!writer) return undefined;
  const codec = makeCodec(writer);
  codecs.set(name, codec);
  return codec;
}

function makeCodec(writer: Writer): EventCodec {
  const schema = JSON.parse(writer.text) as AvroRecord;
  const part = (name: string, fields: AvroRecord['fields']): Type => parseSchema({ ...schema, name, fields });
  return {
    writer,
    head: part('Head', schema.fields.slice(0, HEAD_FIELDS.length)),
    data: part(writer.name, schema.fields.slice(HEAD_FIELDS.length)),
  };
}

/** Events with their own schema. The log carries every other event as UnknownRecord. */
export const EVENT_NAMES: readonly string[] = [...writers.keys()].filter((name) => name !== UNKNOWN_RECORD);

/** Encodes an event with its envelope. Throws a RangeError that names the field when one is missing or out of range. */
export function encodeEvent(event: ChainEvent): Buffer {
  const codec = codecOf(event.name);
  if (!codec) throw new RangeError(`no schema for event ${event.name}: encode it as ${UNKNOWN_RECORD}`);
  const head: Head = {
    signature: event.signature,
    event_index: event.eventIndex,
    slot: event.slot,
    tx_index: event.txIndex,
  };
  try {
    return codec.writer.encode((buffer, at) => {
      const end = codec.head.encode(head, buffer, at);
      return end < 0 ? end : codec.data.encode(event.data, buffer, end);
    });
  } catch (cause) {
    throw new RangeError(explain(codec, head, event.data), { cause });
  }
}

function explain(codec: EventCodec, head: Head, data: object): string {
  const { type, name } = codec.writer;
  return explainInvalid(name, type instanceof avro.types.RecordType ? type.fields : [], { ...data, ...head });
}

/** Decodes an event of the current or any committed past version. Throws SchemaError for anything else. */
export function decodeEvent(bytes: Uint8Array): ChainEvent {
  const opened = openRecord(bytes);
  const codec = codecOf(opened.reader.writer.name);
  if (!codec) throw new SchemaError('not-a-record', `${opened.reader.writer.name} is not a program event`);
  if (opened.reader.resolver) return split(codec.writer.name, decodeBody(codec.writer.type, opened).value);
  const head = decodeBody(codec.head, opened);
  const data = decodeBody(codec.data, { ...opened, at: head.offset });
  return chainEvent(codec.writer.name, head.value as Head, data.value as Record<string, unknown>);
}

function split(name: string, value: unknown): ChainEvent {
  const { signature, event_index, slot, tx_index, ...data } = value as Head & Record<string, unknown>;
  return chainEvent(name, { signature, event_index, slot, tx_index }, data);
}

function chainEvent(name: string, head: Head, data: Record<string, unknown>): ChainEvent {
  const { signature, event_index, slot, tx_index } = head;
  return { name, signature, eventIndex: event_index, slot, txIndex: tx_index, data };
}
