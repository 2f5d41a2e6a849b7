// GET /quality: per market and source, how fresh and how sound the data are, and the results of the comparisons with the chain.

import type { FastifyInstance } from 'fastify';
import { type FeedQuality, type LiveSources, type MarketView, marketKey } from '../../../schemas/index.ts';
import { answers, json } from '../../http/contract/answers.ts';
import { marketIndex, marketType } from '../../http/contract/books.ts';
import { choice, count, flag, list, nullable, object, text } from '../../http/contract/json-schema.ts';
import type { RouteContract } from '../../http/contract/openapi.ts';
import { MARKET, MARKET_FAILURES, selectMarket } from '../parameters.ts';
import { serve } from '../route.ts';
import type { OrderbookServices } from '../services.ts';
import { ACCOUNT_RECORDS, MARKET_RECORDS, recordsOf } from './quality-records.ts';

const TAGS = ['service'];

const source = object({
  slot: nullable(count('newest slot of the source; null before the first')),
  msSinceLastEvent: nullable(count('milliseconds since its newest event arrived; null before the first')),
  events: count('events received'),
  gapsFound: count(
    'gaps found: outages, each once, including those between two runs of ingest; for trades, missing transactions',
  ),
  gapsFilled: count('gaps whose accounts or transactions have all been read since'),
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

/** In the order of the answer. Each is present even before its first event. */
const QUALITY_SOURCES = ['user', 'clob', 'market', 'oracle', 'trades'] as const;

const marketQuality = object({
  marketName: text('symbol in upper case'),
  marketType,
  marketIndex,
  epoch: nullable(count('epoch of the published book; null before the first')),
  seq: nullable(count('sequence number in the epoch')),
  slot: nullable(count('slot of the published book')),
  sources: object(Object.fromEntries(QUALITY_SOURCES.map((name) => [name, source]))),
  checks: object({
    accounts: check(
      'bytes of every account in a fresh snapshot of the chain against the accounts of ingest at its slot',
    ),
    book: check(
      'open orders, market, oracle, levels, vAMM and queue rebuilt from such a snapshot against the book and its publications',
    ),
    view: check('the book of this process against its published snapshots, since the start of the process'),
  }),
  records: MARKET_RECORDS,
});

const liveSource = object({
  name: text('host and port'),
  kind: choice(['grpc', 'pubsub']),
  role: choice(['leader', 'follower', 'down']),
  slot: nullable(count('newest complete slot; null before the first')),
  lagSlots: count('slots behind the first of all sources'),
  missingAccounts: count('account changes that another source delivered and this one did not'),
  missingTransactions: count('transactions that another source delivered and this one did not'),
  contradictions: count("accounts and blocks of a slot that differ from another source's; they count for both"),
  faults: count('missing or other data that a read of the chain proved'),
  lying: flag('whether so many faults are proven that the source does not lead any more'),
  reason: nullable(text('newest proven fault; null without one')),
  msSinceReport: count('milliseconds since ingest reported this'),
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
        slot: nullable(count('newest known slot of the chain')),
        liveSources: list(liveSource, 'sources that run at once; empty while one runs alone'),
        markets: list(marketQuality),
        accountRecords: ACCOUNT_RECORDS,
      }),
    ),
    [{ codes: MARKET_FAILURES }],
  ),
} satisfies RouteContract;

const SELECTORS = ['marketName', 'marketIndex', 'marketType'] as const;

export function qualityRoute(app: FastifyInstance, { reader, quality, coverage }: OrderbookServices): void {
  serve(app, '/quality', QUALITY_CONTRACT, async (given) => {
    const isOne = SELECTORS.some((name) => given(name) !== undefined);
    const markets = isOne ? [selectMarket(reader.markets, given)] : reader.markets.list();
    const nowMs = reader.now();
    const records = await recordsOf(coverage);
    const body = (market: MarketView) => {
      const rows = quality?.of(market) ?? new Map<string, FeedQuality>();
      const book = reader.book(market);
      const head = book?.head;
      return {
        marketName: market.symbol.toUpperCase(),
        marketType: market.marketType,
        marketIndex: market.marketIndex,
        epoch: head?.epoch ?? null,
        seq: head?.seq ?? null,
        slot: head?.slot ?? null,
        sources: Object.fromEntries(QUALITY_SOURCES.map((source) => [source, sourceBody(rows.get(source), nowMs)])),
        checks: {
          accounts: checkBody(rows.get('shadow')),
          book: checkBody(rows.get('book')),
          view: book?.comparisons ?? checkBody(undefined),
        },
        records: records.of(marketKey(market)),
      };
    };
    return {
      ts: nowMs,
      slot: reader.newestSlot,
      liveSources: liveSourcesOf(quality?.liveSources, nowMs),
      markets: markets.map(body),
      accountRecords: records.accounts,
    };
  });
}

function liveSourcesOf(reported: LiveSources | undefined, nowMs: number) {
  const { atMs, sources } = reported ?? { atMs: 0, sources: [] };
  return sources.map(({ isLying, reason, slot, ...source }) => ({
    ...source,
    slot: slot > 0 ? slot : null,
    lying: isLying,
    reason: reason === '' ? null : reason,
    msSinceReport: Math.max(0, nowMs - atMs),
  }));
}

function sourceBody(row: FeedQuality | undefined, nowMs: number) {
  const isKnown = row !== undefined && row.atMs > 0;
  return {
    slot: isKnown ? row.slot : null,
    msSinceLastEvent: isKnown ? Math.max(0, nowMs - row.atMs) : null,
    events: row?.events ?? 0,
    gapsFound: row?.gapsFound ?? 0,
    gapsFilled: row?.gapsFilled ?? 0,
  };
}

function checkBody(row: FeedQuality | undefined) {
  return {
    comparisons: row?.checks ?? 0,
    differences: row?.differences ?? 0,
    lastSlot: row && row.checks > 0 ? row.checkSlot : null,
    lastResult: row?.checkResult ?? 'none',
  };
}
