import { expect, it, onTestFinished } from 'vitest';
import { TOPICS } from '../../schemas/index.ts';
import { MemoryLog } from '../../test/support/ingest/memory-log.ts';
import { numbered, text } from '../../test/support/log/harness.ts';
import { MarkWatch } from './lease.ts';
import type { LogRecord } from './port.ts';
import { TopicTail } from './topic-tail.ts';

const TOPIC = TOPICS.finality;

async function read(tail: TopicTail): Promise<string[]> {
  const values: string[] = [];
  await tail.read((record) => values.push(text(record)));
  return values;
}

it('takes the records since the last call', async () => {
  const log = new MemoryLog();
  const tail = new TopicTail(log, TOPIC);
  await log.append(TOPIC, numbered(2));
  expect(await read(tail)).toEqual(['0', '1']);
  await log.append(TOPIC, numbered(1, 2));
  expect(await read(tail)).toEqual(['2']);
  expect(await read(tail)).toEqual([]);
});

it('takes each record once when calls overlap', async () => {
  const log = new MemoryLog();
  const tail = new TopicTail(log, TOPIC);
  await log.append(TOPIC, numbered(2));
  expect((await Promise.all([read(tail), read(tail)])).flat()).toEqual(['0', '1']);
});

it('goes on behind the record that it could not take', async () => {
  const log = new MemoryLog();
  const tail = new TopicTail(log, TOPIC);
  await log.append(TOPIC, numbered(3));
  const take = (record: LogRecord) => {
    if (text(record) === '1') throw new Error('unreadable');
  };
  await expect(tail.read(take)).rejects.toThrow('unreadable');
  expect(await read(tail)).toEqual(['2']);
});

it('takes new records behind a lost tail', async () => {
  const log = new MemoryLog();
  const tail = new TopicTail(log, TOPIC);
  await log.append(TOPIC, numbered(9));
  await read(tail);
  log.lose(TOPIC, 0, 4);
  expect(await read(tail)).toEqual([]);
  await log.append(TOPIC, numbered(2, 9));
  expect(await read(tail)).toEqual(['9', '10']);
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
