// The `account` channel: the open orders of accounts and every change of them, numbered, with resume and checksum.

import { PublicKey } from '@solana/web3.js';
import {
  type EventLog,
  type LogBatch,
  type Logger,
  readKey,
  readToEnd,
  TopicFollower,
} from '../../../platform/index.ts';
import { type AccountOrder, decodeMessage, type MarketRef, type OrderChange, TOPICS } from '../../../schemas/index.ts';
import { base58 } from '../../http/base58.ts';
import { ACCOUNT_FEED_ERRORS, type AccountFeedErrorCode } from '../../http/errors.ts';
import { followAlways, nextOffsets } from '../../views/follow.ts';
import type { PublishedBook } from '../../views/published-book.ts';
import type { Connection } from '../connection.ts';
import type { SequencedFeed } from '../feed/feeds.ts';
import type { ChainSight } from '../feed/heartbeat.ts';
import { FeedHub, type Frame } from '../feed/hub.ts';
import type { FeedMetrics } from '../feed/metrics.ts';
import { numberedRecords, type OlderRecords } from '../feed/older-records.ts';
import { MAX_ACCOUNT_STREAMS, MAX_QUEUE_ACCOUNTS } from '../feed/record-limits.ts';
import { RecordStream } from '../feed/record-stream.ts';
import { type RequestId, resumeVersionOf } from '../feed/request.ts';
import type { RingSpace } from '../feed/ring.ts';
import { SUB_ACCOUNTS, userAccount } from '../quotes/indicative-keys.ts';
import {
  AccountOrders,
  type AccountState,
  type AccountStream,
  accountStreamName,
  applyChange,
  emptyState,
  orderChange,
  stateOf,
} from './account-stream.ts';
import { QueuePositions } from './queue-positions.ts';
import { type AccountRequest, type AccountTarget, readAccountRequest } from './request.ts';

const PARTS = TOPICS.orderChanges.partitions;

export interface AccountFeedOptions {
  readonly log: EventLog;
  readonly logger: Logger;
  readonly metrics: FeedMetrics;
  /** Memory of the rings of all channels. */
  readonly rings: RingSpace;
  /** Base58 id of the program that owns user accounts. */
  readonly program: string;
  readonly chain: () => ChainSight;
  readonly book: (market: MarketRef) => PublishedBook | null;
  /** Monotonic milliseconds. */
  readonly clock?: () => number;
}

type Subscribe = Extract<AccountRequest, { is: 'subscribe' }>;
type Unsubscribe = Extract<AccountRequest, { is: 'unsubscribe' }>;

export class AccountFeed implements SequencedFeed {
  readonly #options: AccountFeedOptions;
  readonly #hub: FeedHub<AccountStream, never, OlderRecords, never>;
  /** By stream name, of every account that had an order. */
  readonly #states = new Map<string, AccountState>();
  /** With subscribers. */
  readonly #streams = new Map<string, AccountStream>();
  readonly #queues: QueuePositions;
  readonly #follower = new TopicFollower();
  #lastStreamId = 0;

