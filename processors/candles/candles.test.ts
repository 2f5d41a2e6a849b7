// The reducer against a naive recomputation: any order, repeats, batches, restarts.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CANDLE_RESOLUTIONS } from '../../schemas/index.ts';
import {
  fromMinutes,
  type NaiveFill,
  type NaiveSample,
  naiveCandles,
  naiveFill,
  naiveWindow,
} from '../../test/support/processors/candles/naive.ts';
import { Run, type TestRecord } from '../../test/support/processors/candles/records.ts';
import { fillEvent } from '../../test/support/processors/history/events.ts';

const DAY = 86_400;
/** 2024-11-30 22:00, a Saturday: a month ends two hours later, a week a day after that. */
const START = 1_733_004_000;
const SPREAD = 27 * 3600;

const fills = (...list: readonly NaiveFill[]): TestRecord[] => list.map((fill) => ({ fill }));
const sampleAt = (ts: number, price: number): TestRecord => ({
  sample: { ts, slot: ts * 2, price: BigInt(price), high: BigInt(price), low: BigInt(price) },
});

const timeOf = (spread: number) => fc.oneof(fc.nat(spread), fc.nat(600), fc.nat(120)).map((offset) => START + offset);
const EXPLANATIONS = ['orderFilledWithMatch', 'orderFilledWithAmm', 'liquidation', 'transferPerpPosition'];

const someFills = fc
  .array(
    fc.record({
      ts: timeOf(SPREAD),
      base: fc.bigInt({ min: 2n ** 20n, max: 2n ** 63n }),
      quote: fc.oneof(fc.bigInt({ min: 0n, max: 2n ** 40n }), fc.constant(1_500_000n)),
      oracle: fc.bigInt({ min: 1n, max: 1000n }),
      explanation: fc.constantFrom(...EXPLANATIONS),
    }),
    { maxLength: 25 },
  )
  .chain((list) =>
    fc
      .shuffledSubarray(
        list.map((_, index) => index + 1),
        { minLength: list.length },
      )
      .map((ids) => list.map((fill, index): NaiveFill => ({ ...fill, id: ids[index] ?? 0, slot: fill.ts * 2 }))),
  );
const someSamples = fc
  .array(fc.record({ ts: timeOf(SPREAD), price: fc.integer({ min: 1, max: 1000 }), wide: fc.nat(50) }), {
    maxLength: 15,
  })
  .map((list) =>
    list.map(
      ({ ts, price, wide }, index): NaiveSample => ({
        ts,
        slot: ts * 2 + index * 1_000_000_000,
        price: BigInt(price),
        high: BigInt(price + wide),
        low: BigInt(price - wide),
      }),
    ),
  );

/** Records in any order with repeats, and the indexes of batch ends and restarts. */
const scenario = fc.record({ fills: someFills, samples: someSamples }).chain(({ fills: list, samples }) => {
  const records: TestRecord[] = [...list.map((fill) => ({ fill })), ...samples.map((sample) => ({ sample }))];
  return fc.record({
    input: fc.constant({ fills: list, samples }),
    order: fc
      .array(fc.nat(Math.max(records.length - 1, 0)), { maxLength: 10 })
      .chain((again) =>
        fc.shuffledSubarray(
          [...records.keys(), ...again.filter((index) => index < records.length).map((index) => index)],
          {
            minLength: records.length + again.filter((index) => index < records.length).length,
          },
        ),
      )
      .map((order) => order.flatMap((index) => records[index] ?? [])),
    batch: fc.integer({ min: 1, max: 12 }),
    restartEvery: fc.integer({ min: 1, max: 4 }),
  });
});

