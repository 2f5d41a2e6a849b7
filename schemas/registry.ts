// Confluent wire format: with a schema registry, records carry its ids instead of fingerprints. Ids are learned at start and
// where records come in, so that encoding and decoding stay synchronous.

import {
  addRegistryId,
  addWriterId,
  allWriters,
  knowsRegistryId,
  refuseRegistryId,
  useFingerprints,
  useRegistryId,
  type Writer,
} from './wire.ts';

const CONTENT_TYPE = 'application/vnd.schemaregistry.v1+json';
const TIMEOUT_MS = 10_000;
const NOT_FOUND = 404;
const ANSWER_CHARACTERS_MAX = 300;
/** Requests under way at once while the schemas are registered. */
const CONCURRENCY = 8;

interface StoredSchema {
  readonly id: number;
  readonly schema: string;
}

/** What we ask a Confluent-compatible registry. Every call rejects with an Error that names the registry, not its secrets. */
export class RegistryClient {
  readonly #root: string;
  readonly #name: string;
  readonly #headers: Record<string, string> = { accept: CONTENT_TYPE, 'content-type': CONTENT_TYPE };

  /** `url` may carry user and password. Throws an Error when it is no URL. */
  constructor(url: string) {
    if (!URL.canParse(url)) throw new Error('the address of the schema registry is no URL');
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

  /** The text of a schema; null when the registry has none of this id. */
  async schema(id: number): Promise<string | null> {
    return (await this.#call<Pick<StoredSchema, 'schema'>>(`/schemas/ids/${id}`))?.schema ?? null;
  }

  /** The id of a schema, which becomes the newest version of the subject unless it is one already. */
  async register(subject: string, schema: string): Promise<number> {
    const stored = await this.#call<Pick<StoredSchema, 'id'>>(versionsPath(subject), { schema });
    if (stored === null) throw new Error(`${this.#name} takes no schema for ${subject}`);
    return stored.id;
  }

  /** The versions of a subject whose current one is known: none when it is the only one. */
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

  /** How many subjects there are. */
  async subjects(): Promise<number> {
    return (await this.#call<readonly string[]>('/subjects'))?.length ?? 0;
  }

  /** Null for what the registry does not have. */
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
      throw new Error(`${this.#name} answers ${path} with no JSON`, { cause });
    }
  }
}

const versionsPath = (subject: string) => `/subjects/${encodeURIComponent(subject)}/versions`;

let registry: RegistryClient | null = null;

/**
 * Registers every current schema under its full record name as subject (record name strategy) and learns the ids of all
 * versions the registry holds; afterwards records are written in the Confluent format. Records in either format can be
 * read. Throws an Error when the registry does not answer or refuses a schema as incompatible.
 */
export async function useRegistry(url: string): Promise<void> {
  const client = new RegistryClient(url);
  const queue = [...allWriters()];
  const ids = new Map<Writer, number>();
  const worker = async (): Promise<void> => {
    for (let writer = queue.shift(); writer; writer = queue.shift()) ids.set(writer, await register(client, writer));
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  for (const [writer, id] of ids) useRegistryId(writer, id);
  registry = client;
}

/** Back to single-object encoding. */
export function leaveRegistry(): void {
  registry = null;
  useFingerprints();
}

/**
 * Fetches a schema that a newer process registered, before its records are decoded. When the registry has none of this id,
 * or no current record can read it, decoding fails with `unknown-schema-id`. Throws an Error when there is no registry or
 * it does not answer.
 */
export async function learnSchema(id: number): Promise<void> {
  if (knowsRegistryId(id)) return;
  if (registry === null) throw new Error(`schema ${id}: no schema registry is configured`);
  const text = await registry.schema(id);
  try {
    if (text === null) refuseRegistryId(id);
    else addRegistryId(id, JSON.parse(text));
  } catch {
    refuseRegistryId(id);
  }
}

async function register(client: RegistryClient, writer: Writer): Promise<number> {
  const subject = subjectOf(writer);
  const id = await client.register(subject, JSON.stringify(JSON.parse(writer.text)));
  addWriterId(writer, id);
  for (const stored of await client.otherVersions(subject)) {
    if (!knowsRegistryId(stored.id)) addRegistryId(stored.id, JSON.parse(stored.schema));
  }
  return id;
}

export function subjectOf({ type, name }: Pick<Writer, 'type' | 'name'>): string {
  return type.name ?? name;
}
