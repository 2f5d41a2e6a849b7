// Validates answers to generated requests against the served `/openapi.json`: status, media type and body of each.

import { MAX_HEADER_BYTES } from '../../api/http/edge-errors.ts';
import { ORDERBOOK_ERRORS } from '../../api/http/errors.ts';
import { stripPrefix } from '../../api/http/paths.ts';
import { Contract } from '../support/api/contracts.ts';
import type { RestInput } from './rest-inputs.ts';

export interface RestAnswer {
  /** 0 when the connection broke; the body then says how. */
  readonly status: number;
  /** Media type without parameters; empty when there is none. */
  readonly type: string;
  readonly body: string;
}

interface Document {
  readonly paths: Readonly<
    Record<string, { readonly get?: { readonly responses: Readonly<Record<string, { readonly content?: object }>> } }>
  >;
}

/** Only some larger bodies are validated: a whole L3 takes as long as a hundred requests. */
const WHOLE_BODY_CHARS = 20_000;
const LARGE_EVERY = 50;
/** Most bytes that the client's own headers add. */
const OWN_HEADER_BYTES = 500;
const PREFLIGHT = 204;
const SERVER_FAULTS_FROM = 500;
const { headersTooLarge } = ORDERBOOK_ERRORS;
/** Reasons for a 503 on a running stage; `NOK`, `Not ready` and `Internal error` are faults. */
const MAY_LACK: ReadonlySet<string> = new Set([ORDERBOOK_ERRORS.noL3.text, ORDERBOOK_ERRORS.slotBusy.text]);

export class RestContract {
  readonly #document: Document;
  /** Documented paths by lookup key: any letter case, with or without a final slash. */
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

  /** The documented path of a request; null when there is none. */
  pathOf({ method, path }: RestInput): string | null {
    if (method !== 'GET' && method !== 'HEAD') return null;
    return this.#paths.get(looked(stripPrefix(path).split('?', 1)[0] ?? '')) ?? null;
  }

  /** The fault of the answer; null when it is as documented. */
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

/** The fault of an answer to a path or method outside the contract. */
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

/** Undefined, which no schema allows, when the text is not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
