// Contracts of the routes that speak of the service itself: health, quality, and the contracts.

import { answers, json, plain } from '../../contract/answers.ts';
import { marketIndex, marketType } from '../../contract/books.ts';
import { choice, count, list, nullable, object, text } from '../../contract/json-schema.ts';
import type { RouteContract } from '../../contract/openapi.ts';
import { MARKET } from '../parameters.ts';
import { MARKET_FAILURES } from './failures.ts';

const TAGS = ['service'];

export const HEALTH_CONTRACT = {
  summary: 'Whether slots flow',
  tags: TAGS,
  parameters: {},
  answers: answers(plain('slots advance', 'OK'), [{ codes: ['stalled'] }]),
} satisfies RouteContract;

export const STARTUP_CONTRACT = {
  summary: 'Whether books can be served',
  tags: TAGS,
  parameters: {},
  answers: answers(plain('books can be served', 'OK'), [{ codes: ['notReady'] }]),
} satisfies RouteContract;

const source = object({
  slot: nullable(count('newest slot of the source; null before the first')),
  msSinceLastEvent: nullable(count('milliseconds since its newest event was taken in; null before the first')),
  events: count('events taken in'),
  gapsFound: count(
    'gaps found: outages, each once, also those between two runs of ingest; for trades, missing transactions',
  ),
  gapsFilled: count('of these, gaps whose accounts or transactions have all been read since'),
});

const check = (description: string) =>
  object(
    {
      comparisons: count('comparisons made'),
      differences: count('comparisons that found a difference'),
      lastSlot: nullable(count('slot of the newest comparison; null before the first')),
      lastResult: choice(['none', 'equal', 'differs']),
    },
    { description },
  );

/** In the order in which they are shown; each is shown even before its first event. */
export const QUALITY_SOURCES = ['user', 'clob', 'market', 'oracle', 'trades'] as const;

const marketQuality = object({
  marketName: text('symbol in upper case'),
  marketType,
  marketIndex,
  epoch: nullable(count('epoch of the published book; null before the first')),
  seq: nullable(count('sequence number in the epoch')),
  slot: nullable(count('slot of the published book')),
  sources: object(Object.fromEntries(QUALITY_SOURCES.map((name) => [name, source]))),
  checks: object({
    accounts: check('bytes of every account of a fresh snapshot of the chain against what was held at its slot'),
    book: check(
      'open orders, market, oracle, levels, vAMM and queue rebuilt from such a snapshot against the book and what was published of it',
    ),
    view: check('the book served by this process against published snapshots of it, since the process began'),
  }),
});

export const QUALITY_CONTRACT = {
  summary: 'How fresh and how sound the data are, by market and source',
  description: 'Without a market, every market.',
  tags: TAGS,
  parameters: MARKET,
  answers: answers(
    json(
      'sources and comparisons',
      object({
        ts: count('Unix milliseconds of the answer'),
        slot: nullable(count('newest slot of the chain that is known')),
        markets: list(marketQuality),
      }),
    ),
    [{ codes: MARKET_FAILURES }],
  ),
} satisfies RouteContract;

function documentContract(summary: string) {
  return {
    summary,
    tags: TAGS,
    parameters: {},
    answers: { '200': json('the document', { type: 'object' }) },
  } satisfies RouteContract;
}

export const OPENAPI_CONTRACT = documentContract('This document (OpenAPI 3.1)');
export const ASYNCAPI_CONTRACT = documentContract('The WebSocket channels (AsyncAPI 3)');
