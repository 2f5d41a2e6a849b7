import fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { FakePartition } from '../../../test/support/log/fake-partition.ts';
import { until } from '../../../test/support/platform/eventually.ts';
import { type Fence, type GroupState, offsetKey } from '../port.ts';
import { KafkaGroups } from './groups.ts';

const GROUP = 'trades';
const TOPIC = 'slotbook.groups';
const STATE_KEYS = ['a', 'b', 'c'];

const fence = (epoch: bigint, role = 'trades'): Fence => ({ role, epoch, check: async () => {} });
const bytes = (value: string | null) => (value === null ? null : Buffer.from(value));

/** The groups as a process of its own sees them. `lateMs` of 0: the first store after the marker repeats shadowed values. */
const groupsOn = (partition: FakePartition, lateMs = 0) => new KafkaGroups(partition, partition, TOPIC, lateMs);

interface Written {
  readonly next: number;
  readonly state: ReadonlyMap<string, string | null>;
}

function readable({ offsets, state }: GroupState): Record<string, string> {
  const entries = [...offsets, ...state].map(([key, value]) => [
    key,
    typeof value === 'bigint' ? String(value) : Buffer.from(value).toString(),
  ]);
  return Object.fromEntries(entries.sort(([one = ''], [other = '']) => (one < other ? -1 : 1)));
}

class Model {
  readonly #entries = new Map<string, string>();

  write({ next, state }: Written): void {
    this.#entries.set(offsetKey('events', 0), String(next));
    for (const [key, value] of state) {
      if (value === null) this.#entries.delete(key);
      else this.#entries.set(key, value);
    }
  }

