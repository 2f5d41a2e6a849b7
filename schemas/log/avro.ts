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

const FOLDER = fileURLToPath(new URL('./avro/', import.meta.url));
const SUFFIX = '.avsc';

/** Folder of the past versions of one record, each in a file `<fingerprint>.avsc`. */
export function versionFolder(name: string): string {
  return `${FOLDER}versions/${name}/`;
}

/** Every schema in use now: own messages, then program events. Throws when a file does not hold the record it is named for. */
export function readCurrentSchemas(): SchemaFile[] {
  return [...readFolder(`${FOLDER}messages/`, 'message'), ...readFolder(`${FOLDER}events/`, 'event')];
}

/** Every committed past version of one record. */
export function readPastVersions({ name, kind }: Pick<SchemaFile, 'name' | 'kind'>): SchemaFile[] {
  const folder = versionFolder(name);
  if (!existsSync(folder)) return [];
  return readdirSync(folder).map((file) => readSchema(`${folder}${file}`, name, kind));
}

function readFolder(folder: string, kind: SchemaFile['kind']): SchemaFile[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith(SUFFIX))
    .sort()
    .map((file) => readSchema(`${folder}${file}`, file.slice(0, -SUFFIX.length), kind));
}

function readSchema(path: string, name: string, kind: SchemaFile['kind']): SchemaFile {
  const text = readFileSync(path, 'utf8');
  const type = parseSchema(JSON.parse(text));
  if (type.name?.split('.').at(-1) !== name) throw new Error(`${path} holds ${type.name}`);
  return { name, kind, text, type };
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
