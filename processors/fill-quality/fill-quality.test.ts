// Rolling means of taker fills: against a naive recount, across restarts, and through the role over a real log.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { openEventLog, readConfig, silentLogger } from '../../platform/index.ts';
import {
  type ChainEvent,
  decodeMessage,
  encodeEvent,
  eventKey,
  type FillQualityView,
  partitionOf,
  TOPICS,
} from '../../schemas/index.ts';
import { eventually } from '../../test/support/platform/eventually.ts';
import { fillEvent } from '../../test/support/processors/history/events.ts';
import { keepPieces } from '../../test/support/processors/keep-pieces.ts';
import { FillError, takerFillOf } from './fill.ts';
import { FillQuality, REFRESH_SECONDS } from './reducer.ts';
import { FILL_QUALITY_GROUP, startFillQuality } from './role.ts';
import { WINDOW_SECONDS } from './window.ts';

const START = 1_790_000_000;

let serial = 0;
/** A fill of one base unit at `price` with the oracle at 100, at `START + seconds`. */
function fill(seconds: number, price: number, data: Record<string, unknown> = {}): ChainEvent {
  serial += 1;
  const event = fillEvent(serial);
  return {
    ...event,
    data: {
      ...event.data,
      ts: BigInt(START + seconds),
      action_explanation: 'orderFilledWithMatch',
      market_index: 0,
      base_asset_amount_filled: 1_000_000_000n,
      quote_asset_amount_filled: BigInt(price),
      taker_order_base_asset_amount: 1_000_000_000n,
      taker_order_direction: 'long',
      oracle_price: 100_000_000n,
      ...data,
    },
  };
}

const tick = (seconds: number): ChainEvent => ({ ...fill(seconds, 1), name: 'FundingRateRecord' });
const cohort = (view: FillQualityView | undefined, name: string) =>
  view?.cohorts.find(({ cohort: found }) => found === name);

describe('a taker fill', () => {
  it('has its distance from the oracle in basis points, positive above it', () => {
    expect(takerFillOf(fill(0, 100_032_500))).toMatchObject({ side: 'buy', microBps: 3_250_000n, cohort: 0 });
    expect(takerFillOf(fill(0, 99_990_000, { taker_order_direction: 'short' }))).toMatchObject({
      side: 'sell',
      microBps: -1_000_000n,
    });
  });

  it.each([
    [9_999_999_999n, 0],
    [10_000_000_000n, 1],
    [99_999_999_999n, 1],
    [100_000_000_000n, 2],
    [1_000_000_000_000n, 3],
    [10_000_000_000_000n, 4],
    [2n ** 64n - 1n, 4],
  ])('of an order of %s base atoms at 100 is in cohort %i', (size, expected) => {
    expect(takerFillOf(fill(0, 100_000_000, { taker_order_base_asset_amount: size }))?.cohort).toBe(expected);
  });

  it.each([
    ['another action', { action: 'place' }],
    ['a spot market', { market_type: 'spot' }],
    ['no taker', { taker: null }],
    ['no direction', { taker_order_direction: null }],
    ['a liquidation', { action_explanation: 'liquidation' }],
    ['a position transfer', { action_explanation: 'transferPerpPosition' }],
    ['no base', { base_asset_amount_filled: 0n }],
    ['no oracle', { oracle_price: 0n }],
  ])('is none with %s', (_what, data) => {
    expect(takerFillOf(fill(0, 100_000_000, data))).toBeNull();
  });

  it('outside the number range of a view is refused', () => {
    const data = { quote_asset_amount_filled: 2n ** 63n, base_asset_amount_filled: 1n, oracle_price: 1n };
    expect(() => takerFillOf(fill(0, 1, data))).toThrow(FillError);
  });
});

