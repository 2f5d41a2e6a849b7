// The order-book REST: books of any slot, rankings, quality.

export { addressOf, type RequestOptions, type RestMethod, type RestOptions, RestReader } from '../rest/reader.ts';
export { RestError, type RetryOptions } from '../rest/retry.ts';
export type { OrderbookOperations } from './contract.ts';
export { type OrderbookAnswer, type OrderbookParams, type OrderbookPath, OrderbookReader } from './reader.ts';
