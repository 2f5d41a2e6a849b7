import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { compact } from './compaction.ts';
import { type Environment, openEnvironment, put } from './environment.ts';
import { encodeOffset, partitionKey, RecordEncoder, recordKey, recordKeyOf } from './layout.ts';

const TOPIC = 3;
const encoder = new RecordEncoder();
const signal = new AbortController().signal;

let folder: string;
let environment: Environment;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'slotbook-compaction-'));
  environment = openEnvironment(folder);
});
afterEach(async () => {
  await environment.release();
  rmSync(folder, { recursive: true });
});

/** Appends records with these keys, whose first offset is `from`. */
const append = (keys: readonly string[], from: number, partition = 0) =>
  environment.write(0, () => {
    for (const [at, key] of keys.entries()) {
      const bytes = encoder.record({ key, value: Buffer.of(1) }, 0);
      put(environment.records, recordKey(TOPIC, partition, BigInt(from + at)), bytes);
    }
    put(environment.partitions, partitionKey(TOPIC, partition), encodeOffset(BigInt(from + keys.length)));
  });

/** Keys of the records of a partition, by offset. */
const kept = (partition = 0): string[] =>
  environment.read(() =>
    [
      ...environment.records.getRange({
        start: recordKey(TOPIC, partition, 0n),
        end: recordKey(TOPIC, partition + 1, 0n),
      }),
    ].map(({ value }) => recordKeyOf(value) ?? ''),
  );

/** The environment, and how many records were read from it. */
function counted(): { readonly environment: Environment; reads(): number } {
  let reads = 0;
  const records = new Proxy(environment.records, {
    get: (store, name) => {
      const member: unknown = Reflect.get(store, name);
      if (typeof member !== 'function') return member;
      if (name !== 'getRange') return member.bind(store);
      return (range: Parameters<typeof store.getRange>[0]) =>
        store.getRange(range).map((entry) => {
          reads += 1;
          return entry;
        });
    },
  });
  const members: Partial<Environment> = {
    records,
    partitions: environment.partitions,
    compaction: environment.compaction,
    read: (action) => environment.read(action),
    write: (bytes, action) => environment.write(bytes, action),
  };
  return { environment: members as Environment, reads: () => reads };
}

describe('compaction', () => {
  it('reads only the records since the last run, also after a restart', async () => {
    const keys = Array.from({ length: 3_000 }, (_, n) => `k${n}`);
    await append(keys, 0);
    expect(await compact(environment, TOPIC, 0, signal)).toBe(0);
    await append(['k7', 'new', 'k7'], keys.length);
    const first = counted();
    expect(await compact(first.environment, TOPIC, 0, signal)).toBe(2);
    expect(first.reads()).toBe(3);
    await environment.release();
    environment = openEnvironment(folder);
    await append(['k7'], keys.length + 3);
    const second = counted();
    expect(await compact(second.environment, TOPIC, 0, signal)).toBe(1);
    expect(second.reads()).toBe(1);
    expect(kept()).toEqual([...keys.filter((key) => key !== 'k7'), 'new', 'k7']);
  });

  it('leaves the newest record of each key, whoever compacts, however often and at once', async () => {
    const keys = fc.array(fc.constantFrom('', 'a', 'b', '\0', 'd'), { maxLength: 1_200 });
    let partition = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(keys, fc.nat(3)), { maxLength: 5 }), async (rounds) => {
        partition += 1;
        const all: string[] = [];
        const runs: Promise<number>[] = [];
        for (const [round, compactions] of rounds) {
          await append(round, all.length, partition);
          all.push(...round);
          for (let n = 0; n < compactions; n++) runs.push(compact(environment, TOPIC, partition, signal));
        }
        runs.push(compact(environment, TOPIC, partition, signal));
        const removed = (await Promise.all(runs)).reduce((sum, count) => sum + count, 0);
        const newest = all.filter((key, at) => all.lastIndexOf(key) === at);
        expect(kept(partition)).toEqual(newest);
        expect(removed).toBe(all.length - newest.length);
      }),
      { numRuns: 60 },
    );
  });

  it('ends with the log that closes', async () => {
    await append(['a', 'a'], 0);
    expect(await compact(environment, TOPIC, 0, AbortSignal.abort())).toBe(0);
    expect(kept()).toEqual(['a', 'a']);
  });
});
