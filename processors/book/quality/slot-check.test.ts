// The rule of the kill switch at its boundary, and its exempt markets.

import { Registry } from 'prom-client';
import { describe, expect, it, vi } from 'vitest';
import { type Config, ConfigError, HEALTH, judgeHealth, metricTotal, readConfig } from '../../../platform/index.ts';
import type { MarketRef } from '../../../schemas/index.ts';
import { beginOf, endOf, marketOf, oracleOf, PERP } from '../../../test/support/processors/book/messages.ts';
import { BookEngine } from '../index.ts';
import { SlotCheck } from './slot-check.ts';

const SPOT: MarketRef = { marketType: 'spot', marketIndex: 3 };

function checkOf(settings: Partial<Config> = {}) {
  const metrics = new Registry();
  const logger = { error: vi.fn(), info: vi.fn() };
  const check = new SlotCheck({ config: readConfig({}, settings), logger: logger as never, metrics });
  return { check, logger, metrics, status: () => metricTotal(metrics, 'health_status') };
}

/** A book at one slot with an oracle at another. */
function bookAt(slot: number, oracleSlot: bigint, oracleSource = 'pythLazer', ref = PERP): BookEngine {
  const engine = new BookEngine(ref);
  engine.apply(marketOf({ slot, oracleSource }));
  engine.apply(oracleOf({ slot, oracleSlot }));
  return engine;
}

describe('slots between a book and its oracle', () => {
  it.each([
    [1_000, 800n, 0],
    [1_000, 799n, 4],
    [1_000, 1_200n, 0],
    [1_000, 1_201n, 4],
  ])('book at %i, oracle at %i: health_status is %i', async (slot, oracleSlot, code) => {
    const { check, status } = checkOf();
    expect(await status()).toBe(0);
    check.judge(bookAt(slot, oracleSlot));
    expect(await status()).toBe(code);
  });

  it('are logged at the beginning and the end of too many, and 4 lasts while any book is apart', async () => {
    const { check, logger, status } = checkOf();
    const spot = (oracleSlot: bigint) => bookAt(1_000, oracleSlot, 'pythLazer', SPOT);
    for (const slot of [1_000, 1_001, 1_002]) check.judge(bookAt(slot, 1n));
    check.judge(spot(1n));
    expect(logger.error.mock.calls.map(([change]) => change)).toEqual([
      { market: 'perp-0', bookSlot: 1_000, oracleSlot: 1 },
      { market: 'spot-3', bookSlot: 1_000, oracleSlot: 1 },
    ]);
    check.judge(bookAt(1_003, 1_003n));
    expect(await status()).toBe(4);
    for (const oracleSlot of [999n, 1_000n]) check.judge(spot(oracleSlot));
    expect(await status()).toBe(0);
    expect(logger.info.mock.calls.map(([change]) => change.market)).toEqual(['perp-0', 'spot-3']);
  });

  it('do not count before the launch, for the quote asset, during a whole read, or without an oracle', async () => {
    const { check, status } = checkOf();
    check.judge(bookAt(1_000, 1n, 'prelaunch'));
    check.judge(bookAt(1_000, 1n, 'quoteAsset', SPOT));
    check.judge(new BookEngine(PERP));
    const engine = bookAt(1_000, 1n);
    engine.apply(beginOf(1_001));
    check.judge(engine);
    expect(await status()).toBe(0);
    engine.apply(endOf(1_001));
    check.judge(engine);
    expect(await status()).toBe(4);
  });

  it.each([
    [{ perpMarketsToSkipSlotCheck: '0' }, [0, 4]],
    [{ spotMarketsToSkipSlotCheck: '1, 3' }, [4, 0]],
    // A list of one type leaves the other type unserved.
    [{ perpMarketsToLoad: '0' }, [4, 0]],
    [{ perpMarketsToLoad: '1', spotMarketsToLoad: '3' }, [0, 4]],
    [{ killswitchSlotDiffThreshold: 999 }, [0, 0]],
    [{ killswitchSlotDiffThreshold: 998 }, [4, 4]],
  ])('with %o do not count in markets that are left out', async (settings, codes) => {
    const judged = [bookAt(1_000, 1n), bookAt(1_000, 1n, 'pythLazer', SPOT)].map(async (engine) => {
      const { check, status } = checkOf(settings);
      check.judge(engine);
      return status();
    });
    expect(await Promise.all(judged)).toEqual(codes);
    expect(() => checkOf({ spotMarketsToSkipSlotCheck: 'SOL' })).toThrow(ConfigError);
  });

  it('share the gauge with other health causes: the highest code counts', async () => {
    const { check, metrics, status } = checkOf();
    let isStalled = true;
    judgeHealth(metrics, () => (isStalled ? HEALTH.slotsStalled : HEALTH.ok));
    expect(await status()).toBe(2);
    check.judge(bookAt(1_000, 1n));
    expect(await status()).toBe(4);
    isStalled = false;
    check.judge(bookAt(1_001, 1_001n));
    expect(await status()).toBe(0);
  });
});
