import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { followPartitions } from './follow.ts';
import type { Fetched, KafkaReader } from './reader.ts';

const record = (offset: number) => ({ offset: BigInt(offset), key: 'k', value: Buffer.of(1), headers: {} });
const refusal = (name: string) => Object.assign(new Error(name), { name });

/** Partitions with records of every offset up to their ends, each with its leader. */
class FakeReader implements Pick<KafkaReader, 'leaders' | 'fetch' | 'read' | 'bounds' | 'reset'> {
  readonly ends: number[];
  readonly leading: string[];
  /** A broker that leads no more: it is asked until the next reset, and ends earlier. */
  stale: { readonly end: number } | null = null;

  constructor(...ends: readonly number[]) {
    this.ends = [...ends];
    this.leading = ends.map(() => 'A');
  }

  async leaders(_topic: string, partitions: readonly number[]) {
    const leaders = new Map<string, number[]>();
    for (const one of partitions) leaders.set(this.#leader(one), [...(leaders.get(this.#leader(one)) ?? []), one]);
    return leaders;
  }

  /** Answers with what the broker has when it has news. */
  async fetch(nodeId: string, _topic: string, cursors: ReadonlyMap<number, bigint>): Promise<Fetched[]> {
    for (let tries = 0; tries < 50; tries++) {
      for (const [partition, cursor] of cursors) {
        if (this.#leader(partition) !== nodeId) throw refusal('KafkaJSProtocolError');
        if (cursor > this.#end(partition)) throw refusal('KafkaJSOffsetOutOfRange');
      }
      if ([...cursors].some(([partition, cursor]) => cursor < this.#end(partition))) break;
      await sleep(5);
    }
    return [...cursors].map(([partition, cursor]) => this.#fetched(partition, cursor));
  }

  async read(_topic: string, partition: number, from: bigint): Promise<Fetched> {
    return this.#fetched(partition, from);
  }

  async bounds(_topic: string, partition: number) {
    return { earliest: 0n, next: BigInt(this.#end(partition)) };
  }

  async reset(): Promise<void> {
    this.stale = null;
  }

  #leader(partition: number): string {
    return this.leading[partition] ?? '';
  }

  #end(partition: number): number {
    return this.stale?.end ?? this.ends[partition] ?? 0;
  }

  #fetched(partition: number, cursor: bigint): Fetched {
    const [from, end] = [Number(cursor), this.#end(partition)];
    const records = Array.from({ length: Math.max(0, end - from) }, (_, at) => record(from + at));
    return { partition, records, next: BigInt(Math.max(from, end)), end: BigInt(end) };
  }
}

/** Follows until `isDone` says so for the offsets seen in each partition. Calls `seeing` before that with each batch. */
async function follow(
  reader: FakeReader,
  from: readonly number[],
  isDone: (seen: readonly number[][]) => boolean,
  seeing: (seen: readonly number[][]) => Promise<void> | void = () => {},
) {
  const warnings: { readonly msg: string }[] = [];
  const logger = pino({ level: 'warn' }, { write: (line) => void warnings.push(JSON.parse(line)) });
  const stop = new AbortController();
  const cursors = new Map(from.map((offset, partition) => [partition, BigInt(offset)]));
  const seen: number[][] = from.map(() => []);
  const losses: { readonly partition: number; readonly offset: bigint; readonly next: bigint }[] = [];
  const followed = {
    reader: reader as unknown as KafkaReader,
    topic: 't',
    cursors,
    signal: stop.signal,
    logger,
    onLostTail: (partition: number, offset: bigint, next: bigint) => void losses.push({ partition, offset, next }),
  };
  for await (const { partition, records } of followPartitions(followed)) {
    seen[partition]?.push(...records.map(({ offset }) => Number(offset)));
    await seeing(seen);
    if (isDone(seen)) stop.abort();
  }
  return { seen, cursors, warnings, losses };
}

describe('a follower of partitions', () => {
  it('yields each record once when a partition moves to another broker while a fetch waits', async () => {
    const reader = new FakeReader(3);
    const { seen, cursors } = await follow(
      reader,
      [0],
      ([only = []]) => only.includes(5),
      async ([only = []]) => {
        if (only.length !== 3) return;
        // The old leader still answers the open fetch.
        reader.ends[0] = 5;
        await sleep(30);
        reader.leading[0] = 'B';
        reader.ends[0] = 6;
      },
    );
    expect(seen).toEqual([[0, 1, 2, 3, 4, 5]]);
    expect(cursors.get(0)).toBe(6n);
  });

  it('reads on from the new end where a partition lost its tail, and says which records are lost', async () => {
    const reader = new FakeReader(6, 3);
    const { seen, cursors, losses } = await follow(
      reader,
      [0, 0],
      ([first = []]) => first.includes(3) && first.at(-1) === 3,
      async ([first = []]) => {
        if (first.length !== 6) return;
        reader.ends[0] = 2;
        await sleep(30);
        void sleep(60).then(() => {
          reader.ends[0] = 4;
        });
      },
    );
    expect(seen).toEqual([
      [0, 1, 2, 3, 4, 5, 2, 3],
      [0, 1, 2],
    ]);
    expect([...cursors.values()]).toEqual([4n, 3n]);
    expect(losses).toEqual([{ partition: 0, offset: 6n, next: 2n }]);
  });

  it('loses nothing to a broker that leads no more and lacks the newest records', async () => {
    const reader = new FakeReader(6);
    reader.stale = { end: 4 };
    const { seen, losses } = await follow(reader, [5], ([only = []]) => only.includes(5));
    expect([seen, losses]).toEqual([[[5]], []]);
  });
});
