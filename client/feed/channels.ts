// The compatible channels of a connection. Their data is JSON as text, and their names have market indexes, not symbols.

import type { MarketType } from '../../schemas/portable.ts';
import type { ChannelName, Grouping } from './channel-subscription.ts';
import { parseObject } from './connection.ts';

interface DataMessage {
  readonly channel: string;
  readonly data: unknown;
}

interface Answer {
  readonly error?: unknown;
  readonly message?: unknown;
}

interface Address {
  readonly channel: ChannelName;
  readonly marketType: MarketType;
  /** Of the market, `perp:0`. */
  readonly index: string;
  readonly grouping: number;
}

/** A subscription as this file uses it, whatever its data. */
export interface AnySubscription {
  readonly channel: ChannelName;
  readonly market: string;
  readonly marketType: MarketType;
  readonly grouping: Grouping;
  readonly latest: object | null;
  take(data: object): void;
  outdated(): void;
  refuse(error: string): void;
  close(): void;
}

interface Message {
  readonly type: string;
  readonly channel: ChannelName;
  readonly market: string;
  readonly marketType: MarketType;
  readonly grouping?: Grouping;
}

/** A subscribe without an answer. */
interface Request extends Pick<Message, 'channel' | 'market' | 'marketType'> {
  /** Null for a probe. */
  readonly subscription: AnySubscription | null;
}

/** Answer to an unsubscribe, which is no request here. */
const UNSUBSCRIBE_ERROR = 'Error unsubscribing from channel';
/** Answer to a subscribe, with its members as the client sent them. */
const ACKNOWLEDGEMENT = /^Subscribe received for channel: (.*), market: (.*), marketType: (.*)$/;
/** Messages of markets whose index is not known yet. */
const HELD_MAX = 256;
/** A book of this grouping is short, and it names its market. */
const PROBE_GROUPING: Grouping = 1000;
const BOOK_NAME = /^orderbook_(perp|spot)_(\d+)_grouped_(\d+)(_indicative)?$/;
const OTHER_NAME = /^(trades|priorityFees)_(perp|spot)_(\d+)$/;

export class Channels {
  readonly #send: (message: object) => void;
  readonly #subscriptions = new Set<AnySubscription>();
  /** Market indexes, `perp:0`, by `perp:SOL-PERP`. */
  readonly #indexes = new Map<string, string>();
  readonly #probes = new Set<string>();
  /** In the order of sending: the server answers each with an acknowledgement or an error, first in, first out. */
  #unanswered: Request[] = [];
  #held: { readonly address: Address; readonly data: object }[] = [];
  #isOpen = false;

  constructor(send: (message: object) => void) {
    this.#send = send;
  }

  get subscriptions(): ReadonlySet<AnySubscription> {
    return this.#subscriptions;
  }

