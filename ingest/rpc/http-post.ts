// HTTP requests to a node. The thread of large reads loads this alone, without WebSockets: its start takes a third less.

/** An HTTP answer whose body is not read yet. */
export interface HttpAnswer {
  /** The status is 200 to 299. */
  readonly ok: boolean;
  readonly status: number;
  /** The header Retry-After; null without one. */
  readonly retryAfter: string | null;
  /** The whole body. Rejects when the connection ends early. */
  text(): Promise<string>;
  /** The body as it arrives. Rejects when the connection ends early. */
  chunks(): AsyncIterable<Uint8Array>;
  /** Ends the connection without reading the body. */
  cancel(): Promise<void>;
}

/** Sends JSON text. Rejects when the node does not answer. */
export async function postJson(url: string, body: string, signal: AbortSignal): Promise<HttpAnswer> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body, signal });
  return {
    ok: response.ok,
    status: response.status,
    retryAfter: response.headers.get('retry-after'),
    text: () => response.text(),
    chunks: () => response.body ?? emptyBody(),
    cancel: async () => {
      await response.body?.cancel();
    },
  };
}

async function* emptyBody(): AsyncGenerator<Uint8Array> {}
