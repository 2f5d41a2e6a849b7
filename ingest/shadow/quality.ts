// What ingest knows of its sources, per market: last slot and time, gaps, comparisons. Told on `views.quality` at most once
// a second; a count goes on over restarts.

import type { EventLog, Logger } from '../../platform/index.ts';
import {
  decodeMessage,
  encodeMessage,
  type FeedQuality,
  type MarketRef,
  marketKey,
  TOPICS,
} from '../../schemas/index.ts';
import type { GapNotice } from '../source.ts';
import type { ShadowReport } from './check.ts';

/** `shadow` is the comparison of accounts with the chain. */
export const INGEST_SOURCES = ['user', 'clob', 'market', 'oracle', 'trades', 'shadow'] as const;
export type IngestSource = (typeof INGEST_SOURCES)[number];
/** What a lost connection interrupts. */
const ACCOUNT_SOURCES: readonly IngestSource[] = ['user', 'clob', 'market', 'oracle'];
const READ_RECORDS = 1_000;
/** Gaps remembered as not yet filled; older ones stay counted as found. */
const OPEN_GAPS_MAX = 1_000;

type Row = { -readonly [K in keyof FeedQuality]: FeedQuality[K] };

export class IngestQuality {
  readonly #log: EventLog;
  readonly #logger: Logger;
  readonly #now: () => number;
  readonly #markets = new Map<string, Map<IngestSource, Row>>();
  readonly #changed = new Set<Row>();
  readonly #openGaps = new Set<number>();
  #isAway = false;

  /** `now` gives unix milliseconds. */
  constructor(log: EventLog, logger: Logger, now: () => number = Date.now) {
    this.#log = log;
    this.#logger = logger;
    this.#now = now;
  }

  /** Goes on with what an earlier process counted. */
  async load(): Promise<void> {
    let { earliest: next } = await this.#log.bounds(TOPICS.qualityViews, 0);
    for (;;) {
      const records = await this.#log.read(TOPICS.qualityViews, 0, next, READ_RECORDS);
      const last = records.at(-1);
      if (!last) return;
      for (const { value } of records) {
        const message = decodeMessage(value);
        if (message.name !== 'FeedQuality') continue;
        const source = INGEST_SOURCES.find((one) => one === message.value.source);
        if (source) Object.assign(this.#row(message.value, source), message.value);
      }
      next = last.offset + 1n;
    }
  }

  /** An event of a source was taken in. */
  seen(market: MarketRef, source: IngestSource, slot: number): void {
    const row = this.#row(market, source);
    row.events += 1;
    row.atMs = this.#now();
    if (slot > row.slot) row.slot = slot;
    this.#changed.add(row);
  }

  /** Transactions were missing, or have been found; a gap is known by where it begins. */
  gap({ fromSlot, filled }: GapNotice): void {
    const isOpen = this.#openGaps.has(fromSlot);
    if (!filled && isOpen) return;
    if (filled) this.#openGaps.delete(fromSlot);
    else if (this.#openGaps.size < OPEN_GAPS_MAX) this.#openGaps.add(fromSlot);
    this.#count(['trades'], isOpen ? 0 : 1, filled ? 1 : 0);
  }

  /** The connection was lost: accounts may have changed unseen. */
  disconnected(): void {
    this.#isAway = true;
    this.#count(ACCOUNT_SOURCES, 1, 0);
  }

  /** All accounts have been read. */
  caughtUp(): void {
    if (this.#isAway) this.#count(ACCOUNT_SOURCES, 0, 1);
    this.#isAway = false;
  }

  /** A comparison of accounts was made. */
  compared({ markets, repaired, slot }: ShadowReport): void {
    for (const market of markets) {
      const row = this.#row(market, 'shadow');
      const differs = repaired.get(marketKey(market)) === 'accounts';
      row.checks += 1;
      row.events += 1;
      row.atMs = this.#now();
      row.slot = slot;
      row.checkSlot = slot;
      row.checkResult = differs ? 'differs' : 'equal';
      if (differs) {
        row.differences += 1;
        row.gapsFound += 1;
        row.gapsFilled += 1;
      }
      this.#changed.add(row);
    }
  }

  /** Writes what changed since the last call. A log that is away is told later. */
  async flush(): Promise<void> {
    if (this.#changed.size === 0) return;
    const rows = [...this.#changed];
    this.#changed.clear();
    const records = rows.map((row) => ({
      key: `${marketKey(row)}/${row.source}`,
      value: encodeMessage('FeedQuality', row),
    }));
    try {
      await this.#log.append(TOPICS.qualityViews, records);
    } catch (error) {
      for (const row of rows) this.#changed.add(row);
      this.#logger.warn({ err: error }, 'quality not told');
    }
  }

  #count(sources: readonly IngestSource[], found: number, filled: number): void {
    for (const rows of this.#markets.values()) {
      for (const source of sources) {
        const row = rows.get(source);
        if (!row) continue;
        row.gapsFound += found;
        row.gapsFilled += filled;
        this.#changed.add(row);
      }
    }
  }

  #row(market: MarketRef, source: IngestSource): Row {
    const key = marketKey(market);
    let rows = this.#markets.get(key);
    if (!rows) {
      rows = new Map();
      this.#markets.set(key, rows);
    }
    let row = rows.get(source);
    if (!row) {
      row = blankRow(market, source);
      rows.set(source, row);
    }
    return row;
  }
}

function blankRow({ marketType, marketIndex }: MarketRef, source: IngestSource): Row {
  return {
    marketType,
    marketIndex,
    source,
    slot: 0,
    atMs: 0,
    events: 0,
    gapsFound: 0,
    gapsFilled: 0,
    checks: 0,
    differences: 0,
    checkSlot: 0,
    checkResult: 'none',
    epoch: 0,
  };
}
