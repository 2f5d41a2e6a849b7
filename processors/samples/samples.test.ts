import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { Registry } from 'prom-client';
import { afterAll, describe, expect, it } from 'vitest';
import { offsetKey, openEventLog, readConfig, silentLogger } from '../../platform/index.ts';
import {
  decodeMessage,
  encodeMessage,
  type MarketSample,
  marketKey,
  partitionOf,
  TOPICS,
} from '../../schemas/index.ts';
import { eventually } from '../../test/support/platform/eventually.ts';
import { ammOf, marketOf, oracleOf, PERP, slotOf } from '../../test/support/processors/book/messages.ts';
import { PartitionSamples } from './partition.ts';
import { SAMPLES_GROUP, startSamples } from './role.ts';

type Input =
  | { readonly kind: 'oracle'; readonly market: number; readonly price: bigint }
  | { readonly kind: 'market'; readonly market: number; readonly long: bigint }
  | { readonly kind: 'time'; readonly slot: number };

const input: fc.Arbitrary<Input> = fc.oneof(
  fc.record({
    kind: fc.constant('oracle' as const),
    market: fc.nat(2),
    price: fc.bigInt({ min: -5n, max: 2n ** 62n }),
  }),
  fc.record({ kind: fc.constant('market' as const), market: fc.nat(2), long: fc.bigInt({ min: 0n, max: 2n ** 90n }) }),
  fc.record({ kind: fc.constant('time' as const), slot: fc.nat(60) }),
);

function bytesOf(one: Input): Buffer {
  if (one.kind === 'time') return encodeMessage('BookTime', { slot: one.slot, ts: one.slot * 2 });
  const message =
    one.kind === 'oracle'
      ? oracleOf({ marketIndex: one.market, price: one.price })
      : marketOf({ marketIndex: one.market, baseAssetAmountLong: one.long, amm: null });
  return encodeMessage(message.name, message.value as never);
}

function run(samples: PartitionSamples, inputs: readonly Input[]): MarketSample[] {
  return inputs.flatMap((one) => samples.apply(bytesOf(one)).map(({ value }) => sampleIn(value)));
}

function sampleIn(bytes: Uint8Array): MarketSample {
  const { name, value } = decodeMessage(bytes);
  if (name !== 'MarketSample') throw new Error(`${name} is no sample`);
  return value;
}

/** Messages of a market up to an index, and since the previous sample. */
function naive(inputs: readonly Input[]) {
  const expected: Pick<MarketSample, 'marketIndex' | 'slot' | 'oraclePrice' | 'oracleHigh' | 'oracleLow'>[] = [];
  for (const market of [0, 1, 2]) {
    let since = 0;
    let newest = -1;
    let known = false;
    inputs.forEach((one, at) => {
      if (one.kind !== 'time') known ||= one.market === market;
      if (one.kind !== 'time' || !known || one.slot <= newest) return;
      const prices = (from: number) =>
        inputs.slice(from, at).flatMap((x) => (x.kind === 'oracle' && x.market === market ? [x.price] : []));
      const before = inputs
        .slice(0, since)
        .flatMap((x) => (x.kind === 'oracle' && x.market === market ? [x.price] : []));
      const span = [...before.slice(-1), ...prices(since)].sort((a, b) => (a < b ? -1 : 1));
      expected.push({
        marketIndex: market,
        slot: one.slot,
        oraclePrice: prices(0).at(-1) ?? null,
        oracleHigh: span.at(-1) ?? null,
        oracleLow: span[0] ?? null,
      });
      newest = one.slot;
      since = at;
    });
  }
  return expected;
}

const order = (a: { marketIndex: number; slot: number }, b: { marketIndex: number; slot: number }) =>
  a.marketIndex - b.marketIndex || a.slot - b.slot;