  add(subscription: AnySubscription): void {
    this.#subscriptions.add(subscription);
    if (this.#isOpen) this.#request(subscription);
  }

  /** Ends a subscription; on the server too, unless another one uses the same channel. */
  remove(subscription: AnySubscription): void {
    this.#subscriptions.delete(subscription);
    const isShared = [...this.#subscriptions].some((other) => nameOf(other) === nameOf(subscription));
    if (this.#isOpen && !isShared) this.#send(requestOf(subscription, 'unsubscribe'));
  }

  opened(): void {
    this.#isOpen = true;
    for (const subscription of this.#subscriptions) this.#request(subscription);
  }

  lost(): void {
    this.#isOpen = false;
    this.#held = [];
    this.#unanswered = [];
    this.#probes.clear();
    for (const subscription of this.#subscriptions) subscription.outdated();
  }

  receive(message: object): void {
    const { channel, data, error, message: text } = message as DataMessage & Answer;
    if (typeof text === 'string') this.#acknowledged(text);
    if (typeof channel !== 'string') return;
    if (typeof error === 'string') this.#refuse(channel, error);
    const address = addressOf(channel);
    const body = typeof data === 'string' ? parseObject(data) : data;
    if (address === null || typeof body !== 'object' || body === null) return;
    this.#learn(address, body);
    this.#deliver(address, body);
  }

  #request(subscription: AnySubscription): void {
    const { channel } = subscription;
    const isBook = channel === 'orderbook' || channel === 'orderbook_indicative';
    const key = marketOf(subscription);
    if (!isBook && !this.#indexes.has(key) && !this.#probes.has(key)) {
      this.#probes.add(key);
      this.#subscribe(probeOf(subscription, 'subscribe'), null);
    }
    this.#subscribe(requestOf(subscription, 'subscribe'), subscription);
  }

  #subscribe(request: Message, subscription: AnySubscription | null): void {
    const { channel, market, marketType } = request;
    this.#unanswered.push({ channel, market, marketType, subscription });
    this.#send(request);
  }

  /** A book names its market and stands in a channel with the index. */
  #learn({ channel, marketType, index }: Address, body: object): void {
    const { marketName } = body as { readonly marketName?: unknown };
    if (channel === 'trades' || channel === 'priorityfees' || typeof marketName !== 'string') return;
    const key = `${marketType}:${marketName.toUpperCase()}`;
    this.#indexes.set(key, index);
    if (!this.#probes.delete(key)) return;
    const isWanted = [...this.#subscriptions].some(
      (one) => one.channel === 'orderbook' && one.grouping === PROBE_GROUPING && marketOf(one) === key,
    );
    if (!isWanted) this.#send(probeOf({ market: marketName, marketType }, 'unsubscribe'));
    const held = this.#held;
    this.#held = [];
    for (const { address, data } of held) this.#deliver(address, data);
  }

  /** Data of an unknown index go to subscriptions without one. Data of a market that was left go to nobody. */
  #deliver(address: Address, data: object): void {
    const candidates = [...this.#subscriptions].filter((one) => isSameKind(one, address));
    const unknown = candidates.filter((one) => !this.#indexes.has(marketOf(one)));
    const names = new Set(unknown.map(marketOf));
    if ([...this.#indexes.values()].includes(address.index)) {
      for (const one of candidates) if (this.#indexes.get(marketOf(one)) === address.index) one.take(data);
    } else if (names.size === 1) for (const one of unknown) one.take(data);
    else if (names.size > 1 && this.#held.length < HELD_MAX) this.#held.push({ address, data });
  }

  #acknowledged(text: string): void {
    const [, channel, market, marketType] = ACKNOWLEDGEMENT.exec(text) ?? [];
    const isMeant = (one: Request): boolean =>
      one.channel === channel && one.market === market && one.marketType === marketType;
    this.#unanswered.splice(0, this.#unanswered.findIndex(isMeant) + 1);
  }

  /** An error names the channel of the request, not its market: the order of the answers says which one it is. */
  #refuse(channel: string, error: string): void {
    if (error === UNSUBSCRIBE_ERROR) return;
    const at = this.#unanswered.findIndex((one) => one.channel === channel.toLowerCase());
    const [refused] = at < 0 ? [] : this.#unanswered.splice(at, 1);
    const subscription = refused?.subscription;
    if (subscription && this.#subscriptions.has(subscription)) subscription.refuse(error);
  }
}

function requestOf({ channel, market, marketType, grouping }: AnySubscription, type: string): Message {
  const request = { type, channel, market, marketType };
  return channel === 'orderbook' || channel === 'orderbook_indicative' ? { ...request, grouping } : request;
}

function probeOf({ market, marketType }: Pick<AnySubscription, 'market' | 'marketType'>, type: string): Message {
  return { type, channel: 'orderbook', market, marketType, grouping: PROBE_GROUPING };
}

function marketOf({ marketType, market }: AnySubscription): string {
  return `${marketType}:${market}`;
}

function nameOf(subscription: AnySubscription): string {
  return `${subscription.channel}:${marketOf(subscription)}:${subscription.grouping}`;
}

function isSameKind(one: AnySubscription, { channel, marketType, grouping }: Address): boolean {
  if (one.channel !== channel || one.marketType !== marketType) return false;
  return channel === 'trades' || channel === 'priorityfees' || one.grouping === grouping;
}

function addressOf(name: string): Address | null {
  const book = BOOK_NAME.exec(name);
  if (book) {
    const channel = book[4] === undefined ? 'orderbook' : 'orderbook_indicative';
    return { channel, marketType: book[1] as MarketType, index: `${book[1]}:${book[2]}`, grouping: Number(book[3]) };
  }
  const other = OTHER_NAME.exec(name);
  if (!other) return null;
  const channel = other[1] === 'trades' ? 'trades' : 'priorityfees';
  return { channel, marketType: other[2] as MarketType, index: `${other[2]}:${other[3]}`, grouping: 1 };
}
