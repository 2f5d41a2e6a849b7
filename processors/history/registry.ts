// Schemas by id from a Confluent-compatible registry.

import type { FetchSchema } from './catalogue.ts';

const TIMEOUT_MS = 10_000;
const NOT_FOUND = 404;

/** `url` may carry user and password. Without a URL every id is unknown. */
export function registryClient(url: string): FetchSchema {
  if (url === '') return () => Promise.resolve(null);
  const base = new URL(url);
  const credentials = Buffer.from(`${decodeURIComponent(base.username)}:${decodeURIComponent(base.password)}`);
  const headers: Record<string, string> =
    base.username === '' ? {} : { authorization: `Basic ${credentials.toString('base64')}` };
  base.username = '';
  base.password = '';
  const root = base.toString().replace(/\/$/, '');
  return async (id) => {
    const response = await fetch(`${root}/schemas/ids/${id}`, { headers, signal: AbortSignal.timeout(TIMEOUT_MS) });
    if (response.status === NOT_FOUND) return null;
    if (!response.ok) throw new Error(`schema registry answers ${response.status} for id ${id}`);
    return ((await response.json()) as { schema: string }).schema;
  };
}
