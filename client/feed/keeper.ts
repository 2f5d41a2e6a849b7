// Keeps the book of one stream from its snapshots and diffs. Reports a missing message, and a book that differs from the
// server's.

import type {
  BookDiffMessage,
  BookL2Diff,
  BookL2Snapshot,
  BookL3Diff,
  BookL3Snapshot,
  BookOrderRef,
  BookSnapshotMessage,
  BookVersion,
} from '../../schemas/portable.ts';
import { crc32 } from './crc32.ts';
import { type KeptLevel, type KeptOrder, LevelSide, OrderSide, type SideName } from './sides.ts';

/** Levels that the checksum covers with `checksum: true` (docs/guides/follow-a-book.md). */
export const CHECKSUM_LEVELS = 10;

export interface KeeperOptions {
  readonly level: 'l2' | 'l3';
  /** Subscribed depth; default all levels. */
  readonly depth?: number;
  readonly checksum?: boolean | number;
}

/**
 * Result of a message. `applied`: done. `gap`: an earlier message is missing. `checksum`: the book differs from the server's.
 * `malformed`: an entry is not one of the protocol. `waiting`: a diff without a valid book. After `gap`, `checksum` or
 * `malformed` the keeper needs a snapshot.
 */
export type Applied = 'applied' | 'gap' | 'checksum' | 'malformed' | 'waiting';

export class BookKeeper {
  readonly level: 'l2' | 'l3';
  readonly #checksumLevels: number;
  readonly #depth: number;
  #levels: Record<SideName, LevelSide> = newLevels();
  #orders: Record<SideName, OrderSide> = newOrders();
  #version: BookVersion | null = null;
  #slot = 0;
  #ts = 0;
  #market = '';

  constructor({ level, depth, checksum = false }: KeeperOptions) {
    this.level = level;
    const levels = checksum === true ? CHECKSUM_LEVELS : checksum === false ? 0 : checksum;
    this.#checksumLevels = Math.min(levels, depth ?? levels);
    this.#depth = depth ?? Number.POSITIVE_INFINITY;
  }

  /** Version of the book; null without a valid book. */
  get position(): BookVersion | null {
    return this.#version;
  }

  /** Slot of the newest message. */
  get slot(): number {
    return this.#slot;
  }

  /** Server time of the newest message, Unix milliseconds (`ts` of the protocol); 0 before the first. */
  get ts(): number {
    return this.#ts;
  }

  get market(): string {
    return this.#market;
  }

  /** L2, best first; empty in an L3 keeper. */
  levels(side: SideName): readonly KeptLevel[] {
    return this.#levels[side].items;
  }

  /** L3 in queue order; empty in an L2 keeper. */
  orders(side: SideName): readonly KeptOrder[] {
    return this.#orders[side].items;
  }

  /** The L2 level of a price; null when the book has none. */
  level2(side: SideName, price: bigint): KeptLevel | null {
    return this.#levels[side].at(price);
  }

  /** An order of an L3 book with its side; null when the book does not have it. */
  order(reference: BookOrderRef): (KeptOrder & { readonly side: SideName }) | null {
    for (const side of ['bids', 'asks'] as const) {
      const found = this.#orders[side].get(reference);
      if (found) return { ...found, side };
    }
    return null;
  }

  /** Applies a message. A diff must belong to the stream of the last snapshot. */
  apply(message: BookSnapshotMessage | BookDiffMessage): Applied {
    if ('market' in message) {
      this.#clear();
      this.#market = message.market;
    } else {
      if (this.#version === null) return 'waiting';
      if (message.epoch !== this.#version.epoch || message.prevSeq !== this.#version.seq) {
        this.distrust();
        return 'gap';
      }
    }
    if (!this.#take(message)) {
      this.distrust();
      return 'malformed';
    }
    this.#version = { epoch: message.epoch, seq: message.seq };
    this.#slot = message.slot;
    this.#ts = message.ts;
    if (this.#isAsPublished(message.checksum)) return 'applied';
    this.distrust();
    return 'checksum';
  }

  /** A stream of depth N never has more levels; those beyond are in no checksum. */
  #isAsPublished(checksum: number | undefined): boolean {
    for (const side of ['bids', 'asks'] as const) {
      if (this.#levels[side].items.length > this.#depth || this.#orders[side].hasMorePricesThan(this.#depth))
        return false;
    }
    return checksum === undefined || this.#checksumLevels === 0 || checksum === this.checksum();
  }

  /** Marks the book as invalid: the keeper then accepts only a snapshot. */
  distrust(): void {
    this.#version = null;
  }

  /** Checksum of the current book. */
  checksum(): number {
    const sides: Record<SideName, LevelSide | OrderSide> = this.level === 'l3' ? this.#orders : this.#levels;
    const levels = this.#checksumLevels;
    return crc32(['bids', ...sides.bids.lines(levels), 'asks', ...sides.asks.lines(levels)].join('\n'));
  }

  /** False when an entry cannot be read: numbers that are no integers, lists that are none. */
  #take(message: BookSnapshotMessage | BookDiffMessage): boolean {
    try {
      // A diff has the level of its stream.
      if (this.level === 'l2') this.#takeLevels(message as BookL2Snapshot | BookL2Diff);
      else this.#takeOrders(message as BookL3Snapshot | BookL3Diff);
      return true;
    } catch (error) {
      if (error instanceof SyntaxError || error instanceof TypeError || error instanceof RangeError) return false;
      throw error;
    }
  }

  #takeLevels({ bids = [], asks = [] }: BookL2Snapshot | BookL2Diff): void {
    for (const entry of bids) this.#levels.bids.set(entry);
    for (const entry of asks) this.#levels.asks.set(entry);
  }

  #takeOrders(message: BookL3Snapshot | BookL3Diff): void {
    if ('diff' in message) for (const reference of message.gone ?? []) this.#drop(reference);
    for (const side of ['bids', 'asks'] as const) {
      for (const order of message[side] ?? []) {
        this.#drop(order); // An order is in the book once; an update may move it.
        this.#orders[side].set(order);
      }
    }
  }

  #drop(reference: BookOrderRef): void {
    this.#orders.bids.remove(reference);
    this.#orders.asks.remove(reference);
  }

  #clear(): void {
    this.#levels = newLevels();
    this.#orders = newOrders();
  }
}

function newLevels(): Record<SideName, LevelSide> {
  return { bids: new LevelSide('bids'), asks: new LevelSide('asks') };
}

function newOrders(): Record<SideName, OrderSide> {
  return { bids: new OrderSide('bids'), asks: new OrderSide('asks') };
}
