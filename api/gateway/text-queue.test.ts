import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TextQueue } from './text-queue.ts';

describe('queued texts', () => {
  it('come out unchanged and in order, whatever pushes and shifts happen in between', () => {
    const step = fc.option(fc.oneof(fc.string({ unit: 'grapheme' }), fc.string({ minLength: 600, maxLength: 900 })));
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const queue = new TextQueue();
        const naive: string[] = [];
        for (const text of steps) {
          expect([queue.first, queue.length]).toEqual([naive[0] ?? '', naive.length]);
          if (text === null) expect(queue.shift()).toBe(naive.shift() ?? '');
          else {
            queue.push(text);
            naive.push(text);
          }
        }
        expect(Array.from(naive, () => queue.shift())).toEqual(naive);
      }),
    );
  });
});
