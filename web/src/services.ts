// The REST services, by the readers of the client, and their failures in words that say what to do.

import { HistoryReader, OrderbookReader, RestError } from '../../client/index.ts';
import { addresses } from './addresses.ts';

export type Service = 'orderbook' | 'history';

const NAMES: Readonly<Record<Service, string>> = { orderbook: 'order-book server', history: 'history service' };
const TIMEOUT_MS = 15_000;
const ANSWER_CHARS = 300;
/** Views ask again by themselves, and a reader shall see a failure at once. */
const RETRY = { attempts: 1 };

const optionsOf = (service: Service) => ({ url: addresses[service] ?? '', fetch: send, retry: RETRY });
export const history = new HistoryReader(optionsOf('history'));
export const orderbook = new OrderbookReader(optionsOf('orderbook'));

/** Gives up after a while, and at once without an address. */
function send(url: string | URL | Request, init?: RequestInit): Promise<Response> {
  if (String(url).startsWith('/')) return Promise.reject(new TypeError('no address'));
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  return fetch(url, { ...init, signal: init?.signal ? AbortSignal.any([init.signal, timeout]) : timeout });
}

/** Says in words which request failed, for the page to show. */
export function wordsOf(error: unknown): string {
  if (!(error instanceof RestError)) return error instanceof Error ? error.message : String(error);
  const { url, status, body } = error;
  if (url.startsWith('/')) return 'This page has no address of a service. The setting of the page server is missing.';
  const name = NAMES[url.startsWith(addresses.history ?? ' ') ? 'history' : 'orderbook'];
  if (status === 0) return `The ${name} at ${new URL(url).host} does not answer. Is it running?`;
  return `${messageIn(body)} (${status} of the ${name})`;
}

/** The reason in an error body: text, or JSON with `message` or `error`. */
function messageIn(text: string): string {
  try {
    const body = JSON.parse(text) as { readonly message?: string; readonly error?: string };
    return (body.message ?? body.error ?? text).slice(0, ANSWER_CHARS);
  } catch {
    return text.slice(0, ANSWER_CHARS);
  }
}
