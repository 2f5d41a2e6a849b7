// Requests to URLs that clients choose, for example webhooks. Resolves the host once, refuses addresses inside the
// deployment, and connects to the checked address only, so that a second DNS answer changes nothing.

import { promises as dns, type LookupAddress } from 'node:dns';
import { type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { beforeAbort } from '../runtime/before-abort.ts';
import { isInNetworks, isPublicAddress, type Network } from './addresses.ts';

/** Longest time from the lookup to the end of the answer. */
const TIMEOUT_MS = 10_000;
/** The rest of an answer is not read. Callers need a status, and at most an error text. */
const ANSWER_BYTES_MAX = 65_536;
const ANSWER_HEADER_BYTES_MAX = 16_384;
const URL_CHARS_MAX = 2_048;

export interface OutboundRequest {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  /** `host` and `content-length` come from the request itself. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
}

export interface OutboundOptions {
  /** Networks beside the public ones. Plain http is possible there only. */
  readonly allowed?: readonly Network[];
  readonly timeoutMs?: number;
  readonly answerBytesMax?: number;
  readonly signal?: AbortSignal;
  /** Certificate authorities in PEM form, in place of the system's. */
  readonly ca?: string;
  /** All addresses of a host. The system's resolver by default. */
  readonly resolve?: (host: string) => Promise<readonly LookupAddress[]>;
}

export interface OutboundAnswer {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: IncomingMessage['headers'];
  /** At most `answerBytesMax` bytes of the body. */
  readonly body: Buffer;
}

/** Why a request was not answered. */
export type OutboundFailure =
  /** The text is no URL, is too long, or has a user or password. */
  | 'url'
  /** Neither https, nor http to an allowed network. */
  | 'protocol'
  /** The host has no address at the moment. */
  | 'unresolved'
  /** At least one address of the host is neither public nor allowed. */
  | 'address'
  /** The server redirects. Its target is not checked, so it is not followed. */
  | 'redirect'
  | 'timeout'
  /** No connection, no valid certificate, or no HTTP. */
  | 'connection';

const PERMANENT: ReadonlySet<OutboundFailure> = new Set(['url', 'protocol', 'address', 'redirect']);

/** The message names no part of the URL: paths and queries contain secrets. */
export class OutboundError extends Error {
  override readonly name = 'OutboundError';
  readonly failure: OutboundFailure;

  constructor(failure: OutboundFailure, options?: ErrorOptions) {
    super(`outbound request failed: ${failure}`, options);
    this.failure = failure;
  }

  /** Whether the same request fails again until the URL, or the server behind it, changes. */
  get isPermanent(): boolean {
    return PERMANENT.has(this.failure);
  }
}

/** Throws OutboundError for a URL that `sendOutbound` refuses before it resolves the host: a check of a client's input. */
export function checkOutboundUrl(text: string, { allowed = [] }: Pick<OutboundOptions, 'allowed'> = {}): URL {
  const url = text.length <= URL_CHARS_MAX && URL.canParse(text) ? new URL(text) : null;
  if (url?.username !== '' || url.password !== '') throw new OutboundError('url');
  if (url.protocol !== 'https:' && (url.protocol !== 'http:' || allowed.length === 0))
    throw new OutboundError('protocol');
  const literal = literalAddress(url);
  if (literal) checkAddress(url, literal.address, allowed);
  return url;
}

/**
 * Sends a request to a URL of a client and returns the answer of any status but a redirect. Throws OutboundError. Proxies of the
 * environment are not used, and no connection is kept.
 */
export async function sendOutbound(request: OutboundRequest, options: OutboundOptions = {}): Promise<OutboundAnswer> {
  const { timeoutMs = TIMEOUT_MS, signal } = options;
  const url = checkOutboundUrl(request.url, options);
  const timeout = AbortSignal.timeout(timeoutMs);
  const ended = signal ? AbortSignal.any([signal, timeout]) : timeout;
  try {
    // The system's lookup cannot be aborted.
    const addresses = await beforeAbort(checkedAddresses(url, options), ended);
    return await exchange(url, addresses, request, { ...options, signal: ended });
  } catch (error) {
    signal?.throwIfAborted();
    if (timeout.aborted) throw new OutboundError('timeout');
    if (error instanceof OutboundError) throw error;
    throw new OutboundError('connection', { cause: errorName(error) });
  }
}

/** The addresses of a URL's host, each of them public or allowed. One bad address refuses all of them. */
async function checkedAddresses(url: URL, options: OutboundOptions): Promise<readonly LookupAddress[]> {
  const { allowed = [], resolve = lookupAll } = options;
  const literal = literalAddress(url);
  const addresses = literal ? [literal] : await resolve(url.hostname).catch(() => []);
  if (addresses.length === 0) throw new OutboundError('unresolved');
  for (const { address } of addresses) checkAddress(url, address, allowed);
  return addresses;
}

function lookupAll(host: string): Promise<LookupAddress[]> {
  return dns.lookup(host, { all: true });
}

function checkAddress({ protocol }: URL, address: string, allowed: readonly Network[]): void {
  if (isInNetworks(address, allowed)) return;
  if (!isPublicAddress(address)) throw new OutboundError('address');
  if (protocol === 'http:') throw new OutboundError('protocol');
}

/** The host of a URL when it is an address. URL has normalised forms such as `0x7f.1`. */
function literalAddress({ hostname }: URL): LookupAddress | null {
  const address = hostname.replace(/^\[(.*)\]$/, '$1');
  const family = isIP(address);
  return family === 0 ? null : { address, family };
}

/** Answers node's lookups with the checked addresses. */
function pinned(addresses: readonly LookupAddress[]): LookupFunction {
  return (_host, { all }, done) => {
    const [first] = addresses;
    if (all) done(null, [...addresses]);
    else if (first) done(null, first.address, first.family);
  };
}

function exchange(
  url: URL,
  addresses: readonly LookupAddress[],
  { method, headers = {}, body }: OutboundRequest,
  { answerBytesMax = ANSWER_BYTES_MAX, ca, signal }: OutboundOptions,
): Promise<OutboundAnswer> {
  const send = url.protocol === 'https:' ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const request: ClientRequest = send(url, {
      method,
      headers: { ...headers, ...(body ? { 'content-length': String(body.length) } : {}) },
      agent: false,
      lookup: pinned(addresses),
      maxHeaderSize: ANSWER_HEADER_BYTES_MAX,
      ...(ca === undefined ? {} : { ca }),
      ...(signal ? { signal } : {}),
    });
    request.on('error', reject);
    request.on('response', (response) => {
      readAnswer(response, answerBytesMax)
        .then(resolve, reject)
        .finally(() => request.destroy());
    });
    request.end(body);
  });
}

/** Codes that send a client elsewhere. */
const isRedirect = (status: number) => status >= 300 && status < 400;

async function readAnswer(response: IncomingMessage, bytesMax: number): Promise<OutboundAnswer> {
  const status = response.statusCode ?? 0;
  if (isRedirect(status)) throw new OutboundError('redirect');
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of response as AsyncIterable<Buffer>) {
    parts.push(part);
    size += part.length;
    if (size >= bytesMax) break;
  }
  return { status, headers: response.headers, body: Buffer.concat(parts).subarray(0, bytesMax) };
}

function errorName(error: unknown): string {
  const { code, name } = error as { readonly code?: unknown; readonly name?: unknown };
  return String(code ?? name ?? 'unknown');
}
