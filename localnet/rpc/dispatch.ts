// The JSON-RPC envelope of HTTP and WebSocket: one request or a batch in, the text of the answer out.

import { INTERNAL_ERROR, INVALID_REQUEST, invalidParams, METHOD_NOT_FOUND, PARSE_ERROR, RpcError } from './errors.ts';

/** JSON text, or pieces of an answer too large for one string. Reading the pieces must not throw. */
export type JsonText = string | Iterable<string>;

/** Parameters of a call. Only controls receive an object, as the one element. */
export type Method = (params: readonly unknown[]) => JsonText | Promise<JsonText>;

export type Methods = ReadonlyMap<string, Method>;

/** Prefix of calls that are not Solana's. They may take parameters by name. */
const CONTROL_PREFIX = 'localnet_';

/** Provider calls that take an object directly. */
const NAMED_PARAMS = new Set(['getPriorityFeeEstimate']);

/** Answers one message; null when it contains only notifications. */
export async function answer(message: string, methods: Methods): Promise<Iterable<string> | null> {
  let request: unknown;
  try {
    request = JSON.parse(message);
  } catch {
    return [failure(null, new RpcError(PARSE_ERROR, 'Parse error'))];
  }
  if (!Array.isArray(request)) return answerOne(request, methods);
  if (request.length === 0) return [failure(null, new RpcError(INVALID_REQUEST, 'Invalid request'))];
  const answers: Iterable<string>[] = [];
  for (const one of request) {
    const answered = await answerOne(one, methods);
    if (answered !== null) answers.push(answered);
  }
  return answers.length === 0 ? null : joined(answers);
}

async function answerOne(request: unknown, methods: Methods): Promise<Iterable<string> | null> {
  if (typeof request !== 'object' || request === null || Array.isArray(request)) {
    return [failure(null, new RpcError(INVALID_REQUEST, 'Invalid request'))];
  }
  const { jsonrpc, id, method, params } = request as Record<string, unknown>;
  const answerable = id === null || typeof id === 'string' || typeof id === 'number';
  if (jsonrpc !== '2.0' || typeof method !== 'string' || (id !== undefined && !answerable)) {
    return [failure(answerable ? id : null, new RpcError(INVALID_REQUEST, 'Invalid request'))];
  }
  try {
    const known = methods.get(method);
    if (known === undefined) throw new RpcError(METHOD_NOT_FOUND, 'Method not found');
    const result = await known(listOf(method, params));
    return answerable ? success(id, result) : null;
  } catch (error) {
    return answerable ? [failure(id, error)] : null;
  }
}

function listOf(method: string, params: unknown): readonly unknown[] {
  if (params === undefined || params === null) return [];
  if (Array.isArray(params)) return params;
  if (typeof params === 'object' && (method.startsWith(CONTROL_PREFIX) || NAMED_PARAMS.has(method))) return [params];
  throw invalidParams('`params` should be an array');
}

function* success(id: unknown, result: JsonText): Generator<string> {
  yield '{"jsonrpc":"2.0","result":';
  if (typeof result === 'string') yield result;
  else yield* result;
  yield `,"id":${JSON.stringify(id)}}`;
}

function failure(id: unknown, error: unknown): string {
  const known = error instanceof RpcError ? error : new RpcError(INTERNAL_ERROR, `Internal error: ${String(error)}`);
  const body = {
    code: known.code,
    message: known.message,
    ...(known.data === undefined ? {} : { data: known.data }),
  };
  return JSON.stringify({ jsonrpc: '2.0', error: body, id });
}

function* joined(answers: readonly Iterable<string>[]): Generator<string> {
  yield '[';
  for (const [index, one] of answers.entries()) {
    if (index > 0) yield ',';
    yield* one;
  }
  yield ']';
}
