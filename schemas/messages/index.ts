// Our own messages as TypeScript types. `../log/avro/messages/*.avsc` is their wire form, with the same field names.
// Units: prices 1e6, base amounts 1e9, quote amounts 1e6. bigint for 64-bit values, number only below 2^53.
// Public keys are 32 raw bytes.

export type * from './account-orders.ts';
export type * from './accounts.ts';
export type * from './book.ts';
export type * from './book-views.ts';
export type * from './coverage.ts';
export type * from './exports.ts';
export type * from './history.ts';
export type * from './margin.ts';
export type * from './notifications.ts';
export type * from './positions.ts';
export type * from './quotes.ts';
export type * from './service.ts';
export type * from './trades.ts';
