// The part of schemas/ that runs anywhere: no Node module. The client imports only this entry.

export { AccountError, type CompiledAccount, compileAccount, discriminatorOf } from './chain/account.ts';
export { type AccountDefinition, type CompiledProgram, compileIdl, currentIdl, hexOf } from './chain/compile.ts';
export type { CurrentIdl } from './chain/idl-types.ts';
export { PUBKEY_BYTES } from './chain/keys.ts';
export {
  DISCRIMINATOR_BYTES,
  type FieldLayout,
  fieldOf,
  type LayoutType,
  type StructLayout,
  sizeOf,
} from './chain/layout.ts';
export { logPayloads } from './chain/log-lines.ts';
export type { MarketType } from './chain/market.ts';
export { snakeCase } from './chain/names.ts';
export type { OldIdl } from './chain/old-idl.ts';
export { paddedText, plainReader, type Read, type ReadStyle } from './chain/readers.ts';
export { compileEvent, compileTail, RecordError } from './chain/records.ts';
export type * from './messages/account-feed.ts';
export type { AccountOrder, OrderCause, OrderFill } from './messages/account-orders.ts';
export type * from './messages/feed.ts';
export { openOrdersText, orderKey } from './messages/open-orders.ts';
export type * from './messages/trade-feed.ts';