  readable(): Record<string, string> {
    return Object.fromEntries([...this.#entries].sort(([one], [other]) => (one < other ? -1 : 1)));
  }
}

const write = (groups: KafkaGroups, { next, state }: Written, by?: Fence) =>
  groups.store(GROUP, {
    offsets: [{ topic: 'events', partition: 0, next: BigInt(next) }],
    state: [...state].map(([key, value]) => ({ key, value: bytes(value) })),
    ...(by && { fence: by }),
  });

const written: fc.Arbitrary<Written> = fc.record({
  next: fc.nat({ max: 99 }),
  state: fc
    .uniqueArray(fc.tuple(fc.constantFrom(...STATE_KEYS), fc.option(fc.string({ maxLength: 3 }))), {
      selector: ([key]) => key,
    })
    .map((entries) => new Map(entries)),
});
const byEither = fc.array(fc.record({ isLate: fc.boolean(), step: written }), { maxLength: 12 });

describe('groups on Kafka', () => {
  it('agree with a model while a superseded writer still writes, also behind a compaction', async () => {
    const property = fc.asyncProperty(
      fc.array(fc.record({ hasEpoch: fc.boolean(), step: written }), { maxLength: 4 }),
      byEither,
      written,
      async (first, mixed, last) => {
        const partition = new FakePartition();
        const [older, newer, newest, reader] = [1, 2, 3, 4].map(() => groupsOn(partition)) as [
          KafkaGroups,
          KafkaGroups,
          KafkaGroups,
          KafkaGroups,
        ];
        const model = new Model();
        // One reader keeps entries, the other begins.
        const expectSame = async () => {
          for (const one of [reader, groupsOn(partition)])
            expect(readable(await one.load(GROUP))).toEqual(model.readable());
        };
        await older.store(GROUP, { fence: fence(3n) });
        for (const { hasEpoch, step } of first) {
          await write(older, step, hasEpoch ? fence(3n) : undefined);
          model.write(step);
        }
        await newer.store(GROUP, { fence: fence(5n) });
        for (const { isLate, step } of mixed) {
          await write(isLate ? older : newer, step, fence(isLate ? 3n : 5n)).catch((error: Error) => {
            expect([isLate, error.name]).toEqual([true, 'SupersededError']);
          });
          if (!isLate) model.write(step);
          await expectSame();
        }
        await newest.store(GROUP, { fence: fence(7n) });
        partition.compact();
        await expectSame();
        await write(newest, last, fence(7n));
        model.write(last);
        partition.compact();
        await expectSame();
      },
    );
    await fc.assert(property, { numRuns: 300 });
  });

  it('keep an only record of an earlier epoch, and a deletion', async () => {
    const partition = new FakePartition();
    const older = groupsOn(partition);
    const state = new Map([
      ['a', '1'],
      ['b', '2'],
    ]);
    await write(older, { next: 1, state }, fence(3n));
    await write(older, { next: 2, state: new Map([['a', null]]) }, fence(3n));
    const newer = groupsOn(partition);
    await write(newer, { next: 3, state: new Map([['c', '4']]) }, fence(5n));
    partition.compact();
    expect(readable(await newer.load(GROUP))).toEqual({ b: '2', c: '4', 'events/0': '3' });
  });

  it('repeat shadowed values once no late record can come any more', async () => {
    const partition = new FakePartition();
    const [older, newer] = [groupsOn(partition, 60_000), groupsOn(partition, 0)];
    await write(older, { next: 1, state: new Map([['a', '1']]) }, fence(3n));
    await newer.store(GROUP, { fence: fence(5n) });
    await write(
      older,
      {
        next: 2,
        state: new Map([
          ['a', '2'],
          ['b', '2'],
        ]),
      },
      fence(3n),
    );
    await write(newer, { next: 4, state: new Map() }, fence(5n));
    partition.compact();
    expect(readable(await newer.load(GROUP))).toEqual({ a: '1', 'events/0': '4' });
  });

  it('repeat shadowed values by themselves in a group without further commits', async () => {
    const partition = new FakePartition();
    const [older, newer] = [groupsOn(partition, 60_000), groupsOn(partition, 50)];
    onTestFinished(() => {
      older.close();
      newer.close();
    });
    await write(older, { next: 1, state: new Map([['a', '1']]) }, fence(3n));
    await write(newer, { next: 2, state: new Map([['a', '2']]) }, fence(5n));
    await write(older, { next: 1, state: new Map([['a', '1']]) }, fence(3n));
    const late = partition.records.length;
    await until(() => partition.records.length >= late + 2);
    partition.compact();
    expect(readable(await newer.load(GROUP))).toEqual({ a: '2', 'events/0': '2' });
  });

  it('keep the claims of two roles of one process apart', async () => {
    const partition = new FakePartition();
    const groups = groupsOn(partition, 60_000);
    onTestFinished(() => groups.close());
    for (const role of ['trades', 'sink']) await groups.store(GROUP, { fence: fence(1n, role) });
    const markers = partition.records.length;
    for (const role of ['trades', 'sink']) await groups.store(GROUP, { fence: fence(1n, role) });
    expect(partition.records.length).toBe(markers);
  });

  it('read only new records at the next load, also those of other processes', async () => {
    const partition = new FakePartition();
    const [groups, other] = [groupsOn(partition), groupsOn(partition)];
    const large = Array.from({ length: 50 }, (_, at) => ({ key: `k${at}`, value: Buffer.alloc(100) }));
    await other.store('beside', { state: large });
    await write(groups, { next: 1, state: new Map([['a', '1']]) });
    expect(readable(await groups.load(GROUP))).toEqual({ a: '1', 'events/0': '1' });
    const { readRecords } = partition;
    await groups.load(GROUP);
    expect(partition.readRecords).toBe(readRecords);
    await write(other, { next: 2, state: new Map([['a', null]]) });
    expect(readable(await groups.load(GROUP))).toEqual({ 'events/0': '2' });
    expect(partition.readRecords).toBe(readRecords + 2);
  });

  it('read a group again that does not fit into memory, that was kept for long, or whose topic is another', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const partition = new FakePartition();
    const groups = groupsOn(partition);
    const readsOf = async (group: string) => {
      const before = partition.readRecords;
      await groups.load(group);
      return partition.readRecords - before;
    };
    await write(groups, { next: 1, state: new Map([['a', '1']]) });
    expect([await readsOf(GROUP), await readsOf(GROUP)]).toEqual([2, 0]);
    vi.advanceTimersByTime(11 * 60_000);
    expect([await readsOf(GROUP), await readsOf(GROUP)]).toEqual([2, 0]);
    for (const key of ['a', 'b', 'c']) await groups.store(GROUP, { state: [{ key, value: Buffer.alloc(6_000_000) }] });
    expect([await readsOf(GROUP), await readsOf(GROUP)]).toEqual([3, 5]);
    await groups.forget(GROUP);
    await groups.load(GROUP);
    partition.empty();
    await write(groups, { next: 7, state: new Map() });
    expect(readable(await groups.load(GROUP))).toEqual({ 'events/0': '7' });
  });

  it('compare no epochs of different roles', async () => {
    const partition = new FakePartition();
    const groups = groupsOn(partition);
    await groups.store(GROUP, { fence: fence(9n, 'sink') });
    await write(groups, { next: 1, state: new Map() }, fence(3n));
    expect(readable(await groups.load(GROUP))).toEqual({ 'events/0': '1' });
  });

  it('have no entries after they are forgotten, also where a late record came last', async () => {
    const partition = new FakePartition();
    const [older, newer] = [groupsOn(partition, 60_000), groupsOn(partition, 60_000)];
    await write(older, { next: 1, state: new Map([['a', '1']]) }, fence(3n));
    await newer.store(GROUP, { fence: fence(5n) });
    await write(older, { next: 2, state: new Map([['b', '2']]) }, fence(3n));
    await newer.forget(GROUP);
    partition.compact();
    expect(readable(await newer.load(GROUP))).toEqual({});
    expect(partition.records.filter(({ value }) => value !== null)).toHaveLength(1);
  });
});
