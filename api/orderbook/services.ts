// What the routes of the order-book server are given.

import type { BookReader } from '../views/book-reader.ts';
import type { AccountReader } from './account-reader.ts';

export interface OrderbookServices {
  readonly reader: BookReader;
  readonly accounts: AccountReader;
  /** How long the slot may stand still before `/health` answers NOK. */
  readonly slotStallMs: number;
}
