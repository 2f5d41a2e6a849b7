// The topic catalogue: every stream of the log as data. Adapters create topics from it, `slotbook topics` prints it.

export type Retention = { readonly kind: 'time'; readonly hours: number } | { readonly kind: 'compact' };

export interface Topic {
  readonly name: string;
  /** What the key of a record is; all records of one key are in one partition, in order. */
  readonly key:
    | 'market'
    | 'market or account'
    | 'market and source'
    | 'market and bucket'
    | 'account'
    | 'reason'
    | 'role and mark';
  readonly partitions: number;
  readonly retention: Retention;
  /** Whether a size cap of the embedded log may remove its oldest records, and in which turn; absent: it may not. */
  readonly sizeCap?: 'first' | 'last';
  /** Avro record names that may appear, or `events` for every program event. */
  readonly schemas: readonly string[];
  readonly purpose: string;
}

const WEEK_HOURS = 168;
const YEAR_HOURS = 8760;

export const TOPICS = {
  events: {
    name: 'events',
    key: 'market or account',
    partitions: 4,
    retention: { kind: 'time', hours: YEAR_HOURS },
    schemas: ['events'],
    purpose: 'every decoded program event, once, in chain order per key',
  },
  book: {
    name: 'book',
    key: 'market',
    partitions: 4,
    retention: { kind: 'time', hours: WEEK_HOURS },
    sizeCap: 'last',
    schemas: [
      'BookOrders',
      'BookMarket',
      'BookOracle',
      'BookSlot',
      'BookTime',
      'BookSnapshotBegin',
      'BookSnapshotEnd',
      'BookRepair',
      'BookCheck',
    ],
    purpose: 'all a book reducer needs of a market, in one order',
  },
  positions: {
    name: 'positions',
    key: 'market',
    partitions: 4,
    retention: { kind: 'time', hours: WEEK_HOURS },
    sizeCap: 'last',
    schemas: ['PositionState', 'PositionMarket', 'BookSlot', 'BookSnapshotBegin', 'BookSnapshotEnd'],
    purpose: 'perp positions as they change, and what their P&L depends on, in one order',
  },
  bookViews: {
    name: 'views.book',
    key: 'market',
    partitions: 4,
    retention: { kind: 'time', hours: 24 },
    sizeCap: 'first',
    schemas: ['BookViewDiff', 'BookViewSnapshot'],
    purpose: 'sequenced changes of the published books',
  },
  marketViews: {
    name: 'views.markets',
    key: 'market',
    partitions: 1,
    retention: { kind: 'compact' },
    schemas: ['MarketView'],
    purpose: 'the newest description of each market',
  },
  tradeViews: {
    name: 'views.trades',
    key: 'market',
    partitions: 4,
    retention: { kind: 'time', hours: 24 },
    sizeCap: 'first',
    schemas: ['TradeView'],
    purpose: 'fills as the trades channel publishes them',
  },
  quotes: {
    name: 'quotes',
    key: 'market',
    partitions: 4,
    retention: { kind: 'time', hours: 1 },
    sizeCap: 'first',
    schemas: ['MakerQuotes'],
    purpose: 'indicative quotes as market makers sent them, with the time they came in',
  },
  feeViews: {
    name: 'views.fees',
    key: 'market',
    partitions: 1,
    retention: { kind: 'compact' },
    schemas: ['FeeLevels'],
    purpose: 'the newest priority fees of each market',
  },
  rankingViews: {
    name: 'views.rankings',
    key: 'market',
    partitions: 1,
    retention: { kind: 'compact' },
    schemas: ['PnlRanking'],
    purpose: 'the newest ranking of claimable P&L of each perp market',
  },
  fillQualityViews: {
    name: 'views.fill-quality',
    key: 'market',
    partitions: 1,
    retention: { kind: 'compact' },
    schemas: ['FillQualityView'],
    purpose: 'rolling mean distance of taker fills from the oracle',
  },
  qualityViews: {
    name: 'views.quality',
    key: 'market and source',
    partitions: 1,
    retention: { kind: 'compact' },
    schemas: ['FeedQuality'],
    purpose: 'how each source of each market stands: last slot, gaps, comparisons',
  },
  samples: {
    name: 'samples',
    key: 'market',
    partitions: 4,
    retention: { kind: 'time', hours: YEAR_HOURS },
    schemas: ['MarketSample'],
    purpose: 'how each market stood, by block time, about every 50 slots',
  },
  vaults: {
    name: 'vaults',
    key: 'account',
    partitions: 1,
    retention: { kind: 'compact' },
    schemas: ['VaultState', 'VaultDepositorState'],
    purpose: 'the newest state of every vault and of every deposit in one',
  },
  candleViews: {
    name: 'views.candles',
    key: 'market and bucket',
    partitions: 4,
    retention: { kind: 'compact' },
    schemas: ['CandleView'],
    purpose: 'the newest state of every candle; all of a market are in the partition of the market',
  },
  summaryViews: {
    name: 'views.summaries',
    key: 'market',
    partitions: 1,
    retention: { kind: 'compact' },
    schemas: ['MarketSummary'],
    purpose: 'what the last 24 hours of each market come to',
  },
  writers: {
    name: 'writers',
    key: 'role and mark',
    partitions: 1,
    retention: { kind: 'compact' },
    schemas: ['WriterMark'],
    purpose: 'which process writes for a role that only one may write for; the newest that began',
  },
  deadLetters: {
    name: 'dead-letters',
    key: 'reason',
    partitions: 1,
    retention: { kind: 'time', hours: WEEK_HOURS },
    schemas: ['DeadLetter'],
    purpose: 'what could not be read, with the reason and the bytes',
  },
} as const satisfies Record<string, Topic>;

export const TOPIC_LIST: readonly Topic[] = Object.values(TOPICS);

/**
 * Partition of a key: FNV-1a over its UTF-8 bytes. Both adapters are given the partition, so that a market lies in the
 * same partition number of `book`, `views.book` and `views.trades` whatever the log is.
 */
export function partitionOf(topic: Topic, key: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(key, 'utf8')) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash % topic.partitions;
}
