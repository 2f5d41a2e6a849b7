// The history: REST of trades, orders, funding, candles and all else that happened, and the feed of what happens.

export { addressOf, type RequestOptions, type RestMethod, type RestOptions, RestReader } from '../rest/reader.ts';
export { RestError, type RetryOptions } from '../rest/retry.ts';
export { HistoryClient, type HistoryOptions, type UnsignedRequest } from './client.ts';
export type { HistoryOperations } from './contract.ts';
export { type HistoryCandle, HistoryFeed, type HistoryFeedEvents, type MarketSummary } from './feed.ts';
export {
  type CsvPath,
  type HistoryAnswer,
  type HistoryParams,
  type HistoryPath,
  HistoryReader,
  type HistoryRecord,
  type PagedPath,
} from './reader.ts';
