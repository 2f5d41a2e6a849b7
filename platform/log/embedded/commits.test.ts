import fc from 'fast-check';
import { expect, it } from 'vitest';
import { nextSequence, sequenceOf, topicsSince } from './commits.ts';

const after = (commits: readonly (readonly number[])[]): Buffer | undefined =>
  commits.reduce<Buffer | undefined>((value, topics) => nextSequence(value, new Set(topics)), undefined);

it('names the topics of the commits that a process missed', () => {
  const commit = fc.array(fc.nat(0xffff), { maxLength: 5 });
  fc.assert(
    fc.property(fc.array(commit, { maxLength: 60 }), fc.nat(60), (commits, seen) => {
      const value = after(commits);
      expect(sequenceOf(value)).toBe(BigInt(commits.length));
      expect(topicsSince(value, BigInt(seen))).toEqual(new Set(commits.slice(seen).flat()));
    }),
  );
});

it('says that any topic may have records when the process missed more commits than are kept', () => {
  const value = after(Array.from({ length: 200 }, (_, commit) => [commit]));
  expect(topicsSince(value, 199n)).toEqual(new Set([199]));
  expect(topicsSince(value, 0n)).toBeNull();
  expect(value?.length).toBeLessThan(300);
});

it('says so as well behind a commit of very many topics', () => {
  const many = Array.from({ length: 300 }, (_, topic) => topic);
  const value = after([[1], many, [2]]);
  expect([topicsSince(value, 2n), topicsSince(value, 1n)]).toEqual([new Set([2]), null]);
});

it('says so as well behind commits of an older version', () => {
  const old = Buffer.alloc(8);
  old.writeBigUInt64BE(7n);
  expect([sequenceOf(old), topicsSince(old, 7n), topicsSince(old, 6n)]).toEqual([7n, new Set(), null]);
  const next = nextSequence(old, new Set([3]));
  expect([sequenceOf(next), topicsSince(next, 7n), topicsSince(next, 6n)]).toEqual([8n, new Set([3]), null]);
});
