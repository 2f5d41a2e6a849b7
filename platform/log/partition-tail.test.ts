import { expect, it, onTestFinished, vi } from 'vitest';
import { TOPICS } from '../../schemas/index.ts';
import { MemoryLog } from '../../test/support/ingest/memory-log.ts';
import { numbered, text } from '../../test/support/log/harness.ts';
import { MarkWatch } from './lease.ts';
import { CHECK_MS, PartitionTail } from './partition-tail.ts';

const TOPIC = TOPICS.finality;

it('reads the records since the last call', async () => {
  const log = new MemoryLog();
  const tail = new PartitionTail(log, TOPIC, 0, 1n);
  await log.append(TOPIC, numbered(4));
  expect((await tail.read(2)).map(text)).toEqual(['1', '2']);
  expect((await tail.read(2)).map(text)).toEqual(['3']);
  expect(await tail.read(2)).toEqual([]);
});

it('goes on at the end of a partition that lost its tail, which it notices within a bound', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const log = new MemoryLog();
  const tail = new PartitionTail(log, TOPIC, 0, 0n);
  await log.append(TOPIC, numbered(9));
  await tail.read(9);
  log.lose(TOPIC, 0, 4);
  vi.advanceTimersByTime(CHECK_MS);
  expect(await tail.read(9)).toEqual([]);
  await log.append(TOPIC, numbered(2, 9));
  expect((await tail.read(9)).map(text)).toEqual(['9', '10']);
});

it('a lease sees marks behind a lost tail', async () => {
  const log = new MemoryLog();
  const mark = (role: string) => log.append(TOPICS.writers, [{ key: `${role}/began`, value: Buffer.alloc(0) }]);
  for (const role of ['a', 'b', 'c']) await mark(role);
  const watch = await MarkWatch.open(log, 60_000);
  onTestFinished(() => watch.close());
  log.lose(TOPICS.writers, 0, 1);
  await watch.look();
  await mark('d');
  await watch.look();
  expect(watch.of('d').writer).toEqual({ epoch: 1n, by: null });
});
