// Validates answers and messages of our own tests against the served contracts, with objects closed, so that every member is
// documented. Schemathesis (test/e2e/harness/checks/schemathesis.ts) is the second opinion: requests that other people generate.

import { Ajv, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { asyncApi } from '../../../api/gateway/asyncapi.ts';
import { UNIT } from '../../../api/history/answer-schemas.ts';

type Json = Readonly<Record<string, unknown>>;

/** The document, with every object of named members closed. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== 'object' || value === null) return value;
  const copy = Object.fromEntries(Object.entries(value).map(([name, member]) => [name, closed(member)]));
  return 'properties' in copy && copy.type === 'object' && !('additionalProperties' in copy)
    ? { ...copy, additionalProperties: false }
    : copy;
}

/** Most validators meet a few values: tidying their code takes as long as the rest of its making. */
const OPTIONS = { strict: false, code: { optimize: 0 } };

/** Validates values against schemas inside a document, in the dialect of its kind. */
export class Contract {
  readonly #ajv: Ajv | Ajv2020;
  readonly #validators = new Map<string, ValidateFunction>();

  constructor(document: object, members: 'open' | 'closed' = 'closed') {
    this.#ajv = 'asyncapi' in document ? new Ajv(OPTIONS) : new Ajv2020(OPTIONS);
    this.#ajv.addSchema((members === 'closed' ? closed(document) : document) as Json, 'contract');
  }

  /** `place`: member names that lead to the schema. Throws without a schema there. */
  validator(...place: readonly string[]): ValidateFunction {
    const pointer = place.map((name) => encodeURIComponent(name.replace(/~/g, '~0').replace(/\//g, '~1'))).join('/');
    const known = this.#validators.get(pointer);
    const found = known ?? this.#ajv.compile({ $ref: `contract#/${pointer}` });
    this.#validators.set(pointer, found);
    return found;
  }
}

interface AsyncDocument {
  readonly channels: Readonly<Record<string, { readonly messages: Readonly<Record<string, { payload: Payload }>> }>>;
}

interface Payload {
  readonly properties?: Readonly<Record<string, object>>;
}

/** Formal errors of an AsyncAPI document: dangling references, and schemas that draft 07 rejects. */
export function asyncApiFaults(document: object): readonly string[] {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, pointer = '']) => pointer);
  const lost = references.filter((pointer) => {
    const found = pointer.split('/').reduce<unknown>((at, name) => (at as Json | undefined)?.[name], document);
    return typeof found !== 'object';
  });
  const ajv = new Ajv({
    strict: false,
    strictSchema: true,
    keywords: ['x-contentSchema', UNIT, ...Object.keys(document)],
  });
  ajv.addSchema(document as Json, 'contract', false, false);
  const faults: string[] = lost.map((pointer) => `nothing at ${pointer}`);
  for (const [channel, { messages }] of Object.entries((document as AsyncDocument).channels)) {
    for (const [name, { payload }] of Object.entries(messages)) {
      const place = `channels/${channel}/messages/${name}/payload`;
      const texts = Object.entries(payload.properties ?? {}).filter(([, member]) => 'x-contentSchema' in member);
      for (const at of [place, ...texts.map(([member]) => `${place}/properties/${member}/x-contentSchema`)]) {
        try {
          ajv.compile({ $ref: `contract#/${at}` });
        } catch (error) {
          faults.push(`${at}: ${String(error)}`);
        }
      }
    }
  }
  return faults;
}

export type SocketName = 'feed' | 'quotes';

interface MessageRef {
  readonly $ref: string;
}

interface AsyncApi {
  readonly operations: Readonly<
    Record<string, { readonly action: 'send' | 'receive'; readonly messages: readonly MessageRef[] }>
  >;
}

const document = asyncApi();
const { operations } = document as AsyncApi;
const sent = new Contract(document);
const received = new Contract(document, 'open');

/** Names of the documented messages of one direction. Actions name the server's side. */
export function documented(socket: SocketName, action: 'send' | 'receive'): readonly string[] {
  return Object.values(operations)
    .filter((operation) => operation.action === action)
    .flatMap(({ messages }) => messages.map(({ $ref }) => $ref.split('/').slice(2)))
    .flatMap(([channel, , name]) => (channel === socket && name !== undefined ? [name] : []));
}

const names = {
  feed: { send: documented('feed', 'send'), receive: documented('feed', 'receive') },
  quotes: { send: documented('quotes', 'send'), receive: documented('quotes', 'receive') },
};

/** Name of the documented message that the server sent. Throws unless exactly one matches, including its inner JSON. */
export function checkedName(socket: SocketName, message: Json): string {
  const place = (name: string) => ['channels', socket, 'messages', name, 'payload'] as const;
  const found = names[socket].send.filter((name) => sent.validator(...place(name))(message));
  const [name] = found;
  if (name === undefined || found.length > 1) {
    throw new Error(`documented as ${found.length} messages: ${JSON.stringify(message)}`);
  }
  if (typeof message.data === 'string') {
    const inner = sent.validator(...place(name), 'properties', 'data', 'x-contentSchema');
    if (!inner(JSON.parse(message.data))) throw new Error(`${name}: ${JSON.stringify(inner.errors)}: ${message.data}`);
  }
  return name;
}

/** Names of the documented client messages that match a message. */
export function requestNames(socket: SocketName, message: unknown): readonly string[] {
  return names[socket].receive.filter((name) =>
    received.validator('channels', socket, 'messages', name, 'payload')(message),
  );
}
