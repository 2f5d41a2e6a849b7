// The stream at processed over PubSub. A node sends account data of the newest block of its fork alone, so data of a slot says
// which fork it follows.

import type { AccountFilter } from '../rpc/account-filters.ts';
import { KeyCache, logsUpdate, programAccountUpdate } from '../rpc/notifications.ts';
import { PubSub } from '../rpc/pubsub.ts';
import type { Transport } from '../rpc/transport.ts';
import { ConnectionEnd, type ConnectionParts, FirstSlot, type ForkConnection } from './feed.ts';

export interface PubSubOptions {
  readonly wsUrl: string;
  readonly filters: readonly AccountFilter[];
  /** base58 */
  readonly programs: readonly string[];
  readonly transport?: Transport;
}

export class PubSubForks implements ForkConnection {
  readonly #parts: ConnectionParts;
  readonly #options: PubSubOptions;
  readonly #end: ConnectionEnd;
  readonly #firstSlot: FirstSlot;
  readonly #keys = new KeyCache();
  /** News counts once all subscriptions have begun. */
  #isSubscribed = false;

  constructor(parts: ConnectionParts, options: PubSubOptions) {
    this.#parts = parts;
    this.#options = options;
    this.#end = new ConnectionEnd(parts);
    this.#firstSlot = new FirstSlot(parts);
  }

  async run(): Promise<string> {
    const { wsUrl, transport } = this.#options;
    let pubsub: PubSub | null = null;
    try {
      // The confirmed stream parks unreadable data.
      const handlers = { garbage: () => {}, closed: (reason: string) => this.#end.end(reason) };
      pubsub = await PubSub.open(wsUrl, handlers, transport);
      this.#end.alive();
      await this.#subscribe(pubsub);
      this.#isSubscribed = true;
      return await this.#end.ended;
    } finally {
      this.#end.release();
      pubsub?.close();
    }
  }

  async #subscribe(pubsub: PubSub): Promise<void> {
    const accounts = this.#options.filters.map(({ program, liveFilters }) =>
      pubsub.subscribe(
        'programSubscribe',
        [program, { commitment: 'processed', encoding: 'base64', filters: liveFilters }],
        (result) => this.#account(result),
      ),
    );
    const logs = this.#options.programs.map((program) =>
      pubsub.subscribe('logsSubscribe', [{ mentions: [program] }, { commitment: 'processed' }], (result) =>
        this.#logs(result),
      ),
    );
    // Not every node offers it. Without it a dead slot is left when the node sends data of another one.
    const deaths = pubsub.subscribe('slotsUpdatesSubscribe', [], (result) => this.#bank(result)).catch(() => {});
    const slots = pubsub.subscribe('slotSubscribe', [], (result) => this.#announced(result));
    await Promise.all([...accounts, ...logs, deaths, slots]);
  }

  #account(result: unknown): void {
    if (!this.#isSubscribed) return;
    const update = programAccountUpdate(result, this.#keys);
    const { slot } = update;
    this.#firstSlot.saw(slot);
    this.#parts.books.account(update, (forks) => forks.follow(slot));
  }

  /** Account data of the same slot says that the node follows it. */
  #logs(result: unknown): void {
    const transaction = this.#isSubscribed ? logsUpdate(result) : null;
    if (transaction) this.#parts.trades.take(transaction);
  }

  /** A node announces a slot of any fork when it begins to replay it. Its parent is complete by then, but perhaps not followed. */
  #announced(result: unknown): void {
    const { slot, parent } = slotsOf(result);
    this.#end.alive();
    if (!this.#isSubscribed) return;
    this.#firstSlot.saw(slot);
    this.#parts.books.news((forks) => {
      forks.link(slot, parent);
      if (forks.isUncontested(parent)) forks.follow(parent);
    });
  }

  #bank(result: unknown): void {
    if (!this.#isSubscribed) return;
    const { type } = result as { readonly type?: unknown };
    if (type === 'createdBank') {
      const { slot, parent } = slotsOf(result);
      this.#parts.books.news((forks) => forks.link(slot, parent));
    } else if (type === 'dead') {
      const { slot } = slotsOf({ parent: 0, ...(result as object) });
      this.#parts.books.news((forks) => forks.dead(slot));
    }
  }
}

function slotsOf(result: unknown): { readonly slot: number; readonly parent: number } {
  const { slot, parent } = result as { readonly slot?: unknown; readonly parent?: unknown };
  if (!isSlot(slot) || !isSlot(parent)) throw new TypeError('no slot');
  return { slot, parent };
}

function isSlot(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
