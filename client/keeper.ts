// The book of one stream, kept from its snapshots and diffs and nothing else. It says at once when a message is missing or
// when its book is not the server's.

import type {
  BookDiffMessage,
  BookL2Diff,
  BookL2Snapshot,
  BookL3Diff,
  BookL3Snapshot,
  BookOrderRef,
  BookPosition,
  BookSnapshotMessage,
} from '../schemas/index.ts';
import { crc32 } from './crc32.ts';
import { type KeptLevel, type KeptOrder, LevelSide, OrderSide, type SideName } from './sides.ts';

/** How much of the top a checksum covers when it is asked for with `true` (README of the feed). */
export const CHECKSUM_LEVELS = 10;

export interface KeeperOptions {
  readonly level: 'l2' | 'l3';
  /** As subscribed; all levels when absent. */
  readonly depth?: number;
  readonly checksum?: boolean | number;
}

/**
 * `applied`; `gap`: something before this message is missing; `checksum`: the book differs from the server's; `waiting`:
 * a diff without a sound book under it. After a gap or a wrong checksum only a snapshot helps.
 */
export type Applied = 'applied' | 'gap' | 'checksum' | 'waiting';

export class BookKeeper {
  readonly level: 'l2' | 'l3';
  readonly #checksumLevels: number;
  #levels: Record<SideName, LevelSide> = newLevels();
  #orders: Record<SideName, OrderSide> = newOrders();
  #position: BookPosition | null = null;
  #slot = 0;
  #market = '';

  constructor({ level, depth, checksum = false }: KeeperOptions) {
    this.level = level;
    const levels = checksum === true ? CHECKSUM_LEVELS : checksum === false ? 0 : checksum;
    this.#checksumLevels = Math.min(levels, depth ?? levels);
  }

  /** State that this book is; null while there is none that can be trusted. */
  get position(): BookPosition | null {
    return this.#position;
  }

  /** Slot of the newest message. */
  get slot(): number {
    return this.#slot;
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

  /** A diff must be of the stream whose snapshot this keeper took. */
  apply(message: BookSnapshotMessage | BookDiffMessage): Applied {
    if ('market' in message) {
      this.#clear();
      this.#market = message.market;
    } else {
      if (this.#position === null) return 'waiting';
      if (message.epoch !== this.#position.epoch || message.prevSeq !== this.#position.seq) {
        this.distrust();
        return 'gap';
      }
    }
    this.#take(message);
    this.#position = { epoch: message.epoch, seq: message.seq };
    this.#slot = message.slot;
    if (message.checksum === undefined || this.#checksumLevels === 0 || message.checksum === this.checksum()) {
      return 'applied';
    }
    this.distrust();
    return 'checksum';
  }

  /** Forgets the position: the next thing this keeper takes is a snapshot. */
  distrust(): void {
    this.#position = null;
  }

  /** Checksum of the book as it is kept. */
  checksum(): number {
    const sides: Record<SideName, LevelSide | OrderSide> = this.level === 'l3' ? this.#orders : this.#levels;
    const levels = this.#checksumLevels;
    return crc32(['bids', ...sides.bids.lines(levels), 'asks', ...sides.asks.lines(levels)].join('\n'));
  }

  #take(message: BookSnapshotMessage | BookDiffMessage): void {
    // A diff does not say its level: it is that of the stream.
    if (this.level === 'l2') this.#takeLevels(message as BookL2Snapshot | BookL2Diff);
    else this.#takeOrders(message as BookL3Snapshot | BookL3Diff);
  }

  #takeLevels({ bids = [], asks = [] }: BookL2Snapshot | BookL2Diff): void {
    for (const entry of bids) this.#levels.bids.set(entry);
    for (const entry of asks) this.#levels.asks.set(entry);
  }

  #takeOrders(message: BookL3Snapshot | BookL3Diff): void {
    if ('diff' in message) for (const reference of message.gone ?? []) this.#drop(reference);
    for (const side of ['bids', 'asks'] as const) {
      for (const order of message[side] ?? []) {
        this.#drop(order); // an order stands once, wherever it stood before
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
