// Nodes that have only a part of a chain, as one that pruned its ledger or booted from a newer snapshot.

import type { FaultyNode } from './faulty-node.ts';

const SKIPPED = -32007;
const NOT_AVAILABLE = -32004;

/** The slots of a chain with a block, oldest first. Each block names the one before it as its parent. */
export type Chain = readonly number[];

/** Every slot of a range, without those in `skipped`. */
export function chainOf(fromSlot: number, toSlot: number, skipped: readonly number[] = []): Chain {
  const all = Array.from({ length: toSlot - fromSlot + 1 }, (_, index) => fromSlot + index);
  return all.filter((slot) => !skipped.includes(slot));
}

/** Lets a node serve the blocks of a chain that it has, those of `isFinal` at `finalized` too. Their signatures are their slots. */
export function serveBlocks(
  node: FaultyNode,
  chain: Chain,
  has: (slot: number) => boolean = () => true,
  isFinal: (slot: number) => boolean = () => true,
): void {
  const isVisible = (slot: number, config: unknown) =>
    isFinal(slot) || (config as { readonly commitment?: string } | undefined)?.commitment !== 'finalized';
  const held = chain.filter(has);
  node.on('getFirstAvailableBlock', () => ({ result: held[0] ?? 0 }));
  node.on('getSlot', () => ({ result: held.at(-1) ?? 0 }));
  node.on('getBlocks', ([from, to, config]) => ({
    result: held.filter((slot) => slot >= Number(from) && slot <= Number(to) && isVisible(slot, config)),
  }));
  node.on('getBlock', ([slot, config]) => {
    if (!isVisible(Number(slot), config)) return { error: { code: NOT_AVAILABLE, message: 'Block not available' } };
    const message = `Slot ${slot} was skipped, or missing due to ledger jump to recent snapshot`;
    if (!held.includes(Number(slot))) return { error: { code: SKIPPED, message } };
    const parentSlot = chain[chain.indexOf(Number(slot)) - 1] ?? 0;
    return { result: { parentSlot, blockhash: `hash ${slot}`, signatures: [String(slot)] } };
  });
}

/**
 * Lets a node list blocks that it does not have. Agave 3.1.8 does that at `confirmed` after a boot from a snapshot: it lists
 * the blocks that the snapshot remembers, until its first block is final.
 */
export function listRemembered(node: FaultyNode, chain: Chain, has: (slot: number) => boolean): void {
  node.on('getBlocks', ([from, to, config]) => {
    const { commitment } = config as { readonly commitment?: string };
    const listed = commitment === 'finalized' ? chain.filter(has) : chain;
    return { result: listed.filter((slot) => slot >= Number(from) && slot <= Number(to)) };
  });
}
