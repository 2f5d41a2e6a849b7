import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Fanout } from './fanout.ts';
import { WRITES_A_LOOK, WRITING_SLICE_MS } from './limits.ts';
import { type RecordingClient, recordingClient } from './testing/recording-client.ts';

const A_TURN = 2 * WRITES_A_LOOK;

/** What a write takes; so long that a turn has A_TURN of them. */
let writeMs = WRITING_SLICE_MS / A_TURN;
let nowMs = 0;

const client = (): RecordingClient =>
  recordingClient(() => {
    nowMs += writeMs;
  });

const frame = (name: string, version: number) => ({ name, frame: Buffer.from(`${name} ${version}`) });

let fanout: Fanout;

beforeEach(() => {
  vi.useFakeTimers();
  writeMs = WRITING_SLICE_MS / A_TURN;
  fanout = new Fanout(() => nowMs);
});

afterEach(() => {
  fanout.stop();
  vi.useRealTimers();
});

function holders(name: string, count: number): RecordingClient[] {
  const clients = Array.from({ length: count }, client);
  for (const { connection } of clients) fanout.add(name, connection);
  return clients;
}

const served = (clients: readonly RecordingClient[]) => clients.map(({ writes }) => writes.length);

/** One more than a turn serves: who comes last waits for the next. */
const CROWD = A_TURN + 1;

describe('frames that are sent in turns', () => {
  it('reach some holders at once and the others in later turns of the loop', () => {
    const clients = holders('a', 2 * A_TURN + 1);
    const reached = (): number => served(clients).filter((count) => count === 1).length;
    fanout.sendInTurns([frame('a', 1)]);
    expect(reached()).toBe(A_TURN);
    vi.advanceTimersToNextTimer();
    expect(reached()).toBe(2 * A_TURN);
    vi.advanceTimersToNextTimer();
    expect(reached()).toBe(clients.length);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('reach fewer in a turn when they take long to write', () => {
    writeMs = WRITING_SLICE_MS;
    const clients = holders('a', CROWD);
    fanout.sendInTurns([frame('a', 1)]);
    expect(served(clients).filter((count) => count === 1)).toHaveLength(WRITES_A_LOOK);
  });

  it('are replaced by the next of their channel for holders whose turn has not come', () => {
    const clients = holders('a', CROWD);
    fanout.sendInTurns([frame('a', 1)]);
    fanout.sendInTurns([frame('a', 2)]);
    vi.runAllTimers();
    expect(clients.at(0)?.writes).toEqual([['a 1'], ['a 2']]);
    expect(clients.at(-1)?.writes).toEqual([['a 2']]);
  });

  it('come in one write with those of other channels', () => {
    const last = holders('a', CROWD).at(-1);
    if (last) fanout.add('b', last.connection);
    fanout.sendInTurns([frame('a', 1), frame('b', 1)]);
    vi.runAllTimers();
    expect(last?.writes).toEqual([['a 1', 'b 1']]);
  });

  it('come before what a holder is sent meanwhile, in the same write', () => {
    const last = holders('a', CROWD).at(-1);
    fanout.sendInTurns([frame('a', 1)]);
    last?.connection.send(['answer']);
    vi.runAllTimers();
    expect(last?.writes).toEqual([['a 1', 'answer']]);
  });

  it('do not reach who has left the channel or is gone', () => {
    const [left, gone] = holders('a', CROWD + 1).slice(A_TURN);
    fanout.sendInTurns([frame('a', 1)]);
    if (left) fanout.remove('a', left.connection);
    gone?.connection.closed();
    vi.runAllTimers();
    expect([left?.writes, gone?.writes]).toEqual([[], []]);
  });

  it('end with the fan-out', () => {
    const clients = holders('a', CROWD);
    fanout.sendInTurns([frame('a', 1)]);
    fanout.stop();
    vi.runAllTimers();
    expect(served(clients).at(-1)).toBe(0);
  });

  it('never show anybody an older state than before, and everybody the newest in the end', () => {
    const names = ['a', 'b'] as const;
    const step = fc.oneof(
      fc.record({ do: fc.constant('publish' as const), name: fc.constantFrom(...names) }),
      fc.record({
        do: fc.constantFrom('join', 'leave'),
        name: fc.constantFrom(...names),
        who: fc.nat(2 * WRITES_A_LOOK - 1),
      }),
      fc.record({ do: fc.constant('turn' as const) }),
    );
    writeMs = WRITING_SLICE_MS;
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const clients = Array.from({ length: 2 * WRITES_A_LOOK }, client);
        const held = clients.map(() => new Set<string>());
        const version = { a: 0, b: 0 };
        for (const one of steps) {
          if (one.do === 'turn') {
            vi.advanceTimersToNextTimer();
          } else if (one.do === 'publish') {
            version[one.name] += 1;
            fanout.sendInTurns([frame(one.name, version[one.name])]);
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

describe('frames that are sent at once', () => {
  it('reach every holder before anything else happens', () => {
    const clients = holders('a', CROWD);
    fanout.send([frame('a', 1)]);
    expect(served(clients)).toEqual(clients.map(() => 1));
  });

  it('come behind what a holder waits for', () => {
    const last = holders('a', CROWD).at(-1);
    if (last) fanout.add('b', last.connection);
    fanout.sendInTurns([frame('a', 1)]);
    fanout.send([frame('b', 1)]);
    expect(last?.writes).toEqual([['a 1', 'b 1']]);
  });
});
