// A reader of the differ's messages that applies them literally.

import type { Output } from '../../../ingest/diff/output.ts';
import { type BookOrders, type MarketRef, marketKey } from '../../../schemas/index.ts';

/** Orders by identity and positions by user and market, both as text. */
export class NaiveReader {
  readonly orders = new Map<string, string>();
  readonly positions = new Map<string, string>();
  /** Open orders of each account and market, as text. */
  readonly open = new Map<string, string>();
  readonly outputs: Output[] = [];
  readonly take = (output: Output): void => {
    this.outputs.push(output);
    if (output.name === 'PositionState') {
      const { user, marketIndex, baseAssetAmount, openOrders } = output.value;
      const id = `${user[1]} ${marketIndex}`;
      if (baseAssetAmount === 0n && openOrders === 0) this.positions.delete(id);
      else this.positions.set(id, `${baseAssetAmount} ${openOrders}`);
    } else if (output.name === 'UserOrders') {
      const { marketType, marketIndex, user, orders } = output.value;
      const texts = orders.map((one) => `${one.orderId} ${one.price} ${one.baseAssetAmountFilled}`);
      const id = `${user[1]} ${marketType}-${marketIndex}`;
      if (texts.length > 0) this.open.set(id, texts.sort().join(', '));
      else this.open.delete(id);
    } else if (output.name === 'BookOrders') this.#orders(output.value);
    else if (output.name === 'BookSnapshotBegin') this.#clear(output.value);
  };

  /** The whole market follows. */
  #clear(market: MarketRef): void {
    for (const id of [...this.orders.keys()]) if (id.split(' ')[1] === marketKey(market)) this.orders.delete(id);
  }

  #orders({ marketType, marketIndex, source, upserts, removals }: BookOrders): void {
    const id = (maker: Uint8Array, orderId: number) => `${source} ${marketType}-${marketIndex} ${maker[1]} ${orderId}`;
    for (const { maker, orderId } of removals) this.orders.delete(id(maker, orderId));
    for (const order of upserts) {
      const { price, baseAssetAmount, baseAssetAmountFilled, positionBaseAmount, bookOrderId, direction } = order;
      this.orders.set(
        id(order.maker, order.orderId),
        [price, baseAssetAmount, baseAssetAmountFilled, direction, positionBaseAmount, bookOrderId].join(' '),
      );
    }
  }
}
