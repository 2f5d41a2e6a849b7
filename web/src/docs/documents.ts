// The contracts that the services publish, as far as the documentation view reads them.

import { addresses } from '../addresses.ts';
import type { Service } from '../services.ts';

export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly prefixItems?: readonly Schema[];
  readonly additionalProperties?: Schema | boolean;
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly pattern?: string;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly description?: string;
  readonly schema?: Schema;
}

export interface Operation {
  readonly summary?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly parameters?: readonly Parameter[];
  readonly responses?: Readonly<
    Record<string, { readonly description?: string; readonly content?: Readonly<Record<string, { schema?: Schema }>> }>
  >;
}

interface Info {
  readonly title: string;
  readonly version: string;
  readonly description?: string;
}

export interface OpenApi {
  readonly info: Info;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

export interface AsyncMessage {
  readonly $ref?: string;
  readonly name?: string;
  readonly title?: string;
  readonly summary?: string;
  readonly payload?: Schema;
  readonly examples?: readonly { readonly payload?: unknown }[];
}

export interface AsyncApi {
  readonly info: Info;
  readonly channels: Readonly<
    Record<
      string,
      {
        readonly address?: string;
        readonly description?: string;
        readonly messages?: Readonly<Record<string, AsyncMessage>>;
      }
    >
  >;
  readonly operations: Readonly<
    Record<
      string,
      {
        readonly action: 'send' | 'receive';
        readonly channel: { readonly $ref: string };
        readonly summary?: string;
        readonly messages?: readonly AsyncMessage[];
      }
    >
  >;
}

/** The value that a local reference names; the object itself when it is none. */
export function resolve<T extends { readonly $ref?: string }>(document: object, value: T): T {
  let found = value;
  for (let steps = 0; found.$ref !== undefined && steps < 10; steps += 1) {
    const path = found.$ref.replace(/^#\//, '').split('/');
    found = path.reduce<unknown>((at, part) => (at as Record<string, unknown>)[unescapePart(part)], document) as T;
  }
  return found;
}

const unescapePart = (part: string): string => part.replaceAll('~1', '/').replaceAll('~0', '~');

/** The last part of a reference: the name of a shared schema. */
export function nameOf({ $ref }: { readonly $ref?: string }): string {
  return $ref?.split('/').at(-1) ?? '';
}

export interface DocumentChoice {
  readonly name: string;
  readonly label: string;
  readonly service: Service;
  readonly path: '/openapi.json' | '/asyncapi.json';
}

/** The contract as the running service publishes it. */
export async function documentOf(
  { service, path, label }: DocumentChoice,
  signal: AbortSignal,
): Promise<OpenApi | AsyncApi> {
  const answer = await fetch(`${addresses[service]}${path}`, { signal });
  if (!answer.ok) throw new Error(`${label} is not published: the service answered ${answer.status}.`);
  return (await answer.json()) as OpenApi | AsyncApi;
}

export const DOCUMENTS: readonly DocumentChoice[] = [
  { name: 'order-book-rest', label: 'Order-book REST', service: 'orderbook', path: '/openapi.json' },
  { name: 'order-book-socket', label: 'Order-book WebSocket', service: 'orderbook', path: '/asyncapi.json' },
  { name: 'history-rest', label: 'History REST', service: 'history', path: '/openapi.json' },
  { name: 'history-socket', label: 'History WebSocket', service: 'history', path: '/asyncapi.json' },
];
