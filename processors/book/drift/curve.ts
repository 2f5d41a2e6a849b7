// Peg and k of a Drift vAMM at the current oracle price, as the program moves them before it fills:
// docs/internals/vamm-quotes.md, "Drift: peg and k".

import type { AmmState } from '../../../schemas/index.ts';
import { isQuotable } from '../live-inputs.ts';

const PRICE = 1_000_000n;
const PEG = 1_000_000n;
const SPREAD = 1_000_000n;
/** Reserves (1e9) to quote (1e6). */
const RESERVE_TO_QUOTE = 1_000n;
/** k shrinks by this factor at once when the budget does not pay for the peg. */
const SHRUNK = { numerator: 999n, denominator: 1_000n } as const;
/** That factor on sqrt k as a share of 1e6. */
const SHRUNK_SHARE = (SHRUNK.numerator * PRICE) / SHRUNK.denominator;
const COST_PRECISION = 1_000_000_000_000n;

type Curve = Pick<
  AmmState,
  'baseAssetReserve' | 'quoteAssetReserve' | 'sqrtK' | 'pegMultiplier' | 'terminalQuoteAssetReserve'
>;

/**
 * The curve after the program's update at an oracle price (1e6). It is the same object when nothing moves: the market does
 * not follow its oracle (intensity 0), is there already, or its reserves allow no update. Spread reserves of a moved curve
 * are zero: its spreads decide them.
 */
export function driftCurve(amm: AmmState, oracle: bigint): AmmState {
  if (amm.curveUpdateIntensity === 0 || amm.totalExchangeFee === null || oracle <= 0n || !isQuotable(amm)) return amm;
  const target = targetOf(amm, oracle);
  let moved: Curve = {
    ...amm,
    quoteAssetReserve: (amm.sqrtK * amm.sqrtK) / amm.baseAssetReserve,
    pegMultiplier: target.peg,
  };
  let cost = repegCost(amm, target.peg);
  if (cost >= target.budget && cost > 0n) {
    const shrunk = shrink(amm);
    if (shrunk === null) return amm;
    const peg = affordablePeg(shrunk.curve, target.budget + shrunk.saved, target.price);
    moved = { ...shrunk.curve, pegMultiplier: peg };
    cost = repegCost(shrunk.curve, peg);
  }
  const isMoved = moved.pegMultiplier !== amm.pegMultiplier || moved.sqrtK !== amm.sqrtK;
  if (!isMoved || moved.quoteAssetReserve <= 0n) return amm;
  return {
    ...amm,
    baseAssetReserve: moved.baseAssetReserve,
    quoteAssetReserve: moved.quoteAssetReserve,
    sqrtK: moved.sqrtK,
    pegMultiplier: moved.pegMultiplier,
    terminalQuoteAssetReserve: moved.terminalQuoteAssetReserve,
    askBaseAssetReserve: 0n,
    askQuoteAssetReserve: 0n,
    bidBaseAssetReserve: 0n,
    bidQuoteAssetReserve: 0n,
    totalFeeMinusDistributions: amm.totalFeeMinusDistributions - cost,
    netRevenueSinceLastFunding: amm.netRevenueSinceLastFunding - cost,
  };
}

/** Peg (1e6) at which a curve's reserve price is `price` (1e6), never 0. */
function pegAt(price: bigint, { baseAssetReserve, quoteAssetReserve }: Curve): bigint {
  const peg = (price * baseAssetReserve) / quoteAssetReserve;
  return peg > 1n ? peg : 1n;
}

/** Quote (1e6) that the exchange pays its users by moving the peg; negative when they pay. */
function repegCost({ quoteAssetReserve, terminalQuoteAssetReserve, pegMultiplier }: Curve, peg: bigint): bigint {
  return ((quoteAssetReserve - terminalQuoteAssetReserve) * (peg - pegMultiplier)) / RESERVE_TO_QUOTE / PEG;
}

/**
 * Target of the peg, and the budget for it (quote, 1e6). A gap that the budget cannot pay, and that is wider than half of
 * the largest spread, closes only to that width.
 */
function targetOf(
  amm: AmmState,
  oracle: bigint,
): { readonly price: bigint; readonly peg: bigint; readonly budget: bigint } {
  const peg = pegAt(oracle, amm);
  const spendable = amm.totalFeeMinusDistributions - (amm.totalExchangeFee ?? 0n) / 2n;
  const budget = spendable > 0n ? spendable : 0n;
  if (budget < repegCost(amm, peg)) {
    const reservePrice = (amm.quoteAssetReserve * amm.pegMultiplier) / amm.baseAssetReserve;
    const halfSpread = ((BigInt(amm.maxSpread) / 2n) * oracle) / SPREAD;
    const gap = reservePrice - oracle;
    const beyond = (gap < 0n ? -gap : gap) - halfSpread;
    if (beyond > 0n) {
      const price = gap < 0n ? reservePrice + beyond : reservePrice - beyond;
      const nearer = pegAt(price, amm);
      return { price, peg: nearer, budget: repegCost(amm, nearer) };
    }
  }
  return { price: oracle, peg, budget };
}

/** The curve with k lowered one step, and the quote (1e6) that it frees; null when the inventory does not fit it. */
function shrink(amm: AmmState): { readonly curve: Curve; readonly saved: bigint } | null {
  const { numerator, denominator } = SHRUNK;
  const inventory = amm.baseAssetAmountWithAmm;
  const baseAssetReserve = (amm.baseAssetReserve * numerator) / denominator;
  const sqrtK = (amm.sqrtK * numerator) / denominator;
  const closed = baseAssetReserve + inventory;
  const closedForCost = (amm.baseAssetReserve * SHRUNK_SHARE) / PRICE + inventory;
  const quoteAssetReserve = baseAssetReserve > 0n ? (sqrtK * sqrtK) / baseAssetReserve : 0n;
  if (quoteAssetReserve <= 0n || closed <= 0n || closedForCost <= 0n) return null;
  const value = amm.quoteAssetReserve * inventory * amm.pegMultiplier;
  const before = (value * COST_PRECISION) / (amm.baseAssetReserve + inventory);
  const after = (value * SHRUNK_SHARE * COST_PRECISION) / PRICE / closedForCost;
  return {
    curve: {
      baseAssetReserve,
      quoteAssetReserve,
      sqrtK,
      pegMultiplier: amm.pegMultiplier,
      terminalQuoteAssetReserve: (sqrtK * sqrtK) / closed,
    },
    saved: (before - after) / COST_PRECISION / RESERVE_TO_QUOTE / PEG,
  };
}

/** The peg as near to a price as a budget (quote, 1e6) allows. */
function affordablePeg(curve: Curve, budget: bigint, price: bigint): bigint {
  const wanted = pegAt(price, curve);
  const exact = (curve.quoteAssetReserve - curve.terminalQuoteAssetReserve) / RESERVE_TO_QUOTE;
  // Rounded away from zero, so that the cost never exceeds the budget.
  const perPeg = exact > 0n ? exact + 1n : exact < 0n ? exact - 1n : 0n;
  const change = wanted - curve.pegMultiplier;
  if (perPeg === 0n || (perPeg < 0n && change > 0n) || (perPeg > 0n && change < 0n)) return wanted;
  const peg = curve.pegMultiplier + (budget * PEG) / perPeg;
  return peg > 1n ? peg : 1n;
}
