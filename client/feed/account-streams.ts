// The `account` channel of a connection: numbers of changes, missing ones, resumes. Its user gets whole accounts: the parts of
// an account stay inside.

import type {
  AccountErrorMessage,
  AccountFeedMessage,
  AccountHeartbeat,
  AccountOrder,
  AccountQueueMessage,
  AccountResumed,
  AccountSnapshot,
  AccountSubscribed,
  BookVersion,
  OrderCause,
  OrderChangeMessage,
  OrderFill,
} from '../../schemas/portable.ts';
import { AccountPart, fillOf, orderOf, type QueuePosition, queuePositionOf } from './account-part.ts';
import type { StaleReason } from './live-book.ts';

/** A user account, or all accounts of a wallet, base58. */
export type AccountChoice = ({ readonly account: string } | { readonly authority: string }) & {
  /** True: with the queue positions of resting orders, `AccountOrders.queue`. */
  readonly queue?: boolean;
};

/** A change of an order of an account. */
export interface OrderChangeEvent {
  readonly type: 'change';
  readonly orders: AccountOrders;
  readonly cause: OrderCause;
  /** Explanation of the program, for example `orderFilledWithMatch`. */
  readonly explanation: string;
  /** The fill behind the change; null for another cause. */
  readonly fill: OrderFill | null;
  /** False when the order has left. */
  readonly isOpen: boolean;
  /** The order after the change. */
  readonly order: AccountOrder;
  readonly slot: number;
  /** Block time, Unix seconds. */
  readonly ts: number;
  /** Empty when the cause is `reconstructed`. */
  readonly txSig: string;
  readonly txSigIndex: number;
}

/** Receives the accounts that a subscription follows. */
export interface AccountReader {
  readonly choice: AccountChoice & { readonly id: number };
  snapshot(orders: AccountOrders): void;
  change(event: OrderChangeEvent): void;
  stale(orders: AccountOrders, reason: StaleReason): void;
  resumed(orders: AccountOrders): void;
  queue(orders: AccountOrders): void;
  refuse(message: AccountErrorMessage): void;
}

interface Stream {
  readonly name: string;
  readonly part: AccountPart;
  /** True from its snapshot or resume on this connection until a loss. */
  isCurrent: boolean;
  /** True when the last heartbeat did not name it, and nothing of it has come since. */
  isUnnamed: boolean;
}

/** The open orders of one account. The same object for as long as a subscription follows it. */
export class AccountOrders {
  /** User account, base58. */
  readonly account: string;
  readonly #streams = new Map<string, Stream>();
  #queue: readonly QueuePosition[] = [];
  #isCurrent = false;

  constructor(account: string) {
    this.account = account;
  }

  /** False while changes may be missing. The orders are then the last known ones. */
  get isCurrent(): boolean {
    return this.#isCurrent;
  }

