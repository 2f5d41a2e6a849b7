// Settling P&L on request of an account's owner.

import { claimable, settleClaim } from '../settlement.ts';
import { enterExchange, leave, mention, note } from '../transaction.ts';
import { perpAt, spotAt, type Trader } from '../world.ts';
import { type Call, expectKey, expectRemaining, userOf } from './context.ts';
import { exchangeError, type ProgramFailure } from './errors.ts';

export function settlePnl(call: Call): void {
  const marketIndex = call.args.market_index as number;
  const trader = settled(call, [marketIndex]);
  const refusal = refusalOf(call, trader, marketIndex);
  if (refusal) throw refusal;
  enterExchange(call.tx, 'SettlePnl');
  settleClaim(call.tx, trader, perpAt(call.tx.world, marketIndex));
  leave(call.tx);
}

/** Settles several markets. `trySettle` leaves out those that cannot settle. */
export function settleMultiplePnls(call: Call): void {
  const { tx, args } = call;
  const marketIndexes = args.market_indexes as readonly number[];
  const trader = settled(call, marketIndexes);
  enterExchange(tx, 'SettleMultiplePnls');
  for (const marketIndex of marketIndexes) {
    const refusal = refusalOf(call, trader, marketIndex);
    if (refusal && args.mode === 'mustSettle') throw refusal;
    if (refusal) note(tx, `market ${marketIndex} not settled: ${refusal.code}`);
    else settleClaim(tx, trader, perpAt(tx.world, marketIndex));
  }
  leave(tx);
}

function settled(call: Call, marketIndexes: readonly number[]): Trader {
  const { world } = call.tx;
  const trader = userOf(call);
  expectKey(call, 'spot_market_vault', spotAt(world, 0).account.vault);
  const markets = marketIndexes.map((index) => {
    const perp = world.perps[index];
    if (!perp) throw exchangeError('PerpMarketNotFound');
    return perp;
  });
  const needed = markets.flatMap(({ key, account }) => [key, account.oracle]);
  expectRemaining(call, needed, () => exchangeError('PerpMarketNotFound'));
  expectRemaining(call, [spotAt(world, 0).key], () => exchangeError('SpotMarketNotFound'));
  mention(call.tx, call.accounts.authority ?? '');
  return trader;
}

function refusalOf({ tx }: Call, trader: Trader, marketIndex: number): ProgramFailure | null {
  const position = trader.account.perp_positions.find(({ market_index: index }) => index === marketIndex);
  if (!position) return exchangeError('UserHasNoPositionInMarket');
  const perp = perpAt(tx.world, marketIndex);
  if (position.base_asset_amount === 0n && position.quote_asset_amount === 0n) return exchangeError('NoUnsettledPnl');
  return claimable(tx.world, trader, perp) === 0n ? exchangeError('PnlPoolCantSettleUser') : null;
}
