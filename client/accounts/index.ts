// Accounts and events of the exchange's program, decoded by its IDL.

export { AccountError } from '../../schemas/portable.ts';
export type * from './account-types.ts';
export { fromBase58, fromBase64, nameText, toBase58 } from './bytes.ts';
export { createDecoder, type Decoded, type Decoder, type IdlSource } from './decoder.ts';
export type { EventReader, LogEvents, ProgramEvent } from './events.ts';
export type { FilterValue, MemcmpFilter } from './filters.ts';
export type { Lazy, LazyList } from './lazy.ts';
export { camelCase } from './style.ts';
