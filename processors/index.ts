// From events to read models: the only entry of processors/.

export * from './book/index.ts';
export { startCandles } from './candles/role.ts';
export { startBook } from './commitments.ts';
export { coverageOfAccount } from './coverage/account.ts';
export { startCoverage } from './coverage/role.ts';
export { startFillQuality } from './fill-quality/role.ts';
export * from './history/index.ts';
export { startNotifications } from './notifications/role.ts';
export { processedTradesMetrics } from './processed-trades/role.ts';
export { startRankings } from './rankings/role.ts';
export { startSamples } from './samples/role.ts';
export { startTrades } from './trades.ts';
