// Contracts of /priorityFees, /batchPriorityFees, /unsettledPnlUsers and /oracleLazer.

import { answers, JSON_TYPE, json } from '../../contract/answers.ts';
import { FEE_LEVELS, FEE_MEMBERS, marketIndex, marketType } from '../../contract/books.ts';
import { list, nullable, number, object, ref, text } from '../../contract/json-schema.ts';
import type { RouteContract } from '../../contract/openapi.ts';
import { FORBIDDEN_ORIGIN } from '../../errors.ts';
import { FEED_ID_MAX, MAX_MARKETS } from '../limits.ts';
import { BATCH_FEE_MARKETS, FEE_MARKET, FEEDS, PNL_MARKET } from '../parameters.ts';

const FEES = ['fees'];

export const PRIORITY_FEES_CONTRACT = {
  summary: 'Priority fees of a market',
  description: 'The newest refresh; fees are refreshed every 5 s by default.',
  tags: FEES,
  parameters: FEE_MARKET,
  answers: answers(json('the six levels', object({ ...FEE_MEMBERS, marketType, marketIndex })), [
    { codes: ['notFound'] },
  ]),
} satisfies RouteContract;

export const BATCH_PRIORITY_FEES_CONTRACT = {
  summary: 'Priority fees of several markets',
  description: `At most ${MAX_MARKETS} markets.`,
  tags: FEES,
  parameters: BATCH_FEE_MARKETS,
  answers: answers(
    json(
      'in the order asked for',
      list(
        object(
          {
            ...FEE_MEMBERS,
            marketType: text('as asked for'),
            marketIndex: nullable(number('as asked for; null when it is no number')),
          },
          {
            optional: [...FEE_LEVELS, 'marketType', 'marketIndex'],
            description: 'without levels where no fees are known',
          },
        ),
      ),
    ),
    [{ codes: ['batchLengths', 'batchTooLong', 'notFound'] }],
  ),
} satisfies RouteContract;

const rankedUser = object({
  userPubKey: ref('PublicKey'),
  pnl: number('claimable profit or loss in whole quote units (1.5 is 1.5 USDC)'),
});

export const UNSETTLED_PNL_CONTRACT = {
  summary: 'Largest claimable gains and losses of a perp market',
  tags: ['users'],
  parameters: PNL_MARKET,
  answers: answers(
    json(
      'both ends of the ranking; empty where none is known',
      object({
        marketIndex: number('as asked for'),
        gainers: list(rankedUser, 'largest gain first'),
        losers: list(rankedUser, 'largest loss first'),
      }),
    ),
    [{ codes: ['pnlMarketMissing'] }],
  ),
} satisfies RouteContract;

const feed = object(
  {
    priceFeedId: { type: 'integer', minimum: 0, maximum: FEED_ID_MAX },
    price: text('integer, to be scaled by 10^exponent'),
    bestAskPrice: text('integer, to be scaled by 10^exponent'),
    bestBidPrice: text('integer, to be scaled by 10^exponent'),
    exponent: { type: 'integer', description: 'power of ten' },
  },
  {
    optional: ['price', 'bestAskPrice', 'bestBidPrice', 'exponent'],
    description: 'what the provider tells of the feed',
  },
);

export const ORACLE_LAZER_CONTRACT = {
  summary: 'Prices of oracle feeds, for the operator’s own clients',
  description: 'Let in are requests with the internal secret, and pages on subdomains of the operator over https.',
  tags: ['oracles'],
  parameters: FEEDS,
  headers: {
    properties: {
      Origin: { type: 'string', description: 'page of the operator' },
      Referer: { type: 'string', description: 'the same; counts only without Origin' },
    },
  },
  security: ['internalSecret', null],
  answers: answers(
    json(
      'feeds in the order asked for, each once',
      object(
        { data: list(feed), solana: text('the provider’s signed message for Solana, hex') },
        { optional: ['solana'] },
      ),
    ),
    [{ codes: ['feedIdsMissing', 'feedIdsUnusable', 'notFound'] }],
    {
      [String(FORBIDDEN_ORIGIN.status)]: {
        description: 'neither the secret nor an allowed page',
        content: { [JSON_TYPE]: object({ error: { const: FORBIDDEN_ORIGIN.error } }) },
      },
    },
  ),
} satisfies RouteContract;
