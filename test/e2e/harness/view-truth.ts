// The published books as the log alone tells them, beside everything a feed client applied: each applied message must have
// left the client with exactly the book that stands in the log at that sequence.

import { createHash } from 'node:crypto';
import type { BookKeeper } from '../../../client/index.ts';
import type { EventLog } from '../../../platform/index.ts';
import { BookView } from '../../../processors/book/index.ts';
import { type BookViewDiff, type BookViewSnapshot, decodeMessage, TOPICS } from '../../../schemas/index.ts';
import { base58 } from './base58.ts';

export interface Shape {
  readonly level: 'l2' | 'l3';
  readonly depth: number | null;
}

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

const hashOf = (lines: readonly string[]) => createHash('sha1').update(lines.join('\n')).digest('base64');

function keeperHash(keeper: BookKeeper): string {
  const lines = (side: 'bids' | 'asks') =>
    keeper.level === 'l2'
      ? keeper.levels(side).map(({ price, sources }) => `${price} ${sources.dlob ?? 0n} ${sources.vamm ?? 0n}`)
      : keeper.orders(side).map(({ price, size, maker, orderId }) => `${price} ${size} ${maker} ${orderId}`);
  return hashOf([...lines('bids'), 'asks', ...lines('asks')]);
}

function viewHash(view: BookView, { level, depth }: Shape): string {
  if (level === 'l2') {
    const { bids, asks } = view.l2(depth ?? Number.MAX_SAFE_INTEGER);
    const lines = (levels: typeof bids) => levels.map(({ price, dlob, vamm }) => `${price} ${dlob} ${vamm}`);
    return hashOf([...lines(bids), 'asks', ...lines(asks)]);
  }
  const { bids, asks } = view.l3();
  const lines = (orders: typeof bids) => {
    const shown = orders.filter(({ size }) => size > 0n);
    const prices = [...new Set(shown.map(({ price }) => price))].slice(0, depth ?? undefined);
    const last = prices.at(-1);
    const end = depth === null ? shown.length : shown.findLastIndex(({ price }) => price === last) + 1;
    return shown.slice(0, end).map(({ price, size, maker, orderId }) => `${price} ${size} ${base58(maker)} ${orderId}`);
  };
  return hashOf([...lines(bids), 'asks', ...lines(asks)]);
}

export class ViewTruth {
  readonly comparison: Comparison = { compared: 0, differences: [] };
  readonly #messages = new Map<string, (BookViewDiff | BookViewSnapshot)[]>();
  readonly #cursors = new Map<string, Cursor>();

  /** Reads `views.book` from its beginning until the signal aborts. */
  async follow(log: EventLog, signal: AbortSignal): Promise<void> {
    const from = new Map(Array.from({ length: TOPICS.bookViews.partitions }, (_, partition) => [partition, 0n]));
    for await (const { records } of log.follow({ topic: TOPICS.bookViews, from, signal })) {
      for (const { key, value } of records) {
        const message = decodeMessage(value).value as BookViewDiff | BookViewSnapshot;
        const messages = this.#messages.get(key) ?? [];
        this.#messages.set(key, messages);
        messages.push(message);
      }
      for (const cursor of this.#cursors.values()) this.#advance(cursor);
    }
  }

  /** To be called for each message a keeper applied. `client` tells two clients of one stream apart. */
  saw(client: string, stream: string, keeper: BookKeeper, shape: Shape): void {
    const { position } = keeper;
    if (!position) return;
    const [marketType, marketIndex] = stream.split('_');
    const name = `${client}/${stream}`;
    if (position.epoch === 0) {
      // A market that has no book yet, which the log does not tell of.
      if (keeperHash(keeper) !== viewHash(new BookView(), shape)) this.#differs(`${name}: not empty`);
      return;
    }
    const cursor = this.#cursors.get(name) ?? { view: new BookView(), next: 0, waiting: [] };
    this.#cursors.set(name, cursor);
    const marketKey = `${marketType}-${marketIndex}`;
    cursor.waiting.push({ ...shape, ...position, marketKey, stream: name, hash: keeperHash(keeper) });
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
