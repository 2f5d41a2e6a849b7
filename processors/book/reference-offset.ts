// How far a vAMM quotes beside its reserve price (reference 2.6.2, protocol 4.3): where the market has paid more or less
// than the oracle for a day, and the vAMM holds the other side of that.

import type { AmmState, BookMarket, SpreadInputs } from '../../schemas/index.ts';
import { openDepth, type Spreads } from './live-spread.ts';

const SHARES = 1_000_000n;
/** Intensities above this one have an offset. */
const INTENSITY_MIN = 100;
/** The intensity whose offset is bounded by the largest spread alone, but may always be 1 %. */
const INTENSITY_WIDE = 200;
const WIDE_OFFSET_MIN = 10_000;
const OFFSET_PER_INTENSITY = 100;
/** Funding rates have three digits more than prices. */
const FUNDING_TO_PRICE = 1_000n;
const HOURS_PER_DAY = 24n;
const PREMIUMS = 3n;
/** A change of sign goes by a tenth of the way, of which each slot allows so much, but by at least SMOOTH_MIN. */
const SMOOTH_PART = 10;
const SMOOTH_PER_SLOT = 1_000;
const SMOOTH_MIN = 10;

/** The offset that premiums and inventory ask for; whole, a share of 1e6. */
export function referenceOffset(
  market: BookMarket,
  curve: AmmState,
  inputs: SpreadInputs,
  reservePrice: bigint,
): number {
  if (curve.curveUpdateIntensity <= INTENSITY_MIN || market.last24hAvgFundingRate === 0n) return 0;
  const liquidity = inventoryBeyondDeadband(curve, inputs);
  if (liquidity === 0n) return 0;
  const most = BigInt(Math.trunc(offsetMax(curve)));
  const mostInPrice = (most * reservePrice) / SHARES;
  const minute = market.lastMarkPriceTwap5Min - market.lastOraclePriceTwap5Min;
  const hour = inputs.lastMarkPriceTwap - market.lastOraclePriceTwap;
  const day = (market.last24hAvgFundingRate / FUNDING_TO_PRICE) * HOURS_PER_DAY;
  const sum = within(minute, mostInPrice) + within(hour, mostInPrice) + within(day, mostInPrice);
  const premium = ((sum / PREMIUMS) * SHARES) / reservePrice;
  if (liquidity < 0n !== premium < 0n) return 0;
  return Number(within((premium * magnitude(liquidity)) / 2n, most));
}

/**
 * Spreads and the offset that is quoted: an offset of another sign than the last one is neared by steps, and both spreads
 * are wider for as long.
 */
export function smoothed(
  curve: AmmState,
  inputs: SpreadInputs,
  slot: bigint,
  spreads: Spreads,
  wanted: number,
): Spreads & { readonly offset: number } {
  const last = inputs.lastReferencePriceOffset;
  const { long, short } = spreads;
  if (curve.curveUpdateIntensity <= INTENSITY_MIN || Math.sign(wanted) === Math.sign(last)) {
    return { long, short, offset: wanted };
  }
  const slots = Math.max(0, Number(slot - curve.lastUpdateSlot));
  const gap = wanted - last;
  const part = Math.trunc(Math.min(Math.abs(gap), slots * SMOOTH_PER_SLOT) / SMOOTH_PART);
  const step = Math.min(Math.max(part, SMOOTH_MIN), Math.abs(last) || Math.abs(wanted));
  const offset = last + Math.sign(gap) * step;
  const ahead = Math.abs(offset);
  return gap < 0
    ? { long: long + step, short: short + ahead, offset }
    : { long: long + ahead, short: short + step, offset };
}

function offsetMax({ maxSpread, curveUpdateIntensity }: AmmState): number {
  if (curveUpdateIntensity === INTENSITY_WIDE) return Math.max(maxSpread / 2, WIDE_OFFSET_MIN);
  return Math.min(maxSpread / 2, OFFSET_PER_INTENSITY * (curveUpdateIntensity - INTENSITY_MIN));
}

/** Inventory as a share (1e6) of the mean depth, with its sign, less the dead band. */
function inventoryBeyondDeadband(curve: AmmState, inputs: SpreadInputs): bigint {
  const { bids, asks } = openDepth(curve);
  const depth = (bids + asks) / 2n;
  const inventory = curve.baseAssetAmountWithAmm;
  const share = (magnitude(inventory) * SHARES) / (depth > 1n ? depth : 1n);
  const bounded = share < SHARES ? share : SHARES;
  const beyond = bounded - (SHARES * BigInt(inputs.referencePriceOffsetDeadbandPct)) / 100n;
  if (beyond <= 0n) return 0n;
  return inventory + inputs.baseAssetAmountWithUnsettledLp < 0n ? -beyond : beyond;
}

function within(value: bigint, most: bigint): bigint {
  return value > most ? most : value < -most ? -most : value;
}

function magnitude(value: bigint): bigint {
  return value < 0n ? -value : value;
}
