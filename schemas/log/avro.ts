// The committed Avro schemas: reading the files, and the fingerprint that names a version on the wire.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Type } from 'avsc';
import { parseSchema } from './parse-schema.ts';

export interface SchemaFile {
  /** Record name without namespace. */
  readonly name: string;
  readonly kind: 'message' | 'event';
  readonly text: string;
  readonly type: Type;
}

export interface PastSchema extends SchemaFile {
  /** Its fingerprint, hex, by the name of its file. */
  readonly print: string;
}

const FOLDER = fileURLToPath(new URL('./avro/', import.meta.url));
const SUFFIX = '.avsc';

/** Folder of the past versions of one record, each in a file `<fingerprint>.avsc`. */
export function versionFolder(name: string): string {
  return `${FOLDER}versions/${name}/`;
}

/** Every schema in use now: own messages, then program events. A type throws when its file does not hold the record it is named for. */
export function readCurrentSchemas(): SchemaFile[] {
  return [...readFolder(`${FOLDER}messages/`, 'message'), ...readFolder(`${FOLDER}events/`, 'event')];
}

/** Every committed past version of one record. */
export function readPastVersions({ name, kind }: Pick<SchemaFile, 'name' | 'kind'>): PastSchema[] {
  const folder = versionFolder(name);
  if (!existsSync(folder)) return [];
  return readdirSync(folder).map((file) => {
    const schema = readSchema(`${folder}${file}`, name, kind);
    return Object.assign(schema, { print: file.slice(0, -SUFFIX.length) });
  });
}

function readFolder(folder: string, kind: SchemaFile['kind']): SchemaFile[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith(SUFFIX))
    .sort()
    .map((file) => readSchema(`${folder}${file}`, file.slice(0, -SUFFIX.length), kind));
}

function readSchema(path: string, name: string, kind: SchemaFile['kind']): SchemaFile {
  return new ReadSchema(path, name, kind);
}

/** Makes its type when it is needed: all types take a tenth of a second, and no process needs all. */
class ReadSchema implements SchemaFile {
  readonly name: string;
  readonly kind: SchemaFile['kind'];
  readonly text: string;
  readonly #path: string;
  #type: Type | null = null;

  constructor(path: string, name: string, kind: SchemaFile['kind']) {
    this.name = name;
    this.kind = kind;
    this.text = readFileSync(path, 'utf8');
    this.#path = path;
  }

  get type(): Type {
    if (this.#type === null) {
      const type = parseSchema(JSON.parse(this.text));
      if (type.name?.split('.').at(-1) !== this.name) throw new Error(`${this.#path} holds ${type.name}`);
      this.#type = type;
    }
    return this.#type;
  }
}

/** Remainder of the empty text, in halves: each start of a process computes all fingerprints, and bigints take 60 ms for that. */
const EMPTY_HIGH = 0xc15d213a;
const EMPTY_LOW = 0xa4d7a795;
const BYTES = 256;

/** Remainders of the single bytes: 256 high halves, then 256 low ones. */
const CRC64_TABLE = Uint32Array.from({ length: 2 * BYTES }, (_, index) => {
  let [high, low] = [0, index % BYTES];
  for (let bit = 0; bit < 8; bit++) {
    const isOdd = (low & 1) === 1;
    low = (low >>> 1) | ((high & 1) << 31);
    high >>>= 1;
    if (isOdd) [high, low] = [high ^ EMPTY_HIGH, low ^ EMPTY_LOW];
  }
  return index < BYTES ? high : low;
});

/** CRC-64-AVRO of a text, as the Avro specification defines it for schema fingerprints. */
export function crc64(text: string): bigint {
  let [high, low] = [EMPTY_HIGH, EMPTY_LOW];
  for (const byte of Buffer.from(text, 'utf8')) {
    const index = (low ^ byte) & 0xff;
    low = ((low >>> 8) | (high << 24)) ^ (CRC64_TABLE[BYTES + index] as number);
    high = (high >>> 8) ^ (CRC64_TABLE[index] as number);
  }
  return (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0);
}

/** Fingerprint of a schema's parsing canonical form: names, types and order only, so logical types do not count. */
export function fingerprint(type: Type): bigint {
  return crc64(JSON.stringify(type.schema()));
}

export function fingerprintHex(type: Type): string {
  return fingerprint(type).toString(16).padStart(16, '0');
}
