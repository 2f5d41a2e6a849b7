// The `account` channel on a log in memory, with one account whose orders a test changes.

import { pino } from 'pino';
import { Registry } from 'prom-client';
import { vi } from 'vitest';
import { AccountFeed } from '../../../api/gateway/account-feed/account-feed.ts';
import { feedMetrics } from '../../../api/gateway/feed/metrics.ts';
import type { RingSpace } from '../../../api/gateway/feed/ring.ts';
import { base58 } from '../../../api/http/base58.ts';
import type { PublishedBook } from '../../../api/views/published-book.ts';
import type { AccountOrder } from '../../../schemas/index.ts';
import { FakeLog } from '../api/fake-log.ts';
import { AccountLedger } from './account-ledger.ts';
import { type DirectGateway, DirectSocket } from './feed-stage.ts';

const PROGRAM = base58(new Uint8Array(32).fill(9));

/** A gateway on a log with the changes of one account. */
export class AccountStage implements DirectGateway {
  readonly log = new FakeLog();
  readonly sockets = new Set<DirectSocket>();
  /** Memory of the rings of all gateways. */
  readonly rings: RingSpace = { bytes: 0 };
  /** Books of perp markets by index. */
  readonly books = new Map<number, PublishedBook>();
  readonly #ledger = new AccountLedger(this.log);
  feed = this.#newFeed();

  get open(): Map<string, AccountOrder> {
    return this.#ledger.open;
  }

  /** The next change begins a new epoch without open orders. */
  beginEpoch(): void {
    this.#ledger.epoch += 1;
    this.open.clear();
  }

  socket(): DirectSocket {
    const socket = new DirectSocket(this);
    this.sockets.add(socket);
    return socket;
  }

  /** Opens, fills or ends an order, and lets everybody know. */
  async change(...change: Parameters<AccountLedger['change']>): Promise<void> {
    await this.#ledger.change(...change);
    await vi.advanceTimersByTimeAsync(1);
  }

  async restart(): Promise<void> {
    await this.feed.stop();
    for (const socket of [...this.sockets]) socket.close();
    this.feed = this.#newFeed();
    await this.feed.start();
  }

  #newFeed(): AccountFeed {
    return new AccountFeed({
      log: this.log,
      logger: pino({ level: 'silent' }),
      metrics: feedMetrics(new Registry()),
      rings: this.rings,
      program: PROGRAM,
      chain: () => ({ headSlot: 9, ts: 1 }),
      book: ({ marketIndex }) => this.books.get(marketIndex) ?? null,
    });
  }
}
