import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type LogPage, type LogRecord, pageOf } from '../../platform/index.ts';
import { type Block, type BlockRecord, cutBlocks, readAhead } from './blocks.ts';
import { blockName, decodeIntent, encodeIntent, newIntent } from './intent.ts';

const NEVER_MS = 60_000;

/** Pages of given sizes; each partition's offsets continue from page to page, sometimes with a hole. */
function pagesOf(sizes: readonly { partition: number; size: number; skip: number }[]): LogPage[] {
  const next = new Map<number, number>();
  return sizes.map(({ partition, size, skip }) => {
    const first = (next.get(partition) ?? 0) + skip;
    next.set(partition, first + size);
    const records = Array.from({ length: size }, (_, index): LogRecord => {
      return {
        partition,
        offset: BigInt(first + index),
        key: 'k',
        value: Buffer.from(`${partition}:${first + index}`),
      };
    });
    return pageOf(partition, records, BigInt(first + size));
  });
}

async function* iterate(pages: readonly LogPage[], thenWait?: Promise<void>): AsyncGenerator<LogPage> {
  yield* pages;
  await thenWait;
}

/** Partition, offset and value of each record; a value names its partition and offset. */
const recordsOf = (block: Block): BlockRecord[] =>
  Array.from({ length: block.length }, (_, number) => block.record(number));
const placeOf = ({ partition, offset }: BlockRecord) => `${partition}:${offset}`;

const anyPages = fc.array(fc.record({ partition: fc.nat(3), size: fc.integer({ min: 1, max: 20 }), skip: fc.nat(2) }), {
  maxLength: 30,
});

describe('blocks', () => {
  it('contain every record once, in order, within the limits and their bounds', async () => {
    await fc.assert(
      fc.asyncProperty(anyPages, fc.integer({ min: 1, max: 50 }), async (sizes, rowsMax) => {
        const pages = pagesOf(sizes);
        const blocks: Block[] = [];
        const limits = { rowsMax, bytesMax: 100, delayMs: NEVER_MS };
        for await (const block of readAhead(cutBlocks(iterate(pages), limits))) blocks.push(block);
        for (const partition of [0, 1, 2, 3]) {
          const own = pages.filter((page) => page.partition === partition);
          const given = own.flatMap(({ offsets }) => [...offsets].map((offset) => `${partition}:${offset}`));
          const cut = blocks.flatMap(recordsOf).filter((record) => record.partition === partition);
          // A block that is open when the pages end is never stored.
          expect(cut.map(placeOf)).toEqual(given.slice(0, cut.length));
          expect(cut.map(({ value }) => Buffer.from(value).toString())).toEqual(cut.map(placeOf));
        }
        for (const block of blocks) {
          const records = recordsOf(block);
          expect(records.length).toBeLessThanOrEqual(rowsMax);
          const inside = block.bounds.flatMap(({ partition, from, to }) => {
            const own = records.filter((record) => record.partition === partition);
            expect([own[0]?.offset, own.at(-1)?.offset]).toEqual([from, to]);
            return own;
          });
          expect(inside).toEqual(records);
        }
      }),
    );
  });

  it('close when their first record has waited its time', async () => {
    let end = () => {};
    const open = new Promise<void>((resolve) => {
      end = resolve;
    });
    const limits = { rowsMax: 1_000, bytesMax: 1_000_000, delayMs: 5 };
    const blocks = cutBlocks(iterate(pagesOf([{ partition: 2, size: 3, skip: 0 }]), open), limits);
    const { value } = await blocks.next();
    expect(value?.bounds).toEqual([{ partition: 2, from: 0n, to: 2n }]);
    end();
    expect((await blocks.next()).done).toBe(true);
  });

  it('start small in a backlog and double up to the limit', async () => {
    const lengths: number[] = [];
    const limits = { rowsMax: 100, bytesMax: 1_000_000, delayMs: NEVER_MS };
    const pages = pagesOf([{ partition: 0, size: 300, skip: 0 }]);
    for await (const block of cutBlocks(iterate(pages), limits)) lengths.push(block.length);
    expect(lengths).toEqual([25, 50, 100, 100]);
  });

  it('pass on a failure of the log', async () => {
    async function* failing(): AsyncGenerator<LogPage> {
      yield* pagesOf([{ partition: 0, size: 1, skip: 0 }]);
      throw new Error('log gone');
    }
    const blocks = readAhead(cutBlocks(failing(), { rowsMax: 1, bytesMax: 1, delayMs: NEVER_MS }));
    expect((await blocks.next()).value?.length).toBe(1);
    await expect(blocks.next()).rejects.toThrow('log gone');
  });

  it('keep their bounds through the stored intent', () => {
    const intent = newIntent([{ partition: 3, from: 0n, to: 2n ** 62n }], 20_000);
    expect(decodeIntent(encodeIntent(intent))).toEqual(intent);
  });

  it('keep the name that an earlier version gave them', () => {
    const earlier = { bounds: [{ partition: 3, from: '17', to: '42' }], insertRows: 20_000 };
    expect(blockName(decodeIntent(Buffer.from(JSON.stringify(earlier))))).toBe('3:17-42');
  });
});