describe('samples', () => {
  it('have the price at each newer block time and its extremes since the previous sample', () => {
    fc.assert(
      fc.property(fc.array(input, { maxLength: 40 }), (inputs) => {
        const taken = run(new PartitionSamples(), inputs).sort(order);
        const prices = taken.map(({ marketIndex, slot, oraclePrice, oracleHigh, oracleLow }) => {
          return { marketIndex, slot, oraclePrice, oracleHigh, oracleLow };
        });
        expect(prices).toEqual(naive(inputs));
        for (const { slot, ts } of taken) expect(ts).toBe(slot * 2);
      }),
    );
  });

  it('are the same when the state is saved and restored midway', () => {
    fc.assert(
      fc.property(fc.array(input, { maxLength: 40 }), fc.nat(40), (inputs, cut) => {
        const whole = run(new PartitionSamples(), inputs);
        const first = new PartitionSamples();
        const before = run(first, inputs.slice(0, cut));
        const second = new PartitionSamples();
        second.restore(first.save());
        expect([...before, ...run(second, inputs.slice(cut))]).toEqual(whole);
      }),
    );
  });

  it('have the quotes of the vAMM with its spread, and the balance of its users', () => {
    const samples = new PartitionSamples();
    const amm = ammOf({ longSpread: 2_000, shortSpread: 1_000, baseAssetAmountWithAmm: -3n });
    const message = marketOf({ amm });
    samples.apply(encodeMessage(message.name, message.value as never));
    const [record] = samples.apply(encodeMessage('BookTime', { slot: 9, ts: 1_700_000_000 }));
    expect(record?.key).toBe('perp-0');
    expect(sampleIn(record?.value ?? Buffer.alloc(0))).toEqual({
      ...PERP,
      slot: 9,
      ts: 1_700_000_000,
      oraclePrice: null,
      oracleHigh: null,
      oracleLow: null,
      // At peg 100 half the spread moves the reserves, so all of it moves the price.
      bidPrice: 99_900_025n,
      askPrice: 100_200_100n,
      longSpread: 2_000,
      shortSpread: 1_000,
      baseAssetAmountWithAmm: -3n,
      openInterestLong: 5_000_000_000n,
      openInterestShort: -7_000_000_000n,
    });
  });

  it('ignore bytes that are no message', () => {
    expect(new PartitionSamples().apply(Buffer.from('no record'))).toEqual([]);
  });
});

describe('samples role', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'samples-role-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('continues after a restart at its offset: each block time gives one sample', async () => {
    const config = readConfig({}, { dataDir: folder, logLevel: 'silent' });
    const log = await openEventLog(config, silentLogger());
    const key = marketKey(PERP);
    const partition = partitionOf(TOPICS.book, key);
    const put = (...values: Buffer[]) =>
      log.append(
        TOPICS.book,
        values.map((value) => ({ key, partition, value })),
      );
    const encoded = ({ name, value }: ReturnType<typeof oracleOf>) => encodeMessage(name, value as never);
    const taken = async () => (await log.read(TOPICS.samples, partition, 0n, 100)).map(({ value }) => sampleIn(value));
    const start = () => startSamples({ config, log, logger: silentLogger(), metrics: new Registry() });
    try {
      await log.ensureTopics([TOPICS.book]);
      await put(encoded(oracleOf({ price: 5n })), encoded(slotOf(1)), encodeMessage('BookTime', { slot: 1, ts: 10 }));
      const first = await start();
      await eventually(async () => expect(await taken()).toHaveLength(1));
      await first.stop();
      const { offsets } = await log.load(SAMPLES_GROUP);
      expect(offsets.get(offsetKey(TOPICS.book.name, partition))).toBe(3n);
      await put(encoded(oracleOf({ price: 9n })), encodeMessage('BookTime', { slot: 2, ts: 20 }));
      const second = await start();
      await eventually(async () => expect(await taken()).toHaveLength(2));
      await second.stop();
      expect((await taken()).map(({ slot, oraclePrice, oracleLow }) => [slot, oraclePrice, oracleLow])).toEqual([
        [1, 5n, 5n],
        [2, 9n, 5n],
      ]);
    } finally {
      await log.close();
    }
  });
});
