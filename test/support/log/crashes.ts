// The contract for several processes: they share a log, and are killed at random moments.

import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type EventLog, offsetKey } from '../../../platform/log/port.ts';
import type { Topic } from '../../../schemas/index.ts';
import { createTopic, type LogUnderTest, numbered, readAll, take, testTopic, text } from './harness.ts';
import { startConsumer, startWriter, type WrittenRecord } from './processes.ts';

const PROCESSES_MS = 120_000;
const WRITERS = ['w0', 'w1', 'w2'];
const CALLS = 60;
const INPUT_RECORDS = 400;
/** Moment of a kill: a number of acknowledgements or commits, and a delay after it. */
const KILL_LINES_MAX = 12;
const KILL_DELAY_MAX_MS = 15;

export function describeCrashes(subject: () => LogUnderTest, log: () => EventLog): void {
  describe('several processes', () => {
    it(
      'append to one partition without gap or duplicate while another follows',
      async () => {
        const topic = await createTopic(log());
        const calls = CALLS;
        const writers = WRITERS.map((writer) =>
          startWriter({ config: subject().config, topic, partition: 0, writer, calls }),
        );
        const expected = WRITERS.length * recordsOf(calls);
        const followed = take(log(), topic, new Map([[0, 'earliest']]), expected);
        await Promise.all(writers.map((writer) => writer.done()));
        const records = await readAll(log(), topic);
        expect(records.map(({ offset }) => offset)).toEqual(Array.from({ length: expected }, (_, at) => BigInt(at)));
        for (const writer of WRITERS) {
          const numbers = records.map(written).filter((record) => record.writer === writer);
          expect(numbers.map(({ number }) => number)).toEqual(numbers.map((_, at) => at));
        }
        expect((await followed).map(text)).toEqual(records.map(text));
      },
      PROCESSES_MS,
    );

    it(
      'lose nothing acknowledged and tear no call when a writer is killed',
      async () => {
        const topic = await createTopic(log());
        for (let kill = 0; kill < subject().kills; kill++) {
          const writer = `w${kill}`;
          const child = startWriter({
            config: subject().config,
            topic,
            partition: 0,
            writer,
            calls: Number.MAX_SAFE_INTEGER,
          });
          await child.printed(1 + Math.floor(Math.random() * KILL_LINES_MAX));
          await sleep(Math.random() * KILL_DELAY_MAX_MS);
          await child.kill();
          const acknowledged = Number(child.lines.at(-1));
          // A request that was open at the kill may still arrive, as a whole.
          const records = (await settled(log(), topic)).map(written).filter((record) => record.writer === writer);
          expect(acknowledged).toBeGreaterThanOrEqual(0);
          expect(records.length).toBeGreaterThan(acknowledged);
          expect(records.map(({ number }) => number)).toEqual(records.map((_, at) => at));
          const last = records.at(-1);
          expect(last && last.index + 1).toBe(last?.of);
        }
      },
      PROCESSES_MS,
    );

    it(
      'never hold an offset without its outputs when a consumer is killed',
      async () => {
        const [input, output] = [await createTopic(log()), await createTopic(log())];
        const group = testTopic().name;
        await log().append(input, numbered(INPUT_RECORDS));
        const task = { config: subject().config, input, output, group, until: INPUT_RECORDS };
        for (let kill = 0; kill < subject().kills; kill++) {
          const child = startConsumer(task);
          await child.printed(1 + Math.floor(Math.random() * KILL_LINES_MAX));
          await sleep(Math.random() * KILL_DELAY_MAX_MS);
          await child.kill();
          await checkCommitted(log(), input, output, group, subject().atomicOutputs);
        }
        await startConsumer(task).done();
        expect(await checkCommitted(log(), input, output, group, subject().atomicOutputs)).toBe(INPUT_RECORDS);
      },
      PROCESSES_MS,
    );
  });
}

/** Compares offset, state and outputs of the consumer; returns the offset. */
async function checkCommitted(
  log: EventLog,
  input: Topic,
  output: Topic,
  group: string,
  atomicOutputs: boolean,
): Promise<number> {
  const { offsets, state } = await log.load(group);
  const next = Number(offsets.get(offsetKey(input.name, 0)) ?? 0n);
  expect(text({ value: state.get('count') ?? Buffer.from('0') })).toBe(String(next));
  const outputs = (await readAll(log, output)).map(text);
  const distinct = [...new Set(outputs)];
  expect(distinct.slice(0, next)).toEqual(Array.from({ length: next }, (_, at) => `${at}:${at}`));
  if (atomicOutputs) expect(outputs).toEqual(distinct.slice(0, next));
  return next;
}

/** All records, once no more arrive. */
async function settled(log: EventLog, topic: Topic) {
  let before = (await log.bounds(topic, 0)).next;
  while (true) {
    await sleep(50);
    const { next } = await log.bounds(topic, 0);
    if (next === before) return readAll(log, topic);
    before = next;
  }
}

function written(record: { readonly value: Uint8Array }): WrittenRecord {
  return JSON.parse(text(record)) as WrittenRecord;
}

/** The writer's calls contain 1, 2, ... 20, 1, 2, ... records. */
function recordsOf(calls: number): number {
  let sum = 0;
  for (let call = 0; call < calls; call++) sum += 1 + (call % 20);
  return sum;
}
