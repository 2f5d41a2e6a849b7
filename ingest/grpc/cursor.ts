// How far a stream of blocks has been delivered, and whether another stream continues it. Pure.

export interface BlockRef {
  readonly slot: number;
  /** base58 */
  readonly blockhash: string;
}

export interface LinkedBlock extends BlockRef {
  readonly parent: BlockRef;
}

/** How a block follows the ones before it. `fork`: it contradicts them. `missing`: blocks between them did not come. */
export type Link = 'next' | 'repeated' | 'missing' | 'fork';

/** The blocks of one stream, in the order of their arrival. Each must name the one before it as its parent. */
export class BlockChain {
  #last: BlockRef | null;

  /** `from` is the block that the next one must follow or repeat; null takes any first block. */
  constructor(from: BlockRef | null) {
    this.#last = from;
  }

  get last(): BlockRef | null {
    return this.#last;
  }

  add(block: LinkedBlock): Link {
    const last = this.#last;
    if (last === null || block.slot > last.slot) {
      const link = last === null ? 'next' : linkOf(last, block.parent);
      if (link === 'next') this.#last = { slot: block.slot, blockhash: block.blockhash };
      return link;
    }
    // Only the newest block can be compared. An older one was compared when it came.
    return block.slot === last.slot && block.blockhash !== last.blockhash ? 'fork' : 'repeated';
  }
}

function linkOf(last: BlockRef, parent: BlockRef): Link {
  if (parent.slot > last.slot) return 'missing';
  return parent.slot === last.slot && parent.blockhash === last.blockhash ? 'next' : 'fork';
}

/** The newest block whose updates were all delivered, over all connections. The next connection continues there. */
export class Cursor {
  #complete: BlockRef | null = null;
  #newest: BlockRef | null = null;
  /** Newest slot of any delivered update. */
  #seenSlot = -1;

  /** Where the next stream begins; null: it reads everything anew. */
  get from(): BlockRef | null {
    return this.#complete;
  }

  /** Newest slot with a delivered update. It may be incomplete. */
  get seenSlot(): number {
    return this.#seenSlot;
  }

  seen(slot: number): void {
    if (slot > this.#seenSlot) this.#seenSlot = slot;
  }

  /** A block's metadata was delivered: the block before it is complete, because a stream keeps the order of blocks. */
  delivered(block: BlockRef): void {
    this.seen(block.slot);
    if (this.#newest !== null && block.slot > this.#newest.slot) this.#complete = this.#newest;
    if (this.#newest === null || block.slot > this.#newest.slot) this.#newest = block;
  }

  /** Drops the cursor: the next stream cannot continue and must read everything. */
  forget(): void {
    this.#complete = null;
    this.#newest = null;
    this.#seenSlot = -1;
  }
}
