// Finds the fixed-size blocks that differ between two byte ranges. The cost follows the change, not the range.

import { asBuffer } from '../../schemas/index.ts';

/** Ranges of up to this many blocks are scanned instead of halved. */
const SCAN_BLOCKS = 4;

export interface Blocks {
  readonly offset: number;
  readonly stride: number;
  readonly count: number;
}

/** Calls `visit` with the index of every block that differs, in ascending order. Both ranges must lie in the data. */
export function changedBlocks(
  before: Uint8Array,
  after: Uint8Array,
  blocks: Blocks,
  visit: (index: number) => void,
): void {
  search(before, after, blocks, 0, blocks.count, visit);
}

function search(
  before: Uint8Array,
  after: Uint8Array,
  blocks: Blocks,
  from: number,
  to: number,
  visit: (index: number) => void,
): void {
  if (from >= to || equal(before, after, blocks, from, to)) return;
  if (to - from === 1) {
    visit(from);
    return;
  }
  if (to - from <= SCAN_BLOCKS) {
    for (let index = from; index < to; index++) search(before, after, blocks, index, index + 1, visit);
    return;
  }
  const middle = (from + to) >>> 1;
  search(before, after, blocks, from, middle, visit);
  search(before, after, blocks, middle, to, visit);
}

function equal(before: Uint8Array, after: Uint8Array, blocks: Blocks, from: number, to: number): boolean {
  return isSameRange(before, after, blocks.offset + from * blocks.stride, blocks.offset + to * blocks.stride);
}

/** Whether the bytes of [from, to) are the same. Each side may end within the range. */
export function isSameRange(before: Uint8Array, after: Uint8Array, from: number, to: number): boolean {
  const end = Math.min(to, before.length);
  if (end !== Math.min(to, after.length)) return false;
  return from >= end || asBuffer(before).compare(after, from, end, from, end) === 0;
}
