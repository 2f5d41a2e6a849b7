// Compares the published books in the log with the book of a feed client. After each message the client must have exactly the
// book that stands in the log at that sequence.

import { createHash } from 'node:crypto';
import type { EventLog } from '../../../../platform/index.ts';
import { BookView } from '../../../../processors/book/index.ts';
import {
  type BookVersion,
  type BookViewDiff,
  type BookViewSnapshot,
  decodeMessage,
  TOPICS,
} from '../../../../schemas/index.ts';
import { base58 } from '../checks/base58.ts';
import type { BookLines, Shape } from './difference.ts';
import type { HeldState } from './slot-truth.ts';

interface Seen extends Shape {
  readonly marketKey: string;
  readonly stream: string;
  readonly epoch: number;
  readonly seq: number;
  readonly hash: string;
}

interface Cursor {
  view: BookView;
  next: number;
  readonly waiting: Seen[];
}

export interface Comparison {
  compared: number;
  readonly differences: string[];
}

const hashOf = ({ bids, asks }: BookLines) =>
  createHash('sha1')
    .update([...bids, 'asks', ...asks].join('\n'))
    .digest('base64');

function viewHash(view: BookView, { level, depth }: Shape): string {
  if (level === 'l2') {
    const { bids, asks } = view.l2(depth ?? Number.MAX_SAFE_INTEGER);
    const lines = (levels: typeof bids) => levels.map(({ price, dlob, vamm }) => `${price} ${dlob} ${vamm}`);
    return hashOf({ bids: lines(bids), asks: lines(asks) });
  }
  const { bids, asks } = view.l3();
  const lines = (orders: typeof bids) => {
    const visible = orders.filter(({ size }) => size > 0n);
    const prices = [...new Set(visible.map(({ price }) => price))].slice(0, depth ?? undefined);
    const last = prices.at(-1);
    const end = depth === null ? visible.length : visible.findLastIndex(({ price }) => price === last) + 1;
    return visible
      .slice(0, end)
      .map(({ price, size, maker, orderId, source }) => `${price} ${size} ${base58(maker)} ${orderId} ${source}`);
  };
  return hashOf({ bids: lines(bids), asks: lines(asks) });
}

export class ViewTruth {
  readonly comparison: Comparison = { compared: 0, differences: [] };
  readonly #messages = new Map<string, (BookViewDiff | BookViewSnapshot)[]>();
  readonly #lastOfSlots = new Map<string, Map<number, BookVersion>>();
  readonly #slots = new Map<string, number>();
  readonly #cursors = new Map<string, Cursor>();

  /** True when the log has nothing of that slot after the state. */
  isLastOfSlot({ marketKey, slot, epoch, seq }: HeldState): boolean {
    const last = this.#lastOfSlots.get(marketKey)?.get(slot);
    return last?.epoch === epoch && last.seq === seq;
  }

  /** True when the log has a book of any market at that slot. */
  isPublished(slot: number): boolean {
    return [...this.#lastOfSlots.values()].some((slots) => slots.has(slot));
  }

  /** Slot that the log has reached in every market. */
  get slot(): number {
    return Math.min(...this.#slots.values());
  }

  /** Reads `views.book` from its beginning until the signal aborts. */
  async follow(log: EventLog, signal: AbortSignal): Promise<void> {
    const from = new Map(Array.from({ length: TOPICS.bookViews.partitions }, (_, partition) => [partition, 0n]));
    for await (const { records } of log.follow({ topic: TOPICS.bookViews, from, signal })) {
      for (const { key, value } of records) {
        const message = decodeMessage(value).value as BookViewDiff | BookViewSnapshot;
        const messages = this.#messages.get(key) ?? [];
        this.#messages.set(key, messages);
        messages.push(message);
        const last = this.#lastOfSlots.get(key) ?? new Map<number, BookVersion>();
        this.#lastOfSlots.set(key, last);
        last.set(message.slot, message);
        this.#slots.set(key, message.slot);
      }
      for (const cursor of this.#cursors.values()) this.#advance(cursor);
    }
  }

  /** To be called for each message a client applied. */
  saw({ name, marketKey, level, depth, epoch, seq, lines }: HeldState): void {
    if (epoch === 0) {
      // A market without a book in the log yet.
      if (hashOf(lines) !== viewHash(new BookView(), { level, depth })) this.#differs(`${name}: not empty`);
      return;
    }
    const cursor = this.#cursors.get(name) ?? { view: new BookView(), next: 0, waiting: [] };
    this.#cursors.set(name, cursor);
    cursor.waiting.push({ level, depth, epoch, seq, marketKey, stream: name, hash: hashOf(lines) });
    this.#advance(cursor);
  }

  /** Applied messages of which the log has not been read yet. */
  get waiting(): number {
    return [...this.#cursors.values()].reduce((sum, { waiting }) => sum + waiting.length, 0);
  }

  #advance(cursor: Cursor): void {
    for (let seen = cursor.waiting[0]; seen; seen = cursor.waiting[0]) {
      if (!this.#reach(cursor, seen)) return;
      cursor.waiting.shift();
      this.comparison.compared += 1;
      const { epoch, seq, hash, stream } = seen;
      const { head } = cursor.view;
      if (head?.epoch !== epoch || head.seq !== seq) this.#differs(`${stream}: no state ${epoch}/${seq} in the log`);
      else if (viewHash(cursor.view, seen) !== hash) this.#differs(`${stream}: another book at ${epoch}/${seq}`);
    }
  }

  /** Brings the cursor to the state; false when the log has not been read that far. */
  #reach(cursor: Cursor, { marketKey, epoch, seq }: Seen): boolean {
    const isPast = () => {
      const { head } = cursor.view;
      return head !== null && (head.epoch > epoch || (head.epoch === epoch && head.seq > seq));
    };
    if (isPast()) {
      // A snapshot of a gateway that is behind the one before it.
      cursor.view = new BookView();
      cursor.next = 0;
    }
    const messages = this.#messages.get(marketKey) ?? [];
    const isThere = () => cursor.view.head?.epoch === epoch && cursor.view.head.seq === seq;
    while (!isThere() && !isPast()) {
      const message = messages[cursor.next];
      if (!message) return false;
      cursor.next += 1;
      cursor.view.apply(message);
    }
    return true;
  }

  #differs(text: string): void {
    this.comparison.differences.push(text);
  }
}
