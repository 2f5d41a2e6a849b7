// Retractions against a naive recomputation that never saw the dropped fills: any order, repeats, kills, ids used twice.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CANDLE_RESOLUTIONS } from '../../schemas/index.ts';
import {
  type NaiveFill,
  type NaiveSample,
  naiveCandles,
  naiveFill,
  naiveWindow,
} from '../../test/support/processors/candles/naive.ts';
import { Run, type TestRecord } from '../../test/support/processors/candles/records.ts';
import { FillIds } from './fill-ids.ts';

/** 2024-11-30 22:00, a Saturday: a month ends two hours later, a week a day after that. */
const START = 1_733_004_000;
const SPREAD = 27 * 3600;
/** Transactions and slots of dropped fills begin here. */
const DROPPED = 5_000_000_000;

/** Each sample has a slot of its own. */
const sampleOf = (number: number, ts: number, price: number): NaiveSample => {
  return { ts, slot: ts * 100 + number, price: BigInt(price), high: BigInt(price + 3), low: BigInt(price - 3) };
};

/** A fill of a slot that the chain drops. */
const droppedOf = (number: number, fill: NaiveFill): NaiveFill => {
  return { ...fill, slot: DROPPED + number, transaction: 1_000 + number };
};

type Step = TestRecord | { readonly retract: NaiveFill; readonly isKilled: boolean };

async function play(run: Run, steps: readonly Step[], restartEvery: number): Promise<void> {
  for (const [index, step] of steps.entries()) {
    if ('retract' in step) {
      const { slot, transaction = 0 } = step.retract;
      expect(await run.retract(slot, transaction, step.isKilled)).toBe(true);
      if (step.isKilled) await run.retract(slot, transaction);
    } else run.batch([step]);
    if (index % restartEvery === 0) run.restart();
  }
}

const EXPLANATIONS = ['orderFilledWithMatch', 'orderFilledWithMatch', 'liquidation', 'transferPerpPosition'];
const someFill = fc.record({
  at: fc.oneof(fc.nat(SPREAD), fc.nat(600), fc.nat(120)),
  price: fc.integer({ min: 10, max: 1_000 }),
  explanation: fc.constantFrom(...EXPLANATIONS),
});

const scenario = fc
  .record({
    kept: fc.array(someFill, { maxLength: 15 }),
    samples: fc.array(fc.record({ at: fc.nat(SPREAD), price: fc.integer({ min: 10, max: 1_000 }) }), { maxLength: 8 }),
    dropped: fc.array(fc.record({ fill: someFill, id: fc.nat(20), isKilled: fc.boolean(), landsAgain: fc.boolean() }), {
      minLength: 1,
      maxLength: 8,
    }),
    again: fc.nat(3),
  })
  .chain(({ kept, samples, dropped, again }) => {
    const fills = kept.map(({ at, price, explanation }, n) =>
      naiveFill(n + 1, START + 60 + at, price, { explanation }),
    );
    const ticks = samples.map(({ at, price }, n) => sampleOf(n, START + at, price));
    // Their ids are partly those of kept fills: the chain gives the ids of a dropped slot again.
    const gone = dropped.map(({ fill: { at, price, explanation }, id }, n) =>
      droppedOf(n, naiveFill(id + 1, START + 60 + at, price, { explanation })),
    );
    // Some of the transactions landed again, in a later slot and with an id of their own.
    const landed = gone
      .filter((_, n) => dropped[n]?.landsAgain)
      .map((fill, n) => ({ ...fill, slot: fill.slot + 100, id: 500 + n }));
    const retractions = gone.map((retract, n) => ({ retract, isKilled: dropped[n]?.isKilled ?? false }));
    const last = sampleOf(99, START + 60 + SPREAD, 100);
    const steps: Step[] = [
      ...[...fills, ...landed, ...gone].map((fill) => ({ fill })),
      ...ticks.map((sample) => ({ sample })),
      ...retractions,
      ...retractions.slice(0, again),
    ];
    return fc.record({
      input: fc.constant({ fills: [...fills, ...landed], samples: [...ticks, last] }),
      steps: fc
        .shuffledSubarray([...steps.keys()], { minLength: steps.length })
        .map((order): Step[] => [...order.flatMap((at) => steps[at] ?? []), { sample: last }]),
      restartEvery: fc.integer({ min: 1, max: 5 }),
    });
  });

describe('retractions', () => {
  it('leave the candles of a market that never had the dropped fills', async () => {
    await fc.assert(
      fc.asyncProperty(scenario, async ({ input, steps, restartEvery }) => {
        const run = new Run();
        await play(run, steps, restartEvery);
        for (const resolution of CANDLE_RESOLUTIONS) {
          expect(run.candlesOf(resolution)).toEqual(naiveCandles(input, resolution));
        }
        expect(run.summaries.get(0)).toMatchObject(naiveWindow(input));
      }),
      { numRuns: 40 },
    );
  });

  it('change nothing when the log lacks a fill of the minute, and say so', async () => {
    const run = new Run();
    const dropped = droppedOf(1, naiveFill(2, START + 5, 900));
    run.batch([{ fill: naiveFill(1, START, 100) }, { fill: dropped }]);
    const before = run.candlesOf('1');
    run.forget(0);
    expect(await run.retract(dropped.slot, dropped.transaction ?? 0)).toBe(false);
    expect(run.candlesOf('1')).toEqual(before);
  });
});

describe('a dropped first fill', () => {
  const dropped = droppedOf(1, naiveFill(1, START, 900));
  const records: TestRecord[] = [
    { fill: dropped },
    { sample: sampleOf(1, START + 60, 400) },
    { fill: naiveFill(2, START + 180, 110) },
    { fill: naiveFill(3, START + 240, 120) },
  ];

  it('takes its candles with it, and the next fill opens the first candle', async () => {
    const run = new Run();
    run.batch(records);
    expect(run.candlesOf('1')).toHaveLength(5);
    expect(await run.retract(dropped.slot, dropped.transaction ?? 0)).toBe(true);
    const [first, ...others] = run.candlesOf('1');
    expect(others).toHaveLength(1);
    expect(first).toMatchObject({ ts: START + 180, fillOpen: 110n, fillLow: 110n, oracleOpen: 111n, oracleLow: 111n });
    expect(run.candlesOf('D')).toMatchObject([{ fillOpen: 110n, fillHigh: 120n, oracleHigh: 121n, trades: 2 }]);
  });

  it('stays when the log lacks the fill with which candles would begin', async () => {
    const run = new Run();
    run.batch(records);
    const before = run.candlesOf('1');
    run.forget(2);
    expect(await run.retract(dropped.slot, dropped.transaction ?? 0)).toBe(false);
    expect(run.candlesOf('1')).toEqual(before);
  });
});

describe('applied fill ids', () => {
  it('can be taken out of a full page and applied again', () => {
    const ids = new FillIds();
    for (let id = 0; id < 3 * 4_096; id++) ids.add(id);
    ids.remove(5_000);
    ids.remove(5_000);
    const again = new FillIds();
    for (const { name, bytes } of ids.takeChanges()) if (bytes) again.restore(name, bytes);
    for (const one of [ids, again]) {
      expect([4_999, 5_000, 5_001, 0, 12_287, 12_288].map((id) => one.has(id))).toEqual([
        true,
        false,
        true,
        true,
        true,
        false,
      ]);
      expect([one.add(5_000), one.add(5_000)]).toEqual([true, false]);
    }
  });
});
