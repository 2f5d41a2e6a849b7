// Actions between two accounts of one wallet: a position transfer, a trade with oneself.

import { abs, quoteOf } from './amounts.ts';
import { countTrade, fillAgainstMaker } from './fills.ts';
import type { Direction } from './model.ts';
import { endAuction, placeOrder, releaseOrder, touchTrader } from './orders.ts';
import { baseOf, perpPosition, settleFunding, trade } from './positions.ts';
import { baseWorth } from './quoting.ts';
import { emit, enterExchange, leave, type Transaction, touch } from './transaction.ts';
import { orderAt, orderKey, perpAt, perpPrice, type Trader } from './world.ts';

/** Quote units of a trade with oneself. */
const SELF_TRADE_WORTH = 300;

/** Transfers a whole position at the oracle price without a fee. Its record is a fill without orders. */
export function transferPosition(tx: Transaction, from: Trader, to: Trader, marketIndex: number): void {
  const held = baseOf(from, marketIndex);
  if (held === 0n) return;
  const perp = perpAt(tx.world, marketIndex);
  enterExchange(tx, 'TransferPerpPosition');
  settleFunding(tx, from, perp);
  settleFunding(tx, to, perp);
  const oracle = perpPrice(tx.world, marketIndex);
  const quote = quoteOf(abs(held), oracle);
  const signedQuote = held > 0n ? quote : -quote;
  const given = trade(perp, perpPosition(from, marketIndex), -held, signedQuote);
  const taken = trade(perp, perpPosition(to, marketIndex), held, -signedQuote);
  const direction: Direction = held > 0n ? 'long' : 'short';
  countTrade(tx, perp, direction, abs(held), quote);
  touchTrader(tx, from);
  touchTrader(tx, to);
  touch(tx, perp);
  const order = {
    order_base_asset_amount: abs(held),
    order_cumulative_base_asset_amount_filled: abs(held),
    order_cumulative_quote_asset_amount_filled: quote,
  };
  const side = (name: 'taker' | 'maker') =>
    Object.fromEntries(Object.entries(order).map(([field, value]) => [`${name}_${field}`, value]));
  emit(tx, 'OrderActionRecord', {
    ts: BigInt(tx.now),
    action: 'fill',
    action_explanation: 'transferPerpPosition',
    market_index: marketIndex,
    market_type: 'perp',
    fill_record_id: perp.account.next_fill_record_id++,
    base_asset_amount_filled: abs(held),
    quote_asset_amount_filled: quote,
    taker: to.key,
    taker_order_id: to.account.next_order_id++,
    taker_order_direction: direction,
    maker: from.key,
    maker_order_id: from.account.next_order_id++,
    maker_order_direction: direction === 'long' ? 'short' : 'long',
    ...side('taker'),
    ...side('maker'),
    oracle_price: oracle,
    taker_existing_quote_entry_amount: taken.quoteEntry,
    taker_existing_base_asset_amount: taken.base,
    maker_existing_quote_entry_amount: given.quoteEntry,
    maker_existing_base_asset_amount: given.base,
  });
  leave(tx);
}

/** One account quotes at the oracle price, and its sibling takes all of it in the same transaction. */
export function tradeWithSelf(tx: Transaction, maker: Trader, taker: Trader, marketIndex: number): void {
  const perp = perpAt(tx.world, marketIndex);
  const tick = perp.account.order_tick_size;
  const oracle = perpPrice(tx.world, marketIndex);
  const price = oracle - (oracle % tick);
  const order = {
    marketIndex,
    orderType: 'limit',
    base: baseWorth(tx, marketIndex, SELF_TRADE_WORTH),
    price,
  } as const;
  enterExchange(tx, 'PlacePerpOrder');
  const resting = placeOrder(tx, maker, { ...order, direction: 'short', postOnly: true });
  leave(tx);
  if (resting < 0) return;
  enterExchange(tx, 'PlaceAndTakePerpOrder');
  const taking = placeOrder(tx, taker, { ...order, direction: 'long', immediateOrCancel: true, auctionSlots: 1 });
  if (taking >= 0) {
    const key = orderKey(taker, taking);
    endAuction(tx.world, key);
    settleFunding(tx, taker, perp);
    fillAgainstMaker(
      tx,
      perp,
      orderAt(tx.world, key),
      { key: orderKey(maker, resting), base: order.base, price },
      null,
    );
    touch(tx, perp);
    releaseOrder(tx, taker, taking);
  }
  leave(tx);
}
