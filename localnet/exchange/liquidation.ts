// Liquidations: a liquidator takes over positions, debts and losses of an unhealthy account. Bankruptcy shares out the
// uncovered rest.

import { abs, floorTo, max, min, ppm, quoteOf } from './amounts.ts';
import { changeTokens, tokensOf } from './balances.ts';
import { resolveBankruptcy, writeOffDebt } from './bankruptcy.ts';
import { countTrade } from './fills.ts';
import { emitLiquidation } from './liquidation-record.ts';
import { isLiquidatable } from './margin.ts';
import type { StoredPerp } from './markets.ts';
import { type PerpPosition, USER_BEING_LIQUIDATED } from './model.ts';
import { cancelOrder, touchTrader } from './orders.ts';
import { applyFee, changeQuote, perpPosition, settleFunding, trade } from './positions.ts';
import { chance } from './random.ts';
import { emit, enterExchange, leave, type Transaction, touch } from './transaction.ts';
import { perpAt, perpPrice, spotAt, spotPrice, type Trader } from './world.ts';

/** A position worth less is liquidated whole, quote 1e6. */
const WHOLE_POSITION_WORTH = 8_000_000_000n;
const PERCENT_SCALE = 10_000n;
/** Debts rarely exceed all assets here, so this share of them is written off anyway. */
const WRITE_OFF_PROBABILITY = 0.1;
/** Smallest P&L or debt worth a call, quote 1e6. */
const SMALLEST_CLAIM = 1_000_000n;

/** Runs the first applicable step of a trader's liquidation. Returns false when there is nothing to do. */
export function liquidate(tx: Transaction, trader: Trader, liquidator: Trader): boolean {
  const { perp_positions: positions } = trader.account;
  const withBase = [...positions].filter(({ base_asset_amount: base }) => base !== 0n).sort(byWorth(tx));
  const [largest] = withBase;
  if (largest) {
    liquidatePerp(tx, trader, liquidator, largest);
    return true;
  }
  const losing = positions.find((position) => position.quote_asset_amount < -SMALLEST_CLAIM);
  const debt = [...tx.world.spots].find((spot) => tokensOf(trader, spot) < 0n);
  const asset = [...tx.world.spots].find((spot) => tokensOf(trader, spot) > 0n);
  if (losing && asset) liquidatePerpPnlForDeposit(tx, trader, liquidator, losing);
  else if (debt && positions.some((position) => position.quote_asset_amount > SMALLEST_CLAIM)) {
    liquidateBorrowForPerpPnl(tx, trader, liquidator);
  } else if (debt && asset) liquidateSpot(tx, trader, liquidator);
  else return resolveBankruptcy(tx, trader, liquidator);
  return true;
}

/** Liquidates a debt of an account, whatever its other assets. Returns false without a debt. */
export function liquidateDebt(tx: Transaction, trader: Trader, liquidator: Trader): boolean {
  const { spots } = tx.world;
  if (!spots.some((spot) => tokensOf(trader, spot) < 0n)) return false;
  if (chance(tx.world.rng, WRITE_OFF_PROBABILITY)) return writeOffDebt(tx, trader, liquidator);
  const gains = trader.account.perp_positions.some((position) => position.quote_asset_amount > SMALLEST_CLAIM);
  if (gains && chance(tx.world.rng, 0.5)) liquidateBorrowForPerpPnl(tx, trader, liquidator);
  else liquidateSpot(tx, trader, liquidator);
  return true;
}

/** Liquidates an unsettled loss of an account, whatever its health. Returns false without such a loss. */
export function liquidateLoss(tx: Transaction, trader: Trader, liquidator: Trader): boolean {
  const losing = trader.account.perp_positions.find((position) => position.quote_asset_amount < -SMALLEST_CLAIM);
  if (!losing || !tx.world.spots.some((spot) => tokensOf(trader, spot) > 0n)) return false;
  liquidatePerpPnlForDeposit(tx, trader, liquidator, losing);
  return true;
}

function byWorth(tx: Transaction): (a: PerpPosition, b: PerpPosition) => number {
  const worth = (position: PerpPosition): bigint =>
    quoteOf(abs(position.base_asset_amount), perpPrice(tx.world, position.market_index));
  return (a, b) => (worth(a) > worth(b) ? -1 : 1);
}

function begin(tx: Transaction, trader: Trader, instruction: string): void {
  const user = trader.account;
  enterExchange(tx, instruction);
  if ((user.status & USER_BEING_LIQUIDATED) === 0) {
    user.status |= USER_BEING_LIQUIDATED;
    user.next_liquidation_id++;
  }
}

function end(tx: Transaction, trader: Trader, liquidator: Trader): void {
  if (!isLiquidatable(tx.world, trader)) trader.account.status &= ~USER_BEING_LIQUIDATED;
  touchTrader(tx, trader);
  touchTrader(tx, liquidator);
  leave(tx);
}

