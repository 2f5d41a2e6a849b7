// The intent is committed before a block is sent: its bounds, and how its rows are divided into inserts. Both decide the
// deduplication tokens, so a restart with another configuration still repeats the block exactly.

import type { Bounds } from './blocks.ts';

export interface Intent {
  readonly bounds: readonly Bounds[];
  /** Most rows of one insert. */
  readonly insertRows: number;
}

export function encodeIntent({ bounds, insertRows }: Intent): Uint8Array {
  const plain = bounds.map(({ partition, from, to }) => ({ partition, from: String(from), to: String(to) }));
  return Buffer.from(JSON.stringify({ bounds: plain, insertRows }), 'utf8');
}

export function decodeIntent(bytes: Uint8Array): Intent {
  const { bounds, insertRows } = JSON.parse(Buffer.from(bytes).toString('utf8')) as {
    bounds: { partition: number; from: string; to: string }[];
    insertRows: number;
  };
  return {
    bounds: bounds.map(({ partition, from, to }) => ({ partition, from: BigInt(from), to: BigInt(to) })),
    insertRows,
  };
}

/** Names the block in tokens: `0:17-42,2:5-5`. */
export function blockName(bounds: readonly Bounds[]): string {
  return bounds.map(({ partition, from, to }) => `${partition}:${from}-${to}`).join(',');
}
