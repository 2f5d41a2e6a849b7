import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type RecordingClient, recordingClient } from '../../test/support/gateway/recording-client.ts';
import { Fanout } from './fanout.ts';
import { WRITE_SLICE_MS, WRITES_PER_CLOCK_READ } from './limits.ts';

const PER_SLICE = 2 * WRITES_PER_CLOCK_READ;

/** Duration of a write: a slice has room for PER_SLICE of them. */
let writeMs = WRITE_SLICE_MS / PER_SLICE;
let nowMs = 0;

const client = (): RecordingClient =>
  recordingClient(() => {
    nowMs += writeMs;
  });

const frame = (name: string, version: number) => ({ name, frame: Buffer.from(`${name} ${version}`) });

let fanout: Fanout;

beforeEach(() => {
  vi.useFakeTimers();
  writeMs = WRITE_SLICE_MS / PER_SLICE;
  fanout = new Fanout(() => nowMs);
});

afterEach(() => {
  fanout.stop();
  vi.useRealTimers();
});

function subscribed(name: string, count: number): RecordingClient[] {
  const clients = Array.from({ length: count }, client);
  for (const { connection } of clients) fanout.add(name, connection);
  return clients;
}

const served = (clients: readonly RecordingClient[]) => clients.map(({ writes }) => writes.length);

/** One more than a slice serves: the last one waits for the next turn. */
const CROWD = PER_SLICE + 1;

describe('sendLatest', () => {
  it('serves some subscribers at once and the others in later turns of the loop', () => {
    const clients = subscribed('a', 2 * PER_SLICE + 1);
    const reached = (): number => served(clients).filter((count) => count === 1).length;
    fanout.sendLatest([frame('a', 1)]);
    expect(reached()).toBe(PER_SLICE);
    vi.advanceTimersToNextTimer();
    expect(reached()).toBe(2 * PER_SLICE);
    vi.advanceTimersToNextTimer();
    expect(reached()).toBe(clients.length);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('serves fewer in a turn when writes take longer', () => {
    writeMs = WRITE_SLICE_MS;
    const clients = subscribed('a', CROWD);
    fanout.sendLatest([frame('a', 1)]);
    expect(served(clients).filter((count) => count === 1)).toHaveLength(WRITES_PER_CLOCK_READ);
  });

  it('replaces an unsent frame by the next one of its channel', () => {
    const clients = subscribed('a', CROWD);
    fanout.sendLatest([frame('a', 1)]);
    fanout.sendLatest([frame('a', 2)]);
    vi.runAllTimers();
    expect(clients.at(0)?.writes).toEqual([['a 1'], ['a 2']]);
    expect(clients.at(-1)?.writes).toEqual([['a 2']]);
  });

  it('puts frames of several channels into one write', () => {
    const last = subscribed('a', CROWD).at(-1);
    if (last) fanout.add('b', last.connection);
    fanout.sendLatest([frame('a', 1), frame('b', 1)]);
    vi.runAllTimers();
    expect(last?.writes).toEqual([['a 1', 'b 1']]);
  });

  it('sends queued frames before a later direct send, in the same write', () => {
    const last = subscribed('a', CROWD).at(-1);
    fanout.sendLatest([frame('a', 1)]);
    last?.connection.send(['answer']);
    vi.runAllTimers();
    expect(last?.writes).toEqual([['a 1', 'answer']]);
  });

  it('sends nothing to unsubscribed or closed connections', () => {
    const [left, gone] = subscribed('a', CROWD + 1).slice(PER_SLICE);
    fanout.sendLatest([frame('a', 1)]);
    if (left) fanout.remove('a', left.connection);
    gone?.connection.closed();
    vi.runAllTimers();
    expect([left?.writes, gone?.writes]).toEqual([[], []]);
  });

  it('ends with the fan-out', () => {
    const clients = subscribed('a', CROWD);
    fanout.sendLatest([frame('a', 1)]);
    fanout.stop();
    vi.runAllTimers();
    expect(served(clients).at(-1)).toBe(0);
  });

  it('never sends an older state after a newer one, and sends everyone the newest', () => {
    const names = ['a', 'b'] as const;
    const step = fc.oneof(
      fc.record({ do: fc.constant('publish' as const), name: fc.constantFrom(...names) }),
      fc.record({
        do: fc.constantFrom('join', 'leave'),
        name: fc.constantFrom(...names),
        who: fc.nat(2 * WRITES_PER_CLOCK_READ - 1),
      }),
      fc.record({ do: fc.constant('turn' as const) }),
    );
    writeMs = WRITE_SLICE_MS;
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const clients = Array.from({ length: 2 * WRITES_PER_CLOCK_READ }, client);
        const held = clients.map(() => new Set<string>());
        const version = { a: 0, b: 0 };
        for (const one of steps) {
          if (one.do === 'turn') {
            vi.advanceTimersToNextTimer();
          } else if (one.do === 'publish') {
            version[one.name] += 1;
            fanout.sendLatest([frame(one.name, version[one.name])]);
          } else if ('who' in one) {
            const { connection } = clients[one.who] as RecordingClient;
            if (one.do === 'leave') {
              fanout.remove(one.name, connection);
              held[one.who]?.delete(one.name);
            } else {
              fanout.add(one.name, connection);
              held[one.who]?.add(one.name);
              connection.send([`${one.name} ${version[one.name]}`]); // the replay
            }
          }
        }
        vi.runAllTimers();
        clients.forEach(({ connection, writes }, who) => {
          for (const name of names) {
            const seen = writes
              .flat()
              .filter((text) => text.startsWith(name))
              .map((text) => Number(text.slice(2)));
            expect(seen).toEqual([...seen].sort((x, y) => x - y));
            if (held[who]?.has(name)) expect(seen.at(-1)).toBe(version[name]);
            fanout.remove(name, connection);
          }
        });
      }),
    );
  });
});

describe('send', () => {
  it('serves every subscriber in the same turn', () => {
    const clients = subscribed('a', CROWD);
    fanout.send([frame('a', 1)]);
    expect(served(clients)).toEqual(clients.map(() => 1));
  });

  it('comes after queued frames', () => {
    const last = subscribed('a', CROWD).at(-1);
    if (last) fanout.add('b', last.connection);
    fanout.sendLatest([frame('a', 1)]);
    fanout.send([frame('b', 1)]);
    expect(last?.writes).toEqual([['a 1', 'b 1']]);
  });
});
