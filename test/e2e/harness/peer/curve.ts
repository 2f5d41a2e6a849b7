// Random vAMM curves in two forms: as the client library's market account, and as the messages that our book reads.

import fc from 'fast-check';
import type { AmmState, BookMarket, BookOracle } from '../../../../schemas/index.ts';
import type { PeerStruct, Sdk } from './sdk.ts';

const ORDERS_PER_SIDE = 100;
const MAJOR_MARKETS = 3;
const SLOT = 1_000;
const KEY = new Uint8Array(32);
const NOW = 1_700_000_000n;
const FUNDING_PERIOD = 3_600n;
const INVENTORY_VALUE_MAX = 10n ** 15n;

/** Where our side has its spread reserves from: the chain's reserves, the chain's spreads, or the base spread alone. */
export type Spreads = 'stored reserves' | 'stored spreads' | 'base spread';

const percent = (min: number, max: number) => fc.bigInt({ min: BigInt(min), max: BigInt(max) });

/**
 * Curves of 100 to ten million units at 0.1 to 100,000 quote units, of markets whose spread inputs were not logged;
 * spread.ts has those whose inputs were.
 *
 * Left out, with the reason:
 * - intensity above 100: the library averages premiums and smooths by slots (docs/internals/vamm-quotes.md). We take the
 *   outcome, the reference offset that the chain stored.
 * - an inventory where the chain's reserves are taken. They are those of a curve that was moved already. A curve with an
 *   inventory that could not pay for its way moves on when it is moved again.
 * - a base spread of 1: the library halves it in floating point and moves the ask by the least spread. The program halves whole
 *   numbers and moves nothing.
 * - spreads above 100 % and a base reserve that would be sold out: the library divides by zero there.
 */
export const curves = fc.record({
  spreads: fc.constantFrom<Spreads>('stored reserves', 'stored spreads', 'base spread'),
  marketIndex: fc.nat({ max: 5 }),
  isPaused: fc.nat({ max: 15 }).map((roll) => roll === 0),
  sqrtK: fc.bigInt({ min: 10n ** 11n, max: 10n ** 16n }),
  basePercent: percent(80, 125),
  minPercent: percent(50, 101),
  maxPercent: percent(99, 200),
  pegMultiplier: fc.bigInt({ min: 10n ** 5n, max: 10n ** 11n }),
  oraclePercent: percent(90, 110),
  stepSize: fc.constantFrom(1n, 1_000n, 10_000_000n, 1_000_000_000n),
  tickSize: fc.constantFrom(1n, 10n, 100n, 10_000n),
  minOrderSize: fc.constantFrom(0n, 10_000_000n, 10_000_000_000n),
  intensity: fc.integer({ min: 1, max: 100 }),
  baseSpread: fc.oneof(fc.constant(0), fc.integer({ min: 2, max: 200_000 })),
  maxSpread: fc.integer({ min: 200_000, max: 500_000 }),
  spreadAdjustment: fc.integer({ min: -50, max: 50 }),
  isSpreadStored: fc.boolean(),
  confidencePercent: percent(0, 3),
  stdPercent: percent(0, 10),
  /** Of the base reserve, negative when users are short. */
  inventoryPerMille: fc.bigInt({ min: -200n, max: 200n }),
  /** Quote, 1e6: from a purse that pays for no move to one that pays for any. */
  purse: fc.oneof(fc.bigInt({ min: -(10n ** 9n), max: 10n ** 9n }), fc.bigInt({ min: 0n, max: 10n ** 15n })),
  exchangeFee: fc.bigInt({ min: 0n, max: 10n ** 9n }),
  volumes: fc.tuple(percent(0, 10 ** 12), percent(0, 10 ** 12), percent(0, 10 ** 12)),
});

export type CurveTerms = typeof curves extends fc.Arbitrary<infer Terms> ? Terms : never;

export interface TwinCurve {
  readonly market: BookMarket;
  readonly amm: AmmState;
  readonly oracle: BookOracle;
  /** Input of the library's level generator. */
  readonly request: PeerStruct;
}

