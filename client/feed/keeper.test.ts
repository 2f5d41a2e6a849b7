import { crc32 as zlibCrc32 } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BookL2Diff, BookL2Snapshot, BookL3Snapshot } from '../../schemas/portable.ts';
import { BookKeeper, crc32 } from '../index.ts';

const head = {
  channel: 'book',
  stream: 'perp_0_l2',
  streamId: 4,
  market: 'SOL-PERP',
  slot: 9,
  ts: 1_790_000_000_000,
} as const;
const market = { marketType: 'perp', marketIndex: 0 } as const;
const snapshot: BookL2Snapshot = {
  ...head,
  ...market,
  type: 'snapshot',
  level: 'l2',
  epoch: 3,
  seq: 5,
  bids: [['81114210', '1000000000', 'dlob']],
  asks: [['81130450', '1500000000', { dlob: '500000000', vamm: '1000000000' }]],
};
const diff = (members: Partial<BookL2Diff>): BookL2Diff => ({
  diff: 4,
  epoch: 3,
  seq: 6,
  prevSeq: 5,
  slot: 9,
  ts: 1_790_000_000_400,
  ...members,
});

describe('the CRC32', () => {
  it('equals the one of zlib', () => {
    fc.assert(fc.property(fc.string({ unit: 'grapheme-ascii' }), (text) => crc32(text) === zlibCrc32(text)));
    expect(crc32('')).toBe(0);
  });

  it('matches the example of the published protocol', () => {
    const keeper = new BookKeeper({ level: 'l2', checksum: true });
    expect(keeper.apply({ ...snapshot, checksum: 4155906619 })).toBe('applied');
  });
});

describe('a book keeper', () => {
  it('applies absolute levels and removals', () => {
    const keeper = new BookKeeper({ level: 'l2' });
    keeper.apply(snapshot);
    const change = diff({
      bids: [
        ['81114210', '0'],
        ['81114000', '7', 'vamm'],
        ['81114100', '8'],
      ],
      slot: 10,
    });
    expect(keeper.apply(change)).toBe('applied');
    expect(keeper.levels('bids')).toEqual([
      { price: 81_114_100n, size: 8n, sources: { dlob: 8n } },
      { price: 81_114_000n, size: 7n, sources: { vamm: 7n } },
    ]);
    expect(keeper.levels('asks')).toEqual([
      { price: 81_130_450n, size: 1_500_000_000n, sources: { dlob: 500_000_000n, vamm: 1_000_000_000n } },
    ]);
    expect([keeper.position, keeper.slot, keeper.ts]).toEqual([{ epoch: 3, seq: 6 }, 10, 1_790_000_000_400]);
  });

  it.each([
    ['a later predecessor', { prevSeq: 6, seq: 7 }],
    ['an earlier predecessor', { prevSeq: 4, seq: 6 }],
    ['another epoch', { epoch: 4 }],
  ])('takes %s for a gap and waits for a snapshot', (_, members) => {
    const keeper = new BookKeeper({ level: 'l2' });
    keeper.apply(snapshot);
    expect(keeper.apply(diff(members))).toBe('gap');
    expect(keeper.position).toBeNull();
    expect(keeper.apply(diff({}))).toBe('waiting');
    expect(keeper.apply(snapshot)).toBe('applied');
  });

  it('reports a book with another checksum', () => {
    const keeper = new BookKeeper({ level: 'l2', checksum: 1 });
    expect(keeper.apply({ ...snapshot, checksum: 1 })).toBe('checksum');
    expect(keeper.position).toBeNull();
  });

  it('limits the checksum to its levels, and the book to its depth', () => {
    const deep = { ...snapshot, bids: [...snapshot.bids, ['81000000', '5', 'dlob'] as const] };
    const checksum = 4155906619;
    expect(new BookKeeper({ level: 'l2', checksum: 1 }).apply({ ...deep, checksum })).toBe('applied');
    expect(new BookKeeper({ level: 'l2', checksum: 2 }).apply({ ...deep, checksum })).toBe('checksum');
    expect(new BookKeeper({ level: 'l2', checksum: true, depth: 1 }).apply({ ...snapshot, checksum })).toBe('applied');
    expect(new BookKeeper({ level: 'l2', checksum: true, depth: 1 }).apply({ ...deep, checksum })).toBe('checksum');
  });

  it('reports entries that are not of the protocol', () => {
    const keeper = new BookKeeper({ level: 'l2' });
    keeper.apply(snapshot);
    expect(keeper.apply(diff({ bids: [['8.5', '1']] }))).toBe('malformed');
    expect(keeper.apply(diff({}))).toBe('waiting');
  });

  it('orders prices that are too large for a double', () => {
    const keeper = new BookKeeper({ level: 'l2' });
    const prices = ['9007199254740993', '9007199254740992', '9007199254740995', '9007199254740994', '5'];
    keeper.apply({ ...snapshot, bids: [], asks: prices.map((price) => [price, '1'] as const) });
    expect(keeper.levels('asks').map(({ price }) => String(price))).toEqual(
      [...prices].sort((a, b) => Number(BigInt(a) - BigInt(b))),
    );
    keeper.apply(diff({ asks: [['9007199254740993', '0']] }));
    expect(keeper.levels('asks').map(({ price }) => String(price))).not.toContain('9007199254740993');
    expect(keeper.level2('asks', 9007199254740994n)?.size).toBe(1n);
    expect(keeper.level2('asks', 9007199254740993n)).toBeNull();
  });

  it('keeps the cause of an order, and has none where the stream has none', () => {
    const keeper = new BookKeeper({ level: 'l3' });
    const order = { price: '9', size: '1', maker: 'M', source: 'user' as const, rank: [0, 1, 1] };
    const cause = { slot: 7, signature: 'S', index: 3 };
    const bids = [
      { ...order, orderId: 1, cause },
      { ...order, orderId: 2, cause: null },
      { ...order, orderId: 3 },
    ];
    keeper.apply({ ...head, ...market, type: 'snapshot', level: 'l3', epoch: 1, seq: 1, bids, asks: [] });
    expect(keeper.orders('bids').map((one) => one.cause)).toEqual([cause, null, undefined]);
  });

  it('sorts orders of a price by rank, number by number', () => {
    const keeper = new BookKeeper({ level: 'l3' });
    const order = (orderId: number, price: string, rank: readonly number[]) => ({
      price,
      size: '1',
      maker: 'M',
      orderId,
      source: 'user' as const,
      rank,
    });
    const book: BookL3Snapshot = {
      ...head,
      ...market,
      type: 'snapshot',
      level: 'l3',
      epoch: 1,
      seq: 1,
      bids: [
        order(1, '9', [0, 10, 1]),
        order(2, '10', [0, 10, 2]),
        order(3, '10', [0, 9, 3]),
        order(4, '10', [1, 0, 0]),
      ],
      asks: [order(5, '12', [0, 0, 0]), order(6, '11', [5, 0, 0])],
    };
    keeper.apply(book);
    expect(keeper.orders('bids').map(({ orderId }) => orderId)).toEqual([3, 2, 4, 1]);
    expect(keeper.orders('asks').map(({ orderId }) => orderId)).toEqual([6, 5]);
  });
});
