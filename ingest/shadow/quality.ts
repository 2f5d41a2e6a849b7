// Tracks the quality of ingest's sources per market: last slot and time, gaps, comparisons. Writes to `views.quality` at
// most once a second; counts continue over restarts.

import { type EventLog, type Logger, readToEnd } from '../../platform/index.ts';
import {
  decodeMessage,
  encodeMessage,
  type FeedQuality,
  type LiveSource,
  type MarketRef,
  marketKey,
  newQuality,
  qualityKey,
  TOPICS,
} from '../../schemas/index.ts';
import type { GapCounts } from '../gaps.ts';
import type { ShadowReport } from './check.ts';

/** `shadow` is the comparison of accounts with the chain. */
const INGEST_SOURCES = ['user', 'clob', 'market', 'oracle', 'trades', 'shadow'] as const;
export type IngestSource = (typeof INGEST_SOURCES)[number];
/** Sources that a lost connection interrupts. */
const ACCOUNT_SOURCES: readonly IngestSource[] = ['user', 'clob', 'market', 'oracle'];
/** Key of the list of live sources. */
const LIVE_SOURCES_KEY = 'live-sources';

type Row = { -readonly [K in keyof FeedQuality]: FeedQuality[K] };

export class IngestQuality {
  readonly #log: EventLog;
  readonly #logger: Logger;
  readonly #now: () => number;
  readonly #markets = new Map<string, Map<IngestSource, Row>>();
  readonly #changed = new Set<Row>();
  /** Live sources that are not written yet; null: none. */
  #sources: readonly LiveSource[] | null = null;
  /** Whether the log lists any. */
  #hasSources = false;
  /** Gaps of this process that are already counted. */
  #gapsFound = 0;

  /** `now` gives unix milliseconds. */
  constructor(log: EventLog, logger: Logger, now: () => number = Date.now) {
    this.#log = log;
    this.#logger = logger;
    this.#now = now;
  }

  /** Loads the counts of earlier processes. */
  async load(): Promise<void> {
    await readToEnd({ log: this.#log, topic: TOPICS.qualityViews, partition: 0 }, ({ value }) => {
      const message = decodeMessage(value);
      if (message.name === 'LiveSources') this.#hasSources = message.value.sources.length > 0;
      if (message.name !== 'FeedQuality') return;
      const source = INGEST_SOURCES.find((one) => one === message.value.source);
      if (source) Object.assign(this.#row(message.value, source), message.value);
    });
  }

  /** Reports an event of a source. */
  seen(market: MarketRef, source: IngestSource, slot: number): void {
    const row = this.#row(market, source);
    row.events += 1;
    row.atMs = this.#now();
    if (slot > row.slot) row.slot = slot;
    this.#changed.add(row);
  }

  /**
   * Reports the list of gaps. Nobody knows which market a missing transaction concerns, so all open gaps count for each
   * market. This also corrects counts of earlier processes.
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
   * Opens a gap of accounts: the connection was lost, cannot be made, or no process ran. One outage is one gap, however
   * often it is reported and over restarts.
   */
  disconnected(): void {
    this.#count(ACCOUNT_SOURCES, ({ gapsFound, gapsFilled }) => ({
      gapsFound: Math.max(gapsFound, gapsFilled + 1),
      gapsFilled,
    }));
  }

  /** Closes the gap of accounts: all accounts have been read. */
  caughtUp(): void {
    this.#count(ACCOUNT_SOURCES, ({ gapsFound }) => ({ gapsFound, gapsFilled: gapsFound }));
  }

  /** Reports a comparison of accounts. */
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

  /** Reports the live sources that run at once; none while one runs alone. */
  sources(sources: readonly LiveSource[]): void {
    if (sources.length > 0 || this.#hasSources) this.#sources = sources;
    this.#hasSources = sources.length > 0;
  }

  /** Writes changes since the last call. When the log is unavailable, a later call writes them. */
  async flush(): Promise<void> {
    const rows = [...this.#changed];
    const sources = this.#sources;
    if (rows.length === 0 && sources === null) return;
    this.#changed.clear();
    this.#sources = null;
    const records = rows.map((row) => ({
      key: qualityKey(row),
      value: encodeMessage('FeedQuality', row),
    }));
    if (sources !== null) {
      const value = encodeMessage('LiveSources', { atMs: this.#now(), sources });
      records.push({ key: LIVE_SOURCES_KEY, value });
    }
    try {
      await this.#log.append(TOPICS.qualityViews, records);
    } catch (error) {
      for (const row of rows) this.#changed.add(row);
      this.#sources ??= sources;
      this.#logger.warn({ err: error }, 'quality not written');
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
      row = newQuality(market, source);
      rows.set(source, row);
    }
    return row;
  }
}
