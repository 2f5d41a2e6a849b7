// Offset of a Velocity vAMM's quotes from its reserve price: docs/internals/vamm-quotes.md, "Velocity: the reference offset".

import type { AmmState, BookMarket, SpreadInputs } from '../../../schemas/index.ts';
import { openDepth } from '../live-inputs.ts';
import { greater, lesser, magnitude, within } from '../whole.ts';
import { ONE } from './sides.ts';

/** Intensities above this one have an offset. */
const INTENSITY_MIN = 100;
/** From this intensity on only the largest spread bounds the offset, and the bound is at least 1 %. */
const INTENSITY_WIDE = 200;
const WIDE_OFFSET_MIN = 10_000n;
const OFFSET_PER_INTENSITY = 100n;
/** Funding rates have three digits more than prices. */
const FUNDING_TO_PRICE = 1_000n;
const HOURS_PER_DAY = 24n;
/** The constant part of a day's funding, a share of the oracle's TWAP. */
const FUNDING_OFFSET_PART = 3_333n;
const PREMIUMS = 3n;
/** Share (1e6) of the depth at which an inventory gets the whole offset. */
const FULL_INVENTORY = 100_000n;

/** A share of 1e6, above zero where users pay a premium to be long. */
export function referenceOffset(
  market: BookMarket,
  curve: AmmState,
  inputs: SpreadInputs,
  reservePrice: bigint,
): bigint {
  if (curve.curveUpdateIntensity <= INTENSITY_MIN || market.last24hAvgFundingRate === 0n) return 0n;
  const inventory = inventoryBeyondDeadband(curve, inputs.referencePriceOffsetDeadbandPct);
  if (inventory === 0n) return 0n;
  const most = offsetMax(curve);
  const premium = meanPremium(market, inputs, reservePrice, most);
  if (premium === 0n || premium < 0n !== inventory < 0n) return 0n;
  const offset = (most * lesser(magnitude(inventory), FULL_INVENTORY)) / FULL_INVENTORY;
  return inventory < 0n ? -offset : offset;
}

function offsetMax({ maxSpread, curveUpdateIntensity: intensity }: AmmState): bigint {
  const half = BigInt(maxSpread) / 2n;
  if (intensity >= INTENSITY_WIDE) return greater(half, WIDE_OFFSET_MIN);
  return lesser(half, OFFSET_PER_INTENSITY * BigInt(intensity - INTENSITY_MIN));
}

/** Mean of three premiums over the oracle, each within `most`, as a share (1e6) of the reserve price. */
function meanPremium(market: BookMarket, inputs: SpreadInputs, reservePrice: bigint, most: bigint): bigint {
  const bound = (most * reservePrice) / ONE;
  const minute = market.lastMarkPriceTwap5Min - market.lastOraclePriceTwap5Min;
  const hour = inputs.lastMarkPriceTwap - market.lastOraclePriceTwap;
  const funding = (market.last24hAvgFundingRate / FUNDING_TO_PRICE) * HOURS_PER_DAY;
  const day = funding - magnitude(market.lastOraclePriceTwap) / FUNDING_OFFSET_PART;
  const sum = within(minute, bound) + within(hour, bound) + within(day, bound);
  return ((sum / PREMIUMS) * ONE) / reservePrice;
}

/** Inventory as a signed share (1e6) of the mean depth, without the dead band. */
function inventoryBeyondDeadband(curve: AmmState, deadbandPct: number): bigint {
  const { bids, asks } = openDepth(curve);
  const depth = (bids + asks) / 2n;
  const inventory = curve.baseAssetAmountWithAmm;
  const size = magnitude(inventory);
  const share = size < depth ? (size * ONE) / depth : ONE;
  const beyond = greater(share - (ONE * BigInt(deadbandPct)) / 100n, 0n);
  if (inventory === 0n) return 0n;
  return inventory < 0n ? -beyond : beyond;
}
