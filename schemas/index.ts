// Definitions that every room shares: chain layouts, messages, codecs, topics, tables. The only entry of schemas/.

export * from './chain/account.ts';
export * from './chain/bytes.ts';
export * from './chain/clob.ts';
export { type CompiledProgram, compileIdl, hexOf } from './chain/compile.ts';
export * from './chain/definition.ts';
export * from './chain/event-keys.ts';
export { UNKNOWN_RECORD } from './chain/event-schemas.ts';
export * from './chain/events.ts';
export * from './chain/fill-price.ts';
export * from './chain/flatten.ts';
export * from './chain/geyser.ts';
export * from './chain/keys.ts';
export * from './chain/layout.ts';
export * from './chain/log-lines.ts';
export * from './chain/market.ts';
export * from './chain/names.ts';
export * from './chain/open-orders.ts';
export * from './chain/open-orders-checksum.ts';
export * from './chain/order-digest.ts';
export * from './chain/readers.ts';
export * from './chain/records.ts';
export * from './chain/scales.ts';
export * from './chain/signature-text.ts';
export type * from './chain/vaults.ts';
export * from './chain/whole.ts';
export * from './history/account-days.ts';
export * from './history/candle-resolutions.ts';
export * from './history/fill-use.ts';
export * from './history/tables.ts';
export { tablesPage } from './history/tables-page.ts';
export * from './history/values.ts';
export * from './log/codec.ts';
export * from './log/codec-steps.ts';
export * from './log/partial-event.ts';
export { RegistryClient, RegistryFormat } from './log/registry.ts';
export * from './log/topics.ts';
export {
  REGISTRY_BYTES,
  registryIdOf,
  SchemaError,
  type SchemaErrorCode,
  type SchemaVersion,
  schemaVersions,
} from './log/wire.ts';
export type * from './messages/account-feed.ts';
export { accountsKey, COVERAGE_HOLES_MAX, isAccountStream, provesRecord, streamKey } from './messages/coverage.ts';
export * from './messages/evidence.ts';
export type * from './messages/feed.ts';
export * from './messages/gaps.ts';
export type * from './messages/index.ts';
export * from './messages/notifications.ts';
export { newQuality, qualityKey } from './messages/service.ts';
export type * from './messages/trade-feed.ts';
