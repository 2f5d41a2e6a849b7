import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { inTurns, Pace, SlicedWork } from './slices.ts';

/** A clock that advances by a third of a millisecond with each call. */
function steadyClock(): () => number {
  let thirds = 0;
  return () => thirds++ / 3;
}

/** Counts to `end` and reports each step. */
function* count(end: number, report: (at: number) => void): Generator<void, number> {
  for (let at = 0; at < end; at += 1) {
    report(at);
    yield;
  }
  return end;
}

describe('sliced work', () => {
  it('lets the event loop turn between slices', async () => {
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

  it('runs work in its order', async () => {
    const done: string[] = [];
    const work = new SlicedWork(steadyClock());
    const pieces = ['a', 'b'].map((name) => work.run(count(5, (at) => done.push(`${name}${at}`))));
    await Promise.all(pieces);
    expect(done).toEqual(['a0', 'a1', 'a2', 'a3', 'a4', 'b0', 'b1', 'b2', 'b3', 'b4']);
  });

  it('drops work that is no longer wanted', async () => {
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

  it("rejects with a step's error, and continues with later work", async () => {
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
  it('begins at once and lets the event loop turn in between', async () => {
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

  it('ends within one turn when it is short', () => {
    const report: number[] = [];
    void inTurns(count(3, (at) => report.push(at)));
    expect(report).toEqual([0, 1, 2]);
  });

  it("rejects with a step's error", async () => {
    const failing = inTurns(
      count(3, () => {
        throw new Error('no such order');
      }),
    );
    await expect(failing).rejects.toThrow('no such order');
  });
});

describe('a pace', () => {
  it('lets the event loop turn once per slice', async () => {
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
