// Fetches priority fees: one JSON-RPC batch of getPriorityFeeEstimate for many markets
// (docs/internals/order-book-server.md, "Priority fees").

import { member } from '../../platform/index.ts';
import type { FeeLevels } from '../../schemas/index.ts';

const LEVELS = ['min', 'low', 'medium', 'high', 'veryHigh', 'unsafeMax'] as const;
export type Levels = Pick<FeeLevels, (typeof LEVELS)[number]>;

const METHOD = 'getPriorityFeeEstimate';

export interface FeeRequest {
  /** Identifies the request in the answer. */
  readonly id: string;
  /** Writable accounts for which transactions compete, base58. */
  readonly accountKeys: readonly string[];
}

export interface FeeResults {
  readonly levels: ReadonlyMap<string, Levels>;
  /** Reason for each request without levels, by id. */
  readonly failures: ReadonlyMap<string, string>;
}

/** The provider gave no usable answer to the batch. */
export class FeeProviderError extends Error {
  override readonly name = 'FeeProviderError';
}

/** Requests all fee levels of every request in one batch. Throws FeeProviderError when there is no usable answer. */
export async function fetchFees(
  url: string,
  requests: readonly FeeRequest[],
  signal: AbortSignal,
): Promise<FeeResults> {
  const batch = requests.map(({ id, accountKeys }) => ({
    jsonrpc: '2.0',
    id,
    method: METHOD,
    params: [{ accountKeys, options: { includeAllPriorityFeeLevels: true } }],
  }));
  return readAnswers(requests, await post(url, JSON.stringify(batch), signal));
}

async function post(url: string, body: string, signal: AbortSignal): Promise<unknown> {
  let response: Response;
  try {
    response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body, signal });
  } catch (cause) {
    throw new FeeProviderError('the fee provider is unreachable', { cause });
  }
  if (!response.ok) {
    await response.body?.cancel();
    throw new FeeProviderError(`HTTP ${response.status} from the fee provider`);
  }
  try {
    return await response.json();
  } catch (cause) {
    throw new FeeProviderError('the fee provider did not answer with JSON', { cause });
  }
}

/** Assigns the answers of a batch, in any order, to their requests. Throws FeeProviderError when the answer is not a list. */
export function readAnswers(requests: readonly FeeRequest[], answer: unknown): FeeResults {
  if (!Array.isArray(answer)) throw new FeeProviderError(`the fee provider rejected the batch: ${errorOf(answer)}`);
  const byId = new Map<unknown, unknown>(answer.map((one: unknown) => [member(one, 'id'), one]));
  const levels = new Map<string, Levels>();
  const failures = new Map<string, string>();
  for (const { id } of requests) {
    const one = byId.get(id);
    const read = levelsOf(member(member(one, 'result'), 'priorityFeeLevels'));
    if (read) levels.set(id, read);
    else failures.set(id, one === undefined ? 'no answer' : errorOf(one));
  }
  return { levels, failures };
}

function levelsOf(value: unknown): Levels | null {
  const levels: Record<string, number> = {};
  for (const name of LEVELS) {
    const level = member(value, name);
    if (typeof level !== 'number' || !Number.isFinite(level) || level < 0) return null;
    levels[name] = level;
  }
  return levels as unknown as Levels;
}

function errorOf(value: unknown): string {
  const message = member(member(value, 'error'), 'message');
  return typeof message === 'string' ? message : 'no levels in the answer';
}
