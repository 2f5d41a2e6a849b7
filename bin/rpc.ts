// One request to a Solana node, for commands that check it before the roles start.

import { redactUrls } from '../platform/index.ts';

/**
 * The `result` of a JSON-RPC method without parameters. Throws an Error with the origin of the URL, and without its path or a
 * text of the server: both may contain a key.
 */
export async function callRpc(url: string, method: string, timeoutMs: number): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method }),
    signal: AbortSignal.timeout(timeoutMs),
  });
  const answer: unknown = await response.json().catch(() => null);
  const { error, result } = (answer ?? {}) as { error?: { code?: unknown }; result?: unknown };
  if (error) throw new Error(`answers ${method} with error ${Number(error.code)}`);
  if (!response.ok) throw new Error(`answers ${response.status}`);
  if (result === undefined || result === null) throw new Error(`does not answer ${method}: no Solana node`);
  return result;
}

/** Text of a request's error: its cause when `fetch` only reports a failure. Contains no secret of a URL. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return redactUrls(String(error));
  const { cause } = error as { cause?: NodeJS.ErrnoException };
  return redactUrls([error.message, cause?.code ?? cause?.message].filter(Boolean).join(': '));
}
