// The oracle in force: each condition at the last value that meets it and the first that does not.

import { describe, expect, it } from 'vitest';
import type { BookMarket, BookOracle } from '../../schemas/index.ts';
import { marketOf, oracleOf } from '../../test/support/processors/book/messages.ts';
import { marketMakerOracle, quotingOracle } from './index.ts';

const PRICE = 100_000_000n;

function isInForce(market: Partial<BookMarket>, exchange: Partial<BookOracle> = {}): boolean {
  return oraclesOf(market, exchange).own !== null;
}

/** A market-maker price that meets every condition, but for the given members. */
function oraclesOf(terms: Partial<BookMarket>, exchange: Partial<BookOracle>) {
  const near = { mmOraclePrice: PRICE, mmOracleSlot: 50n, lastOraclePriceTwap5Min: PRICE };
  const market = marketOf({ ...near, ...terms }).value as BookMarket;
  const oracle = oracleOf({ price: PRICE, oracleSlot: 50n, confidence: 4_000n, ...exchange }).value as BookOracle;
  return { market, oracle, own: marketMakerOracle(market, oracle) };
}

describe('the market-maker oracle', () => {
  it('is not in force without a price, and never for a spot market', () => {
    expect(isInForce({})).toBe(true);
    expect(isInForce({ mmOraclePrice: 0n })).toBe(false);
    expect(isInForce({ marketType: 'spot' })).toBe(false);
  });

  it('may be 1 % off the exchange oracle, counted in whole millionths', () => {
    expect(isInForce({ mmOraclePrice: 101_000_000n })).toBe(true);
    expect(isInForce({ mmOraclePrice: 101_000_099n })).toBe(true);
    expect(isInForce({ mmOraclePrice: 101_000_100n })).toBe(false);
    expect(isInForce({ mmOraclePrice: 98_999_901n })).toBe(true);
    expect(isInForce({ mmOraclePrice: 98_999_900n })).toBe(false);
  });

  it('must be less than 50 % off the 5-minute TWAP, whatever smaller guard rail the exchange has', () => {
    for (const oracleTwap5MinPercentDivergence of [null, 0n, 100_000n, 500_000n]) {
      const rail = { oracleTwap5MinPercentDivergence };
      expect(isInForce({ ...rail, lastOraclePriceTwap5Min: 200_000_000n })).toBe(false);
      expect(isInForce({ ...rail, lastOraclePriceTwap5Min: 199_999_999n })).toBe(true);
      expect(isInForce({ ...rail, lastOraclePriceTwap5Min: 66_666_666n })).toBe(false);
      expect(isInForce({ ...rail, lastOraclePriceTwap5Min: 66_666_667n })).toBe(true);
    }
  });

  it('may be further off the 5-minute TWAP where the guard rail of the exchange is wider', () => {
    const rail = { oracleTwap5MinPercentDivergence: 800_000n };
    expect(isInForce({ ...rail, lastOraclePriceTwap5Min: 55_555_556n })).toBe(true);
    expect(isInForce({ ...rail, lastOraclePriceTwap5Min: 55_555_555n })).toBe(false);
    expect(isInForce({ ...rail, lastOraclePriceTwap5Min: 499_999_999n })).toBe(true);
    expect(isInForce({ ...rail, lastOraclePriceTwap5Min: 500_000_000n })).toBe(false);
  });

  it('must be as recent as the exchange oracle: by slot where a sequence is missing', () => {
    const slots = (mmOracleSlot: bigint) => isInForce({ mmOracleSlot, mmOracleSequenceId: 7n }, { sequenceId: null });
    expect([slots(49n), slots(50n), slots(51n)]).toEqual([false, true, true]);
    const silent = (mmOracleSlot: bigint) => isInForce({ mmOracleSlot, mmOracleSequenceId: 0n }, { sequenceId: 9n });
    expect([silent(49n), silent(50n)]).toEqual([false, true]);
  });

  it('must be as recent as the exchange oracle: by sequence within 1/10,000 of each other, else by slot', () => {
    const sequenceId = 1_000_000n;
    const at = (mmOracleSequenceId: bigint, mmOracleSlot: bigint) =>
      isInForce({ mmOracleSequenceId, mmOracleSlot }, { sequenceId });
    // The slots would decide the opposite.
    expect([at(999_999n, 51n), at(1_000_000n, 49n), at(1_000_001n, 49n)]).toEqual([false, true, true]);
    expect([at(999_900n, 51n), at(1_000_100n, 49n)]).toEqual([false, true]);
    expect([at(999_899n, 51n), at(999_899n, 49n)]).toEqual([true, false]);
    expect([at(1_000_101n, 51n), at(1_000_101n, 49n)]).toEqual([true, false]);
  });

  it('is as uncertain as the exchange oracle and its distance from it together, for readers and for the vAMM', () => {
    const { market, oracle, own } = oraclesOf({ mmOraclePrice: 99_500_000n }, {});
    expect(own).toEqual({
      price: 99_500_000n,
      slot: 50n,
      confidence: 504_000n,
      hasSufficientNumberOfDataPoints: true,
      twap: null,
      twapConfidence: null,
      maxPrice: null,
    });
    expect(quotingOracle(market, oracle)).toEqual({ price: 99_500_000n, slot: 50n, confidence: 504_000n, ts: null });
  });

  it('leaves the vAMM with the exchange oracle where it is not in force', () => {
    const { market, oracle } = oraclesOf({ mmOraclePrice: 0n }, { publishTs: 5n });
    expect(quotingOracle(market, oracle)).toEqual({ price: PRICE, slot: 50n, confidence: 4_000n, ts: 5n });
  });
});
