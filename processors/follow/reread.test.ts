import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { EventLog, LogRecord } from '../../platform/index.ts';
import { TOPICS } from '../../schemas/index.ts';
import { rereadFrom } from './reread.ts';

const numberOf = (bytes: Uint8Array) => Buffer.from(bytes).readUInt32LE(0);

/** A partition of so many records, whose values are their offsets; the first that retention left is `earliest`. */
function partOf(length: number, end: number, earliest = 0) {
  const records = Array.from({ length }, (_, offset) => {
    const value = Buffer.alloc(4);
    value.writeUInt32LE(offset);
    return { partition: 0, offset: BigInt(offset), key: '', value } as unknown as LogRecord;
  });
  const log = {
    bounds: async () => ({ earliest: BigInt(earliest), next: BigInt(length) }),
    read: async (_topic: unknown, _partition: number, from: bigint, most: number) =>
      records.slice(Math.max(Number(from), earliest), Math.max(Number(from), earliest) + most),
  } as unknown as EventLog;
  return { log, topic: TOPICS.events, partition: 0, end: BigInt(end) };
}

async function offsetsOf(values: AsyncIterable<Uint8Array>): Promise<number[]> {
  const offsets: number[] = [];
  for await (const value of values) offsets.push(numberOf(value));
  return offsets;
}

describe('reading a partition again', () => {
  it('gives every record from the start that is left, up to the offset of the reducer, as often as it is asked', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 3_000 }),
        fc.nat(3_000),
        fc.nat(3_000),
        fc.option(fc.nat(3_000), { nil: null }),
        async (length, until, removed, start) => {
          const [end, earliest] = [Math.min(until, length), Math.min(removed, length)];
          const reread = await rereadFrom(partOf(length, end, earliest), start === null ? null : BigInt(start));
          const first = Math.max(start ?? 0, earliest);
          const expected = Array.from({ length: Math.max(0, end - first) }, (_, index) => first + index);
          for (let times = 0; times < 2; times++) expect(await offsetsOf(reread.values())).toEqual(expected);
          expect(reread.isWhole).toBe(start === null || start <= earliest);
        },
      ),
      { numRuns: 40 },
    );
  });
});
