// Query parameters that several routes share: descriptors by kind, the market of a request, and batch lists.

import { COMMITMENTS, type Commitment } from '../../platform/index.ts';
import type { MarketType, MarketView } from '../../schemas/index.ts';
import { MARKET_INDEX_MAX, MARKET_TYPES } from '../http/contract/books.ts';
import type { Given, Parameter } from '../http/contract/inputs.ts';
import { anyCase, type JsonSchema } from '../http/contract/json-schema.ts';
import { OrderbookError, type OrderbookErrorCode } from '../http/errors.ts';
import { lenientFlag, lenientInteger, type Query } from '../http/lenient.ts';
import type { MarketRegistry } from '../views/registry.ts';

/** A client asks for each market once. This bound keeps one batch answer at a few megabytes. */
export const MAX_MARKETS = 200;

/** The text as the client sent it. */
export function textParameter(schema: JsonSchema): Parameter<string | undefined> {
  return { isRequired: false, schema: { type: 'string', ...schema }, read: (text) => text };
}

/** One of several words in exact spelling. Throws OrderbookError with the code `refusal` for any other text. */
export function wordParameter<T extends string>(
  words: readonly T[],
  refusal: OrderbookErrorCode,
  description: string,
): Parameter<T> {
  return {
    isRequired: true,
    schema: { type: 'string', enum: words, description },
    read: (text) => {
      const found = words.find((word) => word === text);
      if (found === undefined) throw new OrderbookError(refusal);
      return found;
    },
  };
}

const COMMITMENT_WORDS: readonly (string | undefined)[] = COMMITMENTS;

/** Commitment of a book; confirmed when absent. Throws OrderbookError with the code commitmentUnknown. */
export const COMMITMENT: Parameter<Commitment> = {
  isRequired: false,
  schema: {
    type: 'string',
    enum: COMMITMENTS,
    default: 'confirmed',
    description: 'processed: the books that are one to three slots ahead, and undo what abandoned slots did',
  },
  read: (text) => {
    if (text === undefined) return 'confirmed';
    if (!COMMITMENT_WORDS.includes(text)) throw new OrderbookError('commitmentUnknown');
    return text as Commitment;
  },
};

/** A flag that `true` in any letter case sets. */
export function trueParameter(description: string): Parameter<boolean> {
  return {
    isRequired: false,
    schema: {
      type: 'string',
      default: 'false',
      description: `true in any letter case ${description}; anything else does not`,
    },
    read: lenientFlag,
  };
}

/**
 * A maximum count, clamped to 0..cap. Reads the leading digits of the text. A text without digits throws OrderbookError
 * with the code `refusal`, or means `fallback` when there is no such code.
 */
export function countParameter(
  what: string,
  {
    fallback,
    cap,
    refusal,
  }: { readonly fallback: number; readonly cap: number; readonly refusal?: OrderbookErrorCode },
): Parameter<number> {
  const rules = ['leading digits count', 'negative means 0', `more than ${cap} means ${cap}`];
  if (refusal === undefined) rules.push(`a text without digits means ${fallback}`);
  return {
    isRequired: false,
    schema: { type: 'integer', default: fallback, description: `${what}; ${rules.join(', ')}` },
    read: (text) => {
      const number = lenientInteger(text);
      if (number === null && refusal !== undefined && text !== undefined && text !== '')
        throw new OrderbookError(refusal);
      return Math.min(Math.max(number ?? fallback, 0), cap);
    },
  };
}

/** One value for each market of a batch, separated by commas, not trimmed. Undefined when absent. */
export function listParameter(description: string): Parameter<readonly string[] | undefined> {
  return { isRequired: false, schema: { type: 'string', description }, read: (text) => text?.split(',') };
}

const marketIndex: Parameter<number | null | undefined> = {
  isRequired: false,
  schema: {
    type: 'integer',
    minimum: 0,
    maximum: MARKET_INDEX_MAX,
    description: 'index of the market; needs marketType; leading digits count (7x is 7)',
  },
  read: (text) => {
    if (text === undefined) return undefined;
    const index = lenientInteger(text);
    return index !== null && index >= 0 && index <= MARKET_INDEX_MAX ? index : null;
  },
};

const marketType: Parameter<MarketType | null | undefined> = {
  isRequired: false,
  schema: anyCase(MARKET_TYPES, 'kind of market, in any letter case'),
  read: (text) => (text === undefined ? undefined : (MARKET_TYPES.find((type) => type === text.toLowerCase()) ?? null)),
};

/** These parameters name a market on every route. They read undefined when absent, null when the value is invalid. */
export const MARKET = {
  marketName: textParameter({
    description: 'symbol in any letter case, for example SOL-PERP; takes precedence over marketIndex and marketType',
  }),
  marketIndex,
  marketType,
};

/** Errors of `selectMarket`, in the order of its checks. */
export const MARKET_FAILURES = [
  'marketNameUnknown',
  'marketMissing',
  'marketTypeUnknown',
  'marketIndexUnknown',
] as const satisfies readonly OrderbookErrorCode[];

/**
 * The market named by `marketName`, else by `marketIndex` with `marketType`. An empty value counts as present.
 * Throws OrderbookError. Source: docs/internals/order-book-server.md, "Market selection".
 */
export function selectMarket(markets: MarketRegistry, given: Given<typeof MARKET>): MarketView {
  const name = given('marketName');
  if (name !== undefined) {
    const found = markets.byName(name);
    if (!found) throw new OrderbookError('marketNameUnknown');
    return found;
  }
  const marketIndex = given('marketIndex');
  const marketType = given('marketType');
  if (marketIndex === undefined || marketType === undefined) throw new OrderbookError('marketMissing');
  if (marketType === null) throw new OrderbookError('marketTypeUnknown');
  const found = marketIndex === null ? null : markets.get({ marketType, marketIndex });
  if (!found) throw new OrderbookError('marketIndexUnknown');
  return found;
}

export type Lists = Readonly<Record<string, Parameter<readonly string[] | undefined>>>;

/**
 * The query of each market of a batch: the n-th value of every list belongs to the n-th market. Throws OrderbookError when
 * lengths differ or exceed MAX_MARKETS. Source: docs/internals/order-book-server.md, "Batch lists".
 */
export function batchQueries<L extends Lists>(lists: L, given: Given<L>): readonly Query[] {
  const present = Object.keys(lists).flatMap((name): [string, readonly string[]][] => {
    const list = given(name);
    return list === undefined ? [] : [[name, list]];
  });
  const lengths = present.map(([, list]) => list.length);
  const count = Math.max(0, ...lengths);
  if (lengths.some((length) => length !== count)) throw new OrderbookError('batchLengths');
  if (count > MAX_MARKETS) throw new OrderbookError('batchTooLong');
  return Array.from({ length: count }, (_, at) =>
    Object.fromEntries(present.map(([name, list]) => [name, list[at] ?? ''])),
  );
}
