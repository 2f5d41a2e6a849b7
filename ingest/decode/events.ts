// Decodes program records to flat fields. A record that cannot be decoded keeps its bytes.

import bs58 from 'bs58';
import type { ChainDefinition, CompiledEvent, EventDefinition } from '../../schemas/index.ts';
import {
  compileEvent,
  DISCRIMINATOR_BYTES,
  EVENT_NAMES,
  flattenRecord,
  isFlat,
  RecordError,
} from '../../schemas/index.ts';
import type { KnownRecords, Payload } from './logs.ts';

/** A decoded record with its flat fields, or the raw bytes of an undecodable one. */
export interface DecodedRecord {
  readonly name: string;
  readonly data: Record<string, unknown>;
  /** Why the record becomes an UnknownRecord; null for a decoded one. */
  readonly problem: { readonly reason: 'unknown_record' | 'damaged_record'; readonly detail: string } | null;
}

export interface EventDecoder {
  readonly known: KnownRecords;
  decode(payload: Payload): DecodedRecord;
}

interface Known {
  readonly definition: EventDefinition;
  readonly compiled: CompiledEvent;
  readonly isFlat: boolean;
}

/** Compiles a decoder for the records of all programs in a chain definition. */
export function compileEvents(chain: ChainDefinition): EventDecoder {
  const named = new Set(EVENT_NAMES);
  const known = new Map<string, ReadonlyMap<string, Known>>();
  for (const program of chain.programs) {
    const events = new Map<string, Known>();
    for (const [hex, definition] of program.events) {
      events.set(hex, { definition, compiled: compileEvent(definition), isFlat: isFlat(definition.fields) });
    }
    known.set(program.programId, events);
  }
  return {
    known,
    decode: (payload) => {
      const hex = payload.bytes.toString('hex', 0, DISCRIMINATOR_BYTES);
      const found = known.get(payload.program)?.get(hex);
      if (!found) return unknownRecord(payload, null, 'unknown_record', `discriminator ${hex}`);
      const { name, fields } = found.definition;
      if (payload.damaged) return unknownRecord(payload, name, 'damaged_record', `${name} line was truncated`);
      if (fields.length === 0 || !named.has(name)) return unknownRecord(payload, name, 'unknown_record', name);
      try {
        const value = found.compiled.decode(payload.bytes.subarray(DISCRIMINATOR_BYTES));
        return { name, data: found.isFlat ? value : flattenRecord(fields, value), problem: null };
      } catch (error) {
        if (!(error instanceof RecordError)) throw error;
        return unknownRecord(payload, name, 'damaged_record', `${name}: ${error.message}`);
      }
    },
  };
}

/** Keeps the record as raw bytes, so that nothing is lost. */
export function unknownRecord(
  payload: Payload,
  recordName: string | null,
  reason: 'unknown_record' | 'damaged_record',
  detail: string,
): DecodedRecord {
  const discriminator = new Uint8Array(DISCRIMINATOR_BYTES);
  discriminator.set(payload.bytes.subarray(0, DISCRIMINATOR_BYTES));
  return {
    name: 'UnknownRecord',
    data: {
      program: bs58.decode(payload.program),
      discriminator,
      record_name: recordName,
      raw: Uint8Array.from(payload.bytes),
    },
    problem: { reason, detail },
  };
}
