// Contracts of the routes that show books: /l2, /batchL2, /batchL2Cache, /l3, /topMakers.

import { answers, json } from '../../contract/answers.ts';
import { list, nullable, object, ref, text } from '../../contract/json-schema.ts';
import type { RouteContract } from '../../contract/openapi.ts';
import { FAILURE_PREFIX, MAX_ACCOUNTS, MAX_MARKETS } from '../limits.ts';
import { BATCH_L2, BOOK, INDICATIVE, MARKET, SLOT, TOP_MAKERS } from '../parameters.ts';
import { MARKET_FAILURES, SLOT_FAILURES } from './failures.ts';

const TAGS = ['books'];

export const L2_CONTRACT = {
  summary: 'Price levels of a market',
  tags: TAGS,
  parameters: { ...BOOK, slot: SLOT },
  answers: answers(json('the newest published book', ref('L2Book')), [
    { codes: [...MARKET_FAILURES, ...SLOT_FAILURES] },
  ]),
} satisfies RouteContract;

export const L3_CONTRACT = {
  summary: 'Resting orders of a market',
  tags: TAGS,
  parameters: { ...MARKET, includeIndicative: INDICATIVE, slot: SLOT },
  answers: answers(json('every visible resting order', ref('L3Book')), [
    { codes: [...MARKET_FAILURES, ...SLOT_FAILURES, 'noL3'] },
  ]),
} satisfies RouteContract;

export const BATCH_L2_CONTRACT = {
  summary: 'Price levels of several markets',
  description: `At most ${MAX_MARKETS} markets. One market that fails fails the whole request; of several failures the last is told.`,
  tags: TAGS,
  parameters: BATCH_L2,
  answers: answers(json('books in the order asked for', object({ l2s: list(ref('L2Book')) })), [
    { codes: ['batchLengths', 'batchTooLong'] },
    { codes: MARKET_FAILURES, prefix: FAILURE_PREFIX },
  ]),
} satisfies RouteContract;

const makerAccount = object({
  userAccountPubKey: ref('PublicKey'),
  accountBase64: nullable(
    text(
      `bytes of the account on the chain; null when they cannot be read, and beyond the first ${MAX_ACCOUNTS} makers`,
    ),
  ),
});

export const TOP_MAKERS_CONTRACT = {
  summary: 'Makers of the best resting orders of one side',
  tags: TAGS,
  parameters: TOP_MAKERS,
  answers: answers(
    json('user accounts, best first, each once', {
      anyOf: [list(ref('PublicKey')), list(makerAccount, 'with includeAccounts=true')],
    }),
    [{ codes: [...MARKET_FAILURES, 'sideUnknown', 'limitNotANumber'] }],
  ),
} satisfies RouteContract;
