// Peg and k of a Velocity vAMM at the current oracle price, as the program moves them before it quotes:
// docs/internals/vamm-quotes.md, "Velocity: peg and k".

import type { AmmState, BookMarket, SpreadInputs } from '../../../schemas/index.ts';
import { isQuotable, openDepth } from '../live-inputs.ts';
import { ceilDiv, greater, lesser, magnitude } from '../whole.ts';
import { ONE } from './sides.ts';

const PEG = 1_000_000n;
/** Reserves (1e9) times peg (1e6), as quote (1e6). */
const VALUE_TO_QUOTE = 1_000_000_000n;
/** Reserves (1e9) to quote (1e6). */
const RESERVE_TO_QUOTE = 1_000n;
/** k shrinks from this intensity on. */
const LOWER_K_INTENSITY = 100;
/** Bit of `market_config`: the market keeps its k. */
const KEEP_K = 1;
const LOWER_K_PART = 1_000n;
const RATIO = 1_000_000_000n;
const CONCENTRATION = 1_000_000n;

interface Target {
  readonly peg: bigint;
  /** Budget of the move; quote, 1e6. */
  readonly budget: bigint;
  /** Whether fees must remain after the move. */
  readonly isPaidFromFees: boolean;
}

/**
 * The curve after the program's update at an oracle price (1e6). The same object when nothing moves. The spread reserves
 * of a moved curve are zero: they follow from its spreads.
 */
export function velocityCurve(market: BookMarket, amm: AmmState, inputs: SpreadInputs, oracle: bigint): AmmState {
  if (amm.curveUpdateIntensity === 0 || oracle <= 0n || !isQuotable(amm)) return amm;
  const target = targetOf(amm, oracle);
  if (target.peg === amm.pegMultiplier) return amm;
  const moved = isPayable(amm, target)
    ? { ...amm, pegMultiplier: target.peg }
    : stretched(amm, target, canLowerK(market, amm, inputs) ? loweredK(market, amm) : null);
  const cost = repegCost(moved, amm.pegMultiplier, moved.pegMultiplier);
  const fees = amm.totalFeeMinusDistributions - cost;
  if (cost > 0n && fees < 0n && target.isPaidFromFees) return amm;
  return {
    ...moved,
    askBaseAssetReserve: 0n,
    askQuoteAssetReserve: 0n,
    bidBaseAssetReserve: 0n,
    bidQuoteAssetReserve: 0n,
    totalFeeMinusDistributions: fees,
    netRevenueSinceLastFunding: amm.netRevenueSinceLastFunding - cost,
  };
}

/** Peg (1e6) at which the reserve price is `price` (1e6), never 0. */
function pegAt({ baseAssetReserve, quoteAssetReserve }: AmmState, price: bigint): bigint {
  return greater((price * baseAssetReserve) / quoteAssetReserve, 1n);
}

/** Quote (1e6) that a move of the peg pays to users; negative when they pay. */
function repegCost({ quoteAssetReserve, terminalQuoteAssetReserve }: AmmState, from: bigint, to: bigint): bigint {
  return ((quoteAssetReserve - terminalQuoteAssetReserve) * (to - from)) / VALUE_TO_QUOTE;
}

/** The oracle; or, when fees do not pay for it, a price within half of the largest spread from it. */
function targetOf(amm: AmmState, oracle: bigint): Target {
  const peg = pegAt(amm, oracle);
  const budget = greater(amm.totalFeeMinusDistributions, 0n);
  if (budget >= repegCost(amm, amm.pegMultiplier, peg)) return { peg, budget, isPaidFromFees: true };
  const reservePrice = (amm.quoteAssetReserve * amm.pegMultiplier) / amm.baseAssetReserve;
  const gap = reservePrice - oracle;
  const beyond = magnitude(gap) - (oracle * (BigInt(amm.maxSpread) / 2n)) / ONE;
  if (beyond <= 0n) return { peg, budget, isPaidFromFees: budget > 0n };
  const nearer = pegAt(amm, gap < 0n ? reservePrice + beyond : reservePrice - beyond);
  return { peg: nearer, budget: repegCost(amm, amm.pegMultiplier, nearer), isPaidFromFees: false };
}

