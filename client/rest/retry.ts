// How often and after which pauses a request is sent again.

export interface RetryOptions {
  /** Attempts in all, the first one included. Default 5. */
  readonly attempts?: number;
  /** First and longest pause, milliseconds. Defaults 250 and 10,000. */
  readonly minMs?: number;
  readonly maxMs?: number;
}

const ATTEMPTS = 5;
const MIN_MS = 250;
const MAX_MS = 10_000;
/** The request itself is wrong: the same one fails again. */
const FINAL: ReadonlySet<number> = new Set([400, 401, 403, 404, 405, 410, 413, 414, 415, 422, 431]);

/** An answer that is no success. */
export class RestError extends Error {
  override readonly name = 'RestError';
  /** HTTP status; 0 when no answer arrived. */
  readonly status: number;
  readonly url: string;
  /** Body of the answer. */
  readonly body: string;
  constructor(status: number, url: string, body: string, cause?: unknown) {
    super(status === 0 ? `${url} did not answer` : `${url} answered ${status}: ${body.slice(0, 200)}`, { cause });
    this.status = status;
    this.url = url;
    this.body = body;
  }
}

/**
 * Sends a request until it succeeds. Backs off after every other answer: twice as long each time, at least as long as the
 * server asks, with jitter. Throws RestError after the last attempt, or at once when a repeat cannot help. `prepare` makes the
 * request of each attempt; an error of it is no failed attempt and passes through.
 */
export async function sendPatiently(
  send: typeof fetch,
  url: string,
  prepare: () => Promise<RequestInit>,
  { attempts = ATTEMPTS, minMs = MIN_MS, maxMs = MAX_MS }: RetryOptions,
): Promise<Response> {
  for (let attempt = 1; ; attempt += 1) {
    const request = await prepare();
    const outcome = await attemptOnce(send, url, request);
    if (outcome instanceof Response) return outcome;
    const { signal } = request;
    signal?.throwIfAborted();
    if (attempt >= attempts || FINAL.has(outcome.error.status)) throw outcome.error;
    const pauseMs = Math.min(maxMs, minMs * 2 ** (attempt - 1)) * (0.5 + Math.random() / 2);
    await pause(Math.max(pauseMs, Math.min(maxMs, outcome.askedMs)), signal);
  }
}

async function attemptOnce(
  send: typeof fetch,
  url: string,
  request: RequestInit,
): Promise<Response | { readonly error: RestError; readonly askedMs: number }> {
  try {
    const response = await send(url, request);
    if (response.ok) return response;
    const askedMs = Number(response.headers.get('retry-after') ?? 0) * 1000;
    const error = new RestError(response.status, url, await response.text());
    return { error, askedMs: Number.isFinite(askedMs) ? askedMs : 0 };
  } catch (cause) {
    if (cause instanceof RestError) throw cause;
    return { error: new RestError(0, url, '', cause), askedMs: 0 };
  }
}

function pause(ms: number, signal: AbortSignal | null | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end);
      resolve();
    }, ms);
    signal?.addEventListener('abort', end, { once: true });
  });
}
