import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Connection } from '../connection.ts';
import type { Stream } from './stream.ts';
import { Subscriber } from './subscriber.ts';
import { SubscriptionSets } from './subscription-sets.ts';

const STREAMS = ['a', 'b', 'c', 'd'].map(
  (name, streamId) => ({ name, streamId, market: { key: `market-${streamId % 2}` } }) as unknown as Stream,
);
const CLIENTS = 3;

class Client {
  readonly received: string[] = [];
  readonly subscriber = new Subscriber({
    send: (frames: readonly Buffer[]) => this.received.push(...frames.map(String)),
  } as unknown as Connection);

  enter(sets: SubscriptionSets, ...streams: readonly Stream[]): void {
    for (const stream of streams) {
      this.subscriber.add(stream);
      sets.activate(this.subscriber, stream);
    }
  }
}

const step = fc.record({
  who: fc.nat(CLIENTS - 1),
  stream: fc.constantFrom(...STREAMS),
  what: fc.constantFrom('add', 'activate', 'deactivate', 'remove', 'gone', 'send'),
});

describe('subscription sets', () => {
  it('are shared by connections with the same active streams, in whatever order', () => {
    const sets = new SubscriptionSets();
    const [a, b] = STREAMS as [Stream, Stream];
    const [one, other] = [new Client(), new Client()];
    one.enter(sets, a, b);
    other.enter(sets, b, a);
    sets.settle();
    expect(other.subscriber.subscriptionSet).toBe(one.subscriber.subscriptionSet);
    expect(other.subscriber.streams).toBe(one.subscriber.streams);
    sets.deactivate(other.subscriber, a);
    other.subscriber.remove(a);
    sets.settle();
    expect([...one.subscriber.streams.keys()]).toEqual(['a', 'b']);
    expect([...other.subscriber.streams.keys()]).toEqual(['b']);
  });

  it('bring each connection the frames of its active streams, whatever happened before', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const sets = new SubscriptionSets();
        const clients = Array.from({ length: CLIENTS }, () => new Client());
        const requested = clients.map(() => new Set<Stream>());
        const active = clients.map(() => new Set<Stream>());
        for (const { who, stream, what } of steps) {
          const [client, wants, has] = [
            clients[who] as Client,
            requested[who] as Set<Stream>,
            active[who] as Set<Stream>,
          ];
          if (what === 'add') {
            expect(client.subscriber.add(stream)).toBe(!wants.has(stream));
            wants.add(stream);
          } else if (what === 'activate' && wants.has(stream)) {
            sets.activate(client.subscriber, stream);
            has.add(stream);
          } else if (what === 'deactivate' || what === 'remove') {
            sets.deactivate(client.subscriber, stream);
            has.delete(stream);
            if (what === 'remove') {
              client.subscriber.remove(stream);
              wants.delete(stream);
            }
          } else if (what === 'gone') {
            sets.forget(client.subscriber);
            clients[who] = new Client();
            wants.clear();
            has.clear();
          } else if (what === 'send') {
            const frames = STREAMS.filter(({ name }) => name <= stream.name).map(({ name }) => name);
            sets.send(frames.map((name) => ({ name, frame: Buffer.from(name) })));
            for (const [index, { received }] of clients.entries()) {
              const due = STREAMS.filter((one) => active[index]?.has(one) && frames.includes(one.name));
              expect(received.splice(0)).toEqual(due.map(({ name }) => name));
            }
          }
          for (const [index, { subscriber }] of clients.entries()) {
            expect(new Set(subscriber.streams.values())).toEqual(requested[index]);
            expect(new Set(subscriber.activeStreams.values())).toEqual(active[index]);
            for (const { market } of STREAMS) {
              const kinds = [...(requested[index] ?? [])].filter(({ market: { key } }) => key === market.key).length;
              expect(subscriber.kindsOf(market.key)).toBe(kinds);
            }
          }
        }
      }),
      { numRuns: 200 },
    );
  });
});
