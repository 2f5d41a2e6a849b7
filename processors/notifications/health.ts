// Maintenance margin of an account, in whole numbers, as the program computes it (docs/internals/notifications.md,
// "Account health").

import {
  type AccountMargin,
  BASE_PRECISION,
  debtAmount,
  HEALTH_BUCKETS,
  type HealthBucket,
  type MarginBalance,
  type MarginPosition,
  type MarketMargin,
  magnitude,
  type PerpMargin,
  positionPnl,
  type SpotMargin,
  tokenAmount,
} from '../../schemas/index.ts';

const WEIGHT_SCALE = 10n ** 4n;
const IMF_SCALE = 10n ** 6n;
/** Square root of the size at one whole unit, 1e10. */
const ROOT_SCALE = 10n ** 5n;
/** Quote 1e6 that each open order needs. */
const OPEN_ORDER_MARGIN = 10_000n;
/** The program's market status in which positions have a fixed price and need no margin. */
const SETTLEMENT = 'settlement';
/** Smallest health of each bucket but the last, in parts of 1e4. */
const FLOORS: readonly bigint[] = [5_000n, 2_500n, 1_000n, 0n];
/** Health above the floor that a better bucket needs, so that a price around the floor does not flap. */
const RECOVERY = 500n;
const WHOLE_HEALTH = 10_000n;

/** Quote 1e6. */
export interface Margin {
  readonly collateral: bigint;
  readonly requirement: bigint;
  readonly isBeingLiquidated: boolean;
}

export type FindMargin = (marketType: 'perp' | 'spot', marketIndex: number) => MarketMargin | undefined;

/** Cross margin first, then each isolated position. Null while one of its markets is unknown. */
export function marginsOf(account: AccountMargin, find: FindMargin): readonly Margin[] | null {
  let collateral = 0n;
  let requirement = 0n;
  for (const balance of account.balances) {
    const market = find('spot', balance.marketIndex);
    if (!market?.spot) return null;
    const value = balanceValue(balance, market.spot, market);
    if (value >= 0n) collateral += value;
    else requirement -= value;
  }
  const isolated: Margin[] = [];
  for (const position of account.positions) {
    const market = find('perp', position.marketIndex);
    const quote = market?.perp && find('spot', market.perp.quoteMarketIndex);
    if (!market?.perp || !quote?.spot) return null;
    const pnl = positionCollateral(position, market, market.perp, quote);
    const needed = positionRequirement(position, market, market.perp);
    if (!position.isIsolated) {
      collateral += pnl;
      requirement += needed;
      continue;
    }
    const { isolatedScaledBalance: scaledBalance, isBeingLiquidated } = position;
    const own = { marketIndex: quote.marketIndex, scaledBalance, isBorrow: false };
    const deposit = balanceValue(own, quote.spot, quote);
    isolated.push({ collateral: deposit + pnl, requirement: needed, isBeingLiquidated });
  }
  return [{ collateral, requirement, isBeingLiquidated: account.isBeingLiquidated }, ...isolated];
}

/** Weighted value of a balance, quote 1e6; negative for a debt. Debts round up, deposits down. */
function balanceValue({ scaledBalance, isBorrow }: MarginBalance, spot: SpotMargin, market: MarketMargin): bigint {
  const unit = 10n ** BigInt(spot.decimals);
  if (!isBorrow) {
    const tokens = tokenAmount(scaledBalance, spot.cumulativeDepositInterest, spot.decimals);
    const value = (tokens * market.oraclePrice) / unit;
    return (value * BigInt(spot.assetWeightMaintenance)) / WEIGHT_SCALE;
  }
  const tokens = debtAmount(scaledBalance, spot.cumulativeBorrowInterest, spot.decimals);
  const weight = sizeWeight((tokens * BASE_PRECISION) / unit, market.imfFactor, spot.liabilityWeightMaintenance);
  return -((((tokens * market.oraclePrice) / unit) * weight) / WEIGHT_SCALE);
}

/** Unrealized P&L with funding, weighted when it is a gain, quote 1e6. */
function positionCollateral(
  position: MarginPosition,
  market: MarketMargin,
  perp: PerpMargin,
  quote: MarketMargin,
): bigint {
  const pnl = positionPnl(position, perp, priceOf(market));
  const worth = (pnl * quote.oraclePrice) / 1_000_000n;
  return worth > 0n ? (worth * BigInt(perp.pnlAssetWeightMaintenance)) / WEIGHT_SCALE : worth;
}

/** Margin for the position with the worse of its open sides filled, quote 1e6. */
function positionRequirement(position: MarginPosition, market: MarketMargin, perp: PerpMargin): bigint {
  const { baseAssetAmount: base, openBids, openAsks, openOrders } = position;
  const worst = larger(magnitude(base + openBids), magnitude(base + openAsks));
  const orders = BigInt(openOrders) * OPEN_ORDER_MARGIN;
  if (market.status === SETTLEMENT) return orders;
  const ratio = sizeWeight(worst, market.imfFactor, perp.marginRatioMaintenance);
  return (((worst * priceOf(market)) / BASE_PRECISION) * ratio) / WEIGHT_SCALE + orders;
}

const priceOf = ({ status, expiryPrice, oraclePrice }: MarketMargin): bigint =>
  status === SETTLEMENT ? expiryPrice : oraclePrice;

/** `Math.max` takes no bigint. */
function larger(one: bigint, other: bigint): bigint {
  if (one > other) return one;
  return other;
}

/** A weight or ratio (1e4) that grows with the square root of the size (1e9). */
function sizeWeight(size: bigint, imfFactor: number, weight: number): bigint {
  const least = BigInt(weight);
  if (imfFactor === 0) return least;
  const premium = (squareRoot(size * 10n + 1n) * BigInt(imfFactor)) / ((ROOT_SCALE * IMF_SCALE) / WEIGHT_SCALE);
  const grown = least - least / 5n + premium;
  return larger(grown, least);
}

/** Integer square root, rounded down. */
export function squareRoot(value: bigint): bigint {
  if (value < 2n) return value;
  let guess = 1n << BigInt((value.toString(2).length + 1) >> 1);
  while (true) {
    const next = (guess + value / guess) >> 1n;
    if (next >= guess) return guess;
    guess = next;
  }
}

/** Share of the collateral that the requirement leaves free, parts of 1e4; below 0 when the program may liquidate. */
export function healthOf({ collateral, requirement, isBeingLiquidated }: Margin): bigint {
  if (isBeingLiquidated || collateral < requirement) return -1n;
  if (requirement <= 0n) return WHOLE_HEALTH;
  return ((collateral - requirement) * WHOLE_HEALTH) / collateral;
}

/** The bucket of a health. It leaves `before` for a better one only `RECOVERY` above the floor. */
export function bucketOf(health: bigint, before: HealthBucket | null): HealthBucket {
  const plain = bucketAt(health);
  if (before === null || HEALTH_BUCKETS.indexOf(plain) >= HEALTH_BUCKETS.indexOf(before)) return plain;
  const recovered = bucketAt(health === WHOLE_HEALTH ? health : health - RECOVERY);
  return HEALTH_BUCKETS.indexOf(recovered) > HEALTH_BUCKETS.indexOf(before) ? before : recovered;
}

function bucketAt(health: bigint): HealthBucket {
  const index = FLOORS.findIndex((floor) => health >= floor);
  return HEALTH_BUCKETS[index] ?? 'LIQUIDATABLE';
}
