// The stream at processed over gRPC. A server sends accounts and transactions of every fork, and the state of every slot.

import { type GeyserRequest, geyserMessages } from '../../schemas/index.ts';
import { accountRequests, transactionRequests } from '../grpc/request.ts';
import { emptyRequest, type OpenStream, openWith, type UpdateStream } from '../grpc/stream.ts';
import { accountUpdate, slotOf, transactionLogs } from '../grpc/updates.ts';
import type { StreamUpdate, WireAccount, WireSlot, WireTransaction } from '../grpc/wire.ts';
import type { AccountFilter } from '../rpc/account-filters.ts';
import { ConnectionEnd, type ConnectionParts, FirstSlot, type ForkConnection } from './feed.ts';

export interface GrpcForkOptions {
  readonly url: string;
  readonly token: string;
  readonly filters: readonly AccountFilter[];
  /** base58 */
  readonly programs: readonly string[];
  /** Number of the connection, counted from 0. */
  readonly number: bigint;
  /** Default: over the real network, by authorities that Node knows. */
  readonly open?: OpenStream;
}

export class GrpcForks implements ForkConnection {
  readonly #parts: ConnectionParts;
  readonly #options: GrpcForkOptions;
  readonly #end: ConnectionEnd;
  readonly #firstSlot: FirstSlot;

  constructor(parts: ConnectionParts, options: GrpcForkOptions) {
    this.#parts = parts;
    this.#options = options;
    this.#end = new ConnectionEnd(parts);
    this.#firstSlot = new FirstSlot(parts);
  }

  async run(): Promise<string> {
    const { url, token, filters, programs, open = openWith() } = this.#options;
    let stream: UpdateStream | null = null;
    try {
      stream = await open(url, token, {
        update: (update) => this.#update(update),
        ended: (reason) => this.#end.end(reason),
      });
      this.#end.alive();
      stream.request(requestOf(filters, programs));
      return await this.#end.ended;
    } finally {
      this.#end.release();
      stream?.close();
    }
  }

  #update(update: StreamUpdate): void {
    try {
      if (update.account) this.#account(update.account);
      else if (update.transaction) this.#transaction(update.transaction);
      else if (update.slot) this.#slot(update.slot);
    } catch (error) {
      // The confirmed stream parks unreadable data.
      if (!(error instanceof TypeError)) throw error;
    }
  }

  /** Data of a slot on the newest one shows at once. That of another fork waits until its block is processed. */
  #account(message: WireAccount): void {
    const update = accountUpdate(message, this.#options.number);
    const { slot } = update;
    this.#firstSlot.saw(slot);
    this.#parts.books.account(update, (forks) => {
      if (forks.extends(slot)) forks.follow(slot);
    });
  }

  /** Its accounts say that its slot is there, so the slot itself is no news. */
  #transaction(message: WireTransaction): void {
    const logs = transactionLogs(message);
    if (logs) this.#parts.trades.take(logs);
  }

  #slot(news: WireSlot): void {
    const { parent, status } = news;
    const { SlotStatus } = geyserMessages();
    const slot = slotOf(news.slot);
    this.#end.alive();
    // Other news may be of an older slot than the one whose data comes.
    if (status === SlotStatus.SLOT_PROCESSED || status === SlotStatus.SLOT_CREATED_BANK) this.#firstSlot.saw(slot);
    this.#parts.books.news((forks) => {
      if (parent !== null) forks.link(slot, slotOf(parent));
      if (status === SlotStatus.SLOT_DEAD) forks.dead(slot);
      if (status !== SlotStatus.SLOT_PROCESSED) return;
      forks.delivered(slot);
      forks.follow(slot);
    });
  }
}

function requestOf(filters: readonly AccountFilter[], programs: readonly string[]): GeyserRequest {
  return {
    ...emptyRequest(),
    accounts: accountRequests(filters),
    transactions: transactionRequests(programs),
    slots: { slots: { interslotUpdates: true } },
    commitment: geyserMessages().CommitmentLevel.PROCESSED,
  };
}
