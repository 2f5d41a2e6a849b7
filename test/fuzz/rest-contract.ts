// Holds answers to generated requests against the served `/openapi.json`: status, media type and body of each.

import { MAX_HEADER_BYTES } from '../../api/edge-errors.ts';
import { ORDERBOOK_ERRORS } from '../../api/errors.ts';
import { stripPrefix } from '../../api/orderbook/paths.ts';
import { Contract } from '../../api/testing/contracts.ts';
import type { RestInput } from './rest-inputs.ts';

export interface RestAnswer {
  /** 0 when the connection broke; the body then says how. */
  readonly status: number;
  /** Without parameters; empty when there is none. */
  readonly type: string;
  readonly body: string;
}

interface Document {
  readonly paths: Readonly<
    Record<string, { readonly get?: { readonly responses: Readonly<Record<string, { readonly content?: object }>> } }>
  >;
}

/** Larger bodies are held against their schema only now and then: a whole L3 takes as long as a hundred requests. */
const WHOLE_BODY_CHARS = 20_000;
const LARGE_EVERY = 50;
/** What the client's own headers may add to those of an input. */
const OWN_HEADER_BYTES = 500;
const PREFLIGHT = 204;
const SERVER_FAULTS_FROM = 500;
const { headersTooLarge } = ORDERBOOK_ERRORS;
/** All that the served books of a stage that runs can lack; `NOK`, `Not ready` and `Internal error` are faults of it. */
const MAY_LACK: ReadonlySet<string> = new Set([ORDERBOOK_ERRORS.noL3.text, ORDERBOOK_ERRORS.slotBusy.text]);

export class RestContract {
  readonly #document: Document;
  /** Documented paths by how they are looked for: any letter case, with or without a slash at the end. */
  readonly #paths: ReadonlyMap<string, string>;
  readonly #contract: Contract;
  #large = 0;

  constructor(document: unknown) {
    this.#document = document as Document;
    this.#contract = new Contract(this.#document);
    this.#paths = new Map(Object.keys(this.#document.paths).map((path) => [looked(path), path]));
  }

  static async of(url: string): Promise<RestContract> {
    return new RestContract(await (await fetch(`${url}/openapi.json`)).json());
  }

  /** The documented path that a request means; null when it is none. */
  pathOf({ method, path }: RestInput): string | null {
    if (method !== 'GET' && method !== 'HEAD') return null;
    return this.#paths.get(looked(stripPrefix(path).split('?', 1)[0] ?? '')) ?? null;
  }

  /** What is wrong with the answer; null when it is as documented. */
  faultOf(input: RestInput, answer: RestAnswer): string | null {
    const { status, type, body } = answer;
    if (status === 0) return `no answer (${body})`;
    if (body === headersTooLarge.text && headBytes(input) + OWN_HEADER_BYTES > MAX_HEADER_BYTES) return null;
    const path = this.pathOf(input);
    if (path === null) return undocumentedFault(input, answer);
    if (status >= SERVER_FAULTS_FROM && input.method !== 'HEAD' && !MAY_LACK.has(body)) return `${status} ${body}`;
    const documented = this.#document.paths[path]?.get?.responses[status];
    if (!documented) return `status ${status} is not documented (${body.slice(0, 200)})`;
    const { content } = documented;
    if (!content) return body === '' ? null : `a body where none is documented: ${body.slice(0, 200)}`;
    if (!Object.hasOwn(content, type)) return `type ${type} is not documented for ${status}`;
    return input.method === 'HEAD' ? null : this.#bodyFault(path, answer);
  }

  #bodyFault(path: string, { status, type, body }: RestAnswer): string | null {
    if (body.length > WHOLE_BODY_CHARS && this.#large++ % LARGE_EVERY !== 0) return null;
    const validate = this.#contract.validator(
      'paths',
      path,
      'get',
      'responses',
      String(status),
      'content',
      type,
      'schema',
    );
    if (validate(type === 'application/json' ? parsed(body) : body)) return null;
    return `body of ${status} is not as documented: ${JSON.stringify(validate.errors)}: ${body.slice(0, 500)}`;
  }
}

/** What every path and method that is not in the contract is answered with. */
function undocumentedFault({ method }: RestInput, { status, body }: RestAnswer): string | null {
  if (method === 'OPTIONS' && status === PREFLIGHT) return null;
  if (status === ORDERBOOK_ERRORS.notFound.status && (method === 'HEAD' || body === ORDERBOOK_ERRORS.notFound.text)) {
    return null;
  }
  return `${status} ${body.slice(0, 200)} where nothing is documented`;
}

function looked(path: string): string {
  return path.toLowerCase().replace(/(?<=.)\/$/, '');
}

function headBytes({ path, headers }: RestInput): number {
  return Buffer.byteLength(path) + JSON.stringify(headers).length;
}

/** Undefined, which no schema allows, when it is no JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
