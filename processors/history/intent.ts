// The intent is committed before a block is sent: its bounds, its id, and how its rows are divided into inserts. They decide
// the deduplication tokens, so a restart with another configuration still repeats the block exactly.

import { randomUUID } from 'node:crypto';
import type { Bounds } from './blocks.ts';

export interface Intent {
  readonly bounds: readonly Bounds[];
  /** Another one for each block: a partition that lost its tail uses its offsets again. Empty in intents of earlier versions. */
  readonly id: string;
  /** Most rows of one insert. */
  readonly insertRows: number;
}

export function newIntent(bounds: readonly Bounds[], insertRows: number): Intent {
  return { bounds, id: randomUUID(), insertRows };
}

export function encodeIntent({ bounds, id, insertRows }: Intent): Uint8Array {
  const plain = bounds.map(({ partition, from, to }) => ({ partition, from: String(from), to: String(to) }));
  return Buffer.from(JSON.stringify({ bounds: plain, id, insertRows }), 'utf8');
}

export function decodeIntent(bytes: Uint8Array): Intent {
  const {
    bounds,
    id = '',
    insertRows,
  } = JSON.parse(Buffer.from(bytes).toString('utf8')) as {
    bounds: { partition: number; from: string; to: string }[];
    id?: string;
    insertRows: number;
  };
  return {
    bounds: bounds.map(({ partition, from, to }) => ({ partition, from: BigInt(from), to: BigInt(to) })),
    id,
    insertRows,
  };
}

/** Names the block in tokens: `0:17-42,2:5-5#` and its id. */
export function blockName({ bounds, id }: Intent): string {
  const places = bounds.map(({ partition, from, to }) => `${partition}:${from}-${to}`).join(',');
  return id === '' ? places : `${places}#${id}`;
}
