// `{channel:"book", type:"heartbeat"}`: the last sequence sent to each stream, to every connection that holds one, by one
// timer. Connections that hold the same streams share the text. With many of them it takes several turns of the loop, so that
// changes go out between.

import type { Connection } from '../connection.ts';
import { type Clock, WritingTurn } from '../turn.ts';
import type { Holding, Holdings } from './holdings.ts';
import { BOOK_HEARTBEAT_MS } from './limits.ts';
import type { Subscriber } from './subscriber.ts';

export class FeedHeartbeat {
  readonly #subscribers: ReadonlyMap<Connection, Subscriber>;
  readonly #holdings: Holdings;
  readonly #clock: Clock;
  #timer: NodeJS.Timeout | null = null;
  #turn: NodeJS.Immediate | null = null;

  constructor(subscribers: ReadonlyMap<Connection, Subscriber>, holdings: Holdings, clock: Clock) {
    this.#subscribers = subscribers;
    this.#holdings = holdings;
    this.#clock = clock;
  }

  /** Beats for as long as there are subscribers; repeating changes nothing. */
  start(): void {
    this.#timer ??= setInterval(() => this.beat(), BOOK_HEARTBEAT_MS);
  }

  stop(): void {
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
    if (this.#turn) clearImmediate(this.#turn);
    this.#turn = null;
  }

  beat(): void {
    if (this.#subscribers.size === 0) this.stop();
    else this.#tell([...this.#subscribers].values());
  }

  #tell(rest: Iterator<readonly [Connection, Subscriber]>): void {
    this.#turn = null;
    this.#holdings.settle();
    // Made anew in each turn: the sequences move on between.
    const frames = new Map<Holding, Buffer>();
    const turn = new WritingTurn(this.#clock);
    for (let one = rest.next(); !one.done; one = rest.next()) {
      const [connection, subscriber] = one.value;
      const { holding } = subscriber;
      if (holding.streams.size === 0) continue;
      const frame = frames.get(holding) ?? frameOf(holding);
      frames.set(holding, frame);
      connection.send([frame]);
      if (!turn.isOver()) continue;
      this.#turn = setImmediate(() => this.#tell(rest));
      return;
    }
  }
}

function frameOf({ streams }: Holding): Buffer {
  const sequences = Object.fromEntries(
    [...streams].flatMap(([name, { sent }]) => (sent ? [[name, { epoch: sent.epoch, seq: sent.seq }]] : [])),
  );
  return Buffer.from(JSON.stringify({ channel: 'book', type: 'heartbeat', sequences }));
}
