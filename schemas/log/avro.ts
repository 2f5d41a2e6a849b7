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

const CRC64_EMPTY = 0xc15d213aa4d7a795n;

const CRC64_TABLE: readonly bigint[] = Array.from({ length: 256 }, (_, index) => {
  let remainder = BigInt(index);
  for (let bit = 0; bit < 8; bit++) remainder = (remainder >> 1n) ^ (remainder & 1n ? CRC64_EMPTY : 0n);
  return remainder;
});

/** CRC-64-AVRO of a text, as the Avro specification defines it for schema fingerprints. */
export function crc64(text: string): bigint {
  let crc = CRC64_EMPTY;
  for (const byte of Buffer.from(text, 'utf8')) {
    crc = (crc >> 8n) ^ (CRC64_TABLE[Number((crc ^ BigInt(byte)) & 0xffn)] as bigint);
  }
  return crc;
}

/** Fingerprint of a schema's parsing canonical form: names, types and order only, so logical types do not count. */
export function fingerprint(type: Type): bigint {
  return crc64(JSON.stringify(type.schema()));
}

export function fingerprintHex(type: Type): string {
  return fingerprint(type).toString(16).padStart(16, '0');
}
