// Finds the schema of a record from its wire header alone: Avro single-object encoding (C3 01, fingerprint), or a schema
// registry's (00, id). Every committed version counts, because old records stay in the log.

import { EVENT_NAMES, REGISTRY_BYTES, registryIdOf, schemaVersions, UNKNOWN_RECORD } from '../../schemas/index.ts';
import { formatOf, type RecordFormat } from './format.ts';

const MARK_0 = 0xc3;
const MARK_1 = 0x01;
/** Bytes before the datum. */
const SINGLE_OBJECT_BYTES = 10;

/** One version of one event's schema. */
export interface EventSchema {
  readonly event: string;
  /** Short name of the version, part of the deduplication token. */
  readonly version: string;
  /** Bytes of the wire header before the datum. */
  readonly headerBytes: number;
  /** Compiled at first use: most versions never occur. */
  readonly format: RecordFormat;
}

export const PARK_REASONS = [
  'not-a-record',
  'unknown-fingerprint',
  'unknown-schema-id',
  'invalid-datum',
  'refused-by-clickhouse',
] as const;
export type ParkReason = (typeof PARK_REASONS)[number];

/** Why a record cannot become a row; `reason` is the key of its dead letter. */
export interface Unreadable {
  readonly reason: ParkReason;
  readonly detail: string;
}

/** The text of a registry's schema; null when the registry does not have the id. Rejects when it does not answer. */
export type FetchSchema = (id: number) => Promise<string | null>;

export class SchemaCatalogue {
  /** By the low, then the high half of the fingerprint: this avoids a bigint per record. */
  readonly #byFingerprint = new Map<number, Map<number, EventSchema>>();
  readonly #byId = new Map<number, EventSchema | null>();
  readonly #fetchSchema: FetchSchema;

  constructor(fetchSchema: FetchSchema) {
    this.#fetchSchema = fetchSchema;
    for (const event of [...EVENT_NAMES, UNKNOWN_RECORD]) {
      for (const { fingerprint, text } of schemaVersions(event)) this.#add(event, fingerprint, text);
    }
  }

  #add(event: string, print: bigint, text: string): void {
    const low = Number(BigInt.asUintN(32, print));
    const high = this.#byFingerprint.get(low) ?? new Map<number, EventSchema>();
    const version = print.toString(16);
    high.set(
      Number(print >> 32n),
      eventSchema(event, version, SINGLE_OBJECT_BYTES, () => formatOf(text, print)),
    );
    this.#byFingerprint.set(low, high);
  }

  /** The registry id of a record, when it must be resolved first. */
  unresolvedId(bytes: Uint8Array, start: number, end: number): number | null {
    const id = registryIdOf(bytes, start, end);
    return id === null || this.#byId.has(id) ? null : id;
  }

  /** Resolves a registry id, also to "unreadable". Rejects when the registry does not answer. */
  async resolve(id: number): Promise<void> {
    const text = await this.#fetchSchema(id);
    this.#byId.set(id, text === null ? null : registrySchema(id, text));
  }

  /** The writer schema of the record from `start` to `end`, by its wire header; the datum stays unchecked. */
  recognise(bytes: Uint8Array, start: number, end: number): EventSchema | Unreadable {
    const size = end - start;
    if (bytes[start] === MARK_0 && bytes[start + 1] === MARK_1 && size >= SINGLE_OBJECT_BYTES) {
      const high = this.#byFingerprint.get(uint32LittleEndian(bytes, start + 2));
      const schema = high?.get(uint32LittleEndian(bytes, start + 6));
      if (schema) return schema;
      const fingerprint = Buffer.from(bytes.subarray(start + 2, start + SINGLE_OBJECT_BYTES));
      return { reason: 'unknown-fingerprint', detail: fingerprint.toString('hex') };
    }
    const id = registryIdOf(bytes, start, end);
    if (id !== null) return this.#byId.get(id) ?? { reason: 'unknown-schema-id', detail: String(id) };
    return { reason: 'not-a-record', detail: `${size} bytes without a known header` };
  }
}

export function invalidDatum({ event, version }: EventSchema, size: number): Unreadable {
  return { reason: 'invalid-datum', detail: `${size} bytes are no ${event} (${version})` };
}

/** null for a schema that is not ours or cannot be parsed: another request would not help. */
function registrySchema(id: number, text: string): EventSchema | null {
  try {
    const { name } = JSON.parse(text) as { name?: unknown };
    const event = typeof name === 'string' ? (name.split('.').at(-1) ?? '') : '';
    const known = event === UNKNOWN_RECORD || EVENT_NAMES.includes(event);
    if (!known) return null;
    const format = formatOf(text, BigInt(id));
    return eventSchema(event, `id${id}`, REGISTRY_BYTES, () => format);
  } catch {
    return null;
  }
}

function eventSchema(event: string, version: string, headerBytes: number, compile: () => RecordFormat): EventSchema {
  let format: RecordFormat | undefined;
  return {
    event,
    version,
    headerBytes,
    get format() {
      format ??= compile();
      return format;
    },
  };
}

function uint32LittleEndian(bytes: Uint8Array, at: number): number {
  const [a = 0, b = 0, c = 0, d = 0] = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
  return (a | (b << 8) | (c << 16) | (d << 24)) >>> 0;
}
