import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HistoryError } from '../http/errors.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';

const PATH = '/market/SOL-PERP/trades';
const token = {
  lastRow: {
    ts: 1_790_000_123,
    slot: 402_000_111,
    txIndex: 41,
    sequence: '18446744073709551615',
    txSig: '5'.repeat(88),
    txSigIndex: 2,
  },
  page: 3,
};

describe('cursor', () => {
  it('survives a round trip as URL-safe text', () => {
    const text = encodeCursor(PATH, token);
    expect(text).toMatch(/^[\w-]+$/);
    expect(decodeCursor(PATH, text)).toEqual(token);
    const unplaced = { ...token, lastRow: { ...token.lastRow, txIndex: null } };
    expect(decodeCursor(PATH, encodeCursor(PATH, unplaced))).toEqual(unplaced);
  });

  it('of the order without the index in the block stays one, and has no index', () => {
    const { txIndex: _, ...lastRow } = token.lastRow;
    const text = encodeCursor(PATH, { ...token, lastRow });
    expect(JSON.parse(Buffer.from(text, 'base64url').toString())[0]).toBe(2);
    expect(decodeCursor(PATH, text)).toEqual({ ...token, lastRow });
  });

  it('is refused on another path', () => {
    expect(() => decodeCursor('/market/BTC-PERP/trades', encodeCursor(PATH, token))).toThrow('another path');
  });

  it('is refused when malformed, for any text', () => {
    const forged = fc.array(fc.jsonValue()).map((value) => Buffer.from(JSON.stringify(value)).toString('base64url'));
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.base64String(), forged), (text) => {
        expect(() => decodeCursor(PATH, text)).toThrow(HistoryError);
      }),
    );
  });

  it('is refused when a member is invalid', () => {
    const hash = JSON.parse(Buffer.from(encodeCursor(PATH, token), 'base64url').toString())[1];
    const good = [3, hash, 1, 2, '3', '5'.repeat(88), 4, 2, 7];
    const forge = (tuple: unknown[]) => Buffer.from(JSON.stringify(tuple)).toString('base64url');
    expect(decodeCursor(PATH, forge(good)).page).toBe(2);
    for (const [index, value] of [
      [0, 1],
      [2, '1'],
      [3, 1.5],
      [4, "3') --"],
      [2, -1],
      [3, -1],
      [3, 2 ** 53],
      [4, String(2n ** 64n)],
      [4, '9'.repeat(20)],
      [5, 'short'],
      [5, 'z'.repeat(88)],
      [5, '1'.repeat(63)],
      [5, '1'.repeat(65)],
      [6, -1],
      [6, 2 ** 32],
      [7, 0],
      [7, -5],
      [7, 2 ** 32],
      [6, null],
      [7, {}],
      [8, '7'],
      [8, -1],
      [8, 2 ** 32],
      [8, 1.5],
    ] as const) {
      expect(() => decodeCursor(PATH, forge(good.with(index, value)))).toThrow(HistoryError);
    }
    expect(() => decodeCursor(PATH, forge(good.slice(0, -1)))).toThrow(HistoryError);
  });
});
