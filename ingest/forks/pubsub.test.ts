// News of a node that replays two forks and follows one of them.

import { setImmediate } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { appliedAtOnce } from '../../test/support/ingest/fork-news.ts';
import type { PubSubSocket } from '../rpc/transport.ts';
import { PubSubForks } from './pubsub.ts';
import { ForkStates } from './states.ts';

/** A socket whose other end accepts every subscription, with its number among the subscriptions. */
class Socket implements PubSubSocket {
  readonly #methods: string[] = [];
  #received: (data: Buffer) => void = () => {};

  on(event: string, listener: (value: never) => void): void {
    if (event === 'message') this.#received = listener as (data: Buffer) => void;
  }

  send(text: string): void {
    const { id, method } = JSON.parse(text) as { readonly id: number; readonly method: string };
    const result = this.#methods.push(method) - 1;
    this.#push({ id, result });
  }

  ping(): void {}
  terminate(): void {}

  announce(slot: number, parent: number): void {
    const subscription = this.#methods.indexOf('slotSubscribe');
    this.#push({ params: { subscription, result: { slot, parent, root: 0 } } });
  }

  #push(message: object): void {
    this.#received(Buffer.from(JSON.stringify(message)));
  }
}

describe('slots that a node announces, without account data', () => {
  let socket: Socket;
  let forks: ForkStates;
  beforeEach(async () => {
    socket = new Socket();
    forks = new ForkStates({ confirmed: () => null, emit: () => {}, reverted: () => {} });
    const connection = new PubSubForks(
      {
        books: appliedAtOnce(() => forks),
        trades: { take: () => {} },
        silenceMs: 60_000,
        signal: new AbortController().signal,
      },
      { wsUrl: 'ws://node', filters: [], programs: [], transport: { connect: async () => socket } as never },
    );
    void connection.run();
    await setImmediate();
    socket.announce(1, 0);
    // Account data says that the node follows the first block.
    forks.follow(1);
    forks.confirm(1);
    socket.announce(2, 1);
  });

  it('are followed when another one stands on them', () => {
    socket.announce(3, 2);
    expect(forks.slot).toBe(2);
    socket.announce(4, 3);
    expect(forks.slot).toBe(3);
  });

  it('are not followed while two forks compete', () => {
    socket.announce(3, 1);
    for (const [slot, parent] of [
      [4, 3],
      [5, 2],
      [6, 4],
    ] as const) {
      socket.announce(slot, parent);
      expect(forks.slot).toBe(1);
    }
  });

  it('are not followed while the node may still be on a fork that the chain has left', () => {
    // The node was on 2, 4 and 6 without data, and went over to 7: it has never sent what 5 wrote.
    for (const [slot, parent] of [
      [3, 1],
      [4, 2],
      [5, 3],
      [6, 4],
    ] as const) {
      socket.announce(slot, parent);
    }
    forks.confirm(3);
    socket.announce(7, 5);
    expect(forks.slot).toBe(3);
    forks.follow(7);
    expect(forks.slot).toBe(3);
    forks.confirm(5);
    expect(forks.slot).toBe(7);
  });

  it('are followed again once the node has sent data of one of two forks', () => {
    socket.announce(3, 1);
    socket.announce(4, 3);
    forks.confirm(3);
    socket.announce(5, 4);
    expect(forks.slot).toBe(3);
    forks.follow(5);
    forks.confirm(4);
    expect(forks.slot).toBe(5);
    socket.announce(6, 5);
    socket.announce(7, 6);
    expect(forks.slot).toBe(6);
  });

  it('are not followed before the first data of a connection: the node may be on a fork that brought none', () => {
    forks.restart(2);
    forks.confirm(2);
    socket.announce(3, 2);
    socket.announce(4, 3);
    expect(forks.slot).toBe(2);
  });
});
