// The books that a reader of the log has: orders of each market, as the messages say, literally.

import bs58 from 'bs58';
import { type MessageTypes, marketKey } from '../../schemas/index.ts';
import { orderKey, orderText } from './tape.ts';

export type BookMessage = {
  readonly [N in 'BookOrders' | 'BookSnapshotBegin' | 'BookSnapshotEnd']: {
    readonly name: N;
    readonly value: MessageTypes[N];
  };
}['BookOrders' | 'BookSnapshotBegin' | 'BookSnapshotEnd'];

export class Books {
  /** Text of each order by its identity. */
  readonly #orders = new Map<string, string>();
  readonly #open = new Set<string>();

  take(message: BookMessage): void {
    if (message.name === 'BookOrders') this.#apply(message.value);
    else {
      const market = marketKey(message.value);
      if (message.name === 'BookSnapshotBegin') {
        this.#open.add(market);
        for (const key of [...this.#orders.keys()]) if (key.startsWith(`${market} `)) this.#orders.delete(key);
      } else this.#open.delete(market);
    }
  }

  /** Differences to the true orders of the markets that `isOurs` names. */
  differences(truth: ReadonlyMap<string, string>, isOurs: (market: string) => boolean): string[] {
    const found: string[] = [];
    const counts = (key: string) => {
      const market = key.slice(0, key.indexOf(' '));
      return isOurs(market) && !this.#open.has(market);
    };
    for (const [key, text] of truth) {
      const mine = this.#orders.get(key);
      if (mine !== text && counts(key)) found.push(`${key}: ${mine ?? 'missing'} instead of ${text}`);
    }
    for (const key of this.#orders.keys())
      if (!truth.has(key) && counts(key)) found.push(`${key}: closed on the chain`);
    return found;
  }

  #apply({
    marketType,
    marketIndex,
    source,
    upserts,
    removals,
  }: Extract<BookMessage, { name: 'BookOrders' }>['value']) {
    const key = (maker: Uint8Array, orderId: number) =>
      orderKey({ marketType, marketIndex, source, maker: text(maker), orderId });
    for (const { maker, orderId } of removals) this.#orders.delete(key(maker, orderId));
    for (const order of upserts) {
      const terms = {
        direction: order.direction,
        price: String(order.price),
        oraclePriceOffset: String(order.oraclePriceOffset),
        baseAssetAmount: String(order.baseAssetAmount),
        baseAssetAmountFilled: String(order.baseAssetAmountFilled),
        bookOrderId: order.bookOrderId === null ? null : String(order.bookOrderId),
      };
      this.#orders.set(key(order.maker, order.orderId), orderText(terms));
    }
  }
}

const texts = new Map<string, string>();

/** base58 of a key. Few keys appear in a run, and base58 is slow. */
function text(key: Uint8Array): string {
  const bytes = Buffer.from(key).toString('latin1');
  let known = texts.get(bytes);
  if (known === undefined) {
    known = bs58.encode(key);
    texts.set(bytes, known);
  }
  return known;
}
