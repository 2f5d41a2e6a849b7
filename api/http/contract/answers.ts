// Answers of the order-book server for its contract: one success, and the failures of the error table by status.

import { ORDERBOOK_ERRORS, type OrderbookErrorCode } from '../errors.ts';
import { escaped, type JsonSchema } from './json-schema.ts';
import type { Answer, Answers } from './openapi.ts';

export const JSON_TYPE = 'application/json';
const TEXT_TYPE = 'text/plain';

/** The text of these failures ends with a detail, for example the earliest slot available. */
const DETAILED: ReadonlySet<OrderbookErrorCode> = new Set(['slotAhead', 'slotGone']);

export function json(description: string, schema: JsonSchema): Answer {
  return { description, content: { [JSON_TYPE]: { ...schema } } };
}

function textOf(code: OrderbookErrorCode, prefix: string): JsonSchema {
  const entry = ORDERBOOK_ERRORS[code];
  const literal = `${prefix}${entry.text}`;
  return {
    ...(DETAILED.has(code) ? { pattern: `^${escaped(literal)}`, examples: [literal] } : { const: literal }),
    description: entry.retry ? 'the same request may succeed later' : 'the same request fails again',
  };
}

export interface Failures {
  readonly codes: readonly OrderbookErrorCode[];
  /** Text before each error text. */
  readonly prefix?: string;
}

/**
 * `200` and the failures of a route. Adds `Internal error`, which every route can answer. `others` are further bodies by
 * status, merged with the texts of the same status.
 */
export function answers(success: Answer, failures: readonly Failures[], others: Answers = {}): Answers {
  const texts = new Map<string, JsonSchema[]>();
  for (const { codes, prefix = '' } of [...failures, { codes: ['internal'] as const }]) {
    for (const code of codes) {
      const status = String(ORDERBOOK_ERRORS[code].status);
      texts.set(status, [...(texts.get(status) ?? []), textOf(code, prefix)]);
    }
  }
  const all: Record<string, Answer> = { '200': success, ...others };
  for (const [status, anyOf] of texts) {
    const other = all[status];
    all[status] = {
      description: other?.description ?? 'one of these texts',
      content: { ...other?.content, [TEXT_TYPE]: { type: 'string', anyOf } },
    };
  }
  return all;
}

/** A plain text that reports success. */
export function plain(description: string, literal: string): Answer {
  return { description, content: { [TEXT_TYPE]: { type: 'string', const: literal } } };
}
