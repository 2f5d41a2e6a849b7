// Sends `{channel, type:"heartbeat"}` to every connection with streams of a channel: the last sequence of each stream, and the
// distance to the chain. Connections with equal streams share the text. Many connections take several turns of the loop.

import type { Connection } from '../connection.ts';
import { type Clock, WriteSlice } from '../write-slice.ts';
import type { NamedStream, SentState } from './feed-stream.ts';
import { BOOK_HEARTBEAT_MS, HEARTBEAT_STREAMS } from './limits.ts';
import type { SubscriberOf } from './subscriber.ts';
import type { SubscriptionSet } from './subscription-set.ts';
import type { SubscriptionSets } from './subscription-sets.ts';

/** The chain's newest slot at a time. */
export interface ChainSight {
  /** Newest known slot; null before the first. */
  readonly headSlot: number | null;
  /** Wall-clock milliseconds. */
  readonly ts: number;
}

/** A stream with its state after the newest message; null before the first. */
export type BeatingStream = NamedStream & { readonly sent: SentState | null };
export interface FeedHeartbeatOptions<S extends BeatingStream> {
  readonly channel: string;
  /** Whether the streams' slots follow the chain, so that their distance to it is a delay (`slotsBehind`). */
  readonly followsSlots: boolean;
  readonly subscribers: ReadonlyMap<Connection, SubscriberOf<S>>;
  readonly sets: SubscriptionSets<S>;
  readonly chain: () => ChainSight;
  readonly clock: Clock;
}

export class FeedHeartbeat<S extends BeatingStream> {
  readonly #options: FeedHeartbeatOptions<S>;
  #timer: NodeJS.Timeout | null = null;
  #immediate: NodeJS.Immediate | null = null;

  constructor(options: FeedHeartbeatOptions<S>) {
    this.#options = options;
  }

  /** Starts the timer, which ends with the last subscriber; repeating changes nothing. */
  start(): void {
    this.#timer ??= setInterval(() => this.beat(), BOOK_HEARTBEAT_MS);
  }

  stop(): void {
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
    if (this.#immediate) clearImmediate(this.#immediate);
    this.#immediate = null;
  }

  beat(): void {
    const { subscribers } = this.#options;
    if (subscribers.size === 0) this.stop();
    else this.#sendFrom([...subscribers].values());
  }

  #sendFrom(rest: Iterator<readonly [Connection, SubscriberOf<S>]>): void {
    this.#immediate = null;
    const { sets, chain, clock, ...form } = this.#options;
    sets.settle();
    // Built anew in each turn, because sequences advance between turns.
    const frames = new Map<SubscriptionSet<S>, readonly Buffer[]>();
    const slice = new WriteSlice(clock);
    for (let one = rest.next(); !one.done; one = rest.next()) {
      const [connection, subscriber] = one.value;
      const { subscriptionSet } = subscriber;
      if (subscriptionSet.streams.size === 0) continue;
      const built = frames.get(subscriptionSet) ?? framesOf(form, subscriptionSet, chain());
      frames.set(subscriptionSet, built);
      connection.send(built);
      if (!slice.isOver()) continue;
      this.#immediate = setImmediate(() => this.#sendFrom(rest));
      return;
    }
  }
}

/** One message for each HEARTBEAT_STREAMS streams; `slotsBehind` covers all of them. */
function framesOf(
  { channel, followsSlots }: Pick<FeedHeartbeatOptions<BeatingStream>, 'channel' | 'followsSlots'>,
  { streams }: SubscriptionSet<BeatingStream>,
  { headSlot, ts }: ChainSight,
): Buffer[] {
  const published = [...streams].flatMap(([name, { sent }]) => (sent ? [{ name, sent }] : []));
  let oldest = Number.POSITIVE_INFINITY;
  for (const { sent } of published) oldest = Math.min(oldest, sent.slot);
  const isKnown = headSlot !== null && published.length > 0;
  const slotsBehind = isKnown ? Math.max(0, headSlot - oldest) : null;
  const head = { channel, type: 'heartbeat', ts, headSlot, ...(followsSlots && { slotsBehind }) };
  const frames: Buffer[] = [];
  for (let first = 0; first === 0 || first < published.length; first += HEARTBEAT_STREAMS) {
    const part = published.slice(first, first + HEARTBEAT_STREAMS);
    const sequences = Object.fromEntries(part.map(({ name, sent: { epoch, seq } }) => [name, { epoch, seq }]));
    frames.push(Buffer.from(JSON.stringify({ ...head, sequences })));
  }
  return frames;
}
