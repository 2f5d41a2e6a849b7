// The query parameters of the order-book server: how each is read, and what the contract says of it. Those of /auctionParams
// are in auction-request.ts.

import { type MarketType, TOPICS } from '../../schemas/index.ts';
import { MARKET_INDEX_MAX, MARKET_TYPES } from '../contract/books.ts';
import type { Parameter } from '../contract/inputs.ts';
import { anyCase, type JsonSchema } from '../contract/json-schema.ts';
import { OrderbookError, type OrderbookErrorCode } from '../errors.ts';
import { lenientFlag, lenientInteger } from '../lenient.ts';
import { DEFAULT_MAKERS, FEED_ID_MAX, MAX_DEPTH, MAX_FEEDS, MAX_MAKERS } from './limits.ts';

/** The text as it came. */
function textParameter(schema: JsonSchema): Parameter<string | undefined> {
  return { isRequired: false, schema: { type: 'string', ...schema }, read: (text) => text };
}

/** One of several words, exactly; anything else is refused. */
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

/** A flag that `true` in any letter case sets. */
function trueParameter(description: string): Parameter<boolean> {
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

/** How many at most: leading digits count, what lies past an end means that end. Without `refusal` no number is the default. */
function countParameter(
  what: string,
  {
    fallback,
    cap,
    refusal,
  }: { readonly fallback: number; readonly cap: number; readonly refusal?: OrderbookErrorCode },
): Parameter<number> {
  const rules = ['leading digits count', 'negative means 0', `more than ${cap} means ${cap}`];
  if (refusal === undefined) rules.push(`what is no number means ${fallback}`);
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

/** Values for each market of a batch: cut at commas, not trimmed; undefined when absent. */
function listParameter(description: string): Parameter<readonly string[] | undefined> {
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

/** Name a market, alike on every route; undefined when absent, null when it means nothing (selection.ts). */
export const MARKET = {
  marketName: textParameter({
    description: 'symbol in any letter case, for example SOL-PERP; counts before marketIndex and marketType',
  }),
  marketIndex,
  marketType,
};

export const DEPTH = countParameter('price levels per side', { fallback: MAX_DEPTH, cap: MAX_DEPTH });
export const INDICATIVE = trueParameter('lays the indicative quotes over the book');

const SLOT_TEXT = /^\d{1,15}$/;
export const SLOT: Parameter<number | undefined> = {
  isRequired: false,
  schema: {
    type: 'string',
    pattern: SLOT_TEXT.source,
    description:
      'the book as it was published at this slot, not together with includeIndicative, for as long as changes of books are kept ' +
      `(${TOPICS.bookViews.retention.hours} h); the earliest slot available is told in the error`,
  },
  read: (text) => {
    if (text === undefined) return undefined;
    if (!SLOT_TEXT.test(text)) throw new OrderbookError('slotMalformed');
    return Number(text);
  },
};

/** What is asked of a market's levels. */
export const BOOK = { ...MARKET, depth: DEPTH, includeIndicative: INDICATIVE };
/** The same in a batch: unlike `/l2`, only the exact text `true` asks for indicative quotes. */
export const BATCH_BOOK = {
  ...BOOK,
  includeIndicative: { ...INDICATIVE, read: (text: string | undefined) => text === 'true' },
};

const asInL2 = (name: string): string =>
  `values of ${name} for each market, separated by commas, not trimmed; where given, as many as in every other list`;
const changesNothing = (name: string) => listParameter(asInL2(`${name}, which changes nothing`));

/** Lists that take part in the length check; `grouping` and whatever else a client sends do not. */
export const BATCH_L2 = {
  marketName: listParameter(asInL2('marketName as in /l2')),
  marketIndex: listParameter(asInL2('marketIndex as in /l2')),
  marketType: listParameter(asInL2('marketType as in /l2')),
  depth: listParameter(asInL2('depth as in /l2')),
  includeIndicative: listParameter(asInL2('includeIndicative, where only the exact text true counts')),
  includeVamm: changesNothing('includeVamm'),
  includePhoenix: changesNothing('includePhoenix'),
  includeOpenbook: changesNothing('includeOpenbook'),
  includeOracle: changesNothing('includeOracle'),
};

export const TOP_MAKERS = {
  ...MARKET,
  side: wordParameter(['bid', 'ask'], 'sideUnknown', 'side of the book'),
  limit: countParameter('makers at most', { fallback: DEFAULT_MAKERS, cap: MAX_MAKERS, refusal: 'limitNotANumber' }),
  includeAccounts: trueParameter('adds the bytes of each account'),
};

/** The values are used as they came: no other spelling of a market is known. */
export const FEE_MARKET = {
  marketType: textParameter({ enum: MARKET_TYPES, description: 'kind of market, exactly' }),
  marketIndex: textParameter({ pattern: '^\\d{1,5}$', description: 'index of the market, exactly' }),
};

export const BATCH_FEE_MARKETS = {
  marketType: listParameter('kinds separated by commas, as many as indexes where both are given'),
  marketIndex: listParameter('indexes separated by commas'),
};

/** The whole text must be a number, unlike elsewhere; the empty text is 0. */
const wholeNumber: Parameter<number> = {
  isRequired: true,
  schema: {
    type: 'number',
    description: 'index of the perp market; the whole text must be a number, the empty text is 0',
  },
  read: (text) => {
    const number = text === undefined ? Number.NaN : Number(text);
    if (!Number.isFinite(number)) throw new OrderbookError('pnlMarketMissing');
    return number;
  },
};
export const PNL_MARKET = { marketIndex: wholeNumber };

const FEED_ID = /^\d{1,10}$/;
/** Ids of the list, each once. */
const feedIds: Parameter<readonly number[]> = {
  isRequired: true,
  schema: {
    type: 'string',
    description: `ids from 0 to ${FEED_ID_MAX} separated by commas, at most ${MAX_FEEDS} different ones`,
  },
  read: (list) => {
    if (list === undefined || list === '') throw new OrderbookError('feedIdsMissing');
    const ids = new Set<number>();
    for (const text of list.split(',')) {
      const id = FEED_ID.test(text) ? Number(text) : Number.NaN;
      if (!(id <= FEED_ID_MAX)) throw new OrderbookError('feedIdsUnusable');
      ids.add(id);
    }
    if (ids.size > MAX_FEEDS) throw new OrderbookError('feedIdsUnusable');
    return [...ids];
  },
};
export const FEEDS = { feedIds };