describe('the reducer', () => {
  it('publishes the first fill at once and then every few seconds of event time', () => {
    const quality = new FillQuality();
    const [first] = quality.apply(fill(0, 100_010_000));
    expect(cohort(first, 'all')).toEqual({
      cohort: 'all',
      takerBuys: 1,
      takerBuyMicroBps: 1_000_000n,
      takerSells: 0,
      takerSellMicroBps: null,
    });
    expect(first?.updatedAtMs).toBe(START * 1000);
    expect(quality.apply(fill(REFRESH_SECONDS - 1, 100_030_000))).toEqual([]);
    const [second] = quality.apply(tick(REFRESH_SECONDS));
    expect(cohort(second, 'all')?.takerBuyMicroBps).toBe(2_000_000n);
    expect(second?.updatedAtMs).toBe((START + REFRESH_SECONDS) * 1000);
  });

  it('publishes an emptied market once and then deletes it', () => {
    const quality = new FillQuality();
    quality.apply(fill(0, 100_010_000));
    const [last] = quality.apply(tick(WINDOW_SECONDS));
    expect(cohort(last, 'all')?.takerBuyMicroBps).toBeNull();
    expect(quality.apply(tick(WINDOW_SECONDS + 100))).toEqual([]);
    const gone = quality.takeChanges().filter(({ bytes }) => bytes === null);
    expect(gone.map(({ name }) => name.split(':')[0]).sort()).toEqual(['minute', 'published']);
  });

  it('writes the state of a market deleted and added again once', () => {
    const quality = new FillQuality();
    quality.apply(fill(0, 100_010_000));
    quality.takeChanges();
    quality.apply(tick(WINDOW_SECONDS));
    quality.apply(fill(WINDOW_SECONDS, 100_010_000));
    const published = quality.takeChanges().filter(({ name }) => name.startsWith('published:'));
    expect(published.map(({ bytes }) => Buffer.from(bytes ?? []).toString())).toEqual([String(START + WINDOW_SECONDS)]);
  });

  it('counts a late fill inside the window and none beyond it', () => {
    const quality = new FillQuality();
    quality.apply(tick(WINDOW_SECONDS));
    expect(quality.apply(fill(0, 100_010_000))).toEqual([]);
    expect(cohort(quality.apply(fill(1, 100_010_000))[0], 'all')?.takerBuys).toBe(1);
  });

  const step = fc.record({
    seconds: fc.integer({ min: -200, max: 900 }),
    price: fc.integer({ min: 90_000_000, max: 110_000_000 }),
    size: fc.constantFrom(1_000_000_000n, 50_000_000_000n, 20_000_000_000_000n),
    isBuy: fc.boolean(),
    marketIndex: fc.integer({ min: 0, max: 2 }),
  });

  it('equals a recount of the last hour, also after restarts', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.nat(7), (steps, every) => {
        const whole = new FillQuality();
        let broken = new FillQuality();
        const saved = new Map<string, Uint8Array>();
        const fills: ChainEvent[] = [];
        let now = 0;
        for (const [at, { seconds, price, size, isBuy, marketIndex }] of steps.entries()) {
          const when = Math.max(now + seconds, 0);
          const event = fill(when, price, {
            market_index: marketIndex,
            taker_order_base_asset_amount: size,
            taker_order_direction: isBuy ? 'long' : 'short',
          });
          now = Math.max(now, when);
          fills.push(event);
          const views = broken.apply(event);
          expect(views).toEqual(whole.apply(event));
          for (const view of views) expect(view.cohorts).toEqual(recount(fills, view, START + now));
          if (at % (every + 1) !== 0) continue;
          const changes = broken.takeChanges();
          expect(new Set(changes.map(({ name }) => name)).size).toBe(changes.length);
          keepPieces(saved, changes);
          broken = new FillQuality();
          broken.restore([...saved].map(([name, bytes]) => ({ name, bytes })));
        }
      }),
      { numRuns: 60 },
    );
  });
});

/** The same means, computed from every fill. */
function recount(events: readonly ChainEvent[], view: FillQualityView, now: number): FillQualityView['cohorts'] {
  const fills = events
    .map(takerFillOf)
    .filter((one) => one !== null)
    .filter(({ market, seconds }) => market.marketIndex === view.marketIndex && seconds > now - WINDOW_SECONDS);
  const meanOf = (cohortIndex: number | null, side: string) => {
    const some = fills.filter((one) => one.side === side && (cohortIndex === null || one.cohort === cohortIndex));
    if (some.length === 0) return { count: 0, mean: null };
    const total = some.reduce((sum, { microBps }) => sum + microBps, 0n);
    // Distances here are far below 2^53, so a double rounds the exact total correctly.
    const mean = Math.sign(Number(total)) * Math.round(Math.abs(Number(total)) / some.length);
    return { count: some.length, mean: BigInt(mean) };
  };
  return ['all', '1e0', '1e3', '1e4', '1e5', '1e6'].map((name, index) => {
    const buys = meanOf(index === 0 ? null : index - 1, 'buy');
    const sells = meanOf(index === 0 ? null : index - 1, 'sell');
    return {
      cohort: name,
      takerBuys: buys.count,
      takerBuyMicroBps: buys.mean,
      takerSells: sells.count,
      takerSellMicroBps: sells.mean,
    };
  });
}

describe('the fill-quality role', () => {
  it('counts each fill once, also when a restart repeats it, and parks unreadable records', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'fill-quality-'));
    const config = readConfig({}, { dataDir: folder, logLevel: 'silent' });
    const log = await openEventLog(config, silentLogger());
    const partition = partitionOf(TOPICS.events, 'perp-0');
    const caughtUp = (next: bigint) =>
      eventually(async () => {
        const { offsets } = await log.load(FILL_QUALITY_GROUP);
        expect(offsets.get(`${TOPICS.events.name}/${partition}`)).toBe(next);
      });
    try {
      await log.ensureTopics([TOPICS.events]);
      const feed = (...events: readonly ChainEvent[]) =>
        log.append(
          TOPICS.events,
          events.map((event) => ({ key: eventKey(event), value: encodeEvent(event) })),
        );
      const start = () => startFillQuality({ config, log, logger: silentLogger(), metrics: new Registry() });
      const first = fill(0, 100_010_000);
      const second = fill(60, 100_030_000);
      await feed(first, first);
      await log.append(TOPICS.events, [{ key: 'perp-0', value: Buffer.from('no record') }]);
      const before = await start();
      await caughtUp(3n);
      await before.stop();
      await feed(first, second);
      const after = await start();
      await caughtUp(5n);
      await after.stop();
      const records = await log.read(TOPICS.fillQualityViews, 0, 0n, 100);
      const views = records.map(({ value }) => decodeMessage(value));
      const newest = views.at(-1);
      if (newest?.name !== 'FillQualityView') throw new Error('no view was published');
      expect(cohort(newest.value, 'all')).toMatchObject({ takerBuys: 2, takerBuyMicroBps: 2_000_000n });
      expect((await log.bounds(TOPICS.deadLetters, 0)).next).toBe(1n);
    } finally {
      await log.close();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