/** Cancels all open orders of an account before its position is taken over. */
function cancelAll(tx: Transaction, trader: Trader): number[] {
  const canceled: number[] = [];
  for (const [index, order] of trader.account.orders.entries()) {
    if (!order) continue;
    canceled.push(order.order_id);
    cancelOrder(tx, trader, index, 'liquidation');
  }
  return canceled;
}

function liquidatePerp(tx: Transaction, trader: Trader, liquidator: Trader, position: PerpPosition): void {
  const perp = perpAt(tx.world, position.market_index);
  begin(tx, trader, 'LiquidatePerp');
  const canceledOrderIds = cancelAll(tx, trader);
  settleFunding(tx, trader, perp);
  settleFunding(tx, liquidator, perp);
  const market = perp.account;
  const oracle = perpPrice(tx.world, market.market_index);
  const held = position.base_asset_amount;
  const part = (abs(held) * BigInt(tx.world.state.account.initial_pct_to_liquidate)) / PERCENT_SCALE;
  const isSmall = quoteOf(abs(held), oracle) < WHOLE_POSITION_WORTH;
  const base = isSmall ? abs(held) : max(market.order_step_size, floorTo(part, market.order_step_size));
  const isLong = held > 0n;
  const discount = ppm(oracle, market.liquidator_fee);
  const quote = quoteOf(base, isLong ? oracle - discount : oracle + discount);
  const insuranceFee = ppm(quote, market.if_liquidation_fee);
  const protocolFee = insuranceFee / 5n;
  const [userOrderId, liquidatorOrderId] = [trader.account.next_order_id++, liquidator.account.next_order_id++];
  const fillRecordId = market.next_fill_record_id++;
  const liquidatorPosition = perpPosition(liquidator, market.market_index);
  const userExisting = trade(perp, position, isLong ? -base : base, isLong ? quote : -quote);
  const liquidatorExisting = trade(perp, liquidatorPosition, isLong ? base : -base, isLong ? -quote : quote);
  applyFee(perp, position, -insuranceFee - protocolFee);
  market.fee_ledger.total_liquidation_fee += insuranceFee;
  market.fee_ledger.pending_if_fee += insuranceFee;
  market.fee_ledger.pending_protocol_fee += protocolFee;
  countTrade(tx, perp, isLong ? 'short' : 'long', base, quote);
  touch(tx, perp);
  const sides = {
    taker: trader.key,
    taker_order_id: userOrderId,
    taker_order_direction: isLong ? 'short' : 'long',
    maker: liquidator.key,
    maker_order_id: liquidatorOrderId,
    maker_order_direction: isLong ? 'long' : 'short',
  };
  emit(tx, 'OrderActionRecord', {
    ts: BigInt(tx.now),
    action: 'fill',
    action_explanation: 'liquidation',
    market_index: market.market_index,
    market_type: 'perp',
    fill_record_id: fillRecordId,
    base_asset_amount_filled: base,
    quote_asset_amount_filled: quote,
    taker_fee: insuranceFee + protocolFee,
    maker_fee: 0n,
    ...sides,
    ...wholeOrders(base, quote),
    oracle_price: oracle,
    taker_existing_quote_entry_amount: userExisting.quoteEntry,
    taker_existing_base_asset_amount: userExisting.base,
    maker_existing_quote_entry_amount: liquidatorExisting.quoteEntry,
    maker_existing_base_asset_amount: liquidatorExisting.base,
  });
  emitLiquidation(
    tx,
    trader,
    liquidator,
    'liquidatePerp',
    { canceledOrderIds, marginFreed: freedBy(perp, base, oracle) },
    {
      market_index: market.market_index,
      oracle_price: oracle,
      base_asset_amount: isLong ? -base : base,
      quote_asset_amount: isLong ? quote : -quote,
      fill_record_id: fillRecordId,
      user_order_id: userOrderId,
      liquidator_order_id: liquidatorOrderId,
      liquidator_fee: quoteOf(base, discount),
      if_fee: insuranceFee,
      protocol_fee: protocolFee,
    },
  );
  end(tx, trader, liquidator);
}

function wholeOrders(base: bigint, quote: bigint): Record<string, bigint> {
  return {
    taker_order_base_asset_amount: base,
    taker_order_cumulative_base_asset_amount_filled: base,
    taker_order_cumulative_quote_asset_amount_filled: quote,
    maker_order_base_asset_amount: base,
    maker_order_cumulative_base_asset_amount_filled: base,
    maker_order_cumulative_quote_asset_amount_filled: quote,
  };
}

function freedBy(perp: StoredPerp, base: bigint, oracle: bigint): bigint {
  return (quoteOf(base, oracle) * BigInt(perp.account.margin_ratio_maintenance)) / PERCENT_SCALE;
}

