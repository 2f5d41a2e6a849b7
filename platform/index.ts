// Shared process infrastructure: configuration, log, ClickHouse, roles, metrics. The only entry of platform/.

export * from './clickhouse/index.ts';
export * from './config.ts';
export * from './json.ts';
export { COMMITMENTS, type Commitment, logAt } from './log/commitment.ts';
export * from './log/completeness.ts';
export * from './log/lease.ts';
export { APPEND_BYTES_MAX, KEY_BYTES_MAX, LogLimitError } from './log/limits.ts';
export * from './log/newest.ts';
export { openEventLog } from './log/open.ts';
export { pageOf, pagesOf } from './log/page.ts';
export * from './log/port.ts';
export { type FollowedTopic, followingRole, followTopic, TopicFollower } from './log/topic-follower.ts';
export * from './market-indexes.ts';
export * from './outbound/addresses.ts';
export * from './outbound/request.ts';
export * from './public-keys.ts';
export type * from './runtime/context.ts';
export * from './runtime/descriptors.ts';
export * from './runtime/endpoints.ts';
export * from './runtime/health-status.ts';
export * from './runtime/hosts.ts';
export { LeasedRole } from './runtime/leased-role.ts';
export { watchLog } from './runtime/log-watch.ts';
export * from './runtime/logger.ts';
export * from './runtime/metrics.ts';
export * from './runtime/process.ts';
export { inTurns, nextTurn, Pace, SlicedWork } from './runtime/slices.ts';