export function twinCurve(sdk: Sdk, terms: CurveTerms): TwinCurve {
  const plain = plainCurve(terms);
  const request = requestOf(sdk, terms, plain);
  const { amm, market } = describe(sdk, terms, plain, request);
  const oracle: BookOracle = {
    marketType: 'perp',
    marketIndex: terms.marketIndex,
    slot: SLOT,
    price: plain.oracle,
    oracleSlot: BigInt(SLOT),
    confidence: plain.confidence,
    hasSufficientNumberOfDataPoints: true,
    twap: null,
    twapConfidence: null,
    maxPrice: null,
    sequenceId: null,
    publishTs: null,
  };
  return { amm, market, oracle, request };
}

/** The library has the value of an inventory (quote, 1e6) as a double. */
function boundedInventory(inventory: bigint, price: bigint): bigint {
  const most = (INVENTORY_VALUE_MAX * 1_000_000_000n) / price;
  if (inventory > most) return most;
  return inventory < -most ? -most : inventory;
}

type PlainCurve = ReturnType<typeof plainCurve>;

function plainCurve(terms: CurveTerms) {
  const base = (terms.sqrtK * terms.basePercent) / 100n;
  const quote = (terms.sqrtK * terms.sqrtK) / base;
  const reservePrice = (quote * terms.pegMultiplier) / base;
  const oracle = (reservePrice * terms.oraclePercent) / 100n;
  const hasInventory = terms.spreads !== 'stored reserves';
  const inventory = hasInventory ? boundedInventory((base * terms.inventoryPerMille) / 1_000n, reservePrice) : 0n;
  return {
    base,
    quote,
    inventory,
    terminalQuote: (terms.sqrtK * terms.sqrtK) / (base + inventory),
    purse: hasInventory ? terms.purse : 10n ** 9n,
    exchangeFee: hasInventory ? terms.exchangeFee : 0n,
    reservePrice,
    oracle,
    confidence: (oracle * terms.confidencePercent) / 100n,
    min: (base * terms.minPercent) / 100n,
    max: (base * terms.maxPercent) / 100n,
  };
}

function requestOf(sdk: Sdk, terms: CurveTerms, plain: PlainCurve) {
  const big = (value: bigint) => new sdk.BN(String(value));
  const [longIntensityVolume, shortIntensityVolume, volume24H] = terms.volumes;
  const isCurveFixed = terms.spreads === 'base spread';
  const amm = {
    baseAssetReserve: big(plain.base),
    quoteAssetReserve: big(plain.quote),
    terminalQuoteAssetReserve: big(plain.terminalQuote),
    sqrtK: big(terms.sqrtK),
    pegMultiplier: big(terms.pegMultiplier),
    minBaseAssetReserve: big(plain.min),
    maxBaseAssetReserve: big(plain.max),
    baseAssetAmountWithAmm: big(plain.inventory),
    baseAssetAmountWithUnsettledLp: big(0n),
    totalFeeMinusDistributions: big(plain.purse),
    totalExchangeFee: big(plain.exchangeFee),
    netRevenueSinceLastFunding: big(0n),
    baseSpread: terms.baseSpread,
    maxSpread: terms.maxSpread,
    curveUpdateIntensity: isCurveFixed ? 0 : terms.intensity,
    ammSpreadAdjustment: terms.spreadAdjustment,
    ammInventorySpreadAdjustment: 0,
    referencePriceOffset: 0,
    orderStepSize: big(terms.stepSize),
    orderTickSize: big(terms.tickSize),
    minOrderSize: big(terms.minOrderSize),
    lastOracleConfPct: big(terms.confidencePercent * 10_000n),
    markStd: big((plain.reservePrice * terms.stdPercent) / 100n),
    oracleStd: big((plain.reservePrice * terms.stdPercent) / 200n),
    longIntensityVolume: big(longIntensityVolume),
    shortIntensityVolume: big(shortIntensityVolume),
    volume24H: big(volume24H),
    fundingPeriod: big(FUNDING_PERIOD),
    historicalOracleData: {
      lastOraclePrice: big(plain.oracle),
      lastOraclePriceTwap: big(plain.reservePrice),
      lastOraclePriceTwap5Min: big(plain.oracle),
      lastOraclePriceTwapTs: big(NOW - 60n),
    },
  };
  return {
    marketAccount: {
      amm,
      pausedOperations: terms.isPaused ? sdk.PerpOperation.AMM_FILL : 0,
      contractType: { perpetual: {} },
    },
    mmOraclePriceData: { price: big(plain.oracle), slot: big(BigInt(SLOT)), confidence: big(plain.confidence) },
    numOrders: ORDERS_PER_SIDE,
    now: big(NOW),
    topOfBookQuoteAmounts:
      terms.marketIndex < MAJOR_MARKETS ? sdk.MAJORS_TOP_OF_BOOK_QUOTE_AMOUNTS : sdk.DEFAULT_TOP_OF_BOOK_QUOTE_AMOUNTS,
  };
}

