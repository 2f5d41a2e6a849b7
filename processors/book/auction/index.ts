// Auction derivation for other rooms; reached through processors/book/index.ts.

export { deriveAuction } from './derive.ts';
export { estimateFill } from './estimate.ts';
export { auctionOrder, limitPrice } from './order.ts';
export { type AuctionSettings, DEFAULT_AUCTION_SETTINGS, dynamicSlippagePercent } from './slippage.ts';
export {
  type AssetType,
  type Auction,
  type AuctionBook,
  AuctionError,
  type AuctionErrorCode,
  type AuctionMarket,
  type AuctionRequest,
  REFERENCES,
  type RecentFills,
  U64_MAX,
} from './types.ts';
