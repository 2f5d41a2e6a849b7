// Initial margin with open orders, as the program checks it before it accepts an order or a withdrawal. Also the ratio that an
// owner sets for a position.

import { abs, max, quoteOf } from '../amounts.ts';
import { signedTokens } from '../balances.ts';
import { userAddress } from '../keys.ts';
import { POSITIONS_PER_USER } from '../model.ts';
import { perpPosition, positionPnl } from '../positions.ts';
import { enterExchange, leave, mention, touch } from '../transaction.ts';
import { perpAt, perpPrice, spotAt, spotPrice, type Trader, type World } from '../world.ts';
import { type Call, expectKey, ownUserOf } from './context.ts';
import { exchangeError } from './errors.ts';

const RATIO_SCALE = 10_000n;

/** Collateral beyond the initial requirement, quote 1e6; negative when the account lacks it. Open orders count as filled. */
export function freeInitialCollateral(world: World, trader: Trader): bigint {
  let free = 0n;
  for (const position of trader.account.spot_positions) {
    const spot = spotAt(world, position.market_index).account;
    const tokens = signedTokens(spot, position);
    const worth = (tokens * spotPrice(world, position.market_index)) / 10n ** BigInt(spot.decimals);
    const weight = tokens >= 0n ? spot.initial_asset_weight : spot.initial_liability_weight;
    free += (worth * BigInt(weight)) / RATIO_SCALE;
  }
  for (const position of trader.account.perp_positions) {
    const market = perpAt(world, position.market_index).account;
    const oracle = perpPrice(world, position.market_index);
    const { base_asset_amount: base, open_bids: bids, open_asks: asks } = position;
    const worst = max(abs(base + bids), abs(base + asks));
    free += positionPnl(position, oracle);
    const ratio = Math.max(market.margin_ratio_initial, position.max_margin_ratio, trader.account.max_margin_ratio);
    free -= (quoteOf(worst, oracle) * BigInt(ratio)) / RATIO_SCALE;
  }
  return free;
}

/** Opens the position's entry when the account has none, as the program does. */
export function changePositionMarginRatio(call: Call): void {
  const { tx, args } = call;
  const trader = ownUserOf(call);
  const { authority } = trader.account;
  expectKey(call, 'user', userAddress(authority, args.sub_account_id as number));
  const marketIndex = args.perp_market_index as number;
  const isKnown = trader.account.perp_positions.some(({ market_index: index }) => index === marketIndex);
  if (!isKnown && trader.account.perp_positions.length >= POSITIONS_PER_USER) {
    throw exchangeError('MaxNumberOfPositions');
  }
  enterExchange(tx, 'UpdateUserPerpPositionCustomMarginRatio');
  perpPosition(trader, marketIndex).max_margin_ratio = args.margin_ratio as number;
  touch(tx, trader);
  mention(tx, authority);
  leave(tx);
}