// Both are given the account as the program left it and move it to the oracle themselves. Ours takes the spreads that
// the library derives from the moved curve. Where ours takes the reserves of the chain, it gets the moved curve itself.
function describe(sdk: Sdk, terms: CurveTerms, plain: PlainCurve, request: ReturnType<typeof requestOf>) {
  const { mmOraclePriceData, now } = request;
  const updated = sdk.calculateUpdatedAMM(request.marketAccount.amm, mmOraclePriceData);
  const [bid, ask] = sdk.calculateSpreadReserves(updated, mmOraclePriceData, now);
  const [longSpread, shortSpread] = sdk.calculateSpread(updated, mmOraclePriceData, now);
  const areReservesStored = terms.spreads === 'stored reserves';
  const areSpreadsStored = terms.spreads !== 'base spread' || terms.isSpreadStored;
  const whole = (value: { toString(): string }) => BigInt(value.toString());
  const stored = (value: { toString(): string }) => (areReservesStored ? whole(value) : 0n);
  const curve = areReservesStored ? updated : request.marketAccount.amm;
  const amm: AmmState = {
    baseAssetReserve: whole(curve.baseAssetReserve),
    quoteAssetReserve: whole(curve.quoteAssetReserve),
    sqrtK: terms.sqrtK,
    pegMultiplier: whole(curve.pegMultiplier),
    minBaseAssetReserve: plain.min,
    maxBaseAssetReserve: plain.max,
    terminalQuoteAssetReserve: plain.terminalQuote,
    concentrationCoef: 1_414_213n,
    askBaseAssetReserve: stored(ask.baseAssetReserve),
    askQuoteAssetReserve: stored(ask.quoteAssetReserve),
    bidBaseAssetReserve: stored(bid.baseAssetReserve),
    bidQuoteAssetReserve: stored(bid.quoteAssetReserve),
    baseAssetAmountWithAmm: plain.inventory,
    totalFeeMinusDistributions: plain.purse,
    totalExchangeFee: plain.exchangeFee,
    netRevenueSinceLastFunding: 0n,
    baseSpread: terms.baseSpread,
    maxSpread: terms.maxSpread,
    longSpread: areSpreadsStored ? Math.trunc(longSpread) : 0,
    shortSpread: areSpreadsStored ? Math.trunc(shortSpread) : 0,
    referencePriceOffset: 0,
    curveUpdateIntensity: request.marketAccount.amm.curveUpdateIntensity,
    ammSpreadAdjustment: terms.spreadAdjustment,
    ammInventorySpreadAdjustment: 0,
    lastUpdateSlot: BigInt(SLOT),
  };
  return { amm, market: marketOf(terms, amm) };
}

function marketOf(terms: CurveTerms, amm: AmmState): BookMarket {
  return {
    marketType: 'perp',
    marketIndex: terms.marketIndex,
    slot: SLOT,
    account: KEY,
    symbol: 'TWIN-PERP',
    status: 'active',
    oracle: KEY,
    oracleSource: 'pythLazer',
    tickSize: terms.tickSize,
    stepSize: terms.stepSize,
    minOrderSize: terms.minOrderSize,
    pausedOperations: 0,
    ammPaused: terms.isPaused,
    clobMarket: null,
    baseAssetAmountLong: 0n,
    baseAssetAmountShort: 0n,
    last24hAvgFundingRate: 0n,
    mmOraclePrice: 0n,
    mmOracleSlot: 0n,
    mmOracleSequenceId: 0n,
    lastOraclePriceTwap: 0n,
    lastOraclePriceTwap5Min: 0n,
    lastMarkPriceTwap5Min: 0n,
    decimals: 9,
    amm,
    spreadInputs: null,
    oracleTwap5MinPercentDivergence: null,
  };
}
