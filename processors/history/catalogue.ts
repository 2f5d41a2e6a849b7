// Which schema wrote a record, told from its wire header alone: Avro single-object encoding (C3 01, fingerprint), or a
// schema registry's (00, id). Every committed version counts, because old records stay in the log.

import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { EVENT_NAMES, UNKNOWN_RECORD } from '../../schemas/index.ts';
import { type ColumnEncoder, compileColumns } from './columns.ts';
import { type ContainerHead, containerHead } from './container.ts';
import { compileCheck } from './datum.ts';

const VERSIONS = fileURLToPath(new URL('../../schemas/avro/versions/', import.meta.url));
const SCHEMA_FILE = /^([0-9a-f]{16})\.avsc$/;
const MARK_0 = 0xc3;
const MARK_1 = 0x01;
const REGISTRY_MAGIC = 0;
/** Bytes before the datum. */
export const SINGLE_OBJECT_BYTES = 10;
export const REGISTRY_BYTES = 5;

/** One version of one event's schema. */
export interface EventSchema {
  readonly event: string;
  /** Short name of the version, part of the deduplication token. */
  readonly version: string;
  readonly head: ContainerHead;
  /** Null when ClickHouse must read the Avro itself. Made at the first use: most versions never come. */
  readonly columns: ColumnEncoder | null;
  readonly isValid: (bytes: Uint8Array, start: number) => boolean;
}

export interface Recognised {
  readonly schema: EventSchema;
  readonly start: number;
}

export type ParkReason =
  | 'not-a-record'
  | 'unknown-fingerprint'
  | 'unknown-schema-id'
  | 'invalid-datum'
  | 'refused-by-clickhouse';

/** Why a record cannot become a row; `reason` is the key of its dead letter. */
export interface Unreadable {
  readonly reason: ParkReason;
  readonly detail: string;
}

/** The text of a registry's schema, null when the registry has none of this id. Rejects when it does not answer. */
export type FetchSchema = (id: number) => Promise<string | null>;

export class SchemaCatalogue {
  /** By the low, then the high half of the fingerprint: no bigint per record. */
  readonly #byFingerprint = new Map<number, Map<number, EventSchema>>();
  readonly #byId = new Map<number, EventSchema | null>();
  readonly #fetchSchema: FetchSchema;

  constructor(fetchSchema: FetchSchema) {
    this.#fetchSchema = fetchSchema;
    for (const event of [...EVENT_NAMES, UNKNOWN_RECORD]) {
      for (const file of readdirSync(`${VERSIONS}${event}`)) {
        const print = SCHEMA_FILE.exec(file)?.[1];
        if (print) this.#add(event, BigInt(`0x${print}`), readFileSync(`${VERSIONS}${event}/${file}`, 'utf8'));
      }
    }
  }

  #add(event: string, print: bigint, text: string): void {
    const low = Number(BigInt.asUintN(32, print));
    const high = this.#byFingerprint.get(low) ?? new Map<number, EventSchema>();
    high.set(Number(print >> 32n), eventSchema(event, print.toString(16), text, print));
    this.#byFingerprint.set(low, high);
  }

  /** The registry id of a record when it has one that must be resolved first. */
  unresolvedId(bytes: Uint8Array): number | null {
    if (bytes[0] !== REGISTRY_MAGIC || bytes.length < REGISTRY_BYTES) return null;
    const id = uint32BigEndian(bytes, 1);
    return this.#byId.has(id) ? null : id;
  }

  /** Makes records of a registry id readable, or known to be unreadable. Rejects when the registry does not answer. */
  async resolve(id: number): Promise<void> {
    const text = await this.#fetchSchema(id);
    this.#byId.set(id, text === null ? null : registrySchema(id, text));
  }

  /** The record's schema, after checking that its bytes are one record of that schema. */
  recognise(bytes: Uint8Array): Recognised | Unreadable {
    const found = this.#lookUp(bytes);
    if ('reason' in found || found.schema.isValid(bytes, found.start)) return found;
    return {
      reason: 'invalid-datum',
      detail: `${bytes.length} bytes are no ${found.schema.event} (${found.schema.version})`,
    };
  }

  #lookUp(bytes: Uint8Array): Recognised | Unreadable {
    if (bytes[0] === MARK_0 && bytes[1] === MARK_1 && bytes.length >= SINGLE_OBJECT_BYTES) {
      const schema = this.#byFingerprint.get(uint32LittleEndian(bytes, 2))?.get(uint32LittleEndian(bytes, 6));
      if (schema) return { schema, start: SINGLE_OBJECT_BYTES };
      return {
        reason: 'unknown-fingerprint',
        detail: Buffer.from(bytes.subarray(2, SINGLE_OBJECT_BYTES)).toString('hex'),
      };
    }
    if (bytes[0] === REGISTRY_MAGIC && bytes.length >= REGISTRY_BYTES) {
      const id = uint32BigEndian(bytes, 1);
      const schema = this.#byId.get(id);
      return schema ? { schema, start: REGISTRY_BYTES } : { reason: 'unknown-schema-id', detail: String(id) };
    }
    return { reason: 'not-a-record', detail: `${bytes.length} bytes without a known header` };
  }
}

/** null for a schema that is none of our events, or that cannot be read at all: asking again would not help. */
function registrySchema(id: number, text: string): EventSchema | null {
  try {
    const { name } = JSON.parse(text) as { name?: unknown };
    const event = typeof name === 'string' ? (name.split('.').at(-1) ?? '') : '';
    const known = event === UNKNOWN_RECORD || EVENT_NAMES.includes(event);
    return known ? eventSchema(event, `id${id}`, text, BigInt(id)) : null;
  } catch {
    return null;
  }
}

function eventSchema(event: string, version: string, text: string, mark: bigint): EventSchema {
  let columns: ColumnEncoder | null | undefined;
  return {
    event,
    version,
    head: containerHead(text, mark),
    isValid: compileCheck(text),
    get columns() {
      if (columns === undefined) columns = compileColumns(text);
      return columns;
    },
  };
}

function uint32LittleEndian(bytes: Uint8Array, at: number): number {
  const [a = 0, b = 0, c = 0, d = 0] = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
  return (a | (b << 8) | (c << 16) | (d << 24)) >>> 0;
}

function uint32BigEndian(bytes: Uint8Array, at: number): number {
  const [a = 0, b = 0, c = 0, d = 0] = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
  return ((a << 24) | (b << 16) | (c << 8) | d) >>> 0;
}