  /** All open orders, by market and order id. */
  get open(): readonly AccountOrder[] {
    const all = [...this.#streams.values()].flatMap(({ part }) => [...part.orders]);
    return all.sort((one, other) => one.marketIndex - other.marketIndex || one.orderId - other.orderId);
  }

  /** Queue positions of the resting orders. Empty unless asked for, and without a connection. */
  get queue(): readonly QueuePosition[] {
    return this.#queue;
  }

  /** Slot of the newest change; 0 before the first. */
  get slot(): number {
    return Math.max(0, ...[...this.#streams.values()].map(({ part }) => part.slot));
  }

  /** For the client: the streams of the account. */
  static streamsOf(orders: AccountOrders): Map<string, Stream> {
    return orders.#streams;
  }

  /** For the client: queue positions are new. */
  static setQueue(orders: AccountOrders, queue: readonly QueuePosition[]): void {
    orders.#queue = queue;
  }

  /** For the client: sets whether changes may be missing. */
  static setCurrent(orders: AccountOrders, isCurrent: boolean): void {
    orders.#isCurrent = isCurrent;
  }
}

/** State of an account beside its orders. */
interface Followed {
  readonly orders: AccountOrders;
  /** True when its streams are known. */
  isComplete: boolean;
  /** True when orders were replaced and no `snapshot` has said so yet. */
  isReplaced: boolean;
  /** True between a request and its answer. */
  isAsking: boolean;
}

export class AccountStreams {
  readonly #send: (message: object) => void;
  /** With the accounts of each reader; null until the server has named them. */
  readonly #readers = new Map<AccountReader, Set<string> | null>();
  readonly #accounts = new Map<string, Followed>();
  /** By stream number on this connection. */
  readonly #byId = new Map<number, { readonly followed: Followed; readonly stream: Stream }>();
  #isOpen = false;

  constructor(send: (message: object) => void) {
    this.#send = send;
  }

  add(reader: AccountReader): void {
    this.#readers.set(reader, null);
    if (this.#isOpen) this.#request(reader);
  }

  remove(reader: AccountReader): void {
    const ended = this.#readers.get(reader) ?? this.#unansweredOf(reader);
    this.#readers.delete(reader);
    const { id: _, queue: _queue, ...target } = reader.choice;
    if (this.#isOpen) this.#send({ type: 'unsubscribe', channel: 'account', ...target });
    for (const account of ended) {
      const shared = this.#readersOf(account).length > 0 ? this.#accounts.get(account) : undefined;
      if (!shared) {
        this.#accounts.delete(account);
        continue;
      }
      // The server ended streams that other readers share.
      shared.isAsking = false;
      if (!this.#wantsQueue(account)) AccountOrders.setQueue(shared.orders, []);
      this.#ask(account);
    }
    if (!this.#isOpen) return;
    for (const [other, accounts] of this.#readers) if (!accounts && mayShare(other, reader)) this.#request(other);
  }

  opened(): void {
    this.#isOpen = true;
    for (const reader of this.#readers.keys()) this.#request(reader);
  }

  lost(): void {
    this.#isOpen = false;
    this.#byId.clear();
    for (const followed of this.#accounts.values()) {
      followed.isAsking = false;
      for (const stream of streamsOf(followed).values()) stream.isCurrent = false;
      AccountOrders.setQueue(followed.orders, []);
      this.#markStale(followed, 'disconnected');
    }
  }

  /** Takes a message of the server; false when it belongs to another channel. */
  receive(message: object): boolean {
    const known = message as AccountFeedMessage;
    if ('order' in known) {
      this.#change(known);
      return true;
    }
    if (known.channel !== 'account') return false;
    if (known.type === 'subscribed') this.#accept(known);
    else if (known.type === 'snapshot') this.#replace(known);
    else if (known.type === 'resumed') this.#resume(known);
    else if (known.type === 'queue') this.#queue(known);
    else if (known.type === 'heartbeat') this.#compare(known);
    else if (known.type === 'error') this.#refuse(known);
    return true;
  }

  /** Names the streams: now an account with all of them is whole. */
  #accept({ id, account, streams }: AccountSubscribed): void {
    const reader = [...this.#readers.keys()].find(({ choice }) => choice.id === id);
    const followed = account === undefined ? undefined : this.#accounts.get(account);
    if (followed) followed.isAsking = false;
    if (!reader) return;
    const isFirst = this.#readers.get(reader) === null;
    const accounts = new Set<string>();
    for (const name of streams) {
      const owner = accountOf(name);
      accounts.add(owner);
      this.#stream(owner, name);
    }
    this.#readers.set(reader, accounts);
    for (const owner of accounts) {
      const known = this.#accounts.get(owner);
      if (!known) continue;
      known.isComplete = true;
      // Another reader follows it already.
      if (isFirst && known.orders.isCurrent) reader.snapshot(known.orders);
    }
  }

  #replace(message: AccountSnapshot): void {
    const { stream: name, streamId, account } = message;
    const begun = this.#begin(account, name, streamId);
    if (!begun) return;
    const { followed, stream } = begun;
    const result = stream.part.replace(message);
    stream.isCurrent = result === 'applied';
    followed.isReplaced = true;
    // A damaged snapshot is asked for again after the next heartbeat.
    if (stream.isCurrent) this.#settle(followed);
    else this.#markStale(followed, 'different');
  }

  #resume({ stream: name, streamId, recovered }: AccountResumed): void {
    const begun = this.#begin(accountOf(name), name, streamId);
    if (!begun || !recovered || !begun.stream.part.version) return;
    begun.stream.isCurrent = true;
    this.#settle(begun.followed);
  }

  /** Null when nobody wants the stream: an answer may come after its reader has closed. */
  #begin(account: string, name: string, streamId: number): { followed: Followed; stream: Stream } | null {
    if (!this.#accounts.has(account) && ![...this.#readers.values()].includes(null)) return null;
    const { followed, stream } = this.#stream(account, name);
    this.#byId.set(streamId, { followed, stream });
    stream.isUnnamed = false;
    return { followed, stream };
  }

  #change(message: OrderChangeMessage): void {
    const found = this.#byId.get(message.order);
    if (!found) return;
    const { followed, stream } = found;
    stream.isUnnamed = false;
    const fill = message.fill && fillOf(message.fill);
    const isReadable = (fill === null) === (message.fill === null);
    const order = isReadable ? orderOf(message.data) : null;
    const result = stream.part.apply(message, order);
    if (result === 'known') return;
    if (result === 'applied' && order) {
      if (!followed.isReplaced) this.#publish(followed, message, order, fill);
      return;
    }
    stream.isCurrent = false;
    this.#markStale(followed, result === 'gap' ? 'missing' : 'different');
    this.#ask(followed.orders.account);
  }

  #queue({ account, positions }: AccountQueueMessage): void {
    const orders = this.#accounts.get(account)?.orders;
    const queue = positions.map(queuePositionOf);
    if (!orders || !queue.every((position) => position !== null)) return;
    AccountOrders.setQueue(orders, queue);
    for (const reader of this.#readersOf(account)) if (reader.choice.queue) reader.queue(orders);
  }

  #publish({ orders }: Followed, message: OrderChangeMessage, order: AccountOrder, fill: OrderFill | null): void {
    const { cause, explanation, isOpen, slot, ts, txSig, txSigIndex } = message;
    const head = { type: 'change', orders, cause, explanation } as const;
    const event = { ...head, fill, isOpen, order, slot, ts, txSig, txSigIndex };
    for (const reader of this.#readersOf(orders.account)) reader.change(event);
  }

  /** Only a heartbeat reveals the loss of a last change, of first messages of a stream, and of a stream itself. */
  #compare({ sequences }: AccountHeartbeat): void {
    for (const [account, followed] of this.#accounts) {
      if (this.#readersOf(account).length === 0) continue;
      let isLacking = false;
      for (const stream of streamsOf(followed).values()) {
        const named = sequences[stream.name];
        const wasUnnamed = stream.isUnnamed;
        stream.isUnnamed = !named;
        // One heartbeat may leave a stream before an answer, and names a part of very many streams.
        if (!named && !wasUnnamed) continue;
        followed.isAsking = false;
        const { version } = stream.part;
        const isSame = named && version?.epoch === named.epoch && version.seq === named.seq;
        if (stream.isCurrent && isSame) continue;
        isLacking = true;
        if (!stream.isCurrent) continue;
        stream.isCurrent = false;
        this.#markStale(followed, 'missing');
      }
      if (isLacking) this.#ask(account);
    }
    for (const [reader, accounts] of this.#readers) if (!accounts) this.#request(reader);
  }

  /** The accounts that an unanswered request may have named. */
  #unansweredOf({ choice }: AccountReader): Iterable<string> {
    return 'account' in choice ? [choice.account] : [...this.#accounts.keys()];
  }

  #refuse(message: AccountErrorMessage): void {
    for (const reader of this.#readers.keys()) if (reader.choice.id === message.id) reader.refuse(message);
  }

  /** Says so when an account is whole again, or for the first time. */
  #settle(followed: Followed): void {
    const { orders } = followed;
    if (!followed.isComplete || [...streamsOf(followed).values()].some(({ isCurrent }) => !isCurrent)) return;
    const wasCurrent = orders.isCurrent;
    AccountOrders.setCurrent(orders, true);
    const readers = this.#readersOf(orders.account);
    if (followed.isReplaced) for (const reader of readers) reader.snapshot(orders);
    else if (!wasCurrent) for (const reader of readers) reader.resumed(orders);
    followed.isReplaced = false;
  }

  #markStale({ orders }: Followed, reason: StaleReason): void {
    if (!orders.isCurrent) return;
    AccountOrders.setCurrent(orders, false);
    for (const reader of this.#readersOf(orders.account)) reader.stale(orders, reason);
  }

  #request(reader: AccountReader): void {
    const { choice } = reader;
    const accounts = this.#readers.get(reader) ?? ('account' in choice ? [choice.account] : []);
    const resume = Object.assign({}, ...[...accounts].map((account) => this.#versions(account)));
    this.#send({ type: 'subscribe', channel: 'account', ...choice, resume });
  }

  /** Asks for the changes after the last ones, or for the orders where these are damaged. */
  #ask(account: string): void {
    const followed = this.#accounts.get(account);
    if (!followed || followed.isAsking || !this.#isOpen) return;
    followed.isAsking = true;
    const queue = this.#wantsQueue(account) || undefined;
    this.#send({ type: 'subscribe', channel: 'account', account, resume: this.#versions(account), queue });
  }

  #versions(account: string): Record<string, BookVersion> {
    const followed = this.#accounts.get(account);
    const known = followed ? [...streamsOf(followed).values()] : [];
    return Object.fromEntries(known.flatMap(({ name, part }) => (part.version ? [[name, part.version]] : [])));
  }

  #stream(account: string, name: string): { readonly followed: Followed; readonly stream: Stream } {
    const known = this.#accounts.get(account);
    const followed = known ?? {
      orders: new AccountOrders(account),
      isComplete: false,
      isReplaced: true,
      isAsking: false,
    };
    this.#accounts.set(account, followed);
    const streams = streamsOf(followed);
    const stream = streams.get(name) ?? { name, part: new AccountPart(), isCurrent: false, isUnnamed: false };
    streams.set(name, stream);
    return { followed, stream };
  }

  #wantsQueue(account: string): boolean {
    return this.#readersOf(account).some(({ choice }) => choice.queue);
  }

  #readersOf(account: string): AccountReader[] {
    return [...this.#readers].flatMap(([reader, accounts]) => (accounts?.has(account) ? [reader] : []));
  }
}

function streamsOf({ orders }: Followed): Map<string, Stream> {
  return AccountOrders.streamsOf(orders);
}

/** Whether an unsubscribe of one may end streams of the other. */
function mayShare({ choice: one }: AccountReader, { choice: other }: AccountReader): boolean {
  return !('account' in one && 'account' in other) || one.account === other.account;
}

/** `account_<account>_<part>` */
function accountOf(name: string): string {
  return name.slice(name.indexOf('_') + 1, name.lastIndexOf('_'));
}
