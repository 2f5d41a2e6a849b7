// Loads rows of orders into the processor's cache: a batch waits for memory once, single changes wait each time.

import type { BookOrders } from '../../schemas/index.ts';
import type { OrderTable } from './orders.ts';

/** Orders of one load: more would push the first ones out of the processor's cache. */
const ORDERS_MAX = 1024;

export class Prefetch {
  readonly #buckets = new Int32Array(ORDERS_MAX);
  #loadChecksum = 0;

  /** Loads the rows of these messages. Call it before applying them one by one. It stops after ORDERS_MAX orders. */
  load(messages: readonly BookOrders[], table: OrderTable): void {
    const buckets = this.#buckets;
    let count = 0;
    for (let i = 0; i < messages.length; i++) {
      const { upserts, removals } = messages[i] as BookOrders;
      if (count + upserts.length + removals.length > ORDERS_MAX) break;
      for (let k = 0; k < removals.length; k++) {
        const { maker, orderId } = removals[k] as (typeof removals)[number];
        buckets[count++] = table.bucketOf(table.makers.guess(maker), orderId);
      }
      for (let k = 0; k < upserts.length; k++) {
        const { maker, orderId } = upserts[k] as (typeof upserts)[number];
        buckets[count++] = table.bucketOf(table.makers.guess(maker), orderId);
      }
    }
    this.#loadChecksum ^= table.prefetch(buckets, count);
  }
}
