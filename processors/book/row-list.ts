// A set of rows that is walked often: each row knows its index in the list, so that entering and leaving cost the same
// whatever its length. Its order means nothing.

import type { OrderTable } from './orders.ts';

export class RowList {
  readonly rows: number[] = [];
  private readonly table: OrderTable;
  private readonly member: number;

  /** `member` is the 32-bit member of a row that holds its index, -1 when it is not in the list. */
  constructor(table: OrderTable, member: number) {
    this.table = table;
    this.member = member;
  }

  has(row: number): boolean {
    return (this.table.ints[row + this.member] as number) >= 0;
  }

  add(row: number): void {
    this.table.ints[row + this.member] = this.rows.length;
    this.rows.push(row);
  }

  /** Takes a row of the list out; the last one takes its index. */
  delete(row: number): void {
    const { ints } = this.table;
    const hole = ints[row + this.member] as number;
    const last = this.rows.pop() as number;
    if (last !== row) {
      this.rows[hole] = last;
      ints[last + this.member] = hole;
    }
    ints[row + this.member] = -1;
  }
}
