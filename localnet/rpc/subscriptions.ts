// The subscriptions of PubSub clients. Like on a node, equal requests share one subscription and number, so each update is
// filtered and printed once for all sockets.

import type { Commitment } from '../ledger.ts';
import { type AccountFormat, type Filter, filtersOf, formatOf } from './account-json.ts';
import { invalidParams, invalidType, RpcError } from './errors.ts';
import { type Config, commitmentOf, configOf, keyOf, need, signatureOf, unknownVariant } from './params.ts';

export type Topic =
  | {
      readonly kind: 'program';
      readonly program: string;
      readonly format: AccountFormat;
      readonly filters: readonly Filter[];
    }
  | { readonly kind: 'account'; readonly pubkey: string; readonly format: AccountFormat }
  /** `mentions` null: every transaction. */
  | { readonly kind: 'logs'; readonly mentions: string | null }
  | { readonly kind: 'signature'; readonly signature: string; readonly received: boolean }
  | { readonly kind: 'slot' }
  | { readonly kind: 'slotsUpdates' }
  | { readonly kind: 'root' };

export type TopicKind = Topic['kind'];

/** Receiver of a subscription's updates; one per socket. */
export interface Subscriber {
  /** Number of the connection, counted from 0. */
  readonly connection: number;
  send(frame: Buffer): void;
}

export interface Subscription {
  readonly id: number;
  readonly key: string;
  readonly topic: Topic;
  readonly commitment: Commitment;
  readonly subscribers: Set<Subscriber>;
}

export interface SubscriptionRequest {
  readonly topic: Topic;
  readonly commitment: Commitment;
}

/** Parses the parameters of a subscribe call. */
export function subscriptionRequest(kind: TopicKind, params: readonly unknown[]): SubscriptionRequest {
  switch (kind) {
    case 'slot':
    case 'slotsUpdates':
    case 'root':
      return { topic: { kind }, commitment: 'processed' };
    case 'program': {
      need(params, 1);
      const config = configOf(params[1]);
      const program = checked(params[0], keyOf, 'pubkey');
      const topic = { kind, program, format: formatOf(config), filters: checkedFilters(config.filters) };
      return { topic, commitment: commitmentOf(config) };
    }
    case 'account': {
      need(params, 1);
      const config = configOf(params[1]);
      const pubkey = checked(params[0], keyOf, 'pubkey');
      return { topic: { kind, pubkey, format: formatOf(config) }, commitment: commitmentOf(config) };
    }
    case 'logs': {
      need(params, 1);
      return { topic: { kind, mentions: mentionsOf(params[0]) }, commitment: commitmentOf(configOf(params[1])) };
    }
    case 'signature': {
      need(params, 1);
      const config: Config = configOf(params[1]);
      const received = config.enableReceivedNotification === true;
      const signature = checked(params[0], signatureOf, 'signature');
      return { topic: { kind, signature, received }, commitment: commitmentOf(config) };
    }
  }
}

/** `all` leaves out votes. The localnet has none, so both words mean every transaction. */
function mentionsOf(filter: unknown): string | null {
  if (filter === 'all' || filter === 'allWithVotes') return null;
  if (typeof filter === 'string') throw unknownVariant(filter, ['all', 'allWithVotes', 'mentions']);
  if (typeof filter !== 'object' || filter === null) throw invalidType(filter, 'string or map');
  const mentions = (filter as Record<string, unknown>).mentions;
  if (!Array.isArray(mentions)) throw invalidType(mentions, 'a sequence');
  if (mentions.length !== 1) throw invalidParams('Invalid Request: Only 1 address supported');
  return checked(mentions[0], keyOf, 'mentions');
}

/** PubSub of a node has a text of its own for a key or signature that is none. */
function checked(value: unknown, parse: (value: unknown) => string, name: string): string {
  if (typeof value !== 'string') throw invalidType(value, 'a string');
  try {
    return parse(value);
  } catch {
    throw invalidParams(`Invalid Request: Invalid ${name} provided`);
  }
}

const INVALID_PARAMS_TEXT = 'Invalid params: ';

/** PubSub of a node puts these words before the texts of its filters, unless they begin so. */
function checkedFilters(value: unknown): readonly Filter[] {
  try {
    return filtersOf(value);
  } catch (error) {
    if (!(error instanceof RpcError) || error.message.startsWith(INVALID_PARAMS_TEXT)) throw error;
    throw invalidParams(INVALID_PARAMS_TEXT + error.message);
  }
}

export class Subscriptions {
  readonly #byId = new Map<number, Subscription>();
  readonly #byKey = new Map<string, Subscription>();
  /** By lookup key: `program|<key>`, `account|<key>`, `logs|<key>`, `signature|<signature>`, `slot`... */
  readonly #bySubject = new Map<string, Set<Subscription>>();
  #nextId = 0;

  get size(): number {
    return this.#byId.size;
  }

  add(request: SubscriptionRequest, subscriber: Subscriber): Subscription {
    const key = JSON.stringify(request, (_, value) =>
      value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value,
    );
    let subscription = this.#byKey.get(key);
    if (subscription === undefined) {
      subscription = { id: this.#nextId, key, ...request, subscribers: new Set() };
      this.#nextId += 1;
      this.#byId.set(subscription.id, subscription);
      this.#byKey.set(key, subscription);
      const subject = subjectOf(request.topic);
      const sharing = this.#bySubject.get(subject);
      if (sharing === undefined) this.#bySubject.set(subject, new Set([subscription]));
      else sharing.add(subscription);
    }
    subscription.subscribers.add(subscriber);
    return subscription;
  }

  /** @throws RpcError when the subscriber has no subscription of that number and kind */
  remove(id: unknown, kind: TopicKind, subscriber: Subscriber): void {
    if (typeof id !== 'number') throw invalidType(id, 'u64');
    const subscription = this.#byId.get(id);
    if (subscription?.topic.kind !== kind || !subscription.subscribers.has(subscriber)) {
      throw invalidParams('Invalid subscription id.');
    }
    this.#detach(subscription, subscriber);
  }

  removeAll(subscriber: Subscriber): void {
    for (const subscription of this.#byId.values()) {
      if (subscription.subscribers.has(subscriber)) this.#detach(subscription, subscriber);
    }
  }

  /** Ends a subscription for all subscribers, for example after a signature's notification. */
  end(subscription: Subscription): void {
    for (const subscriber of [...subscription.subscribers]) this.#detach(subscription, subscriber);
  }

  about(subject: string, commitment: Commitment): Subscription[] {
    const found = this.#bySubject.get(subject);
    if (found === undefined) return [];
    return [...found].filter((subscription) => subscription.commitment === commitment);
  }

  #detach(subscription: Subscription, subscriber: Subscriber): void {
    subscription.subscribers.delete(subscriber);
    if (subscription.subscribers.size > 0) return;
    this.#byId.delete(subscription.id);
    this.#byKey.delete(subscription.key);
    const subject = subjectOf(subscription.topic);
    const sharing = this.#bySubject.get(subject);
    sharing?.delete(subscription);
    if (sharing?.size === 0) this.#bySubject.delete(subject);
  }
}

function subjectOf(topic: Topic): string {
  switch (topic.kind) {
    case 'program':
      return `program|${topic.program}`;
    case 'account':
      return `account|${topic.pubkey}`;
    case 'logs':
      return `logs|${topic.mentions ?? ''}`;
    case 'signature':
      return `signature|${topic.signature}`;
    case 'slot':
    case 'slotsUpdates':
    case 'root':
      return topic.kind;
  }
}