describe('candles', () => {
  it('equal a naive recomputation whatever the order, repeats, batches and restarts', () => {
    fc.assert(
      fc.property(scenario, ({ input, order, batch, restartEvery }) => {
        const run = new Run();
        for (let at = 0, count = 1; at < order.length; at += batch, count++) {
          run.batch(order.slice(at, at + batch));
          if (count % restartEvery === 0) run.restart();
        }
        expect(run.parked).toEqual([]);
        for (const resolution of CANDLE_RESOLUTIONS) {
          expect(run.candlesOf(resolution)).toEqual(naiveCandles(input, resolution));
        }
        if (order.length > 0) expect(run.summaries.get(0)).toMatchObject(naiveWindow(input));
      }),
      { numRuns: 25 },
    );
  });

  it('of longer resolutions equal sums of one-minute candles', () => {
    fc.assert(
      fc.property(scenario, ({ order }) => {
        const run = new Run();
        run.batch(order);
        const minutes = run.candlesOf('1');
        for (const resolution of CANDLE_RESOLUTIONS)
          expect(run.candlesOf(resolution)).toEqual(fromMinutes(minutes, resolution));
      }),
      { numRuns: 12 },
    );
  });

  it('are published once per batch, with a growing version', () => {
    const run = new Run();
    const first = run.batch(fills(naiveFill(1, START, 100), naiveFill(2, START + 1, 110)));
    expect(first).toHaveLength(CANDLE_RESOLUTIONS.length);
    const second = run.batch(fills(naiveFill(3, START + 2, 90)));
    expect(second.map(({ resolution }) => resolution)).toEqual([...CANDLE_RESOLUTIONS]);
    for (const [index, candle] of second.entries()) expect(candle.version).toBeGreaterThan(first[index]?.version ?? 0n);
    expect(run.batch(fills(naiveFill(3, START + 2, 90)))).toEqual([]);
  });

  it('continue with versions above those of a killed run', () => {
    const run = new Run();
    run.batch(fills(naiveFill(1, START, 100)));
    const [lost] = run.batch([]);
    expect(lost).toBeUndefined();
    const [before] = run.batch(fills(naiveFill(2, START + 1, 100), naiveFill(3, START + 2, 100)));
    run.restart();
    const [after] = run.batch(fills(naiveFill(4, START + 3, 100)));
    expect(after?.version).toBeGreaterThan((before?.version ?? 0n) + 1000n);
  });

  it('do not exist while a market has only liquidations and transfers', () => {
    const run = new Run();
    const candles = run.batch([
      sampleAt(START, 100),
      sampleAt(START + 120, 100),
      ...fills(
        naiveFill(1, START, 100, { explanation: 'liquidation' }),
        naiveFill(2, START, 100, { explanation: 'transferPerpPosition' }),
      ),
    ]);
    expect(candles).toEqual([]);
    expect(run.summaries.get(0)).toMatchObject({ trades24h: 1, quoteVolume24h: 100n, lastFillPrice: null });
  });

  it('fill missed boundaries flat, one by one, as soon as time passes', () => {
    const run = new Run();
    run.batch(fills(naiveFill(1, START, 100)));
    const candles = run.batch([sampleAt(START + 185, 107)]);
    const minutes = candles.filter(({ resolution }) => resolution === '1');
    expect(minutes.map(({ ts, fillClose, trades }) => [ts - START, fillClose, trades])).toEqual([
      [60, 100n, 0],
      [120, 100n, 0],
      [180, 100n, 0],
    ]);
    expect(minutes.map(({ oracleOpen, oracleClose }) => [oracleOpen, oracleClose])).toEqual([
      [101n, 101n],
      [101n, 101n],
      [101n, 107n],
    ]);
  });

  it('of quiet minutes, and the open after them, follow a late fill that closes its minute', () => {
    const run = new Run();
    run.batch(fills(naiveFill(1, START, 100), naiveFill(5, START + 180, 200), naiveFill(6, START + 240, 210)));
    const candles = run.batch(fills(naiveFill(2, START + 59, 50)));
    const minutes = candles.filter(({ resolution }) => resolution === '1');
    expect(minutes.map(({ ts, fillOpen, fillLow, fillClose }) => [ts - START, fillOpen, fillLow, fillClose])).toEqual([
      [0, 100n, 50n, 50n],
      [60, 50n, 50n, 50n],
      [120, 50n, 50n, 50n],
      [180, 50n, 50n, 200n],
    ]);
  });

  it('of a minute keep their close when a fill with a lower id comes late', () => {
    const run = new Run();
    run.batch(fills(naiveFill(5, START, 100), naiveFill(9, START + 1, 110)));
    const [candle] = run.batch(fills(naiveFill(7, START + 30, 300)));
    expect(candle).toMatchObject({ fillOpen: 100n, fillHigh: 300n, fillClose: 110n, trades: 3, quoteVolume: 510n });
  });

  it('drop minutes behind the horizon and park older fills', () => {
    const run = new Run();
    const late = START + 45 * DAY;
    run.batch(fills(naiveFill(1, START, 100), naiveFill(3, START + 50 * DAY, 300)));
    run.restart();
    run.batch(fills(naiveFill(2, late, 200), naiveFill(4, START + 60, 400), naiveFill(1, START, 100)));
    expect(run.parked.map(({ reason }) => reason)).toEqual(['candle-late-fill']);
    const input = {
      fills: [naiveFill(1, START, 100), naiveFill(2, late, 200), naiveFill(3, START + 50 * DAY, 300)],
      samples: [],
    };
    for (const resolution of ['60', '240', 'D', 'W', 'M'] as const) {
      expect(run.candlesOf(resolution)).toEqual(naiveCandles(input, resolution));
    }
  });

  it('leave out small fills far from the oracle, and fills of blocked makers, when the filter is set', () => {
    const far = (id: number, price: number, quote: bigint) =>
      naiveFill(id, START + id, price, { base: (quote * 10n ** 9n) / BigInt(price), quote, oracle: 1_000_000n });
    const list = [
      far(1, 1_000_000, 10n ** 6n),
      far(2, 1_030_000, 103n * 10n ** 6n),
      far(3, 1_040_000, 104n * 10n ** 6n),
      far(5, 960_000, 960n * 10n ** 6n),
    ];
    const closes = (filter?: ConstructorParameters<typeof Run>[0]) => {
      const run = new Run(filter);
      return list.map((fill) => {
        run.batch(fills(fill));
        return Number(run.candlesOf('M')[0]?.fillClose ?? 0);
      });
    };
    const rules = { belowQuote: 250n * 10n ** 6n, exemptMarkets: new Set<number>(), blockedMakers: new Set<string>() };
    expect(closes()).toEqual([1_000_000, 1_030_000, 1_040_000, 960_000]);
    expect(closes(rules)).toEqual([1_000_000, 1_030_000, 1_030_000, 960_000]);
    expect(closes({ ...rules, exemptMarkets: new Set([0]) })).toEqual([1_000_000, 1_030_000, 1_040_000, 960_000]);
    const maker = fillEvent(2).data.maker;
    const blockedMakers = new Set([Buffer.from(maker instanceof Uint8Array ? maker : []).toString('hex')]);
    expect(closes({ ...rules, belowQuote: 0n, blockedMakers })).toEqual([1_000_000, 1_000_000, 1_040_000, 960_000]);
  });

  it('refuse a time far ahead of the market', () => {
    const run = new Run();
    run.batch(fills(naiveFill(1, START, 100)));
    run.batch([sampleAt(START + 3_700 * DAY, 1), ...fills(naiveFill(2, START + 1, 120))]);
    expect(run.parked.map(({ reason }) => reason)).toEqual(['candle-time']);
    expect(run.summaries.get(0)?.ts).toBe(START + 1);
  });
});
