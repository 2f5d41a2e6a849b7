// The topic catalogue: every stream of the log as data. Adapters create topics from it; `slotbook topics` prints it.
// Long, because it is one table.

export type Retention = { readonly kind: 'time'; readonly hours: number } | { readonly kind: 'compact' };

export interface Topic {
  readonly name: string;
  /** Meaning of a record's key. Records with the same key share a partition and stay in order. */
  readonly key:
    | 'market'
    | 'market or account'
    | 'market and source'
    | 'market and bucket'
    | 'account'
    | 'account or market'
    | 'wallet'
    | 'wallet and device'
    | 'export job'
    | 'reason'
    | 'stream'
    | 'backfill'
    | 'role and mark'
    | 'signature'
    | 'chain'
    | 'slot and transactions';
  readonly partitions: number;
  readonly retention: Retention;
  /** Order in which a size cap of the embedded log removes old records; absent: never. */
  readonly sizeCap?: 'first' | 'last';
  /** Names of its Avro records, or `events` for every program event. */
  readonly schemas: readonly string[];
  readonly purpose: string;
}

const DAY_HOURS = 24;
const WEEK_HOURS = 168;
const QUARTER_HOURS = 2160;
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
    purpose: "all inputs of a market's book, in one order",
  },
  processedBook: {
    name: 'book.processed',
    key: 'market',
    partitions: 4,
    retention: { kind: 'time', hours: DAY_HOURS },
    sizeCap: 'first',
    schemas: [
      'BookOrders',
      'BookMarket',
      'BookOracle',
      'BookSlot',
      'BookSnapshotBegin',
      'BookSnapshotEnd',
      'BookRevert',
    ],
    purpose: "all inputs of a market's book at commitment processed, in one order, with their reverts",
  },
  processedBookViews: {
    name: 'views.book.processed',
    key: 'market',
    partitions: 4,
    retention: { kind: 'time', hours: DAY_HOURS },
    sizeCap: 'first',
    schemas: ['BookViewDiff', 'BookViewSnapshot'],
    purpose: 'sequenced changes of the published books at commitment processed',
  },
  processedMarketViews: {
    name: 'views.markets.processed',
    key: 'market',
    partitions: 1,
    retention: { kind: 'compact' },
    schemas: ['MarketView'],
    purpose: 'the newest description of each market at commitment processed',
  },
  processedQualityViews: {
    name: 'views.quality.processed',
    key: 'market and source',
    partitions: 1,
    retention: { kind: 'compact' },
    schemas: ['FeedQuality'],
    purpose: 'epoch and slot of each book at commitment processed',
  },
  processedFills: {
    name: 'fills.processed',
    key: 'market',
    partitions: 4,
    retention: { kind: 'time', hours: DAY_HOURS },
    sizeCap: 'first',
    schemas: ['ProcessedFill', 'FillWithdrawal', 'FillsResolved'],
    purpose: "fills of the node's fork at commitment processed, their withdrawals, and the same fills once confirmed",
  },
  processedTradeViews: {
    name: 'views.trades.processed',
    key: 'market',
    partitions: 4,
    retention: { kind: 'time', hours: DAY_HOURS },
    sizeCap: 'first',
    schemas: ['TradeView', 'TradeWithdrawal'],
    purpose: 'numbered fills at commitment processed, and their withdrawals',
  },
  processedTradeHeads: {
    name: 'views.trade-heads.processed',
    key: 'market',
    partitions: 1,
    retention: { kind: 'compact' },
    schemas: ['TradeView', 'TradeWithdrawal'],
    purpose: 'the newest published fill or withdrawal of each market at commitment processed',
  },
  positions: {
    name: 'positions',
    key: 'market',
    partitions: 4,
    retention: { kind: 'time', hours: WEEK_HOURS },
    sizeCap: 'last',
    schemas: ['PositionState', 'PositionMarket', 'BookSlot', 'BookSnapshotBegin', 'BookSnapshotEnd'],
    purpose: 'changes of perp positions, and the inputs of their P&L, in one order',
  },
  userOrders: {
    name: 'user.orders',
    key: 'market',
    partitions: 4,
    retention: { kind: 'time', hours: WEEK_HOURS },
    sizeCap: 'last',
    schemas: ['UserOrders', 'BookSlot', 'BookSnapshotBegin', 'BookSnapshotEnd'],
    purpose: 'open orders as user accounts have them, in the partition of their market in `events`',
  },
  margin: {
    name: 'margin',
    key: 'account or market',
    partitions: 1,
    retention: { kind: 'compact' },
    schemas: ['AccountMargin', 'MarketMargin', 'MarginBegin', 'MarginTime'],
    purpose: 'the newest inputs of the health of every account, written at each block time',
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
    purpose: 'numbered fills of each market, in raw integers',
  },
  tradeHeads: {
    name: 'views.trade-heads',
    key: 'market',
    partitions: 1,
    retention: { kind: 'compact' },
    schemas: ['TradeView'],
    purpose: 'the newest published fill of each market',
  },
  orderChanges: {
    name: 'views.account-orders',
    key: 'account',
    partitions: 4,
    retention: { kind: 'time', hours: 24 },
    sizeCap: 'first',
    schemas: ['OrderChange'],
    purpose: 'numbered changes of the orders of every account, in the partition of their market in `events`',
  },
  openOrders: {
    name: 'views.open-orders',
    key: 'account',
    partitions: 4,
    retention: { kind: 'compact' },
    schemas: ['OpenOrders'],
    purpose: 'the open orders of every account, in the partition of their market in `events`',
  },
  quotes: {
    name: 'quotes',
    key: 'market',
    partitions: 4,
    retention: { kind: 'time', hours: 1 },
    sizeCap: 'first',
    schemas: ['MakerQuotes'],
    purpose: 'indicative quotes from market makers, with their time of arrival',
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
    schemas: ['FeedQuality', 'LiveSources'],
    purpose: 'state of each source of each market: last slot, gaps, comparisons; the live sources that run at once',
  },
  counters: {
    name: 'counters',
    key: 'stream',
    partitions: 1,
    retention: { kind: 'compact' },
    schemas: ['StreamCounter'],
    purpose: "the chain's own count of each numbered stream",
  },
  coverageViews: {
    name: 'views.coverage',
    key: 'stream',
    partitions: 1,
    retention: { kind: 'compact' },
    schemas: ['StreamCoverage', 'AccountsCoverage'],
    purpose: 'which numbered records the log has, with the holes',
  },
  backfills: {
    name: 'backfills',
    key: 'backfill',
    partitions: 1,
    retention: { kind: 'compact' },
    schemas: ['Backfill'],
    purpose: 'requests to read blocks again, with their progress',
  },
  samples: {
    name: 'samples',
    key: 'market',
    partitions: 4,
    retention: { kind: 'time', hours: YEAR_HOURS },
    schemas: ['MarketSample'],
    purpose: 'state of each market by block time, about every 50 slots',
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
    purpose: 'the newest state of every candle, in the partition of its market',
  },
  summaryViews: {
    name: 'views.summaries',
    key: 'market',
    partitions: 1,
    retention: { kind: 'compact' },
    schemas: ['MarketSummary'],
    purpose: 'summary of the last 24 hours of each market',
  },
  notifications: {
    name: 'notifications',
    key: 'wallet',
    partitions: 4,
    retention: { kind: 'time', hours: YEAR_HOURS },
    schemas: ['Notification'],
    purpose: 'every notification of every wallet, once for each cause',
  },
  notificationMarks: {
    name: 'notification-marks',
    key: 'wallet',
    partitions: 4,
    retention: { kind: 'time', hours: YEAR_HOURS },
    schemas: ['NotificationRead', 'NotificationDelivery'],
    purpose: 'which notifications were read, and how their pushes went',
  },
  walletSettings: {
    name: 'wallet-settings',
    key: 'wallet and device',
    partitions: 1,
    retention: { kind: 'compact' },
    schemas: ['NotificationPreferences', 'NotificationDevice'],
    purpose: 'the newest push preferences and devices of each wallet',
  },
  exports: {
    name: 'exports',
    key: 'export job',
    // One partition: its order decides which worker takes a job, and how many jobs of a wallet wait.
    partitions: 1,
    retention: { kind: 'time', hours: QUARTER_HOURS },
    schemas: ['ExportRequested', 'ExportClaimed', 'ExportFinished', 'ExportExpired'],
    purpose: 'statement exports: requests, claims of workers, outcomes',
  },
  writers: {
    name: 'writers',
    key: 'role and mark',
    partitions: 1,
    retention: { kind: 'compact' },
    schemas: ['WriterMark'],
    purpose: 'the writer of each role with a single writer, and the processes that ask to be',
  },
  accountStates: {
    name: 'account.states',
    key: 'account',
    partitions: 1,
    retention: { kind: 'compact' },
    schemas: ['RevenueShareState', 'RevenueShareEscrowState', 'InsuranceFundState'],
    purpose: 'the newest state of builder accounts and insurance funds, which have no event',
  },
  retractions: {
    name: 'retractions',
    key: 'slot and transactions',
    partitions: 1,
    retention: { kind: 'compact' },
    schemas: ['SlotRetraction'],
    purpose: 'stored transactions whose confirmed slot the chain dropped',
  },
  finality: {
    name: 'finality',
    key: 'chain',
    partitions: 1,
    retention: { kind: 'compact' },
    schemas: ['ChainFinality'],
    purpose: 'the newest block time that the chain has finalized',
  },
  signatureClaims: {
    name: 'wallet.claims',
    key: 'signature',
    partitions: 1,
    retention: { kind: 'time', hours: 2 },
    schemas: ['SignatureClaim'],
    purpose: 'digests of wallet signatures that a write has used, while they are valid',
  },
  deadLetters: {
    name: 'dead-letters',
    key: 'reason',
    partitions: 1,
    retention: { kind: 'time', hours: WEEK_HOURS },
    schemas: ['DeadLetter'],
    purpose: 'unreadable input, with the reason and the bytes',
  },
} as const satisfies Record<string, Topic>;

export const TOPIC_LIST: readonly Topic[] = Object.values(TOPICS);

/**
 * Partition of a key: FNV-1a over its UTF-8 bytes. Our own hash gives a market the same partition number in `book`,
 * `views.book` and `views.trades` with either log adapter.
 */
export function partitionOf(topic: Topic, key: string): number {
  let hash = FNV_OFFSET;
  for (let index = 0; index < key.length; index++) {
    const code = key.charCodeAt(index);
    if (code > ASCII_MAX) return hashOfBytes(Buffer.from(key, 'utf8')) % topic.partitions;
    hash = Math.imul(hash ^ code, FNV_PRIME) >>> 0;
  }
  return hash % topic.partitions;
}

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;
const ASCII_MAX = 0x7f;

function hashOfBytes(bytes: Uint8Array): number {
  let hash = FNV_OFFSET;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, FNV_PRIME) >>> 0;
  return hash;
}