  constructor(options: AccountFeedOptions) {
    const { log, logger, metrics, chain, book, clock = () => performance.now() } = options;
    this.#options = options;
    this.#queues = new QueuePositions({ book, clock, orders: (account) => this.#openOrders(account) });
    this.#hub = new FeedHub({
      channel: 'account',
      followsSlots: false,
      source: numberedRecords(TOPICS.orderChanges, orderChange),
      log,
      logger,
      metrics,
      chain,
      clock,
      close: (stream) => {
        this.#streams.delete(stream.name);
        const { epoch, seq } = stream.sent;
        // Returns its bytes to the memory that all rings share.
        stream.market.ring.reset(epoch, seq, null);
        // Of an account that never had an order nothing is kept.
        if (epoch === 0) this.#states.delete(stream.name);
        metrics.streams.dec();
      },
    });
  }

  /** Resolves when all open orders are known; later changes are followed. */
  async start(): Promise<void> {
    const { log, logger } = this.#options;
    await log.ensureTopics([TOPICS.orderChanges, TOPICS.openOrders]);
    const from = await nextOffsets(log, TOPICS.orderChanges);
    // After the offsets are known: open orders are never older than the changes before them.
    for (let partition = 0; partition < PARTS; partition += 1) {
      await readToEnd({ log, topic: TOPICS.openOrders, partition }, ({ value }) => this.#restore(value));
    }
    const take = (batch: LogBatch): void => this.#take(batch);
    followAlways(this.#follower, { log, logger, topic: TOPICS.orderChanges, from, take });
  }

  /** Settles when following ends; rejects when a change cannot be published. */
  get done(): Promise<void> {
    return this.#follower.done;
  }

  request(
    connection: Connection,
    action: 'subscribe' | 'unsubscribe',
    message: Readonly<Record<string, unknown>>,
  ): void {
    const request = readAccountRequest(action, message);
    if (request.is === 'error') refuse(connection, request.code, request.id);
    else if (request.is === 'subscribe') this.#subscribe(connection, request);
    else this.#unsubscribe(connection, request);
  }

  get connections(): Iterable<Connection> {
    return this.#hub.connections;
  }

  drained(connection: Connection): void {
    this.#hub.drained(connection);
  }

  closed(connection: Connection): void {
    this.#hub.closed(connection);
    this.#queues.closed(connection);
  }

  async stop(): Promise<void> {
    const following = this.#follower.stop();
    this.#hub.stop();
    this.#queues.stop();
    await following;
  }

  #restore(bytes: Uint8Array): void {
    try {
      const { name, value } = decodeMessage(bytes);
      if (name === 'OpenOrders') this.#states.set(accountStreamName(base58(value.user), value.part), stateOf(value));
    } catch (error) {
      this.#unreadable(error);
    }
  }

  #take({ records }: LogBatch): void {
    const frames: Frame[] = [];
    const moved = new Set<AccountStream>();
    for (const { value, offset } of records) {
      const change = this.#read(value);
      if (!change) continue;
      const name = accountStreamName(base58(change.user), change.part);
      const stream = this.#streams.get(name);
      if (!stream) {
        applyChange(this.#state(name), change);
        continue;
      }
      moved.add(stream);
      for (const frame of stream.take(change, value, offset)) frames.push({ name, frame });
    }
    this.#options.metrics.renderings.inc({ type: 'order' }, frames.length);
    this.#hub.send(frames, moved);
  }

  #read(bytes: Uint8Array): OrderChange | null {
    try {
      return orderChange(bytes);
    } catch (error) {
      this.#unreadable(error);
      return null;
    }
  }

  #unreadable(error: unknown): void {
    this.#options.logger.warn({ topic: TOPICS.orderChanges.name, error: String(error) }, 'unreadable view record');
  }

  #state(name: string): AccountState {
    const state = this.#states.get(name) ?? emptyState();
    this.#states.set(name, state);
    return state;
  }

  #subscribe(connection: Connection, { id, target, versions, queue }: Subscribe): void {
    const subscriber = this.#hub.subscriberOf(connection);
    const accounts = this.#accounts(target);
    const wanted = accounts.flatMap((account) => partsOf(account));
    const fresh = wanted.filter(({ name }) => !subscriber.streams.has(name));
    const queued = queue ? accounts.filter((account) => !this.#queues.has(connection, account)) : [];
    const hasRoom = subscriber.streams.size + fresh.length <= MAX_ACCOUNT_STREAMS;
    if (!hasRoom || this.#queues.countOf(connection) + queued.length > MAX_QUEUE_ACCOUNTS) {
      refuse(connection, 'limit', id);
      return;
    }
    this.#hub.register(subscriber);
    // Streams open before the answer is sent: sending may close a lagging client, and closing must find its streams.
    const streams = wanted.map((one) => this.#hub.open(subscriber, this.#stream(one)));
    acknowledge(connection, 'subscribed', id, target, wanted);
    for (const stream of streams) this.#hub.begin(subscriber, stream, resumeVersionOf(versions, stream.name));
    for (const account of queue ? accounts : []) {
      // Each answer may close a lagging client.
      if (subscriber.isClosed) return;
      this.#queues.follow(connection, account);
    }
  }

  #unsubscribe(connection: Connection, { id, target }: Unsubscribe): void {
    const subscriber = this.#hub.subscribers.get(connection);
    const accounts = this.#accounts(target);
    for (const account of accounts) this.#queues.leave(connection, account);
    const ended = accounts.flatMap((account) => partsOf(account)).filter(({ name }) => subscriber?.streams.has(name));
    for (const { name } of ended) {
      const stream = subscriber?.streams.get(name);
      if (subscriber && stream) this.#hub.leave(subscriber, stream);
    }
    if (subscriber) this.#hub.forgetIdle(subscriber);
    acknowledge(connection, 'unsubscribed', id, target, ended);
  }

  *#openOrders(account: string): Generator<AccountOrder> {
    for (const { name } of partsOf(account)) yield* this.#states.get(name)?.orders?.values() ?? [];
  }

  #stream({ account, part, name }: Part): AccountStream {
    const known = this.#streams.get(name);
    if (known) return known;
    const { rings, metrics } = this.#options;
    this.#lastStreamId += 1;
    const state = this.#state(name);
    const orders = new AccountOrders({ account, part, streamId: this.#lastStreamId, state });
    const stream: AccountStream = new RecordStream(orders, rings);
    stream.beginAt(state.head);
    this.#streams.set(name, stream);
    metrics.streams.inc();
    return stream;
  }

  #accounts(target: AccountTarget): string[] {
    if ('account' in target) return [target.account];
    const authority = readKey(target.authority) ?? new Uint8Array(32);
    const program = new PublicKey(this.#options.program);
    return Array.from({ length: SUB_ACCOUNTS }, (_, id) => userAccount(program, authority, id).toBase58());
  }
}

interface Part {
  readonly account: string;
  readonly part: number;
  readonly name: string;
}

function partsOf(account: string): Part[] {
  return Array.from({ length: PARTS }, (_, part) => ({ account, part, name: accountStreamName(account, part) }));
}

function refuse(connection: Connection, code: AccountFeedErrorCode, id: RequestId): void {
  const { text, retry } = ACCOUNT_FEED_ERRORS[code];
  connection.send([JSON.stringify({ channel: 'account', type: 'error', code, error: text, retry, id })]);
}

function acknowledge(
  connection: Connection,
  type: 'subscribed' | 'unsubscribed',
  id: RequestId,
  target: AccountTarget,
  parts: readonly Part[],
): void {
  const streams = parts.map(({ name }) => name);
  connection.send([JSON.stringify({ channel: 'account', type, id, ...target, streams })]);
}
