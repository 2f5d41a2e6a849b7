// Active streams of all connections. Connections with equal streams share one set and are served together, so a client costs
// one entry, whatever the number of its streams.

import type { NamedStream } from './feed-stream.ts';
import type { Stream } from './stream.ts';
import type { SubscriberOf } from './subscriber.ts';
import { NO_SUBSCRIPTIONS, SubscriptionSet } from './subscription-set.ts';

interface Frame {
  readonly name: string;
  readonly frame: Buffer;
}

export class SubscriptionSets<S extends NamedStream = Stream> {
  readonly #byKey = new Map<string, SubscriptionSet<S>>();
  readonly #byStream = new Map<string, Set<SubscriptionSet<S>>>();
  /** Subscribers with activations since the last `settle`, which applies them together. */
  readonly #unsettled = new Set<SubscriberOf<S>>();

  /** The subscriber gets the messages of a requested stream from here on. */
  activate(subscriber: SubscriberOf<S>, stream: S): void {
    if (subscriber.activate(stream)) this.#unsettled.add(subscriber);
  }

  /** The subscriber gets no more messages of the stream; repeating changes nothing. */
  deactivate(subscriber: SubscriberOf<S>, stream: S): void {
    if (subscriber.deactivate(stream)) this.#unsettled.add(subscriber);
  }

  /** Removes a connection that is closed or has no subscriptions left. */
  forget(subscriber: SubscriberOf<S>): void {
    this.#unsettled.delete(subscriber);
    this.#withdraw(subscriber);
  }

  /** Assigns every changed subscriber the set of its active streams. */
  settle(): void {
    for (const subscriber of this.#unsettled) {
      const set = this.#of(subscriber.activeStreams);
      if (set !== subscriber.subscriptionSet) {
        this.#withdraw(subscriber);
        if (set !== NO_SUBSCRIPTIONS) set.members.add(subscriber.connection);
      }
      subscriber.settle(set);
    }
    this.#unsettled.clear();
  }

  /** Sends each frame to the active subscribers of its stream: all frames of one connection together, in the given order. */
  send(frames: readonly Frame[]): void {
    this.settle();
    const bySet = new Map<SubscriptionSet<S>, Buffer[]>();
    for (const { name, frame } of frames) {
      for (const set of this.#byStream.get(name) ?? []) {
        const list = bySet.get(set);
        if (list) list.push(frame);
        else bySet.set(set, [frame]);
      }
    }
    // A closing connection leaves this Set during the loop, which a Set allows.
    for (const [{ members }, list] of bySet) for (const connection of members) connection.send(list);
  }

  #of(active: ReadonlyMap<string, S>): SubscriptionSet<S> {
    if (active.size === 0) return NO_SUBSCRIPTIONS;
    const key = keyOf(active);
    const known = this.#byKey.get(key);
    if (known) return known;
    const set = new SubscriptionSet(new Map(active));
    this.#byKey.set(key, set);
    for (const name of set.streams.keys()) {
      const sets = this.#byStream.get(name) ?? new Set();
      this.#byStream.set(name, sets);
      sets.add(set);
    }
    return set;
  }

  /** Takes the connection out of its set; the last member removes the set. */
  #withdraw({ subscriptionSet, connection }: SubscriberOf<S>): void {
    if (!subscriptionSet.members.delete(connection) || subscriptionSet.members.size > 0) return;
    this.#byKey.delete(keyOf(subscriptionSet.streams));
    for (const name of subscriptionSet.streams.keys()) {
      const sets = this.#byStream.get(name);
      sets?.delete(subscriptionSet);
      if (sets?.size === 0) this.#byStream.delete(name);
    }
  }
}

/** Equal for equal streams. */
function keyOf(streams: ReadonlyMap<string, NamedStream>): string {
  return Array.from(streams.values(), ({ streamId }) => streamId)
    .sort((left, right) => left - right)
    .join();
}
