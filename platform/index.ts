// How a process lives: the only entry of platform/.

export * from './clickhouse/index.ts';
export * from './config.ts';
export * from './json.ts';
export * from './log/facts.ts';
export * from './log/lease.ts';
export { openEventLog } from './log/open.ts';
export { pageOf, pagesOf } from './log/page.ts';
export * from './log/port.ts';
export * from './market-indexes.ts';
export * from './public-keys.ts';
export type * from './runtime/context.ts';
export * from './runtime/endpoints.ts';
export * from './runtime/health-status.ts';
export * from './runtime/logger.ts';
export * from './runtime/metrics.ts';
export * from './runtime/process.ts';
export { inTurns, nextTurn, Pace, SlicedWork } from './runtime/slices.ts';
