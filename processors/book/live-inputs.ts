// Inputs of both programs' spreads at the current oracle price: open depth, and the oracle's uncertainty. Formulas:
// docs/internals/vamm-quotes.md, "Uncertainty of the oracle". All in whole numbers.

import type { AmmState, BookMarket, SpreadInputs } from '../../schemas/index.ts';
import { greater, lesser, magnitude } from './whole.ts';

const SHARES = 1_000_000n;
const FIVE_MINUTES = 300n;
/** A price moves a TWAP as if it were at most a third away. */
const TWAP_BAND = 3n;
/** A stored confidence fades by one part in (21 less its age in seconds), at most by a fifth. */
const MEMORY_SECONDS = 21n;
const MEMORY_MIN = 5n;
/** Dates a price without a publish time. */
const SLOT_MS = 400n;

/** Oracle price of the vAMM's quotes. Price and confidence 1e6. */
export interface QuotingOracle {
  readonly price: bigint;
  readonly confidence: bigint;
  readonly slot: bigint;
  /** Unix seconds, null when unknown. */
  readonly ts: bigint | null;
}

/** Base (1e9) that both sides of a curve can still trade. */
export function openDepth(curve: AmmState): { readonly bids: bigint; readonly asks: bigint } {
  const bids = curve.maxBaseAssetReserve - curve.baseAssetReserve;
  const asks = curve.baseAssetReserve - curve.minBaseAssetReserve;
  return { bids: greater(bids, 0n), asks: greater(asks, 0n) };
}

/** Time of the oracle's price, Unix seconds: its own, else from the slots since the account's update. */
export function priceTs(curve: AmmState, inputs: SpreadInputs, oracle: QuotingOracle): bigint {
  if (oracle.ts !== null) return oracle.ts;
  return inputs.lastOraclePriceTwapTs + (greater(oracle.slot - curve.lastUpdateSlot, 0n) * SLOT_MS) / 1_000n;
}

/** Confidence of the oracle, a share (1e6) of the reserve price; a larger stored one fades with its age. */
export function confidenceShare(
  inputs: SpreadInputs,
  oracle: QuotingOracle,
  reservePrice: bigint,
  now: bigint,
): bigint {
  const { lastOracleConfPct: last, lastOraclePriceTwapTs } = inputs;
  const age = now - lastOraclePriceTwapTs;
  const faded = age > 0n ? last - last / greater(MEMORY_SECONDS - age, MEMORY_MIN) : last;
  return greater((oracle.confidence * SHARES) / reservePrice, faded);
}

/** Deviation of the oracle (1e6), the stored one updated by the current price. */
export function liveOracleStd(market: BookMarket, inputs: SpreadInputs, price: bigint, now: bigint): bigint {
  const since = greater(now - inputs.lastOraclePriceTwapTs, 1n);
  const left = greater(inputs.fundingPeriod - since, 0n);
  const minute = liveTwap(market.lastOraclePriceTwap5Min, price, since, FIVE_MINUTES);
  const slow = inputs.fundingPeriod === FIVE_MINUTES ? market.lastOraclePriceTwap5Min : market.lastOraclePriceTwap;
  const hour = liveTwap(slow, price, since, inputs.fundingPeriod);
  return greater(magnitude(price - hour), magnitude(price - minute)) + (inputs.oracleStd * left) / (left + since);
}

function liveTwap(twap: bigint, price: bigint, since: bigint, period: bigint): bigint {
  const left = greater(period - since, 0n);
  const band = twap / TWAP_BAND;
  const raised = greater(price, twap - band);
  const bounded = lesser(raised, twap + band);
  return (twap * left + bounded * since) / (left + since);
}

/** Whether every quotient of a curve update exists for these reserves. */
export function isQuotable({ baseAssetReserve, quoteAssetReserve, baseAssetAmountWithAmm }: AmmState): boolean {
  return baseAssetReserve > 0n && quoteAssetReserve > 0n && baseAssetReserve + baseAssetAmountWithAmm > 0n;
}
