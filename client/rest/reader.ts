// Reads a REST service, typed by its contract: pages as iterators, patience with a busy server. Small, for pages in browsers.

import { type RetryOptions, sendPatiently } from './retry.ts';

/** Paths of a contract that can be read. */
export type ReadPath<O> = keyof O extends infer K ? (K extends `GET ${infer P}` ? P : never) : never;
/** A member of an operation: its parameters, its body or its answer. */
export type PartOf<O, K, N extends 'params' | 'body' | 'answer'> = K extends keyof O
  ? O[K] extends { readonly [M in N]: infer T }
    ? T
    : never
  : never;
export type ReadParams<O, P extends string> = PartOf<O, `GET ${P}`, 'params'>;
export type ReadAnswer<O, P extends string> = PartOf<O, `GET ${P}`, 'answer'>;
type Paged = { readonly records: readonly unknown[]; readonly meta: { readonly nextPage: string | null } };
/** Paths whose answers have pages. */
export type PagedPathOf<O> = {
  [P in ReadPath<O>]: ReadAnswer<O, P> extends Paged ? P : never;
}[ReadPath<O>];
export type RecordOf<O, P extends string> =
  ReadAnswer<O, P> extends { readonly records: readonly (infer R)[] } ? R : never;

export type RestMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface RestOptions {
  /** For example `https://data.example.com`. */
  readonly url: string;
  /** Default: the global fetch. */
  readonly fetch?: typeof fetch;
  readonly retry?: RetryOptions;
}

export interface RequestOptions {
  readonly signal?: AbortSignal;
}

export type Params = Readonly<Record<string, unknown>>;

/** One request, before its headers are made. */
export interface RestRequest {
  readonly method: RestMethod;
  /** As in the contract, with its parameters in braces. */
  readonly path: string;
  readonly params: Params;
  readonly body?: unknown;
  readonly accept: string;
}

/** `O` is the generated contract of the service. */
export class RestReader<O> {
  readonly #options: RestOptions;

  constructor(options: RestOptions) {
    this.#options = options;
  }

  /** Reads a path. Amounts are integers as text, exact (`BigInt(text)`). Throws RestError. */
  async get<P extends ReadPath<O>>(
    path: P,
    params: ReadParams<O, P>,
    options?: RequestOptions,
  ): Promise<ReadAnswer<O, P>> {
    const request: RestRequest = { method: 'GET', path, params: params as Params, accept: 'application/json' };
    return (await this.request(request, options)).json() as Promise<ReadAnswer<O, P>>;
  }

  /** Answers page by page. The token of each page is for the next request only. */
  async *pages<P extends PagedPathOf<O> & ReadPath<O>>(
    path: P,
    params: ReadParams<O, P>,
    options?: RequestOptions,
  ): AsyncGenerator<ReadAnswer<O, P>, void, undefined> {
    let next = params;
    for (;;) {
      const answer = await this.get(path, next, options);
      yield answer;
      const { nextPage } = (answer as Paged).meta;
      if (nextPage === null) return;
      next = { ...(next as object), page: nextPage } as ReadParams<O, P>;
    }
  }

  /** All records of all pages, in order. */
  async *records<P extends PagedPathOf<O> & ReadPath<O>>(
    path: P,
    params: ReadParams<O, P>,
    options?: RequestOptions,
  ): AsyncGenerator<RecordOf<O, P>, void, undefined> {
    for await (const answer of this.pages(path, params, options)) yield* (answer as Paged).records as RecordOf<O, P>[];
  }

  /** Sends a request until it succeeds. Throws RestError. */
  protected request(request: RestRequest, { signal }: RequestOptions = {}): Promise<Response> {
    const { fetch: send = globalThis.fetch, retry = {}, url: origin } = this.#options;
    const { method, path, params, body, accept } = request;
    const url = origin.replace(/\/$/, '') + addressOf(path, params);
    const prepare = async (): Promise<RequestInit> => {
      const headers: Record<string, string> = { accept, ...(await this.signature(request)) };
      if (body !== undefined) headers['content-type'] = 'application/json';
      const content = body === undefined ? {} : { body: JSON.stringify(body) };
      return { method, headers, ...content, ...(signal ? { signal } : {}) };
    };
    return sendPatiently(send, url, prepare, retry);
  }

  /** Headers that sign one attempt; none here. */
  protected async signature(_request: RestRequest): Promise<Readonly<Record<string, string>>> {
    return {};
  }
}

/** Path with its parameters, and the others as a query. Absent and null parameters are left out. */
export function addressOf(path: string, params: Params): string {
  const rest = new Map(Object.entries(params).filter(([, value]) => value !== undefined && value !== null));
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = rest.get(name);
    if (value === undefined) throw new TypeError(`${path} needs ${name}`);
    rest.delete(name);
    return encodeURIComponent(String(value));
  });
  const query = [...rest].map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`).join('&');
  return query === '' ? filled : `${filled}?${query}`;
}
