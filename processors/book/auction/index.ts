// Auction derivation for other rooms; reached through processors/book/index.ts.

export { deriveAuction } from './derive.ts';
export { estimateFill } from './estimate.ts';
export { type AuctionSettings, DEFAULT_AUCTION_SETTINGS } from './slippage.ts';
export {
  type Auction,
  AuctionError,
  type AuctionMarket,
  type AuctionRequest,
  REFERENCES,
  type RecentFills,
  U64_MAX,
} from './types.ts';
