import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { inTurns, Pace, SlicedWork } from './slices.ts';

/** A clock that goes on by a third of a millisecond with each look. */
function steadyClock(): () => number {
  let thirds = 0;
  return () => thirds++ / 3;
}

/** Counts to `end`, telling each step. */
function* count(end: number, told: (at: number) => void): Generator<void, number> {
  for (let at = 0; at < end; at += 1) {
    told(at);
    yield;
  }
  return end;
}

describe('sliced work', () => {
  it('lets other turns of the loop in between its slices', async () => {
    const order: string[] = [];
    const work = new SlicedWork(steadyClock()).run(count(9, (at) => order.push(`step ${at}`)));
    for (let other = 0; other < 3; other += 1) {
      await turn();
      order.push(`turn ${other}`);
    }
    expect(await work).toBe(9);
    const [first, last] = [order.indexOf('turn 0'), order.indexOf('turn 2')];
    expect(order.slice(first, last).some((name) => name.startsWith('step'))).toBe(true);
    expect(order.filter((name) => name.startsWith('step'))).toHaveLength(9);
  });

  it('does one piece after the other, in the order they were given', async () => {
    const done: string[] = [];
    const work = new SlicedWork(steadyClock());
    const pieces = ['a', 'b'].map((name) => work.run(count(5, (at) => done.push(`${name}${at}`))));
    await Promise.all(pieces);
    expect(done).toEqual(['a0', 'a1', 'a2', 'a3', 'a4', 'b0', 'b1', 'b2', 'b3', 'b4']);
  });

  it('is dropped when nobody wants it any more', async () => {
    let steps = 0;
    const work = new SlicedWork(steadyClock());
    const dropped = work.run(
      count(1000, () => (steps += 1)),
      () => steps < 10,
    );
    expect(await dropped).toBeNull();
    expect(steps).toBeLessThan(20);
    expect(await work.run(count(3, () => {}))).toBe(3);
  });

  it('tells what a step throws, and goes on with what comes after', async () => {
    const work = new SlicedWork();
    const failing = work.run(
      count(3, () => {
        throw new Error('no such order');
      }),
    );
    const next = work.run(count(2, () => {}));
    await expect(failing).rejects.toThrow('no such order');
    expect(await next).toBe(2);
    await work.idle();
  });
});

describe('work in turns', () => {
  it('begins at once and lets other turns of the loop in between', async () => {
    const order: string[] = [];
    const work = inTurns(
      count(20, (at) => order.push(`step ${at}`)),
      steadyClock(),
    );
    expect(order[0]).toBe('step 0');
    await turn();
    order.push('turn');
    expect(await work).toBe(20);
    expect(order.indexOf('turn')).toBeLessThan(order.indexOf('step 19'));
  });

  it('is done in this turn when it is short', () => {
    const told: number[] = [];
    void inTurns(count(3, (at) => told.push(at)));
    expect(told).toEqual([0, 1, 2]);
  });

  it('tells what a step throws', async () => {
    const failing = inTurns(
      count(3, () => {
        throw new Error('no such order');
      }),
    );
    await expect(failing).rejects.toThrow('no such order');
  });
});

describe('a pace', () => {
  it('lets a turn of the loop pass once in a slice', async () => {
    const pace = new Pace(steadyClock());
    let turns = 0;
    const counting = (async () => {
      for (; turns < 1000; turns += 1) await turn();
    })();
    const before = turns;
    for (let rests = 0; rests < 40; rests += 1) await pace.rest();
    expect(turns - before).toBeGreaterThan(5);
    expect(turns - before).toBeLessThan(40);
    turns = 1000;
    await counting;
  });
});
