// Records in a log with a schema registry: 00, the registry's 4-byte schema id (big-endian), then the body.
// RegistryFormat translates between this Confluent wire format and our own envelope, so that only the log knows ids.

import type { Type } from 'avsc';
import { asBuffer } from '../chain/bytes.ts';
import { fingerprint } from './avro.ts';
import { parseSchema } from './parse-schema.ts';
import {
  allWriters,
  currentWriterOf,
  REGISTRY_BYTES,
  REGISTRY_MAGIC,
  registryIdOf,
  singleObjectPrefix,
  type Writer,
  writerOf,
} from './wire.ts';

const CONTENT_TYPE = 'application/vnd.schemaregistry.v1+json';
const TIMEOUT_MS = 10_000;
const NOT_FOUND = 404;
const ANSWER_CHARACTERS_MAX = 300;
/** Concurrent requests while registering the schemas. */
const CONCURRENCY = 8;

interface StoredSchema {
  readonly id: number;
  readonly schema: string;
}

/** Client of a Confluent-compatible registry. Calls reject with an Error that names the registry without its credentials. */
export class RegistryClient {
  readonly #root: string;
  readonly #name: string;
  readonly #headers: Record<string, string> = { accept: CONTENT_TYPE, 'content-type': CONTENT_TYPE };

  /** `url` may contain user and password. Throws an Error when it is no URL. */
  constructor(url: string) {
    if (!URL.canParse(url)) throw new Error('the address of the schema registry is not a URL');
    const base = new URL(url);
    if (base.username !== '') {
      const pair = `${decodeURIComponent(base.username)}:${decodeURIComponent(base.password)}`;
      this.#headers.authorization = `Basic ${Buffer.from(pair).toString('base64')}`;
    }
    base.username = '';
    base.password = '';
    this.#root = base.toString().replace(/\/+$/, '');
    this.#name = `schema registry ${base.origin}`;
  }

