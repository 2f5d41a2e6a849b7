// What things look like, for every room: the only entry of schemas/.

export * from './account-days.ts';
export * from './bytes.ts';
export * from './clob.ts';
export * from './codec.ts';
export * from './codec-steps.ts';
export * from './definition.ts';
export * from './event-keys.ts';
export { UNKNOWN_RECORD } from './event-schemas.ts';
export * from './events.ts';
export * from './evidence.ts';
export type * from './feed/messages.ts';
export * from './flatten.ts';
export * from './funding.ts';
export * from './gaps.ts';
export * from './layout.ts';
export * from './market.ts';
export type * from './messages.ts';
export * from './names.ts';
export * from './order-digest.ts';
export * from './projection.ts';
export { learnSchema, leaveRegistry, RegistryClient, useRegistry } from './registry.ts';
export * from './tables.ts';
export * from './topics.ts';
export type * from './vaults.ts';
export { SchemaError, type SchemaErrorCode, unknownRegistryId } from './wire.ts';
