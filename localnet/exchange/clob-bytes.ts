// Bytes of a market-level order account. Only changed nodes are rewritten: with 10,000 orders the account has over two
// megabytes, and every quote update changes three nodes.

import { encodeAccount, structWriter } from './accounts.ts';
import type { Clob } from './clob.ts';
import type { Stored } from './model.ts';

/** Offset in docs/internals/accounts.md, "Market-level order account": header, node count, padding, then the arena. */
const CLOB_NODE_COUNT_OFFSET = 9640;
export const CLOB_NODES_OFFSET = 9648;
export const CLOB_NODE_BYTES = 104;

/** Last image of each order account: a cache that is rebuilt from the model when absent. */
const images = new WeakMap<Stored, Uint8Array>();

/** A copy of the account's bytes. */
export function clobBytes(stored: Stored): Uint8Array {
  const clob = stored as Clob;
  const size = CLOB_NODES_OFFSET + clob.nodes.length * CLOB_NODE_BYTES;
  let image = images.get(clob);
  if (!image || image.length !== size) {
    image = new Uint8Array(size);
    images.set(clob, image);
    for (let index = 0; index < clob.nodes.length; index++) clob.dirty.add(index);
  }
  const view = new DataView(image.buffer);
  const writeNode = structWriter('OrderNodeV0');
  image.set(encodeAccount({ key: clob.key, type: clob.type, account: clob.account, grown: 0 }), 0);
  view.setUint32(CLOB_NODE_COUNT_OFFSET, clob.nodes.length, true);
  for (const index of clob.dirty) {
    const node = clob.nodes[index];
    if (node) writeNode(node, view, CLOB_NODES_OFFSET + index * CLOB_NODE_BYTES);
  }
  clob.dirty.clear();
  return image.slice();
}
