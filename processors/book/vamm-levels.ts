// The levels of the vAMM in a book. They are computed only when one of their inputs changed.

import type { BookMarket, BookOracle } from '../../schemas/index.ts';
import { liveQuote, quotingOracle } from './live-quote.ts';
import type { RestingOrders } from './resting.ts';
import { type Quoting, quotesAlike, vammBook } from './vamm.ts';

const NO_LEVELS = Object.freeze([]);

export class VammLevels {
  readonly #orders: RestingOrders;
  #quoted: (Quoting & { readonly oracle: bigint }) | null = null;

  constructor(orders: RestingOrders) {
    this.#orders = orders;
  }

  get isQuoting(): boolean {
    return this.#quoted !== null;
  }

  /** Sets the levels for this market and oracle; none for a market without a vAMM. */
  quote(market: BookMarket, oracle: BookOracle): void {
    if (market.amm === null) {
      this.withdraw();
      return;
    }
    const seen = quotingOracle(market, oracle);
    const { price } = seen;
    const quoting = { market, curve: liveQuote(market, market.amm, seen), oracle: price };
    if (this.#quoted !== null && this.#quoted.oracle === price && quotesAlike(this.#quoted, quoting)) return;
    this.#quoted = quoting;
    const { bids, asks } = vammBook(market, quoting.curve, price);
    this.#orders.bids.setVamm(bids);
    this.#orders.asks.setVamm(asks);
  }

  withdraw(): void {
    if (this.#quoted === null) return;
    this.#quoted = null;
    this.#orders.bids.setVamm(NO_LEVELS);
    this.#orders.asks.setVamm(NO_LEVELS);
  }
}
