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
import type { GapCounts } from '../gaps.ts';
import type { ShadowReport } from './check.ts';

/** `shadow` is the comparison of accounts with the chain. */
const INGEST_SOURCES = ['user', 'clob', 'market', 'oracle', 'trades', 'shadow'] as const;
export type IngestSource = (typeof INGEST_SOURCES)[number];
/** What a lost connection interrupts. */
const ACCOUNT_SOURCES: readonly IngestSource[] = ['user', 'clob', 'market', 'oracle'];
const READ_RECORDS = 1_000;

type Row = { -readonly [K in keyof FeedQuality]: FeedQuality[K] };

export class IngestQuality {
  readonly #log: EventLog;
  readonly #logger: Logger;
  readonly #now: () => number;
  readonly #markets = new Map<string, Map<IngestSource, Row>>();
  readonly #changed = new Set<Row>();
  /** Gaps of this process that are counted already. */
  #gapsFound = 0;

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

  /**
   * How the list of gaps stands in the log. Nobody knows which market misses what, so each misses all that is open: what
   * a row counts as found and not as filled is made to agree, whatever an earlier process left there.
   */
  transactions({ found, open }: GapCounts): void {
    const more = found - this.#gapsFound;
    this.#gapsFound = found;
    this.#count(['trades'], (row) => {
      const gapsFound = Math.max(row.gapsFound + more, row.gapsFilled + open);
      return { gapsFound, gapsFilled: gapsFound - open };
    });
  }

  /**
   * Accounts may have changed unseen: the connection was lost, cannot be made, or nobody listened since an earlier process.
   * One outage is one gap, however often it is told and over restarts.
   */
  disconnected(): void {
    this.#count(ACCOUNT_SOURCES, ({ gapsFound, gapsFilled }) => ({
      gapsFound: Math.max(gapsFound, gapsFilled + 1),
      gapsFilled,
    }));
  }

  /** All accounts have been read: nothing is open any more. */
  caughtUp(): void {
    this.#count(ACCOUNT_SOURCES, ({ gapsFound }) => ({ gapsFound, gapsFilled: gapsFound }));
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

  #count(sources: readonly IngestSource[], counts: (row: Row) => Pick<Row, 'gapsFound' | 'gapsFilled'>): void {
    for (const rows of this.#markets.values()) {
      for (const source of sources) {
        const row = rows.get(source);
        if (!row) continue;
        const { gapsFound, gapsFilled } = counts(row);
        if (row.gapsFound === gapsFound && row.gapsFilled === gapsFilled) continue;
        Object.assign(row, { gapsFound, gapsFilled });
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
