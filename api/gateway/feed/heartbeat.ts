// `{channel:"book", type:"heartbeat"}`: the last sequence sent to each stream, to every connection that holds one, by one
// timer. Connections that hold the same streams share the text.

import type { Connection } from '../connection.ts';
import { BOOK_HEARTBEAT_MS } from './limits.ts';
import type { Subscriber } from './subscriber.ts';

export class FeedHeartbeat {
  readonly #subscribers: ReadonlyMap<Connection, Subscriber>;
  #timer: NodeJS.Timeout | null = null;

  constructor(subscribers: ReadonlyMap<Connection, Subscriber>) {
    this.#subscribers = subscribers;
  }

  /** Beats for as long as there are subscribers; repeating changes nothing. */
  start(): void {
    this.#timer ??= setInterval(() => this.beat(), BOOK_HEARTBEAT_MS);
  }

  stop(): void {
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
  }

  beat(): void {
    if (this.#subscribers.size === 0) this.stop();
    const frames = new Map<string, Buffer>();
    for (const [connection, subscriber] of [...this.#subscribers]) {
      const { signature } = subscriber;
      if (signature === '') continue;
      const frame = frames.get(signature) ?? frameOf(subscriber);
      frames.set(signature, frame);
      connection.send([frame]);
    }
  }
}

function frameOf({ joined }: Subscriber): Buffer {
  const sequences = Object.fromEntries(
    [...joined].flatMap(([name, { sent }]) => (sent ? [[name, { epoch: sent.epoch, seq: sent.seq }]] : [])),
  );
  return Buffer.from(JSON.stringify({ channel: 'book', type: 'heartbeat', sequences }));
}
