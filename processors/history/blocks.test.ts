import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { LogBatch, LogRecord } from '../../platform/index.ts';
import { type Block, cutBlocks, readAhead } from './blocks.ts';
import { decodeIntent, encodeIntent } from './intent.ts';

const NEVER_MS = 60_000;

/** Batches of given sizes; each partition's offsets go on from batch to batch, with a hole now and then. */
function batchesOf(sizes: readonly { partition: number; size: number; skip: number }[]): LogBatch[] {
  const next = new Map<number, number>();
  return sizes.map(({ partition, size, skip }) => {
    const first = (next.get(partition) ?? 0) + skip;
    next.set(partition, first + size);
    const records = Array.from({ length: size }, (_, index): LogRecord => {
      return { partition, offset: BigInt(first + index), key: 'k', value: Buffer.alloc(10) };
    });
    return { partition, records, end: BigInt(first + size) };
  });
}

async function* iterate(batches: readonly LogBatch[], thenWait?: Promise<void>): AsyncGenerator<LogBatch> {
  yield* batches;
  await thenWait;
}

const anyBatches = fc.array(
  fc.record({ partition: fc.nat(3), size: fc.integer({ min: 1, max: 20 }), skip: fc.nat(2) }),
  { maxLength: 30 },
);

describe('blocks', () => {
  it('hold every record once, in order, within the limits, between the bounds they name', async () => {
    await fc.assert(
      fc.asyncProperty(anyBatches, fc.integer({ min: 1, max: 50 }), async (sizes, rowsMax) => {
        const batches = batchesOf(sizes);
        const blocks: Block[] = [];
        const limits = { rowsMax, bytesMax: 200, delayMs: NEVER_MS };
        for await (const block of readAhead(cutBlocks(iterate(batches), limits))) blocks.push(block);
        for (const partition of [0, 1, 2, 3]) {
          const given = batches.flatMap(({ records }) => records.filter((record) => record.partition === partition));
          const cut = blocks.flatMap(({ records }) => records.filter((record) => record.partition === partition));
          // What is still open when the batches end is left for the next start.
          expect(cut).toEqual(given.slice(0, cut.length));
        }
        for (const { records, bounds } of blocks) {
          expect(records.length).toBeLessThanOrEqual(rowsMax);
          const inside = bounds.map(({ partition, from, to }) => {
            const own = records.filter((record) => record.partition === partition);
            return own[0]?.offset === from && own.at(-1)?.offset === to ? own.length : Number.NaN;
          });
          expect(inside.reduce((sum, count) => sum + count, 0)).toBe(records.length);
        }
      }),
    );
  });

  it('are closed when their first record has waited long enough', async () => {
    let end = () => {};
    const open = new Promise<void>((resolve) => {
      end = resolve;
    });
    const limits = { rowsMax: 1_000, bytesMax: 1_000_000, delayMs: 5 };
    const blocks = cutBlocks(iterate(batchesOf([{ partition: 2, size: 3, skip: 0 }]), open), limits);
    const { value } = await blocks.next();
    expect(value?.bounds).toEqual([{ partition: 2, from: 0n, to: 2n }]);
    end();
    expect((await blocks.next()).done).toBe(true);
  });

  it('pass on a failure of the log', async () => {
    async function* failing(): AsyncGenerator<LogBatch> {
      yield* batchesOf([{ partition: 0, size: 1, skip: 0 }]);
      throw new Error('log gone');
    }
    const blocks = readAhead(cutBlocks(failing(), { rowsMax: 1, bytesMax: 1, delayMs: NEVER_MS }));
    expect((await blocks.next()).value?.records.length).toBe(1);
    await expect(blocks.next()).rejects.toThrow('log gone');
  });

  it('keep their bounds through the written intent', () => {
    const intent = { bounds: [{ partition: 3, from: 0n, to: 2n ** 62n }], insertRows: 20_000 };
    expect(decodeIntent(encodeIntent(intent))).toEqual(intent);
  });
});