  /** The text of a schema; null for an unknown id. */
  async schema(id: number): Promise<string | null> {
    return (await this.#call<Pick<StoredSchema, 'schema'>>(`/schemas/ids/${id}`))?.schema ?? null;
  }

  /** Id of the schema. A new schema becomes the newest version of the subject. */
  async register(subject: string, schema: string): Promise<number> {
    const stored = await this.#call<Pick<StoredSchema, 'id'>>(versionsPath(subject), { schema });
    if (stored === null) throw new Error(`${this.#name} does not accept a schema for ${subject}`);
    return stored.id;
  }

  /** All versions of a subject; empty when it has only the one just registered. */
  async otherVersions(subject: string): Promise<readonly StoredSchema[]> {
    const path = versionsPath(subject);
    const versions = (await this.#call<readonly number[]>(path)) ?? [];
    if (versions.length === 1) return [];
    const found: StoredSchema[] = [];
    for (const version of versions) {
      const stored = await this.#call<StoredSchema>(`${path}/${version}`);
      if (stored !== null) found.push(stored);
    }
    return found;
  }

  /** Number of subjects. */
  async subjects(): Promise<number> {
    return (await this.#call<readonly string[]>('/subjects'))?.length ?? 0;
  }

  /** Null for a 404. */
  async #call<T>(path: string, body?: unknown): Promise<T | null> {
    const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    let response: Response;
    let text: string;
    try {
      response = await fetch(this.#root + path, { ...sent, headers: this.#headers, signal });
      text = await response.text();
    } catch (cause) {
      throw new Error(`${this.#name} does not answer`, { cause });
    }
    if (response.status === NOT_FOUND) return null;
    if (!response.ok) {
      throw new Error(`${this.#name} answers ${path} with ${response.status} ${text.slice(0, ANSWER_CHARACTERS_MAX)}`);
    }
    try {
      return JSON.parse(text) as T;
    } catch (cause) {
      throw new Error(`${this.#name} answers ${path} without JSON`, { cause });
    }
  }
}

const versionsPath = (subject: string) => `/subjects/${encodeURIComponent(subject)}/versions`;

/** How to translate records of one registry id; null when no current record can read its schema. */
type Translation = ((record: Buffer) => Uint8Array) | null;

/** The ids of one registry. Translation is synchronous: `learn` an unknown id first. */
export class RegistryFormat {
  readonly #client: RegistryClient;
  readonly #prefixes = new Map<Writer, Buffer>();
  readonly #translations = new Map<number, Translation>();

  private constructor(client: RegistryClient) {
    this.#client = client;
  }

  /**
   * Registers every current schema under its full record name as subject (record name strategy) and learns the ids of all
   * versions in the registry. Throws an Error when the registry does not answer or refuses a schema as incompatible.
   */
  static async register(url: string): Promise<RegistryFormat> {
    const format = new RegistryFormat(new RegistryClient(url));
    const queue = [...allWriters()];
    const worker = async (): Promise<void> => {
      for (let writer = queue.shift(); writer; writer = queue.shift()) await format.#register(writer);
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, worker));
    return format;
  }

  async #register(writer: Writer): Promise<void> {
    const subject = subjectOf(writer);
    const id = await this.#client.register(subject, JSON.stringify(JSON.parse(writer.text)));
    this.#prefixes.set(writer, registryPrefix(id));
    this.#translations.set(id, swapPrefix(writer.prefix));
    for (const stored of await this.#client.otherVersions(subject)) {
      if (!this.#translations.has(stored.id)) this.#translations.set(stored.id, translation(stored.schema));
    }
  }

  /** A record of our own envelope with the registry's id; any other bytes unchanged. */
  toRegistry(record: Uint8Array): Uint8Array {
    const buffer = asBuffer(record);
    const writer = currentWriterOf(buffer);
    const prefix = writer && this.#prefixes.get(writer);
    return writer && prefix ? replacePrefix(buffer, writer.prefix.length, prefix) : record;
  }

  /** A record with our own envelope. Bytes that are no record, or whose schema no current record can read, are unchanged. */
  fromRegistry(record: Uint8Array): Uint8Array {
    const id = registryIdOf(record, 0, record.length);
    const translate = id === null ? undefined : this.#translations.get(id);
    return translate ? translate(asBuffer(record)) : record;
  }

  /** The registry id of the record from `start` to `end` when `learn` must fetch it first; else null. */
  unknownId(bytes: Uint8Array, start: number, end: number): number | null {
    const id = registryIdOf(bytes, start, end);
    return id === null || this.#translations.has(id) ? null : id;
  }

  /** Fetches a schema that a newer process has registered. Throws an Error when the registry does not answer. */
  async learn(id: number): Promise<void> {
    if (this.#translations.has(id)) return;
    const text = await this.#client.schema(id);
    try {
      this.#translations.set(id, text === null ? null : translation(text));
    } catch {
      this.#translations.set(id, null);
    }
  }
}

function registryPrefix(id: number): Buffer {
  const prefix = Buffer.alloc(REGISTRY_BYTES);
  prefix[0] = REGISTRY_MAGIC;
  prefix.writeUInt32BE(id, 1);
  return prefix;
}

/** Throws an Error when no current record can read the schema. */
function translation(text: string): Translation {
  const type = parseSchema(JSON.parse(text));
  const writer = writerOf(type.name?.split('.').at(-1) ?? '');
  if (!writer) throw new Error(`${type.name} is not one of our records`);
  const print = fingerprint(type);
  if (writer.versions.some((version) => version.fingerprint === print)) return swapPrefix(singleObjectPrefix(print));
  return rewriteBody(writer, type);
}

const swapPrefix =
  (prefix: Buffer): Translation =>
  (record) =>
    replacePrefix(record, REGISTRY_BYTES, prefix);

/** For a version that only newer processes have: decodes the record and encodes it with the current schema. */
function rewriteBody(writer: Writer, type: Type): Translation {
  const resolver = writer.type.createResolver(type);
  return (record) => {
    try {
      const { value, offset } = writer.type.decode(record, REGISTRY_BYTES, resolver);
      if (offset < 0) return record;
      return writer.encode((buffer, at) => writer.type.encode(value, buffer, at));
    } catch {
      return record;
    }
  };
}

function replacePrefix(record: Buffer, bytes: number, prefix: Buffer): Buffer {
  const replaced = Buffer.allocUnsafe(record.length - bytes + prefix.length);
  replaced.set(prefix, 0);
  replaced.set(record.subarray(bytes), prefix.length);
  return replaced;
}

function subjectOf({ type, name }: Pick<Writer, 'type' | 'name'>): string {
  return type.name ?? name;
}
