import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { openEventLog, readConfig, silentLogger } from '../../platform/index.ts';
import {
  decodeMessage,
  encodeMessage,
  type MessageName,
  type MessageTypes,
  type PnlRanking,
  type PositionMarket,
  type PositionState,
  partitionOf,
  TOPICS,
} from '../../schemas/index.ts';
import { eventually } from '../../test/support/platform/eventually.ts';
import { naiveRanking } from '../../test/support/processors/rankings/naive.ts';
import { market, PERP, position } from '../../test/support/processors/rankings/positions.ts';
import { PartitionRankings, type RankingOutput } from './partition.ts';
import { excessOf } from './pnl.ts';
import { RANKINGS_GROUP, startRankings } from './role.ts';

type Step = { [N in MessageName]: { readonly name: N; readonly value: MessageTypes[N] } }[MessageName];
const held = (value: PositionState): Step => ({ name: 'PositionState', value });
const state = (value: PositionMarket): Step => ({ name: 'PositionMarket', value });
const tick = (slot: number): Step => ({ name: 'BookSlot', value: { slot } });
const begin: Step = { name: 'BookSnapshotBegin', value: { ...PERP, snapshotSlot: 1 } };
const end: Step = { name: 'BookSnapshotEnd', value: { ...PERP, snapshotSlot: 1 } };
const bytes = ({ name, value }: Step) => encodeMessage(name, value as never);

function feed(rankings: PartitionRankings, steps: readonly Step[]): RankingOutput[] {
  const outputs: RankingOutput[] = [];
  for (const step of steps) rankings.apply({ offset: 0n, value: bytes(step) }, outputs);
  return outputs;
}

function rankingOf(output: RankingOutput | undefined): PnlRanking {
  const message = output && decodeMessage(output.value);
  if (message?.name !== 'PnlRanking') throw new Error(`not a ranking: ${message?.name}`);
  return message.value;
}

const hex = (ranking: PnlRanking) => {
  const side = (users: PnlRanking['gainers']) =>
    users.map(({ user, pnl }) => ({ user: Buffer.from(user).toString('hex'), pnl }));
  return { gainers: side(ranking.gainers), losers: side(ranking.losers) };
};
const inWholeUnits = (ranking: PnlRanking) => {
  const side = (users: PnlRanking['gainers']) => users.map(({ user, pnl }) => [(user[0] ?? 0) - 1, Number(pnl) / 1e6]);
  return { gainers: side(ranking.gainers), losers: side(ranking.losers) };
};

