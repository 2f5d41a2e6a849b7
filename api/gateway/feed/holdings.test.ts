import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Connection } from '../connection.ts';
import { Holdings } from './holdings.ts';
import type { Stream } from './stream.ts';
import { Subscriber } from './subscriber.ts';

const STREAMS = ['a', 'b', 'c', 'd'].map(
  (name, streamId) => ({ name, streamId, market: { key: `market-${streamId % 2}` } }) as unknown as Stream,
);
const CLIENTS = 3;

class Client {
  readonly heard: string[] = [];
  readonly subscriber = new Subscriber({
    send: (frames: readonly Buffer[]) => this.heard.push(...frames.map(String)),
  } as unknown as Connection);

  enter(holdings: Holdings, ...streams: readonly Stream[]): void {
    for (const stream of streams) {
      this.subscriber.hold(stream);
      holdings.join(this.subscriber, stream);
    }
  }
}

const step = fc.record({
  who: fc.nat(CLIENTS - 1),
  stream: fc.constantFrom(...STREAMS),
  what: fc.constantFrom('hold', 'join', 'leave', 'release', 'gone', 'send'),
});

describe('holdings of the book channel', () => {
  it('are one for connections that joined the same streams, in whatever order', () => {
    const holdings = new Holdings();
    const [a, b] = STREAMS as [Stream, Stream];
    const [one, other] = [new Client(), new Client()];
    one.enter(holdings, a, b);
    other.enter(holdings, b, a);
    holdings.settle();
    expect(other.subscriber.holding).toBe(one.subscriber.holding);
    expect(other.subscriber.streams).toBe(one.subscriber.streams);
    holdings.leave(other.subscriber, a);
    other.subscriber.release(a);
    holdings.settle();
    expect([...one.subscriber.streams.keys()]).toEqual(['a', 'b']);
    expect([...other.subscriber.streams.keys()]).toEqual(['b']);
  });

  it('bring each connection the frames of the streams it has joined by then, whatever it and others did before', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const holdings = new Holdings();
        const clients = Array.from({ length: CLIENTS }, () => new Client());
        const held = clients.map(() => new Set<Stream>());
        const joined = clients.map(() => new Set<Stream>());
        for (const { who, stream, what } of steps) {
          const [client, holds, has] = [clients[who] as Client, held[who] as Set<Stream>, joined[who] as Set<Stream>];
          if (what === 'hold') {
            expect(client.subscriber.hold(stream)).toBe(!holds.has(stream));
            holds.add(stream);
          } else if (what === 'join' && holds.has(stream)) {
            holdings.join(client.subscriber, stream);
            has.add(stream);
          } else if (what === 'leave' || what === 'release') {
            holdings.leave(client.subscriber, stream);
            has.delete(stream);
            if (what === 'release') {
              client.subscriber.release(stream);
              holds.delete(stream);
            }
          } else if (what === 'gone') {
            holdings.forget(client.subscriber);
            clients[who] = new Client();
            holds.clear();
            has.clear();
          } else if (what === 'send') {
            const frames = STREAMS.filter(({ name }) => name <= stream.name).map(({ name }) => name);
            holdings.send(frames.map((name) => ({ name, frame: Buffer.from(name) })));
            for (const [index, { heard }] of clients.entries()) {
              const due = STREAMS.filter((one) => joined[index]?.has(one) && frames.includes(one.name));
              expect(heard.splice(0)).toEqual(due.map(({ name }) => name));
            }
          }
          for (const [index, { subscriber }] of clients.entries()) {
            expect(new Set(subscriber.streams.values())).toEqual(held[index]);
            expect(new Set(subscriber.joined.values())).toEqual(joined[index]);
            for (const { market } of STREAMS) {
              const kinds = [...(held[index] ?? [])].filter(({ market: { key } }) => key === market.key).length;
              expect(subscriber.kindsOf(market.key)).toBe(kinds);
            }
          }
        }
      }),
      { numRuns: 200 },
    );
  });
});
