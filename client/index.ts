// What integrators import. Runs in Node and in browsers.

export { crc32 } from './crc32.ts';
export {
  type BookChoice,
  BookFeedClient,
  type FeedEvents,
  type FeedOptions,
  type KeptBook,
  type SocketLike,
} from './feed.ts';
export { type Applied, BookKeeper, type KeeperOptions } from './keeper.ts';
export type { KeptLevel, KeptOrder, SideName } from './sides.ts';
