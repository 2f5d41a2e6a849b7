// Feeds: live books, trades and fees over one WebSocket.

export type { AccountOrder, OrderCause, OrderFill } from '../../schemas/portable.ts';
export type { QueuePosition } from './account-part.ts';
export type { AccountChoice, AccountOrders, OrderChangeEvent } from './account-streams.ts';
export type {
  AccountEvent,
  AccountEvents,
  AccountQueueEvent,
  AccountResumedEvent,
  AccountSnapshotEvent,
  AccountStaleEvent,
  AccountSubscription,
} from './account-subscription.ts';
export { BookFeedClient, type FeedOptions } from './book-client.ts';
export type { BookChoice, FeedEvents, KeptBook } from './book-streams.ts';
export type { BookEvents, BookSubscription } from './book-subscription.ts';
export type {
  ChannelChoice,
  ChannelEvents,
  ChannelName,
  ChannelSubscription,
  Grouping,
  OrderbookChoice,
} from './channel-subscription.ts';
export type { FeeLevels, L2Book, Level, MarketMakerOracleData, OracleData, Trade } from './channel-types.ts';
export { FeedClient, type FeedClientEvents } from './client.ts';
export type { ConnectionOptions, OpenSocket, SocketLike } from './connection.ts';
export { crc32 } from './crc32.ts';
export { type Applied, BookKeeper, type KeeperOptions } from './keeper.ts';
export type {
  BookChangeEvent,
  BookEvent,
  BookResumedEvent,
  BookSnapshotEvent,
  BookStaleEvent,
  LiveBook,
  StaleReason,
} from './live-book.ts';
export type {
  MissingTrades,
  NumberedTrade,
  NumberedTradesChoice,
  TradeStreamState,
  WithdrawnTrade,
} from './numbered-trades.ts';
export type { KeptLevel, KeptOrder, SideName } from './sides.ts';
export type { NumberedTradeEvents, NumberedTradesSubscription } from './trades-subscription.ts';
