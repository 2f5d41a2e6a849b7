// Offset of a Drift vAMM's quotes from its reserve price: docs/internals/vamm-quotes.md, "Drift: the reference offset".

import type { AmmState, BookMarket, SpreadInputs } from '../../../schemas/index.ts';
import { openDepth } from '../live-inputs.ts';
import { magnitude, within } from '../whole.ts';
import type { Spreads } from './spread.ts';

const SHARES = 1_000_000n;
/** Intensities above this one have an offset. */
const INTENSITY_MIN = 100;
/** At this intensity only the largest spread bounds the offset, and the bound is at least 1 %. */
const INTENSITY_WIDE = 200;
const WIDE_OFFSET_MIN = 10_000;
const OFFSET_PER_INTENSITY = 100;
/** Funding rates have three digits more than prices. */
const FUNDING_TO_PRICE = 1_000n;
const HOURS_PER_DAY = 24n;
const PREMIUMS = 3n;
/** A change of sign moves a tenth of the way, limited per slot, but at least by SMOOTH_MIN. */
const SMOOTH_PART = 10;
const SMOOTH_PER_SLOT = 1_000;
const SMOOTH_MIN = 10;

/** The offset from premiums and inventory; whole, a share of 1e6. */
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

/** Spreads and the quoted offset: an offset with a new sign is approached in steps, and both spreads are wider meanwhile. */
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

/** Inventory as a signed share (1e6) of the mean depth, without the dead band. */
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
