// GET /quality: per market and source how fresh and how sound the data are, and what comparisons with the chain found.

import type { FastifyInstance } from 'fastify';
import type { FeedQuality, MarketView } from '../../../schemas/index.ts';
import { QUALITY_CONTRACT, QUALITY_SOURCES } from '../contracts/service.ts';
import { serve } from '../route.ts';
import { selectMarket } from '../selection.ts';
import type { OrderbookServices } from '../services.ts';

const SELECTING = ['marketName', 'marketIndex', 'marketType'] as const;

export function qualityRoute(app: FastifyInstance, { reader, quality }: OrderbookServices): void {
  serve(app, '/quality', QUALITY_CONTRACT, async (given) => {
    const isOne = SELECTING.some((name) => given(name) !== undefined);
    const markets = isOne ? [selectMarket(reader.markets, given)] : reader.markets.list();
    const nowMs = reader.now();
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
      };
    };
    return { ts: nowMs, slot: reader.newestSlot, markets: markets.map(body) };
  });
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
