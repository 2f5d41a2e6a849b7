// Finds the fixed-size blocks that differ between two byte ranges. The cost of a large range follows the change, not the range.

import { asBuffer } from '../../schemas/index.ts';

/** Changed ranges of up to this many blocks are compared word by word, not halved: all orders of a User account. A native call costs as much as 100 words. */
const SCAN_BLOCKS = 32;
const WORD_BYTES = 4;

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
  if (equal(before, after, blocks, from, to)) return;
  if (to - from <= SCAN_BLOCKS) {
    scan(before, after, blocks, from, to, visit);
    return;
  }
  const middle = (from + to) >>> 1;
  search(before, after, blocks, from, middle, visit);
  search(before, after, blocks, middle, to, visit);
}

function scan(
  before: Uint8Array,
  after: Uint8Array,
  { offset, stride }: Blocks,
  from: number,
  to: number,
  visit: (index: number) => void,
): void {
  const a = new DataView(before.buffer, before.byteOffset, before.byteLength);
  const b = new DataView(after.buffer, after.byteOffset, after.byteLength);
  for (let index = from; index < to; index++) {
    const at = offset + index * stride;
    if (!isSame(a, b, at, at + stride)) visit(index);
  }
}

function isSame(a: DataView, b: DataView, from: number, to: number): boolean {
  let at = from;
  for (; at + WORD_BYTES <= to; at += WORD_BYTES) if (a.getUint32(at) !== b.getUint32(at)) return false;
  for (; at < to; at++) if (a.getUint8(at) !== b.getUint8(at)) return false;
  return true;
}

function equal(before: Uint8Array, after: Uint8Array, blocks: Blocks, from: number, to: number): boolean {
  const start = blocks.offset + from * blocks.stride;
  const end = blocks.offset + to * blocks.stride;
  return asBuffer(before).compare(after, start, end, start, end) === 0;
}
