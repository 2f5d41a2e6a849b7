// Turns accrued P&L and fees into tokens: settles positions, sweeps fees to their pools and pays them out.

import { max, min } from './amounts.ts';
import { changePool, changeTokens, poolTokens, tokensOf } from './balances.ts';
import { deriveKey } from './keys.ts';
import type { StoredPerp } from './markets.ts';
import { touchTrader } from './orders.ts';
import { changeQuote, perpPosition, positionPnl, settleFunding } from './positions.ts';
import { emit, enterExchange, leave, type Transaction, touch } from './transaction.ts';
import { perpPrice, spotAt, type Trader, type World } from './world.ts';

/** Smallest claim to settle, quote 1e6. */
const SMALLEST_CLAIM = 1_000_000n;

/** The trader's settleable P&L: losses up to its deposit, gains up to the pool. */
export function claimable(world: World, trader: Trader, perp: StoredPerp): bigint {
  const position = trader.account.perp_positions.find(
    (candidate) => candidate.market_index === perp.account.market_index,
  );
  if (!position) return 0n;
  const pnl = positionPnl(position, perpPrice(world, perp.account.market_index));
  const quote = spotAt(world, 0);
  if (pnl <= 0n) return max(pnl, -max(0n, tokensOf(trader, quote)));
  return min(pnl, poolTokens(quote, perp.account.pnl_pool));
}

/** Settles a position's P&L with the market's pool, unless it is below `smallest` (quote 1e6) either way. */
export function settlePnl(tx: Transaction, trader: Trader, perp: StoredPerp, smallest = SMALLEST_CLAIM): void {
  const estimate = claimable(tx.world, trader, perp);
  if (estimate < smallest && estimate > -smallest) return;
  enterExchange(tx, 'SettlePnl');
  settleClaim(tx, trader, perp);
  leave(tx);
}

/** Settles the claimable part of a position, inside a running instruction. */
export function settleClaim(tx: Transaction, trader: Trader, perp: StoredPerp): void {
  settleFunding(tx, trader, perp);
  const market = perp.account;
  const position = perpPosition(trader, market.market_index);
  const pnl = claimable(tx.world, trader, perp);
  const quote = spotAt(tx.world, 0);
  changeQuote(perp, position, -pnl);
  position.settled_pnl += pnl;
  trader.account.settled_perp_pnl += pnl;
  changePool(quote, market.pnl_pool, -pnl);
  changeTokens(trader, quote, pnl);
  touchTrader(tx, trader);
  touch(tx, perp, quote);
  emit(tx, 'SettlePnlRecord', {
    ts: BigInt(tx.now),
    user: trader.key,
    market_index: market.market_index,
    pnl,
    base_asset_amount: position.base_asset_amount,
    quote_asset_amount_after: position.quote_asset_amount,
    quote_entry_amount: position.quote_entry_amount,
    settle_price: perpPrice(tx.world, market.market_index),
    explanation: 'none',
  });
}

/** Moves accrued fees from the P&L pool to their pools. */
export function sweepFees(tx: Transaction, perp: StoredPerp): void {
  const market = perp.account;
  const quote = spotAt(tx.world, 0);
  const ledger = market.fee_ledger;
  const budget = poolTokens(quote, market.pnl_pool) / 8n;
  const insurance = min(ledger.pending_if_fee, budget);
  const protocol = min(ledger.pending_protocol_fee, budget);
  const provision = min(ledger.pending_amm_provision, budget);
  if (insurance + protocol + provision === 0n) return;
  enterExchange(tx, 'SweepPerpMarketFees');
  ledger.pending_if_fee -= insurance;
  ledger.pending_protocol_fee -= protocol;
  ledger.pending_amm_provision -= provision;
  ledger.amm_protocol_fees_received += provision;
  changePool(quote, market.pnl_pool, -(insurance + protocol + provision));
  changePool(quote, quote.account.revenue_pool, insurance);
  changePool(quote, market.protocol_fee_pool, protocol);
  changePool(quote, market.amm.fee_pool, provision);
  touch(tx, perp, quote);
  emit(tx, 'PerpMarketFeeSweepRecord', {
    ts: BigInt(tx.now),
    market_index: market.market_index,
    if_swept: insurance,
    protocol_swept: protocol,
    amm_provision_tokenized: provision,
  });
  leave(tx);
}

/** Pays out half of a market's protocol pool. */
export function withdrawProtocolFees(tx: Transaction, perp: StoredPerp, seed: number): void {
  const quote = spotAt(tx.world, 0);
  const amount = poolTokens(quote, perp.account.protocol_fee_pool) / 2n;
  if (amount === 0n) return;
  enterExchange(tx, 'WithdrawProtocolFees');
  changePool(quote, perp.account.protocol_fee_pool, -amount);
  touch(tx, perp, quote);
  emit(tx, 'ProtocolFeeWithdrawRecord', {
    ts: BigInt(tx.now),
    market_index: perp.account.market_index,
    is_perp: true,
    spot_market_index: 0,
    amount,
    recipient_token_account: deriveKey(seed, 'protocol-treasury'),
  });
  leave(tx);
}

/** The protocol's own user withdraws tokens. No trader is affected. */
export function withdrawProtocolUser(tx: Transaction, seed: number, amount: bigint): void {
  const quote = spotAt(tx.world, 0);
  if (poolTokens(quote, quote.account.revenue_pool) < amount * 2n) return;
  enterExchange(tx, 'WithdrawProtocolUser');
  changePool(quote, quote.account.revenue_pool, -amount);
  touch(tx, quote);
  emit(tx, 'ProtocolUserWithdrawRecordV0', {
    ts: BigInt(tx.now),
    spot_market_index: 0,
    amount,
    protocol_user: deriveKey(seed, 'protocol-user'),
    recipient_token_account: deriveKey(seed, 'protocol-treasury'),
  });
  leave(tx);
}

/** Lends a third of one market's fee pool to another market's P&L pool. */
export function transferPools(tx: Transaction, from: StoredPerp, to: StoredPerp): void {
  const quote = spotAt(tx.world, 0);
  const amount = poolTokens(quote, from.account.amm.fee_pool) / 3n;
  if (amount === 0n) return;
  enterExchange(tx, 'TransferFeeAndPnlPool');
  changePool(quote, from.account.amm.fee_pool, -amount);
  changePool(quote, to.account.pnl_pool, amount);
  touch(tx, from, to, quote);
  emit(tx, 'TransferFeeAndPnlPoolRecord', {
    ts: BigInt(tx.now),
    slot: BigInt(tx.slot),
    perp_market_index_with_fee_pool: from.account.market_index,
    perp_market_index_with_pnl_pool: to.account.market_index,
    direction: 'feeToPnlPool',
    amount,
  });
  leave(tx);
}
