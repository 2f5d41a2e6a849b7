// From events to read models: the only entry of processors/.

export * from './book/index.ts';
export { BOOK_GROUP } from './book/role.ts';
export { CANDLES_GROUP, startCandles } from './candles/role.ts';
export { startBook } from './commitments.ts';
export { COVERAGE_GROUP, coverageOfAccount } from './coverage/account.ts';
export { startCoverage } from './coverage/role.ts';
export { FILL_QUALITY_GROUP, startFillQuality } from './fill-quality/role.ts';
export * from './history/index.ts';
export { NOTIFICATIONS_GROUP, startNotifications } from './notifications/role.ts';
export { processedTradesMetrics } from './processed-trades/role.ts';
export { RANKINGS_GROUP, startRankings } from './rankings/role.ts';
export { SAMPLES_GROUP, startSamples } from './samples/role.ts';
export { TRADES_GROUP } from './trades/role.ts';
export { startTrades } from './trades.ts';
