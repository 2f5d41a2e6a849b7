// Our own messages as TypeScript sees them. `schemas/avro/*.avsc` is their wire form; field names are the same.
// Units: prices 1e6, base amounts 1e9, quote amounts 1e6. bigint where 64 bits are real, number only below 2^53.
// Public keys are their 32 raw bytes.

export type * from './messages/book.ts';
export type * from './messages/book-views.ts';
export type * from './messages/history.ts';
export type * from './messages/positions.ts';
export type * from './messages/quotes.ts';
export type * from './messages/service.ts';
export type * from './messages/trades.ts';
