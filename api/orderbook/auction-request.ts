// What a request to /auctionParams means: its checks in order (reference 1.9).

import type { AuctionRequest } from '../../processors/book/index.ts';
import type { MarketRef } from '../../schemas/index.ts';
import type { Given } from '../contract/inputs.ts';
import type { AUCTION_PARAMETERS } from './auction-parameters.ts';

export interface ParsedAuctionRequest {
  readonly market: MarketRef;
  /** Reads the amounts; deferred, because an unknown market is told first. Throws AuctionRequestError. */
  readonly order: () => AuctionRequest;
}

/** Throws OrderbookError with the text of the first check that fails. */
export function parseAuctionRequest(given: Given<typeof AUCTION_PARAMETERS>): ParsedAuctionRequest {
  const marketIndex = given('marketIndex');
  const direction = given('direction');
  const assetType = given('assetType');
  return {
    market: { marketType: given('marketType'), marketIndex },
    order: () => ({
      version: given('version'),
      direction,
      amount: given('amount'),
      assetType,
      ...options(given),
    }),
  };
}

type Options = Omit<AuctionRequest, 'version' | 'direction' | 'amount' | 'assetType'>;

function options(given: Given<typeof AUCTION_PARAMETERS>): Options {
  return present({
    reduceOnly: given('reduceOnly'),
    allowInfSlippage: given('allowInfSlippage'),
    forceUpToSlippage: given('forceUpToSlippage'),
    isOracleOrder: given('isOracleOrder'),
    slippagePercent: given('slippageTolerance'), // `dynamic` is no number, so it is absent
    auctionDuration: given('auctionDuration'),
    startOffset: given('auctionStartPriceOffset'),
    endOffset: given('auctionEndPriceOffset'),
    startFrom: given('auctionStartPriceOffsetFrom'),
    endFrom: given('auctionEndPriceOffsetFrom'),
    endBuffer: given('additionalEndPriceBuffer'),
    maxLeverageSize: given('maxLeverageSelected') ? given('maxLeverageOrderSize') : undefined,
    userOrderId: given('userOrderId'),
  });
}

/** Leaves out members that are undefined. */
function present(values: { readonly [K in keyof Options]: Options[K] | undefined }): Options {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}