describe('ranking of claimable P&L', () => {
  it('ranks users with claimable P&L other than 0, in both lists while there are fewer than 40', () => {
    const [a, b, c, d] = [0, 1, 2, 3];
    const outputs = feed(new PartitionRankings(0), [
      state(market()),
      held(position(a + 1, { quoteAssetAmount: 5_000_000n })),
      held(position(b + 1, { quoteAssetAmount: -3_000_000n })),
      held(position(c + 1, { baseAssetAmount: 1_000_000_000n, quoteAssetAmount: -100_000_000n })),
      held(position(d + 1, { quoteAssetAmount: 1_000_000n })),
      tick(5),
    ]);
    expect(outputs).toHaveLength(1);
    expect(rankingOf(outputs[0]).slot).toBe(5);
    expect(inWholeUnits(rankingOf(outputs[0]))).toEqual({
      gainers: [
        [a, 5],
        [d, 1],
        [b, -3],
      ],
      losers: [
        [b, -3],
        [d, 1],
        [a, 5],
      ],
    });
  });

  it('counts unpaid funding by the side of the position', () => {
    const steps = [
      state(market({ cumulativeFundingRateLong: 2_000_000_000n, cumulativeFundingRateShort: -1_000_000_000n })),
      held(position(1, { baseAssetAmount: 1_000_000_000n, quoteAssetAmount: -101_000_000n })),
      held(position(2, { baseAssetAmount: -1_000_000_000n, quoteAssetAmount: 99_000_000n })),
      tick(1),
    ];
    const ranking = rankingOf(feed(new PartitionRankings(0), steps)[0]);
    expect(inWholeUnits(ranking).losers).toEqual([
      [0, -3],
      [1, -2],
    ]);
  });

  it('caps a gain by its surplus and the excess of the pools, and a loss by nothing', () => {
    const poor = market({ netQuoteAssetAmount: 50_000_000n });
    const rich = market({ pnlPoolScaledBalance: 1_000_000_000n, feePoolScaledBalance: 10_000_000_000n });
    expect(excessOf(poor)).toBe(0n);
    expect(excessOf(rich)).toBe(3_000_000n);
    const gain = { baseAssetAmount: 1_000_000_000n, quoteAssetAmount: -60_000_000n, quoteEntryAmount: -62_000_000n };
    const rankings = new PartitionRankings(0);
    const first = feed(rankings, [
      held(position(1, gain)),
      held(position(2, { ...gain, quoteEntryAmount: 0n })),
      held(position(3, { quoteAssetAmount: -7_000_000n })),
      state(poor),
      tick(1),
    ]);
    expect(inWholeUnits(rankingOf(first[0])).gainers).toEqual([
      [0, 2],
      [2, -7],
    ]);
    const second = feed(rankings, [state(rich), tick(2)]);
    expect(inWholeUnits(rankingOf(second[0])).gainers).toEqual([
      [0, 5],
      [1, 3],
      [2, -7],
    ]);
  });

  it('is published once for a slot with changes, and not for a slot without', () => {
    const rankings = new PartitionRankings(0);
    expect(feed(rankings, [held(position(1, { quoteAssetAmount: 1n })), tick(1)])).toEqual([]);
    const outputs = feed(rankings, [
      state(market()),
      state(market({ oraclePrice: 2n })),
      held(position(1, { quoteAssetAmount: 2n })),
      tick(2),
      tick(3),
      held(position(1)),
      tick(4),
    ]);
    expect(outputs.map((output) => rankingOf(output).slot)).toEqual([2, 4]);
    expect(rankingOf(outputs[1]).gainers).toEqual([]);
  });

  it('removes positions that a whole read lacks, and publishes nothing midway', () => {
    const rankings = new PartitionRankings(0);
    const one = held(position(1, { quoteAssetAmount: -1n }));
    const two = held(position(2, { quoteAssetAmount: -2n }));
    feed(rankings, [state(market()), one, two, tick(1)]);
    expect(feed(rankings, [begin, two, tick(2)])).toEqual([]);
    expect(rankings.isWhole).toBe(false);
    const outputs = feed(rankings, [end, tick(3)]);
    expect(rankings.isWhole).toBe(true);
    expect(rankingOf(outputs[0]).losers.map(({ pnl }) => pnl)).toEqual([-2n]);
  });

  it('parks unreadable records and continues', () => {
    const rankings = new PartitionRankings(0);
    const outputs: RankingOutput[] = [];
    rankings.apply({ offset: 7n, value: Uint8Array.of(1, 2, 3) }, outputs);
    rankings.apply({ offset: 8n, value: encodeMessage('DeadLetter', letter) }, outputs);
    expect(outputs.map(({ kind }) => kind)).toEqual(['dead', 'dead']);
    expect(decodeMessage(outputs[0]?.value ?? new Uint8Array(0)).value).toMatchObject({
      reason: 'position-record',
      origin: 'positions/0/7',
    });
  });
});

const letter = { reason: 'x', detail: '', slot: 0, origin: '', bytes: new Uint8Array(0) };

const amount = (digits: number) =>
  fc.oneof(
    fc.constantFrom(0n, 1n, -1n),
    fc.bigInt({ min: -(10n ** BigInt(digits)), max: 10n ** BigInt(digits) }),
    fc.bigInt({ min: -20n, max: 20n }),
  );
const anyPosition = fc
  .record({
    user: fc.integer({ min: 1, max: 90 }),
    baseAssetAmount: amount(17),
    quoteAssetAmount: amount(17),
    quoteEntryAmount: amount(17),
    lastCumulativeFundingRate: amount(15),
  })
  .map(({ user, ...members }) => held(position(user, members)));
const anyMarket = fc
  .record({
    oraclePrice: fc.bigInt({ min: 1n, max: 10n ** 12n }),
    cumulativeFundingRateLong: amount(15),
    cumulativeFundingRateShort: amount(15),
    netBaseAssetAmount: amount(18),
    netQuoteAssetAmount: amount(18),
    netUnsettledFundingPnl: amount(12),
    pnlPoolScaledBalance: fc.bigInt({ min: 0n, max: 10n ** 19n }),
    feePoolScaledBalance: fc.bigInt({ min: 0n, max: 10n ** 19n }),
  })
  .map((members) => state(market(members)));

