// A log in memory, and random steps that compare a real log with it.

import fc from 'fast-check';
import { expect } from 'vitest';
import {
  type EventLog,
  type LogRecord,
  type NewRecord,
  offsetKey,
  type StateWrite,
} from '../../../platform/log/port.ts';
import { partitionOf, type Topic } from '../../../schemas/index.ts';

type Step =
  | { readonly kind: 'append'; readonly topic: number; readonly records: readonly RandomRecord[] }
  | {
      readonly kind: 'commit';
      readonly group: number;
      readonly topic: number;
      readonly records: readonly RandomRecord[];
      readonly next: number;
      readonly state: readonly { readonly key: string; readonly value: Uint8Array | null }[];
    }
  | {
      readonly kind: 'read';
      readonly topic: number;
      readonly partition: number;
      readonly from: number;
      readonly max: number;
    }
  | { readonly kind: 'forget'; readonly group: number }
  | { readonly kind: 'reopen' };

interface RandomRecord {
  readonly key: string;
  readonly value: Uint8Array;
  readonly partition: number | null;
}

interface GroupModel {
  readonly offsets: Map<string, bigint>;
  readonly state: Map<string, string>;
}

const TOPICS = 2;
export const MODEL_PARTITIONS = 2;
const GROUPS = 2;

const record: fc.Arbitrary<RandomRecord> = fc.record({
  key: fc.constantFrom('', 'a', 'perp:0', 'schlüssel', 'x'.repeat(200)),
  value: fc.uint8Array({ maxLength: 300 }),
  partition: fc.option(fc.nat({ max: MODEL_PARTITIONS - 1 })),
});
const topic = fc.nat({ max: TOPICS - 1 });
const group = fc.nat({ max: GROUPS - 1 });
const stateWrite = fc.record({
  key: fc.constantFrom('', 'book', 'count'),
  value: fc.option(fc.uint8Array({ maxLength: 100 })),
});

export const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({ kind: fc.constant('append'), topic, records: fc.array(record, { maxLength: 8 }) }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant('commit'),
        group,
        topic,
        records: fc.array(record, { maxLength: 4 }),
        next: fc.nat({ max: 1000 }),
        state: fc.array(stateWrite, { maxLength: 3 }),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('read'),
        topic,
        partition: fc.nat({ max: MODEL_PARTITIONS - 1 }),
        from: fc.nat({ max: 30 }),
        max: fc.integer({ min: 1, max: 10 }),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('forget'), group }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('reopen') }) },
  ),
  { minLength: 1, maxLength: 25 },
) as fc.Arbitrary<readonly Step[]>;

/** Runs the steps on a log and a model and compares their visible state. Returns the log as last opened. */
export async function playSteps(
  open: EventLog,
  reopen: (log: EventLog) => Promise<EventLog>,
  topics: readonly Topic[],
  groups: readonly string[],
  played: readonly Step[],
): Promise<EventLog> {
  let log = open;
  const records = new Map<string, { key: string; value: string }[]>();
  const kept = groups.map((): GroupModel => ({ offsets: new Map(), state: new Map() }));
  const partitionModel = (of: Topic, partition: number) => {
    const key = offsetKey(of.name, partition);
    const list = records.get(key) ?? [];
    records.set(key, list);
    return list;
  };
  const add = (of: Topic, added: readonly RandomRecord[]): NewRecord[] =>
    added.map(({ key, value, partition }) => {
      partitionModel(of, partition ?? partitionOf(of, key)).push({ key, value: hex(value) });
      return partition === null ? { key, value } : { key, value, partition };
    });
  for (const step of played) {
    if (step.kind === 'append') {
      const to = pick(topics, step.topic);
      const appended = await log.append(to, add(to, step.records));
      for (const { partition, last } of appended) expect(Number(last)).toBe(partitionModel(to, partition).length - 1);
    } else if (step.kind === 'commit') {
      const to = pick(topics, step.topic);
      const model = pick(kept, step.group);
      const read = { topic: to.name, partition: 0, next: BigInt(step.next) };
      // One write per key: a commit with two writes of a key has no defined order.
      const state: StateWrite[] = [...new Map(step.state.map((write) => [write.key, write])).values()];
      await log.commit(pick(groups, step.group), {
        outputs: [{ topic: to, records: add(to, step.records) }],
        offsets: [read],
        state,
      });
      model.offsets.set(offsetKey(to.name, 0), read.next);
      for (const { key, value } of state) {
        if (value === null) model.state.delete(key);
        else model.state.set(key, hex(value));
      }
    } else if (step.kind === 'read') {
      const from = pick(topics, step.topic);
      const seen = await log.read(from, step.partition, BigInt(step.from), step.max);
      expect(recordLines(seen)).toEqual(
        modelLines(partitionModel(from, step.partition)).slice(step.from, step.from + step.max),
      );
    } else if (step.kind === 'forget') {
      await log.forget(pick(groups, step.group));
      kept[step.group] = { offsets: new Map(), state: new Map() };
    } else {
      log = await reopen(log);
    }
  }
  for (const one of topics) {
    for (let partition = 0; partition < MODEL_PARTITIONS; partition++) {
      const model = partitionModel(one, partition);
      expect(await log.bounds(one, partition)).toEqual({ earliest: 0n, next: BigInt(model.length) });
      expect(recordLines(await log.read(one, partition, 0n, 1000))).toEqual(modelLines(model));
    }
  }
  for (const [index, name] of groups.entries()) {
    const { offsets, state } = await log.load(name);
    expect(offsets).toEqual(pick(kept, index).offsets);
    expect(new Map([...state].map(([key, value]) => [key, hex(value)]))).toEqual(pick(kept, index).state);
  }
  return log;
}

function recordLines(records: readonly LogRecord[]): string[] {
  return records.map(({ offset, key, value }) => `${offset} ${key} ${hex(value)}`);
}

function modelLines(records: readonly { key: string; value: string }[]): string[] {
  return records.map(({ key, value }, offset) => `${offset} ${key} ${value}`);
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

function pick<T>(list: readonly T[], index: number): T {
  const found = list[index];
  if (found === undefined) throw new Error(`nothing at ${index}`);
  return found;
}
