// Confluent wire format: with a schema registry, records carry its ids instead of fingerprints. Ids are learned once at
// start, so that encoding and decoding stay synchronous.

import { addRegistryId, allWriters, knowsRegistryId, useFingerprints, useRegistryId, type Writer } from './wire.ts';

const CONTENT_TYPE = 'application/vnd.schemaregistry.v1+json';
const TIMEOUT_MS = 10_000;
/** Requests under way at once while the schemas are registered. */
const CONCURRENCY = 8;

interface StoredSchema {
  readonly id: number;
  readonly schema: string;
}

let registryUrl: string | null = null;

/**
 * Registers every current schema under its full record name as subject (record name strategy) and learns the ids of all
 * versions the registry holds; afterwards records are written in the Confluent format. Records in either format can be
 * read. Throws an Error when the registry does not answer or refuses a schema as incompatible.
 */
export async function useRegistry(url: string): Promise<void> {
  const base = url.replace(/\/+$/, '');
  const queue = [...allWriters()];
  const ids = new Map<Writer, number>();
  const worker = async (): Promise<void> => {
    for (let writer = queue.shift(); writer; writer = queue.shift()) ids.set(writer, await register(base, writer));
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  for (const [writer, id] of ids) useRegistryId(writer, id);
  registryUrl = base;
}

/** Back to single-object encoding. */
export function leaveRegistry(): void {
  registryUrl = null;
  useFingerprints();
}

/**
 * Fetches a schema that a newer process registered, after a decode failed with `unknown-schema-id`. Throws an Error when
 * there is no registry, it does not know the id, or no current record can read the schema.
 */
export async function learnSchema(id: number): Promise<void> {
  if (knowsRegistryId(id)) return;
  if (registryUrl === null) throw new Error(`schema ${id}: no schema registry is configured`);
  const { schema } = await call<Pick<StoredSchema, 'schema'>>(`${registryUrl}/schemas/ids/${id}`);
  addRegistryId(id, JSON.parse(schema));
}

async function register(base: string, writer: Writer): Promise<number> {
  const versions = `${base}/subjects/${encodeURIComponent(subjectOf(writer))}/versions`;
  const { id } = await call<{ id: number }>(versions, { schema: JSON.stringify(JSON.parse(writer.text)) });
  addRegistryId(id, JSON.parse(writer.text));
  for (const version of await call<number[]>(versions)) {
    const stored = await call<StoredSchema>(`${versions}/${version}`);
    if (!knowsRegistryId(stored.id)) addRegistryId(stored.id, JSON.parse(stored.schema));
  }
  return id;
}

export function subjectOf({ type, name }: Pick<Writer, 'type' | 'name'>): string {
  return type.name ?? name;
}

async function call<T>(url: string, body?: unknown): Promise<T> {
  const headers = { accept: CONTENT_TYPE, 'content-type': CONTENT_TYPE };
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const request =
    body === undefined ? { headers, signal } : { method: 'POST', body: JSON.stringify(body), headers, signal };
  const response = await fetch(url, request);
  if (!response.ok)
    throw new Error(`schema registry ${new URL(url).pathname}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}
