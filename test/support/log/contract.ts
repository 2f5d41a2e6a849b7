// The tests that every event log passes. An adapter's test file calls `describeEventLog` with a way to start it.

import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { APPEND_BYTES_MAX, KEY_BYTES_MAX } from '../../../platform/log/limits.ts';
import { type EventLog, offsetKey } from '../../../platform/log/port.ts';
import { partitionOf } from '../../../schemas/index.ts';
import { eventually } from '../platform/eventually.ts';
import { describeCrashes } from './crashes.ts';
import {
  countedLosses,
  createTopic,
  follows,
  followsPages,
  type LogUnderTest,
  numbered,
  openLog,
  readAll,
  take,
  testTopic,
  text,
} from './harness.ts';
import { describeLeases } from './leases.ts';
import { MODEL_PARTITIONS, playSteps, steps } from './model.ts';

const HOUR_MS = 3_600_000;

export function describeEventLog(name: string, start: () => Promise<LogUnderTest>): void {
  describe(`event log contract: ${name}`, () => {
    let subject: LogUnderTest;
    let log: EventLog;

    beforeAll(async () => {
      subject = await start();
      log = await openLog(subject);
    });

    afterAll(async () => {
      await log?.close();
      await subject?.stop();
    });

    describe('topics', () => {
      it('are created once and keep their records when ensured again', async () => {
        const topic = await createTopic(log, 2);
        await log.append(topic, numbered(3, 0, 1));
        await log.ensureTopics([topic]);
        expect(await log.bounds(topic, 1)).toEqual({ earliest: 0n, next: 3n });
      });

      it('cannot change their number of partitions', async () => {
        const topic = await createTopic(log, 2);
        await expect(log.ensureTopics([{ ...topic, partitions: 3 }])).rejects.toThrow(/2 partitions/);
      });

      it('refuse partitions they do not have', async () => {
        const topic = await createTopic(log, 2);
        await expect(log.append(topic, numbered(1, 0, 2))).rejects.toThrow(/no partition 2/);
        await expect(log.read(topic, -1, 0n, 1)).rejects.toThrow(/no partition -1/);
      });
    });

    describe('append and read', () => {
      it('keep key, value and order, and count offsets from 0 in each partition', async () => {
        const topic = await createTopic(log, 2);
        const first = await log.append(topic, [...numbered(3, 0, 0), ...numbered(2, 10, 1)]);
        const second = await log.append(topic, numbered(2, 3, 0));
        expect(first).toEqual([
          { partition: 0, first: 0n, last: 2n },
          { partition: 1, first: 0n, last: 1n },
        ]);
        expect(second).toEqual([{ partition: 0, first: 3n, last: 4n }]);
        const records = await log.read(topic, 0, 0n, 10);
        expect(records.map(({ offset, key }) => [offset, key])).toEqual(
          [0n, 1n, 2n, 3n, 4n].map((at) => [at, `k${at}`]),
        );
        expect(records.map(text)).toEqual(['0', '1', '2', '3', '4']);
        expect((await log.read(topic, 1, 0n, 10)).map(text)).toEqual(['10', '11']);
      });

      it('put a record into the partition of its key unless it names another', async () => {
        const topic = await createTopic(log, 4);
        for (const key of ['perp:0', 'perp:1', 'spot:0']) {
          const [appended] = await log.append(topic, [{ key, value: Buffer.from(key) }]);
          expect(appended?.partition).toBe(partitionOf(topic, key));
        }
        const [appended] = await log.append(topic, [{ key: 'perp:0', value: Buffer.from('tick'), partition: 3 }]);
        expect(appended?.partition).toBe(3);
      });

      it('append the records of one call together, with any number of concurrent calls', async () => {
        const topic = await createTopic(log);
        const calls = Array.from({ length: 30 }, (_, call) => numbered(1 + (call % 7), call * 100, 0));
        const appended = await Promise.all(calls.map((records) => log.append(topic, records)));
        const records = await readAll(log, topic);
        expect(records).toHaveLength(calls.flat().length);
        for (const [call, [at]] of appended.entries()) {
          expect(at && records.slice(Number(at.first), Number(at.last) + 1).map(text)).toEqual(calls[call]?.map(text));
        }
      });

      it('page: from any offset, at most the requested number, empty at the end', async () => {
        const topic = await createTopic(log);
        expect(await log.read(topic, 0, 0n, 5)).toEqual([]);
        await log.append(topic, numbered(12));
        expect((await log.read(topic, 0, 4n, 3)).map(text)).toEqual(['4', '5', '6']);
        expect((await log.read(topic, 0, 10n, 100)).map(text)).toEqual(['10', '11']);
        expect(await log.read(topic, 0, 12n, 5)).toEqual([]);
        expect(await log.bounds(topic, 0)).toEqual({ earliest: 0n, next: 12n });
      });

      it('accept empty keys and values, and no records', async () => {
        const topic = await createTopic(log);
        expect(await log.append(topic, [])).toEqual([]);
        await log.append(topic, [{ key: '', value: Buffer.alloc(0) }]);
        const [record] = await log.read(topic, 0, 0n, 1);
        expect(record && [record.key, record.value.length]).toEqual(['', 0]);
      });

      it('take as much as the limit in one call and refuse more', async () => {
        const topic = await createTopic(log);
        const value = Buffer.alloc(APPEND_BYTES_MAX - 100, 7);
        value.write('first', 0);
        value.write('last', value.length - 4);
        await log.append(topic, [{ key: 'big', value }]);
        await log.append(topic, [{ key: 'small', value: Buffer.from('after') }]);
        const [big] = await log.read(topic, 0, 0n, 1);
        expect(big && Buffer.compare(big.value, value)).toBe(0);
        expect((await take(log, topic, new Map([[0, 'earliest']]), 2)).map(({ key }) => key)).toEqual(['big', 'small']);
        const half = Buffer.alloc(APPEND_BYTES_MAX / 2);
        const two = [0, 1].map(() => ({ key: 'k', value: half, partition: 0 }));
        await expect(log.append(topic, two)).rejects.toThrow(/more than/);
        await expect(log.append(topic, [{ key: 'k'.repeat(KEY_BYTES_MAX + 1), value: half }])).rejects.toThrow(/limit/);
        expect((await log.bounds(topic, 0)).next).toBe(2n);
      });
    });

    describe('follow', () => {
      it('begins at an offset, at the oldest record, or at the end', async () => {
        const topic = await createTopic(log, 2);
        await log.append(topic, [...numbered(5, 0, 0), ...numbered(5, 10, 1)]);
        expect((await take(log, topic, new Map([[0, 3n]]), 2)).map(text)).toEqual(['3', '4']);
        expect((await take(log, topic, new Map([[1, 'earliest']]), 5)).map(text)).toEqual([
          '10',
          '11',
          '12',
          '13',
          '14',
        ]);
        const later = take(log, topic, new Map([[0, 'latest']]), 1);
        let done = false;
        void later.then(() => {
          done = true;
        });
        for (let number = 100; !done; number++) {
          await log.append(topic, numbered(1, number, 0));
          await sleep(20);
        }
        expect(Number((await later).map(text)[0])).toBeGreaterThanOrEqual(100);
      });

      it('goes on at the end where its offset is beyond it, because the partition lost its tail', async () => {
        const losses = countedLosses();
        const reader = await openLog(subject, losses.losses);
        const topic = await createTopic(log);
        await log.append(topic, numbered(3));
        for (const follow of [follows, followsPages]) {
          const before = await losses.count();
          const { next } = await log.bounds(topic, 0);
          const following = follow(reader, topic, 1_000n);
          await eventually(async () => expect(await losses.count()).toBe(before + 1));
          await log.append(topic, numbered(2, Number(next)));
          expect(await following).toBe(next);
        }
        expect(losses.lines).toMatchObject([
          { topic: topic.name, partition: 0, from: '3', to: '999' },
          { topic: topic.name, partition: 0, from: '5', to: '999' },
        ]);
        await reader.close();
      });

      it('gives each of many readers every record once, in order, in batches up to the requested size', async () => {
        const topic = await createTopic(log, 2);
        const both = new Map<number, 'earliest'>([
          [0, 'earliest'],
          [1, 'earliest'],
        ]);
        const readers = Array.from({ length: 5 }, () => take(log, topic, both, 400, 7));
        for (let first = 0; first < 200; first += 20) {
          await Promise.all([0, 1].map((partition) => log.append(topic, numbered(20, first, partition))));
        }
        for (const records of await Promise.all(readers)) {
          for (const partition of [0, 1]) {
            const seen = records.filter((record) => record.partition === partition).map(text);
            expect(seen).toEqual(Array.from({ length: 200 }, (_, number) => String(number)));
          }
        }
      });

      it('reports the end of the partition, and ends with its signal', async () => {
        const topic = await createTopic(log);
        await log.append(topic, numbered(10));
        const stop = new AbortController();
        const batches = [];
        for await (const batch of log.follow({ topic, from: new Map([[0, 0n]]), signal: stop.signal, maxRecords: 4 })) {
          batches.push(batch);
          if (batches.length === 3) setTimeout(() => stop.abort(), 20);
        }
        expect(batches.map(({ records, end }) => [records.length, end])).toEqual([
          [4, 10n],
          [4, 10n],
          [2, 10n],
        ]);
      });

      it('pages have value and offset of every record, including later ones, until its signal', async () => {
        const topic = await createTopic(log, 2);
        const sizes = [0, 1, 300, 5_000, 20_000, 0, 70_000, 40];
        const records = [0, 1].flatMap((partition) =>
          sizes.map((size, at) => ({ key: `k${at}`, value: Buffer.alloc(size, at + partition), partition })),
        );
        await log.append(topic, records);
        const stop = new AbortController();
        const from = new Map<number, bigint | 'earliest'>([
          [0, 'earliest'],
          [1, 3n],
        ]);
        // toEqual compares long buffers slowly.
        const latin1 = (value: Uint8Array) => Buffer.from(value).toString('latin1');
        const read: (readonly [partition: number, offset: bigint, value: string])[] = [];
        const wanted = sizes.length * 3 - 3;
        for await (const page of log.followPages({ topic, from, signal: stop.signal, maxRecords: 3 })) {
          expect(page.ends.length).toBeLessThanOrEqual(3);
          expect(page.end).toBeGreaterThanOrEqual(BigInt(sizes.length));
          page.ends.forEach((end, at) => {
            const value = page.bytes.subarray(at === 0 ? 0 : page.ends[at - 1], end);
            read.push([page.partition, page.offsets[at] ?? -1n, latin1(value)]);
          });
          if (read.length === wanted - sizes.length) void log.append(topic, records.slice(0, sizes.length));
          if (read.length === wanted) stop.abort();
        }
        const all = [...(await readAll(log, topic, 0)), ...(await readAll(log, topic, 1)).slice(3)];
        const inOrder = read.filter(([partition]) => partition === 0).concat(read.filter(([one]) => one === 1));
        expect(inOrder).toEqual(all.map(({ partition, offset, value }) => [partition, offset, latin1(value)]));
      });
    });

    describe('commit', () => {
      it('stores outputs, offsets and state, and load returns them', async () => {
        const topic = await createTopic(log);
        const group = testTopic().name;
        expect(await log.load(group)).toEqual({ offsets: new Map(), state: new Map() });
        await log.commit(group, {
          outputs: [{ topic, records: numbered(2) }],
          offsets: [
            { topic: 'in', partition: 0, next: 7n },
            { topic: 'in', partition: 1, next: 2n ** 60n },
          ],
          state: [
            { key: 'a', value: Buffer.from('1') },
            { key: 'b', value: Buffer.from('2') },
            { key: 'c', value: Buffer.alloc(0) },
          ],
        });
        await log.commit(group, {
          offsets: [{ topic: 'in', partition: 0, next: 9n }],
          state: [
            { key: 'a', value: null },
            { key: 'b', value: Buffer.from('3') },
          ],
        });
        const { offsets, state } = await log.load(group);
        expect(offsets.get(offsetKey('in', 0))).toBe(9n);
        expect(offsets.get(offsetKey('in', 1))).toBe(2n ** 60n);
        expect([...state].map(([key, value]) => [key, text({ value })])).toEqual([
          ['b', '3'],
          ['c', ''],
        ]);
        expect((await readAll(log, topic)).map(text)).toEqual(['0', '1']);
      });

      it('never shows a concurrent reader an offset before its outputs', async () => {
        const topic = await createTopic(log);
        const group = testTopic().name;
        const observer = await openLog(subject);
        let committing = true;
        const observed = (async () => {
          let looks = 0;
          for (; committing; looks++) {
            const next = (await observer.load(group)).offsets.get(offsetKey('in', 0)) ?? 0n;
            expect((await observer.bounds(topic, 0)).next).toBeGreaterThanOrEqual(next);
            await sleep(0);
          }
          return looks;
        })();
        for (let step = 1; step <= 100; step++) {
          const offsets = [{ topic: 'in', partition: 0, next: BigInt(step) }];
          await log.commit(group, { outputs: [{ topic, records: numbered(1, step) }], offsets });
          await sleep(1);
        }
        committing = false;
        expect(await observed).toBeGreaterThan(1);
        await observer.close();
      });

      it('shows each load what any process committed before it', async () => {
        const group = testTopic().name;
        const other = await openLog(subject);
        for (let step = 1; step <= 20; step++) {
          const value = step % 5 === 0 ? null : Buffer.from(String(step));
          const offsets = [{ topic: 'in', partition: 0, next: BigInt(step) }];
          await (step % 2 === 0 ? log : other).commit(group, { offsets, state: [{ key: 'a', value }] });
          for (const on of [log, other]) {
            const { offsets: found, state } = await on.load(group);
            expect([...found.values()]).toEqual([BigInt(step)]);
            expect([...state.values()].map((bytes) => text({ value: bytes }))).toEqual(value ? [String(step)] : []);
          }
        }
        await other.close();
      });

      it('separates groups, and forget affects only one', async () => {
        const [one, other] = [testTopic().name, testTopic().name];
        // One group's name is a prefix of another's.
        for (const group of [one, other, `${one}x`]) {
          await log.commit(group, {
            offsets: [{ topic: 'in', partition: 0, next: 1n }],
            state: [{ key: 'name', value: Buffer.from(group) }],
          });
        }
        await log.forget(one);
        expect(await log.load(one)).toEqual({ offsets: new Map(), state: new Map() });
        for (const group of [other, `${one}x`]) {
          const { offsets, state } = await log.load(group);
          expect(offsets.size).toBe(1);
          expect(text({ value: state.get('name') ?? Buffer.alloc(0) })).toBe(group);
        }
      });

      it('stores nothing of a refused step', async () => {
        const topic = await createTopic(log);
        const group = testTopic().name;
        const outputs = [{ topic, records: numbered(1) }];
        const state = [{ key: 'k'.repeat(KEY_BYTES_MAX + 1), value: Buffer.from('x') }];
        await expect(log.commit(group, { outputs, state })).rejects.toThrow(/limit/);
        expect(await readAll(log, topic)).toEqual([]);
        expect((await log.load(group)).state.size).toBe(0);
      });
    });

    describe('retention', () => {
      it('removes by time from the old end only, and offsets go on', async () => {
        const topic = await createTopic(log, 1, { kind: 'time', hours: 1 });
        await log.append(topic, numbered(10));
        await sleep(30);
        const betweenMs = Date.now();
        await sleep(30);
        await log.append(topic, numbered(5, 10));
        const follower = take(log, topic, new Map([[0, 12n]]), 4);
        await log.enforceRetention(betweenMs + HOUR_MS);
        expect(await log.bounds(topic, 0)).toEqual({ earliest: 10n, next: 15n });
        expect((await log.read(topic, 0, 3n, 2)).map(text)).toEqual(['10', '11']);
        expect((await take(log, topic, new Map([[0, 0n]]), 5)).map(text)).toEqual(['10', '11', '12', '13', '14']);
        await log.append(topic, numbered(1, 15));
        expect((await follower).map(text)).toEqual(['12', '13', '14', '15']);
        await log.enforceRetention(Date.now() + HOUR_MS + HOUR_MS);
        expect(await log.bounds(topic, 0)).toEqual({ earliest: 16n, next: 16n });
        expect((await log.append(topic, numbered(1)))[0]?.first).toBe(16n);
      });

      it('by compaction keeps the newest record of each key', async () => {
        const topic = await createTopic(log, 1, { kind: 'compact' });
        for (let round = 0; round < 20; round++) {
          const records = ['a', 'b', 'c'].map((key) => ({ key, value: Buffer.from(`${key}${round}`) }));
          await log.append(topic, records);
        }
        await eventually(async () => {
          await subject.compact(log, topic);
          const records = await readAll(log, topic);
          expect(records[0]?.offset).toBeGreaterThan(0n);
          const newest = new Map(records.map((record) => [record.key, text(record)]));
          expect([newest.get('a'), newest.get('b'), newest.get('c')]).toEqual(['a19', 'b19', 'c19']);
          const followed = await take(log, topic, new Map([[0, 'earliest']]), records.length);
          expect(followed.map(({ offset }) => offset)).toEqual(records.map(({ offset }) => offset));
        });
      });
    });

    it('is the same log when it is opened again', async () => {
      const topic = await createTopic(log);
      const group = testTopic().name;
      const other = await openLog(subject);
      await other.append(topic, numbered(3));
      await other.commit(group, { offsets: [{ topic: topic.name, partition: 0, next: 2n }] });
      await other.close();
      await expect(other.append(topic, numbered(1))).rejects.toThrow(/closed/);
      const again = await openLog(subject);
      expect((await readAll(again, topic)).map(text)).toEqual(['0', '1', '2']);
      expect((await again.load(group)).offsets.get(offsetKey(topic.name, 0))).toBe(2n);
      expect((await again.append(topic, numbered(1)))[0]?.first).toBe(3n);
      await again.close();
    });

    it('agrees with a model in memory over random steps', async () => {
      let current = await openLog(subject);
      const reopen = async (previous: EventLog) => {
        await previous.close();
        return openLog(subject);
      };
      const property = fc.asyncProperty(steps, async (played) => {
        const topics = [testTopic(MODEL_PARTITIONS), testTopic(MODEL_PARTITIONS)];
        await current.ensureTopics(topics);
        current = await playSteps(current, reopen, topics, [testTopic().name, testTopic().name], played);
      });
      await fc.assert(property, { numRuns: subject.propertyRuns });
      await current.close();
    });

    describeCrashes(
      () => subject,
      () => log,
    );

    describeLeases(
      () => subject,
      () => log,
    );
  });
}
