// The book engine's pure part, for other rooms. processors/index.ts starts the role around it.

export * from './auction/index.ts';
export { CheckpointError, restoreEngine, saveEngine } from './checkpoint.ts';
export { type PublishedDifference, type PublishedLists, publishedDifference, sidesOf } from './difference.ts';
export { driftCurve } from './drift/curve.ts';
export { type DriftSpreads, driftSpreads } from './drift/quote.ts';
export { BookEngine, type BookMessage, SNAPSHOT_EVERY_SLOTS } from './engine.ts';
export {
  type IsPreferred,
  MAX_MAKERS_PER_MARKET,
  type MakerSet,
  QUOTE_FRESH_MS,
  QuoteBoard,
} from './indicative/board.ts';
export { INDICATIVE_MAKER } from './indicative/orders.ts';
export { type IndicativeView, indicativeView } from './indicative/view.ts';
export type { Side } from './ladder.ts';
export { GROUPED_LEVELS, GROUPS, type GroupedBook, groupBook, type Level, levelSize } from './levels.ts';
export { liveQuote, quotingOracle } from './live-quote.ts';
export { BEST_MAKERS, bestMakers } from './makers.ts';
export { marketMakerOracle, type Quotes, quotesOf } from './quotes.ts';
export {
  BOOK_GROUP,
  newestSnapshots,
  packSnapshotIndex,
  SnapshotIndex,
  type SnapshotOffset,
  snapshotIndexMarket,
  snapshotIndexState,
  unpackSnapshotIndex,
} from './snapshot-index.ts';
export { finish, type Steps } from './steps.ts';
export { VAMM_ORDERS, vammLevels } from './vamm.ts';
export { type Applied, BookView, isLater, L2_DEPTH, type QueuePlace } from './view.ts';
