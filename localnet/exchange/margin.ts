// Account health: collateral against the requirement of its positions, simplified to maintenance weights.

import { abs, quoteOf } from './amounts.ts';
import { signedTokens } from './balances.ts';
import { positionPnl } from './positions.ts';
import { perpAt, perpPrice, spotAt, spotPrice, type Trader, type World } from './world.ts';

const RATIO_SCALE = 10_000n;

export interface Health {
  /** Weighted value of tokens and P&L, quote 1e6; may be negative. */
  readonly collateral: bigint;
  /** Required collateral of the positions, quote 1e6. */
  readonly requirement: bigint;
}

export function healthOf(world: World, trader: Trader): Health {
  let collateral = 0n;
  let requirement = 0n;
  for (const position of trader.account.spot_positions) {
    const spot = spotAt(world, position.market_index).account;
    const tokens = signedTokens(spot, position);
    const worth = (tokens * spotPrice(world, position.market_index)) / 10n ** BigInt(spot.decimals);
    if (tokens >= 0n) collateral += (worth * BigInt(spot.maintenance_asset_weight)) / RATIO_SCALE;
    else requirement += (-worth * BigInt(spot.maintenance_liability_weight)) / RATIO_SCALE;
  }
  for (const position of trader.account.perp_positions) {
    const market = perpAt(world, position.market_index).account;
    const oracle = perpPrice(world, position.market_index);
    collateral += positionPnl(position, oracle);
    const worth = quoteOf(abs(position.base_asset_amount), oracle);
    requirement += (worth * BigInt(market.margin_ratio_maintenance)) / RATIO_SCALE;
  }
  return { collateral, requirement };
}

/** Collateral beyond twice the requirement, which represents initial margin. Negative when the account lacks it. */
export function freeCollateral(world: World, trader: Trader): bigint {
  const { collateral, requirement } = healthOf(world, trader);
  return collateral - 2n * requirement;
}

export function isLiquidatable(world: World, trader: Trader): boolean {
  const { collateral, requirement } = healthOf(world, trader);
  return collateral < requirement;
}