/** The liquidator takes over a loss and receives part of the account's largest deposit. */
function liquidatePerpPnlForDeposit(tx: Transaction, trader: Trader, liquidator: Trader, position: PerpPosition): void {
  const perp = perpAt(tx.world, position.market_index);
  const asset = tx.world.spots.find((spot) => tokensOf(trader, spot) > 0n) ?? spotAt(tx.world, 0);
  const index = asset.account.market_index;
  const scale = 10n ** BigInt(asset.account.decimals);
  const price = spotPrice(tx.world, index);
  const held = tokensOf(trader, asset);
  begin(tx, trader, 'LiquidatePerpPnlForDeposit');
  const pnl = min(-position.quote_asset_amount, max(1n, (held * price) / scale));
  const transfer = min(held, max(1n, (pnl * scale) / price));
  changeQuote(perp, position, pnl);
  changeQuote(perp, perpPosition(liquidator, position.market_index), -pnl);
  changeTokens(trader, asset, -transfer);
  changeTokens(liquidator, asset, transfer);
  touch(tx, perp, asset);
  emitLiquidation(
    tx,
    trader,
    liquidator,
    'liquidatePerpPnlForDeposit',
    { marginFreed: 0n },
    {
      perp_market_index: position.market_index,
      market_oracle_price: perpPrice(tx.world, position.market_index),
      pnl_transfer: pnl,
      asset_market_index: index,
      asset_price: price,
      asset_transfer: transfer,
    },
  );
  end(tx, trader, liquidator);
}

/** The liquidator pays a debt and receives the account's gain. */
function liquidateBorrowForPerpPnl(tx: Transaction, trader: Trader, liquidator: Trader): void {
  const position = trader.account.perp_positions.find((candidate) => candidate.quote_asset_amount > SMALLEST_CLAIM);
  const liability = tx.world.spots.find((spot) => tokensOf(trader, spot) < 0n);
  if (!position || !liability) return;
  const perp = perpAt(tx.world, position.market_index);
  const index = liability.account.market_index;
  const scale = 10n ** BigInt(liability.account.decimals);
  const price = spotPrice(tx.world, index);
  const owed = -tokensOf(trader, liability);
  begin(tx, trader, 'LiquidateBorrowForPerpPnl');
  const pnl = min(position.quote_asset_amount, max(1n, (owed * price) / scale));
  const transfer = min(owed, max(1n, (pnl * scale) / price));
  changeQuote(perp, position, -pnl);
  changeQuote(perp, perpPosition(liquidator, position.market_index), pnl);
  changeTokens(trader, liability, transfer);
  changeTokens(liquidator, liability, -transfer);
  touch(tx, perp, liability);
  emitLiquidation(
    tx,
    trader,
    liquidator,
    'liquidateBorrowForPerpPnl',
    { marginFreed: 0n },
    {
      perp_market_index: position.market_index,
      market_oracle_price: perpPrice(tx.world, position.market_index),
      pnl_transfer: pnl,
      liability_market_index: index,
      liability_price: price,
      liability_transfer: transfer,
    },
  );
  end(tx, trader, liquidator);
}

/** The liquidator pays a debt in one token and receives a deposit in another at a discount. */
function liquidateSpot(tx: Transaction, trader: Trader, liquidator: Trader): void {
  const liability = tx.world.spots.find((spot) => tokensOf(trader, spot) < 0n);
  const asset = tx.world.spots.find((spot) => tokensOf(trader, spot) > 0n);
  if (!liability || !asset) return;
  const [debtIndex, assetIndex] = [liability.account.market_index, asset.account.market_index];
  const owed = -tokensOf(trader, liability);
  const held = tokensOf(trader, asset);
  const debtPrice = spotPrice(tx.world, debtIndex);
  const assetPrice = spotPrice(tx.world, assetIndex);
  const [debtScale, assetScale] = [10n ** BigInt(liability.account.decimals), 10n ** BigInt(asset.account.decimals)];
  begin(tx, trader, 'LiquidateSpot');
  const bonus = 1_000_000n + BigInt(liability.account.liquidator_fee);
  const worth = min((owed * debtPrice) / debtScale, (held * assetPrice * 1_000_000n) / assetScale / bonus);
  const paid = min(owed, max(1n, (worth * debtScale) / debtPrice));
  const taken = min(held, max(1n, (((worth * bonus) / 1_000_000n) * assetScale) / assetPrice));
  changeTokens(trader, liability, paid);
  changeTokens(liquidator, liability, -paid);
  changeTokens(trader, asset, -taken);
  changeTokens(liquidator, asset, taken);
  touch(tx, liability, asset);
  emitLiquidation(
    tx,
    trader,
    liquidator,
    'liquidateSpot',
    { marginFreed: worth / 10n },
    {
      asset_market_index: assetIndex,
      asset_price: assetPrice,
      asset_transfer: taken,
      liability_market_index: debtIndex,
      liability_price: debtPrice,
      liability_transfer: paid,
      if_fee: 0n,
      protocol_fee: 0n,
    },
  );
  end(tx, trader, liquidator);
}
