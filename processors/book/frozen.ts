// A copy of a book at one offset of the log: comparing and saving read it while the book moves on.

import type { BookViewHead, MarketRef, ViewLevel, ViewOrder } from '../../schemas/index.ts';
import type { PublishedSides } from './difference.ts';
import type { BookEngine } from './engine.ts';
import type { EngineHead } from './engine-head.ts';
import type { IgnoredMakers } from './ignored.ts';
import type { Side } from './ladder.ts';
import type { OrderTable } from './orders.ts';
import { viewOf } from './published.ts';
import type { BookSide } from './side.ts';

export class FrozenBook implements PublishedSides {
  readonly ref: MarketRef;
  readonly state: Readonly<EngineHead>;
  readonly table: OrderTable;
  readonly bids: BookSide;
  readonly asks: BookSide;
  readonly ignored: IgnoredMakers;
  readonly slot: number;
  readonly nextArrival: number;
  readonly generation: number;
  readonly head: BookViewHead;

  /** Copies the memory of the book: some 160 bytes an order, 2 to 3 ms for 50,000. */
  constructor(engine: BookEngine) {
    const { orders, state } = engine;
    this.ref = engine.ref;
    this.state = { ...state };
    this.table = orders.table.freeze();
    this.bids = orders.bids.freeze(this.table);
    this.asks = orders.asks.freeze(this.table);
    this.ignored = orders.ignored;
    this.slot = orders.slot;
    this.nextArrival = orders.nextArrival;
    this.generation = orders.generation;
    this.head = engine.head();
  }

  levels(side: Side): Generator<ViewLevel> {
    return this.side(side).levels();
  }

  *walk(side: Side): Generator<ViewOrder> {
    for (const row of this.side(side).ladder.walk()) yield viewOf(this.table, row);
  }

  side(side: Side): BookSide {
    return side === 'bid' ? this.bids : this.asks;
  }
}
