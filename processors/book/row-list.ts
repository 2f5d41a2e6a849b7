// A set of rows for frequent walks: each row has its index in the list, so adding and removing cost the same at any length.
// The order is arbitrary.

import type { OrderTable } from './orders.ts';

export class RowList {
  readonly rows: number[] = [];
  readonly #table: OrderTable;
  readonly #member: number;

  /** `member` is the 32-bit member of a row with its index, -1 outside the list. */
  constructor(table: OrderTable, member: number) {
    this.#table = table;
    this.#member = member;
  }

  has(row: number): boolean {
    return (this.#table.ints[row + this.#member] as number) >= 0;
  }

  add(row: number): void {
    this.#table.ints[row + this.#member] = this.rows.length;
    this.rows.push(row);
  }

  /** Removes a row; the last one takes its index. */
  delete(row: number): void {
    const { ints } = this.#table;
    const hole = ints[row + this.#member] as number;
    const last = this.rows.pop() as number;
    if (last !== row) {
      this.rows[hole] = last;
      ints[last + this.#member] = hole;
    }
    ints[row + this.#member] = -1;
  }
}
