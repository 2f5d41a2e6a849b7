// Curves of curve.ts with all that live spreads and the reference offset follow from, in the same two forms.

import fc from 'fast-check';
import type { AmmState, BookMarket, BookOracle, SpreadInputs } from '../../../../schemas/index.ts';
import { type CurveTerms, type TwinCurve, twinCurve } from './curve.ts';
import type { PeerStruct, Sdk } from './sdk.ts';

const SHARES = 1_000_000n;
const UPDATED_TS = 1_700_000_000n;

const whole = (min: number, max: number) => fc.bigInt({ min: BigInt(min), max: BigInt(max) });
/** Parts per million of the reserve price, mostly small. */
const nearby = fc.oneof(whole(-2_000, 2_000), whole(-200_000, 200_000));

/** Accounts as wide as the program lets them be. */
export const liveTerms = fc.record({
  intensity: fc.oneof(
    fc.constant(0),
    fc.integer({ min: 1, max: 100 }),
    fc.integer({ min: 101, max: 199 }),
    fc.constant(200),
  ),
  baseSpread: fc.oneof(fc.nat({ max: 3 }), fc.integer({ min: 0, max: 20_000 })),
  maxSpread: fc.integer({ min: 0, max: 600_000 }),
  spreadAdjustment: fc.oneof(fc.constant(0), fc.integer({ min: -100, max: 100 })),
  inventoryAdjustment: fc.oneof(fc.constant(0), fc.integer({ min: -100, max: 100 })),
  /** Quote, 1e6; losses of more than 25 units widen, of more than 25,000 fully. */
  revenue: fc.oneof(whole(-1e8, 1e8), whole(-1e11, 1e11)),
  markStd: nearby,
  oracleStd: nearby,
  confidence: fc.oneof(whole(0, 5_000), whole(0, 100_000)),
  lastConfidence: fc.oneof(whole(0, 5_000), whole(0, 100_000)),
  volumes: fc.tuple(whole(0, 1e12), whole(0, 1e12), whole(0, 2 * 1e12)),
  /** Of the price since the account was updated; negative when the account is ahead. */
  ageSeconds: fc.oneof(whole(-5, 30), whole(-5, 10_000)),
  fundingPeriod: fc.constantFrom(300n, 3_600n, 28_800n),
  twaps: fc.tuple(nearby, nearby, nearby, nearby),
  fundingRate: fc.oneof(fc.constant(0n), whole(-1e8, 1e8)),
  lastOffset: fc.oneof(fc.constant(0), fc.integer({ min: -30_000, max: 30_000 })),
  slotsSinceUpdate: whole(-2, 60),
  deadbandPercent: fc.nat({ max: 30 }),
  /** Of the inventory, which it can turn round. */
  unsettledPercent: whole(-150, 50),
  isPrediction: fc.nat({ max: 7 }).map((roll) => roll === 0),
  /** Of the market maker's oracle from the exchange's, where it has one in force. */
  makerGap: fc.option(whole(-9_900, 9_900)),
});

export type LiveTerms = typeof liveTerms extends fc.Arbitrary<infer Terms> ? Terms : never;

export interface LiveTwin extends TwinCurve {
  readonly inputs: SpreadInputs;
  readonly now: bigint;
  readonly slot: bigint;
}

export function liveTwin(sdk: Sdk, terms: CurveTerms, live: LiveTerms): LiveTwin {
  const plain = twinCurve(sdk, { ...terms, spreads: 'stored spreads' });
  const { amm, market, price, inputs, oracle, slot, confidence } = ourSide(plain, live);
  const now = UPDATED_TS + live.ageSeconds;
  return {
    amm,
    market,
    oracle,
    inputs,
    now,
    slot,
    request: theirSide(sdk, plain.request, { amm, market, price, inputs, live, slot, confidence, now }),
  };
}