/** Quote (1e6) cost of a peg change by 1, rounded away from zero plus one. */
function costPerPeg({ quoteAssetReserve, terminalQuoteAssetReserve }: AmmState): bigint {
  const reserve = quoteAssetReserve - terminalQuoteAssetReserve;
  const cost = reserve > 0n ? ceilDiv(reserve, RESERVE_TO_QUOTE) : reserve / RESERVE_TO_QUOTE;
  return cost > 0n ? cost + 1n : cost < 0n ? cost - 1n : 0n;
}

/** Whether the move earns, is free, or costs less than the whole budget. */
function isPayable(amm: AmmState, { peg, budget }: Target): boolean {
  const perPeg = costPerPeg(amm);
  const change = peg - amm.pegMultiplier;
  if (perPeg === 0n || perPeg > 0n !== change > 0n) return true;
  return magnitude((budget * PEG) / perPeg) > magnitude(change);
}

interface LoweredK {
  readonly curve: AmmState;
  /** Quote, 1e6. */
  readonly freed: bigint;
}

/** The peg moved as far as the budget and a lower k allow. */
function stretched(amm: AmmState, target: Target, lowered: LoweredK | null): AmmState {
  const { curve, freed } = lowered ?? { curve: amm, freed: 0n };
  const perPeg = costPerPeg(curve);
  if (perPeg === 0n) return { ...curve, pegMultiplier: target.peg };
  const change = ((target.budget + freed) * PEG) / perPeg;
  return { ...curve, pegMultiplier: greater(amm.pegMultiplier + change, 1n) };
}

function canLowerK({ minOrderSize }: BookMarket, amm: AmmState, { marketConfig }: SpreadInputs): boolean {
  if (amm.curveUpdateIntensity < LOWER_K_INTENSITY || ((marketConfig ?? 0) & KEEP_K) !== 0) return false;
  const { bids, asks } = openDepth(amm);
  const inventory = magnitude(amm.baseAssetAmountWithAmm);
  return (
    inventory < lesser(bids, asks) && greater(inventory, minOrderSize) < amm.sqrtK && minOrderSize < greater(bids, asks)
  );
}

/** The curve with sqrt k lowered by a thousandth, at most to the inventory or the smallest order; null without room. */
function loweredK({ minOrderSize }: BookMarket, amm: AmmState): LoweredK | null {
  const inventory = amm.baseAssetAmountWithAmm;
  const least = lesser(amm.sqrtK, greater(minOrderSize, magnitude(inventory)));
  const sqrtK = greater(amm.sqrtK - amm.sqrtK / LOWER_K_PART, least);
  const ratio = (sqrtK * RATIO) / amm.sqrtK;
  const baseAssetReserve = (amm.baseAssetReserve * (ratio < RATIO ? ratio + 1n : ratio)) / RATIO;
  const closed = baseAssetReserve + inventory;
  if (baseAssetReserve <= 0n || closed <= 0n) return null;
  const k = sqrtK * sqrtK;
  const curve = {
    ...amm,
    ...depthBounds(amm, closed),
    sqrtK,
    baseAssetReserve,
    quoteAssetReserve: k / baseAssetReserve,
    terminalQuoteAssetReserve: k / closed,
  };
  if (curve.quoteAssetReserve <= 0n) return null;
  return { curve, freed: magnitude(closingValue(curve) - closingValue(amm)) };
}

/** Base reserves between which the curve trades, by its concentration. */
function depthBounds(
  { concentrationCoef, minBaseAssetReserve, maxBaseAssetReserve }: AmmState,
  closed: bigint,
): Pick<AmmState, 'minBaseAssetReserve' | 'maxBaseAssetReserve'> {
  if (concentrationCoef <= CONCENTRATION) return { minBaseAssetReserve, maxBaseAssetReserve };
  return {
    minBaseAssetReserve: (closed * CONCENTRATION) / concentrationCoef,
    maxBaseAssetReserve: (closed * concentrationCoef) / CONCENTRATION,
  };
}

/** Quote (1e6) for closing the inventory against the curve; buying rounds against the buyer. */
function closingValue(amm: AmmState): bigint {
  const { baseAssetAmountWithAmm: inventory, quoteAssetReserve: quote, sqrtK, pegMultiplier } = amm;
  if (inventory === 0n) return 0n;
  const closed = (sqrtK * sqrtK) / (amm.baseAssetReserve + inventory);
  if (inventory > 0n) return ((quote - closed) * pegMultiplier) / VALUE_TO_QUOTE;
  return ((closed - quote + 1n) * pegMultiplier) / VALUE_TO_QUOTE + 1n;
}
