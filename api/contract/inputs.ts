// What clients send, described once: each query parameter and each member of a message has one descriptor, which reads the
// value at run time and is what the contract says of it. Whoever answers a request is handed what the descriptors read and
// not the request, so that nothing undocumented can be read and nothing documented stays unread.

import { parameter, type Query } from '../lenient.ts';
import { type JsonSchema, object } from './json-schema.ts';

export interface Input<I, T> {
  /** With a `description`. */
  readonly schema: JsonSchema;
  /** Whether a request without it is refused. */
  readonly isRequired: boolean;
  /** What a value means; it may throw what the request is refused with. */
  readonly read: (value: I) => T;
}

/** A query parameter: the text of its first occurrence, undefined when it is absent. */
export type Parameter<T> = Input<string | undefined, T>;
export type Parameters = Readonly<Record<string, Parameter<unknown>>>;
/** A member of a JSON message. */
export type Member<T> = Input<unknown, T>;
export type Members = Readonly<Record<string, Member<unknown>>>;

/** Reads an input by its name, when it is asked for: the order of asking is the order of failures. */
export type Given<D extends Parameters | Members> = <N extends keyof D & string>(name: N) => ReturnType<D[N]['read']>;

export function givenParameters<P extends Parameters>(parameters: P, query: Query): Given<P> {
  return (name) => parameters[name]?.read(parameter(query, name)) as ReturnType<P[typeof name]['read']>;
}

/** Whether every parameter that is required has a value that is not empty, whatever it means. */
export function hasRequired(parameters: Parameters, query: Query): boolean {
  return Object.entries(parameters).every(
    ([name, { isRequired }]) => !isRequired || (parameter(query, name) ?? '') !== '',
  );
}

export function givenMembers<M extends Members>(members: M, message: Readonly<Record<string, unknown>>): Given<M> {
  return (name) => members[name]?.read(message[name]) as ReturnType<M[typeof name]['read']>;
}

/** Schema of the object whose members the inputs are. */
export function inputSchema(inputs: Parameters | Members, description?: string): JsonSchema {
  const all = Object.entries(inputs);
  return object(Object.fromEntries(all.map(([name, { schema }]) => [name, schema])), {
    optional: all.filter(([, { isRequired }]) => !isRequired).map(([name]) => name),
    ...(description === undefined ? {} : { description }),
  });
}