function ourSide(plain: TwinCurve, live: LiveTerms) {
  const { price } = plain.oracle;
  const reservePrice = (plain.amm.quoteAssetReserve * plain.amm.pegMultiplier) / plain.amm.baseAssetReserve;
  const share = (parts: bigint) => (reservePrice * parts) / SHARES;
  const beside = (parts: bigint) => reservePrice + share(parts);
  const [markTwap, markTwap5, oracleTwap, oracleTwap5] = live.twaps;
  const [longIntensityVolume, shortIntensityVolume, volume24H] = live.volumes;
  const slot = plain.oracle.oracleSlot;
  const amm: AmmState = {
    ...plain.amm,
    curveUpdateIntensity: live.intensity,
    baseSpread: live.baseSpread,
    maxSpread: live.maxSpread,
    ammSpreadAdjustment: live.spreadAdjustment,
    ammInventorySpreadAdjustment: live.inventoryAdjustment,
    netRevenueSinceLastFunding: live.revenue,
    referencePriceOffset: live.lastOffset,
    lastUpdateSlot: slot - live.slotsSinceUpdate,
  };
  const inputs: SpreadInputs = {
    isPrediction: live.isPrediction,
    markStd: magnitude(share(live.markStd)),
    oracleStd: magnitude(share(live.oracleStd)),
    lastOracleConfPct: live.lastConfidence,
    longIntensityVolume,
    shortIntensityVolume,
    volume24H,
    lastMarkPriceTwap: beside(markTwap),
    lastOraclePriceTwapTs: UPDATED_TS,
    fundingPeriod: live.fundingPeriod,
    lastFundingOracleTwap: 0n,
    lastReferencePriceOffset: live.lastOffset,
    referencePriceOffsetDeadbandPct: live.deadbandPercent,
    baseAssetAmountWithUnsettledLp: (amm.baseAssetAmountWithAmm * live.unsettledPercent) / 100n,
    fundingBiasSensitivity: null,
    marketConfig: null,
  };
  const exchangePrice = live.makerGap === null ? price : price - (price * live.makerGap) / SHARES;
  const ownConfidence = share(live.confidence);
  const oracle: BookOracle = {
    ...plain.oracle,
    price: exchangePrice,
    confidence: ownConfidence,
    publishTs: UPDATED_TS + live.ageSeconds,
  };
  const market: BookMarket = {
    ...plain.market,
    amm,
    spreadInputs: inputs,
    last24hAvgFundingRate: live.fundingRate,
    lastOraclePriceTwap: beside(oracleTwap),
    lastOraclePriceTwap5Min: beside(oracleTwap5),
    lastMarkPriceTwap5Min: beside(markTwap5),
    mmOraclePrice: live.makerGap === null ? 0n : price,
    mmOracleSlot: slot,
  };
  return { amm, market, price, inputs, oracle, slot, confidence: ownConfidence + magnitude(price - exchangePrice) };
}

interface Ours {
  readonly amm: AmmState;
  readonly market: BookMarket;
  readonly price: bigint;
  readonly inputs: SpreadInputs;
  readonly live: LiveTerms;
  readonly slot: bigint;
  readonly confidence: bigint;
  readonly now: bigint;
}

function theirSide(sdk: Sdk, request: PeerStruct, ours: Ours): PeerStruct {
  const { amm, market, inputs, live } = ours;
  const big = (value: bigint) => new sdk.BN(String(value));
  const account = request.marketAccount as PeerStruct;
  const curve = {
    ...(account.amm as PeerStruct),
    curveUpdateIntensity: amm.curveUpdateIntensity,
    baseSpread: amm.baseSpread,
    maxSpread: amm.maxSpread,
    ammSpreadAdjustment: amm.ammSpreadAdjustment,
    ammInventorySpreadAdjustment: amm.ammInventorySpreadAdjustment,
    netRevenueSinceLastFunding: big(amm.netRevenueSinceLastFunding),
    referencePriceOffset: amm.referencePriceOffset,
    referencePriceOffsetDeadbandPct: inputs.referencePriceOffsetDeadbandPct,
    lastUpdateSlot: big(amm.lastUpdateSlot),
    baseAssetAmountWithUnsettledLp: big(inputs.baseAssetAmountWithUnsettledLp),
    markStd: big(inputs.markStd),
    oracleStd: big(inputs.oracleStd),
    lastOracleConfPct: big(inputs.lastOracleConfPct),
    longIntensityVolume: big(inputs.longIntensityVolume),
    shortIntensityVolume: big(inputs.shortIntensityVolume),
    volume24H: big(inputs.volume24H),
    fundingPeriod: big(inputs.fundingPeriod),
    last24HAvgFundingRate: big(market.last24hAvgFundingRate),
    lastMarkPriceTwap: big(inputs.lastMarkPriceTwap),
    lastMarkPriceTwap5Min: big(market.lastMarkPriceTwap5Min),
    historicalOracleData: {
      lastOraclePrice: big(ours.price),
      lastOraclePriceTwap: big(market.lastOraclePriceTwap),
      lastOraclePriceTwap5Min: big(market.lastOraclePriceTwap5Min),
      lastOraclePriceTwapTs: big(inputs.lastOraclePriceTwapTs),
    },
  };
  return {
    ...request,
    marketAccount: {
      ...account,
      amm: curve,
      contractType: live.isPrediction ? { prediction: {} } : { perpetual: {} },
    },
    mmOraclePriceData: { price: big(ours.price), slot: big(ours.slot), confidence: big(ours.confidence) },
    now: big(ours.now),
    latestSlot: big(ours.slot),
  };
}

function magnitude(value: bigint): bigint {
  return value < 0n ? -value : value;
}
