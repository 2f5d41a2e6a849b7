// Book messages for tests: every member has a plain default.

import type { BookMessage } from '../../../../processors/book/engine.ts';
import type {
  AmmState,
  BookMarket,
  BookOracle,
  BookOrders,
  Cause,
  MarketRef,
  OrderRef,
  OrderState,
  SpreadInputs,
} from '../../../../schemas/index.ts';

export const PERP: MarketRef = { marketType: 'perp', marketIndex: 0 };

/** A public key made from a short text. */
export function keyOf(text: string): Uint8Array {
  const key = new Uint8Array(32);
  key.set(Buffer.from(text, 'utf8').subarray(0, 32));
  return key;
}

export function orderOf(terms: Partial<OrderState> = {}): OrderState {
  return {
    maker: keyOf('maker'),
    orderId: 1,
    orderType: 'limit',
    direction: 'long',
    price: 0n,
    baseAssetAmount: 0n,
    baseAssetAmountFilled: 0n,
    triggerPrice: 0n,
    triggerCondition: 'above',
    oraclePriceOffset: 0n,
    postOnly: false,
    reduceOnly: false,
    auctionDurationSlots: 0,
    auctionStartPrice: 0n,
    auctionEndPrice: 0n,
    placedSlot: 1,
    maxTs: 0n,
    bitFlags: 0,
    positionBaseAmount: 0n,
    bookOrderId: null,
    ...terms,
  };
}

export function ordersOf(message: {
  readonly slot?: number;
  readonly source?: BookOrders['source'];
  readonly upserts?: readonly OrderState[];
  readonly removals?: readonly OrderRef[];
  readonly cause?: Cause | null;
}): BookMessage {
  const { slot = 1, source = 'user', upserts = [], removals = [], cause = null } = message;
  return { name: 'BookOrders', value: { ...PERP, slot, source, account: keyOf('account'), upserts, removals, cause } };
}

export function oracleOf(terms: Partial<BookOracle> = {}): BookMessage {
  return {
    name: 'BookOracle',
    value: {
      ...PERP,
      slot: 1,
      price: 100_000_000n,
      oracleSlot: BigInt(terms.slot ?? 1),
      confidence: 4_000n,
      hasSufficientNumberOfDataPoints: true,
      twap: null,
      twapConfidence: null,
      maxPrice: null,
      sequenceId: null,
      publishTs: null,
      ...terms,
    },
  };
}

export function ammOf(terms: Partial<AmmState> = {}): AmmState {
  return {
    baseAssetReserve: 1_000_000_000_000_000n,
    quoteAssetReserve: 1_000_000_000_000_000n,
    sqrtK: 1_000_000_000_000_000n,
    pegMultiplier: 100_000_000n,
    minBaseAssetReserve: 900_000_000_000_000n,
    maxBaseAssetReserve: 1_100_000_000_000_000n,
    terminalQuoteAssetReserve: 1_000_000_000_000_000n,
    concentrationCoef: 1_414_213n,
    askBaseAssetReserve: 0n,
    askQuoteAssetReserve: 0n,
    bidBaseAssetReserve: 0n,
    bidQuoteAssetReserve: 0n,
    baseAssetAmountWithAmm: 0n,
    totalFeeMinusDistributions: 0n,
    totalExchangeFee: 0n,
    netRevenueSinceLastFunding: 0n,
    baseSpread: 2_000,
    maxSpread: 50_000,
    longSpread: 1_000,
    shortSpread: 1_000,
    referencePriceOffset: 0,
    curveUpdateIntensity: 0,
    ammSpreadAdjustment: 0,
    ammInventorySpreadAdjustment: 0,
    lastUpdateSlot: 1n,
    ...terms,
  };
}

/** Inputs without a spread beyond the base spread: a quiet market with even volumes. */
export function spreadInputsOf(terms: Partial<SpreadInputs> = {}): SpreadInputs {
  return {
    isPrediction: false,
    markStd: 0n,
    oracleStd: 0n,
    lastOracleConfPct: 0n,
    longIntensityVolume: 1_000n,
    shortIntensityVolume: 1_000n,
    volume24H: 10_000n,
    lastMarkPriceTwap: 100_000_000n,
    lastOraclePriceTwapTs: 1_700_000_000n,
    fundingPeriod: 3_600n,
    lastFundingOracleTwap: 100_000_000n,
    lastReferencePriceOffset: 0,
    referencePriceOffsetDeadbandPct: 0,
    baseAssetAmountWithUnsettledLp: 0n,
    fundingBiasSensitivity: 0,
    marketConfig: 0,
    ...terms,
  };
}

export function marketOf(terms: Partial<BookMarket> = {}): BookMessage {
  return {
    name: 'BookMarket',
    value: {
      ...PERP,
      slot: 1,
      account: keyOf('market'),
      symbol: 'SOL-PERP',
      status: 'active',
      oracle: keyOf('oracle'),
      oracleSource: 'pythLazer',
      tickSize: 100n,
      stepSize: 10_000_000n,
      minOrderSize: 10_000_000n,
      pausedOperations: 0,
      ammPaused: false,
      clobMarket: null,
      baseAssetAmountLong: 5_000_000_000n,
      baseAssetAmountShort: -7_000_000_000n,
      last24hAvgFundingRate: 12n,
      mmOraclePrice: 0n,
      mmOracleSlot: 0n,
      mmOracleSequenceId: 0n,
      lastOraclePriceTwap: 100_000_000n,
      lastOraclePriceTwap5Min: 100_000_000n,
      lastMarkPriceTwap5Min: 100_000_000n,
      decimals: 9,
      amm: ammOf(),
      spreadInputs: null,
      oracleTwap5MinPercentDivergence: null,
      ...terms,
    },
  };
}

export function slotOf(slot: number): BookMessage {
  return { name: 'BookSlot', value: { slot } };
}

export function beginOf(snapshotSlot: number): BookMessage {
  return { name: 'BookSnapshotBegin', value: { ...PERP, snapshotSlot } };
}

export function endOf(snapshotSlot: number): BookMessage {
  return { name: 'BookSnapshotEnd', value: { ...PERP, snapshotSlot } };
}
