import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { EventLog, LogRecord } from '../../platform/index.ts';
import { TOPICS } from '../../schemas/index.ts';
import { rereadAround } from './reread.ts';

const slotOf = (bytes: Uint8Array) => Buffer.from(bytes).readUInt32LE(0);

/** A partition whose records have these slots; its first offset is `earliest`. */
function partOf(slots: readonly number[], end: number, earliest = 0) {
  const records = slots.map((slot, offset) => {
    const value = Buffer.alloc(4);
    value.writeUInt32LE(slot);
    return { partition: 0, offset: BigInt(offset), key: '', value } as unknown as LogRecord;
  });
  const log = {
    bounds: async () => ({ earliest: BigInt(earliest), next: BigInt(slots.length) }),
    read: async (_topic: unknown, _partition: number, from: bigint, most: number) =>
      records.slice(Math.max(Number(from), earliest), Math.max(Number(from), earliest) + most),
  } as unknown as EventLog;
  return { log, topic: TOPICS.events, partition: 0, end: BigInt(end), slotOf };
}

async function slotsOf(values: AsyncIterable<Uint8Array>): Promise<number[]> {
  const slots: number[] = [];
  for await (const value of values) slots.push(slotOf(value));
  return slots;
}

describe('reading a partition again', () => {
  it('gives every record from two minutes before the slot up to the offset, however far back that is', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 8_000 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.integer({ min: 1, max: 4_000 }),
        async (length, at, until, back) => {
          const slots = Array.from({ length }, (_, n) => 1_000 + n);
          const [slot, end] = [1_000 + Math.floor(at * (length - 1)), length - Math.floor(until * (length / 3))];
          const reread = await rereadAround(partOf(slots, end), slot, BigInt(back));
          const found = await slotsOf(reread.values());
          expect(found).toEqual(slots.slice(slots.length - found.length - (length - end), end));
          expect(found.length).toBeGreaterThanOrEqual(slots.slice(0, end).filter((one) => one >= slot - 300).length);
          expect(await slotsOf(reread.values())).toEqual(found);
          expect(reread.isWhole).toBe(found.length === end);
        },
      ),
      { numRuns: 40 },
    );
  });

  it('begins at the oldest record that retention has left', async () => {
    const reread = await rereadAround(partOf([5, 6, 7, 8], 4, 2), 8, 16n);
    expect([reread.isWhole, await slotsOf(reread.values())]).toEqual([true, [7, 8]]);
  });
});
