// The book engine's pure part: what other rooms may use. The role that runs it is started through processors/index.ts.

export { CheckpointError, restoreEngine, saveEngine } from './checkpoint.ts';
export { BookEngine, type BookMessage, SNAPSHOT_EVERY_SLOTS } from './engine.ts';
export { hashBooks } from './hash.ts';
export type { Side } from './ladder.ts';
export {
  bucketPrice,
  GROUPED_LEVELS,
  GROUPS,
  type GroupedBook,
  groupBook,
  type Level,
  levelSize,
  mergeLevels,
} from './levels.ts';
export { BEST_MAKERS, bestMakers } from './makers.ts';
export { marketMakerOracle, type Quotes, quotesOf } from './quotes.ts';
export { auctionComplete, auctionValue, clampedSize, classify, orderPrice, remainingSize } from './rules.ts';
export { VAMM_ORDERS, vammLevels } from './vamm.ts';
export { type Applied, BookView, L2_DEPTH } from './view.ts';
