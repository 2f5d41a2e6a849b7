// One question to a Solana node, for commands that look before the roles start.

import { redactUrls } from '../platform/index.ts';

/**
 * The `result` of a JSON-RPC method without parameters. Throws an Error that names what was wrong and nothing of the URL
 * beyond its origin: a text of the server is not repeated, since keys stand in paths and come back in refusals.
 */
export async function askRpc(url: string, method: string, timeoutMs: number): Promise<unknown> {
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

/** What to print of an error of a request: its cause, where `fetch` names none itself, and no secret of a URL. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return redactUrls(String(error));
  const { cause } = error as { cause?: NodeJS.ErrnoException };
  return redactUrls([error.message, cause?.code ?? cause?.message].filter(Boolean).join(': '));
}