describe('ranking, whatever happens', () => {
  it('equals a naive ranking in exact numbers, also after a restart from saved state', () => {
    const steps = fc.array(fc.oneof({ weight: 6, arbitrary: anyPosition }, anyMarket, fc.constant(tick(0))), {
      minLength: 20,
      maxLength: 250,
    });
    fc.assert(
      fc.property(steps, fc.array(fc.nat({ max: 250 }), { maxLength: 60 }), (sequence, restarts) => {
        const known = new Map<string, PositionState>();
        const saved = new Map<string, Uint8Array>();
        let current: PositionMarket | null = null;
        let isDue = false;
        let rankings = new PartitionRankings(0);
        for (const [at, step] of [...sequence, tick(0)].entries()) {
          const outputs = feed(rankings, [step]);
          if (step.name === 'PositionState') known.set(Buffer.from(step.value.user).toString('hex'), step.value);
          if (step.name === 'PositionMarket') current = step.value;
          if (step.name !== 'BookSlot') isDue = true;
          else {
            expect(outputs.length).toBe(isDue && current ? 1 : 0);
            if (current && outputs[0]) {
              expect(hex(rankingOf(outputs[0]))).toEqual(naiveRanking(known.values(), current));
              isDue = false;
            }
          }
          if (!restarts.includes(at)) continue;
          for (const { key, value } of rankings.takeChanges()) {
            if (value) saved.set(key, value);
            else saved.delete(key);
          }
          // Without a market state no ranking is due.
          if (!current) continue;
          rankings = new PartitionRankings(0);
          for (const [key, value] of saved) rankings.restore(key, value);
        }
      }),
      { numRuns: 150 },
    );
  });
});

describe('ranking of users with equal doubles', () => {
  it('is by exact numbers', () => {
    const price = 99_999_999_977n;
    const rich = market({ oraclePrice: price, pnlPoolScaledBalance: 10n ** 25n });
    const user = fc.record({
      base: fc.bigInt({ min: 10n ** 16n, max: 9n * 10n ** 16n }),
      pnl: fc.integer({ min: -900, max: 900 }),
    });
    fc.assert(
      fc.property(fc.array(user, { minLength: 60, maxLength: 80 }), (users) => {
        const positions = users.map(({ base, pnl }, index) =>
          position(index + 1, { baseAssetAmount: base, quoteAssetAmount: BigInt(pnl) - (base * price) / 10n ** 9n }),
        );
        const outputs = feed(new PartitionRankings(0), [state(rich), ...positions.map(held), tick(1)]);
        expect(hex(rankingOf(outputs[0]))).toEqual(naiveRanking(positions, rich));
      }),
      { numRuns: 40, endOnFailure: true },
    );
  });
});

describe('rankings role', () => {
  it('continues after a restart at its offset, and publishes the same as an uninterrupted role', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'rankings-role-'));
    const config = readConfig({}, { dataDir: folder, logLevel: 'silent' });
    const log = await openEventLog(config, silentLogger());
    const partition = partitionOf(TOPICS.positions, 'perp-0');
    let written = 0n;
    const append = async (steps: readonly Step[]) => {
      await log.append(
        TOPICS.positions,
        steps.map((step) => ({ key: 'perp-0', partition, value: bytes(step) })),
      );
      written += BigInt(steps.length);
    };
    const run = async (atLeast: bigint) => {
      const role = await startRankings({ config, log, logger: silentLogger(), metrics: new Registry() });
      await eventually(async () => {
        const { offsets } = await log.load(RANKINGS_GROUP);
        expect(offsets.get(`positions/${partition}`)).toBe(atLeast);
      });
      await role.stop();
    };
    try {
      await log.ensureTopics([TOPICS.positions]);
      const one = [begin, state(market()), held(position(1, { quoteAssetAmount: -1n })), end, tick(1)];
      const two = [held(position(2, { quoteAssetAmount: -2n })), tick(2), held(position(1)), tick(3)];
      await append(one);
      await run(written);
      await append(two);
      await run(written);
      const expected = feed(new PartitionRankings(partition), [...one, ...two]).map(({ value }) => value);
      const rankings = await log.read(TOPICS.rankingViews, 0, 0n, 100);
      expect(rankings.map(({ value }) => Buffer.from(value))).toEqual(expected);
      expect(rankingOf({ kind: 'ranking', key: '', value: expected.at(-1) ?? Buffer.alloc(0) }).losers).toHaveLength(1);
    } finally {
      await log.close();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
