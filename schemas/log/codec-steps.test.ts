// Encoding in steps gives the same bytes as codec.ts.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stepBy } from '../../test/support/platform/step-by.ts';
import { MESSAGE_EXAMPLES } from '../../test/support/schemas/message-examples.ts';
import { decodeMessage, encodeMessage, type MessageName } from './codec.ts';
import { bookViewHead, encodeInSteps, isEncodedInSteps } from './codec-steps.ts';

const ORDERS_MAX = 300;
const u53 = fc.maxSafeNat();
const u64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const levels = fc.array(fc.record({ price: u53, dlob: u64, vamm: u64 }), { maxLength: ORDERS_MAX });
const orders = fc.array(
  fc.record({
    price: u53,
    size: u64,
    maker: fc.uint8Array({ minLength: 32, maxLength: 32 }),
    orderId: fc.nat(2 ** 32 - 1),
    source: fc.constantFrom('user' as const, 'clob' as const),
    rank: fc.array(u53, { maxLength: 3 }),
  }),
  { maxLength: ORDERS_MAX },
);
const { bids: _bids, ...HEAD } = MESSAGE_EXAMPLES.BookViewSnapshot;
const snapshot = fc
  .record({ seq: u53, bids: levels, asks: levels, bidOrders: orders, askOrders: orders })
  .map((lists) => ({ ...HEAD, ...lists }));

const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0);

describe('encoding in steps', () => {
  it('writes the same bytes, a list a few items at a time', () => {
    fc.assert(
      fc.property(snapshot, (value) => {
        const { result: bytes, count } = stepBy(encodeInSteps('BookViewSnapshot', value));
        expect(Buffer.compare(bytes, encodeMessage('BookViewSnapshot', value))).toBe(0);
        const { bids, asks, bidOrders, askOrders } = value;
        const lengths = [bids, asks, bidOrders, askOrders].map(({ length }) => length);
        const [items, steps] = [sum(lengths), sum(lengths.map((length) => Math.floor(length / 64)))];
        expect(count).toBe(items > 256 ? steps : 0);
      }),
      { numRuns: 30 },
    );
  });

  it.each(Object.keys(MESSAGE_EXAMPLES) as MessageName[])('recognizes the bytes of %s, and no others', (name) => {
    const value = MESSAGE_EXAMPLES[name];
    const bytes = encodeMessage(name, value);
    expect(Buffer.compare(stepBy(encodeInSteps(name, value)).result, bytes)).toBe(0);
    expect(stepBy(isEncodedInSteps(bytes, name, value)).result).toBe(true);
    expect(stepBy(isEncodedInSteps(bytes.subarray(0, -1), name, value)).result).toBe(false);
    expect(stepBy(isEncodedInSteps(Buffer.concat([bytes, Buffer.of(0)]), name, value)).result).toBe(false);
    for (let at = 0; at < bytes.length; at += 7) {
      const other = Buffer.from(bytes);
      other[at] = (other[at] ?? 0) ^ 1;
      expect(stepBy(isEncodedInSteps(other, name, value)).result).toBe(false);
    }
  });

  it('names the invalid member', () => {
    const wrong = { ...MESSAGE_EXAMPLES.BookViewSnapshot, seq: -1 };
    expect(() => stepBy(encodeInSteps('BookViewSnapshot', wrong))).toThrow(/BookViewSnapshot\.seq/);
  });
});

describe('the head of a book view', () => {
  it.each(['BookViewDiff', 'BookViewSnapshot'] as const)('has the fields of a %s before its lists', (name) => {
    const bytes = encodeMessage(name, MESSAGE_EXAMPLES[name]);
    const head = bookViewHead(bytes);
    expect(decodeMessage(bytes).value).toMatchObject(head);
    expect(Object.keys(head)).toContain('isMmOracleActive');
    expect(Object.keys(head)).not.toContain('bids');
    expect(bookViewHead(bytes.subarray(0, bytes.length - 1))).toEqual(head);
  });

  it('is refused for other records', () => {
    expect(() => bookViewHead(encodeMessage('BookSlot', { slot: 7 }))).toThrow(/BookSlot/);
  });
});
