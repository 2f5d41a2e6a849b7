// One descriptor for each query parameter and message member. It reads the value at run time and documents it, so code and
// contract cannot differ.

import { parameter, type Query } from '../lenient.ts';
import { type JsonSchema, object } from './json-schema.ts';

export interface Input<I, T> {
  /** Contains a `description`. */
  readonly schema: JsonSchema;
  /** True if the server refuses a request without it. */
  readonly isRequired: boolean;
  /** Converts the value. Throws the error that refuses the request. */
  readonly read: (value: I) => T;
}

/** A query parameter. Its input is the text of the first occurrence, undefined when absent. */
export type Parameter<T> = Input<string | undefined, T>;
export type Parameters = Readonly<Record<string, Parameter<unknown>>>;
/** A member of a JSON message. */
export type Member<T> = Input<unknown, T>;
export type Members = Readonly<Record<string, Member<unknown>>>;

/** Reads an input by name when called, so the order of calls is the order of failures. */
export type Given<D extends Parameters | Members> = <N extends keyof D & string>(name: N) => ReturnType<D[N]['read']>;

export function givenParameters<P extends Parameters>(parameters: P, query: Query): Given<P> {
  return (name) => parameters[name]?.read(parameter(query, name)) as ReturnType<P[typeof name]['read']>;
}

/** True if every required parameter has a non-empty value, valid or not. */
export function hasRequired(parameters: Parameters, query: Query): boolean {
  return Object.entries(parameters).every(
    ([name, { isRequired }]) => !isRequired || (parameter(query, name) ?? '') !== '',
  );
}

export function givenMembers<M extends Members>(members: M, message: Readonly<Record<string, unknown>>): Given<M> {
  return (name) => members[name]?.read(message[name]) as ReturnType<M[typeof name]['read']>;
}

/** Schema of an object with the inputs as members. */
export function inputSchema(inputs: Parameters | Members, description?: string): JsonSchema {
  const all = Object.entries(inputs);
  return object(Object.fromEntries(all.map(([name, { schema }]) => [name, schema])), {
    optional: all.filter(([, { isRequired }]) => !isRequired).map(([name]) => name),
    ...(description === undefined ? {} : { description }),
  });
}
