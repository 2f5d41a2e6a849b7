// Contracts of the routes that show books: /l2, /batchL2, /batchL2Cache, /l3, /topMakers.

import { TOPICS } from '../../../schemas/index.ts';
import { answers, json } from '../../contract/answers.ts';
import { list, nullable, object, ref, text } from '../../contract/json-schema.ts';
import type { RouteContract } from '../../contract/openapi.ts';
import { DEFAULT_MAKERS, FAILURE_PREFIX, MAX_ACCOUNTS, MAX_DEPTH, MAX_MAKERS, MAX_MARKETS } from '../limits.ts';
import { MARKET_FAILURES, MARKET_QUERY, SLOT_FAILURES } from './market-query.ts';

const TAGS = ['books'];

const includeIndicative = {
  type: 'string',
  default: 'false',
  description: 'true in any letter case lays the indicative quotes over the book; anything else does not',
};
const atSlot = {
  type: 'string',
  pattern: '^\\d{1,15}$',
  description:
    'the book as it was published at this slot, not together with includeIndicative, for as long as changes of books are kept ' +
    `(${TOPICS.bookViews.retention.hours} h); the earliest slot available is told in the error`,
};

const L2_QUERY = {
  ...MARKET_QUERY,
  depth: {
    type: 'integer',
    default: MAX_DEPTH,
    description: `price levels per side; more than ${MAX_DEPTH} and what is no number mean ${MAX_DEPTH}, negative means 0`,
  },
  includeIndicative,
  slot: atSlot,
};

export const L2_CONTRACT: RouteContract = {
  summary: 'Price levels of a market',
  tags: TAGS,
  query: { properties: L2_QUERY },
  answers: answers(json('the newest published book', ref('L2Book')), [
    { codes: [...MARKET_FAILURES, ...SLOT_FAILURES] },
  ]),
};

export const L3_CONTRACT: RouteContract = {
  summary: 'Resting orders of a market',
  tags: TAGS,
  query: { properties: { ...MARKET_QUERY, includeIndicative, slot: atSlot } },
  answers: answers(json('every visible resting order', ref('L3Book')), [
    { codes: [...MARKET_FAILURES, ...SLOT_FAILURES, 'noL3'] },
  ]),
};

function listOf(name: string): object {
  return {
    type: 'string',
    description: `values of ${name} for each market, separated by commas, not trimmed; where given, as many as in every other list`,
  };
}

export const BATCH_L2_CONTRACT: RouteContract = {
  summary: 'Price levels of several markets',
  description: `At most ${MAX_MARKETS} markets. One market that fails fails the whole request; of several failures the last is told.`,
  tags: TAGS,
  query: {
    properties: {
      ...Object.fromEntries(
        ['marketName', 'marketIndex', 'marketType', 'depth'].map((name) => [name, listOf(`${name} as in /l2`)]),
      ),
      includeIndicative: listOf('includeIndicative, where only the exact text true counts'),
      ...Object.fromEntries(
        ['includeVamm', 'includePhoenix', 'includeOpenbook', 'includeOracle'].map((name) => [
          name,
          listOf(`${name}, which changes nothing`),
        ]),
      ),
    },
  },
  answers: answers(json('books in the order asked for', object({ l2s: list(ref('L2Book')) })), [
    { codes: ['batchLengths', 'batchTooLong'] },
    { codes: MARKET_FAILURES, prefix: FAILURE_PREFIX },
  ]),
};

const makerAccount = object({
  userAccountPubKey: ref('PublicKey'),
  accountBase64: nullable(
    text(
      `bytes of the account on the chain; null when they cannot be read, and beyond the first ${MAX_ACCOUNTS} makers`,
    ),
  ),
});

export const TOP_MAKERS_CONTRACT: RouteContract = {
  summary: 'Makers of the best resting orders of one side',
  tags: TAGS,
  query: {
    required: ['side'],
    properties: {
      ...MARKET_QUERY,
      side: { type: 'string', enum: ['bid', 'ask'], description: 'side of the book' },
      limit: {
        type: 'integer',
        default: DEFAULT_MAKERS,
        description: `makers at most; leading digits count, negative means 0, more than ${MAX_MAKERS} means that`,
      },
      includeAccounts: {
        type: 'string',
        default: 'false',
        description: 'true in any letter case adds the bytes of each account',
      },
    },
  },
  answers: answers(
    json('user accounts, best first, each once', {
      anyOf: [list(ref('PublicKey')), list(makerAccount, 'with includeAccounts=true')],
    }),
    [{ codes: [...MARKET_FAILURES, 'sideUnknown', 'limitNotANumber'] }],
  ),
};
