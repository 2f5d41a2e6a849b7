// The candles role over a real log: outputs, restarts, dead letters, and views too large for one write.

import { Registry } from 'prom-client';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Config, type EventLog, offsetKey, silentLogger } from '../../platform/index.ts';
import {
  CANDLE_RESOLUTIONS,
  type CandleView,
  candleKey,
  decodeMessage,
  encodeEvent,
  encodeMessage,
  type MarketSummary,
  partitionOf,
  TOPICS,
  type WithdrawnCandle,
} from '../../schemas/index.ts';
import { temporaryLog } from '../../test/support/log/temporary-log.ts';
import { eventually } from '../../test/support/platform/eventually.ts';
import { type NaiveCandle, type NaiveFill, naiveCandles } from '../../test/support/processors/candles/naive.ts';
import { fillBytes, sampleOf } from '../../test/support/processors/candles/records.ts';
import { sampleEvent, signatureOf } from '../../test/support/processors/history/events.ts';
import { CANDLES_GROUP, startCandles } from './role.ts';

const KEY = 'perp-0';
const PARTITION = partitionOf(TOPICS.events, KEY);
const START = 1_733_004_000;
const DAY = 86_400;

let log: EventLog;
let config: Config;
beforeEach(async () => {
  ({ log, config } = await temporaryLog(TOPICS.events, TOPICS.samples, TOPICS.retractions));
});

const start = () => startCandles({ config, log, logger: silentLogger(), metrics: new Registry() });
const feedEvents = (...values: Uint8Array[]) =>
  log.append(
    TOPICS.events,
    values.map((value) => ({ key: KEY, value })),
  );
const feedSample = (ts: number, price: number) => {
  const sample = sampleOf({ ts, slot: ts * 2, price: BigInt(price), high: BigInt(price), low: BigInt(price) });
  return log.append(TOPICS.samples, [{ key: KEY, value: encodeMessage('MarketSample', sample) }]);
};
const fillAt = (id: number, ts: number, price: number, explanation = 'orderFilledWithMatch'): NaiveFill => ({
  id,
  ts,
  slot: ts * 2,
  base: 1_000_000_000n,
  quote: BigInt(price),
  oracle: BigInt(price),
  explanation,
});
const fundingRate = (recordId: number, rate: bigint, ts: number): Buffer => {
  const event = sampleEvent('FundingRateRecord', 2);
  const data = {
    ...event.data,
    ts: BigInt(ts),
    record_id: BigInt(recordId),
    market_index: 0,
    funding_rate: rate,
    funding_rate_long: rate,
    funding_rate_short: rate,
    oracle_price_twap: 150_000_000n,
  };
  return encodeEvent({ ...event, slot: ts * 2, data });
};

async function caughtUp(events: bigint, samples = 0n, retractions = 0n): Promise<void> {
  await eventually(async () => {
    const { offsets } = await log.load(CANDLES_GROUP);
    expect(offsets.get(offsetKey(TOPICS.events.name, PARTITION)) ?? 0n).toBe(events);
    expect(offsets.get(offsetKey(TOPICS.samples.name, PARTITION)) ?? 0n).toBe(samples);
    expect(offsets.get(offsetKey(TOPICS.retractions.name, 0)) ?? 0n).toBe(retractions);
  });
}

/** The newest record of every key of the market's partition, from an offset. */
async function candles(start = 0n): Promise<Map<string, CandleView | WithdrawnCandle>> {
  const found = new Map<string, CandleView | WithdrawnCandle>();
  for (let from = start; ; ) {
    const records = await log.read(TOPICS.candleViews, PARTITION, from, 10_000);
    for (const { key, value } of records) {
      const message = decodeMessage(value);
      if (message.name !== 'CandleView') throw new Error(message.name);
      if (key !== candleKey(message.value)) throw new Error(key);
      if (message.value.version < (found.get(key)?.version ?? 0n)) throw new Error(`version of ${key} fell`);
      found.set(key, message.value);
    }
    const last = records.at(-1);
    if (!last) return found;
    from = last.offset + 1n;
  }
}

async function summary(): Promise<MarketSummary | undefined> {
  const [last] = (await log.read(TOPICS.summaryViews, 0, 0n, 10_000)).slice(-1);
  const message = last ? decodeMessage(last.value) : undefined;
  return message?.name === 'MarketSummary' ? message.value : undefined;
}

const comparable = (views: Iterable<CandleView | WithdrawnCandle>, resolution: string): NaiveCandle[] =>
  [...views]
    .filter((candle) => candle.fillClose !== null)
    .filter((candle) => candle.resolution === resolution)
    .sort((left, right) => left.ts - right.ts)
    .map(({ marketType: _type, marketIndex: _index, slot: _slot, version: _version, ...rest }) => rest);

describe('candles role', () => {
  it('writes candles of the set of fills and samples, also when a restart repeats fills', async () => {
    const fills = [fillAt(1, START, 100), fillAt(2, START + 30, 120), fillAt(3, START + 200, 90)];
    const [one, two, three] = fills.map((fill) => fillBytes(fill)) as [Buffer, Buffer, Buffer];
    await feedEvents(one, two, one, Buffer.from('no record'));
    const first = await start();
    await caughtUp(4n);
    await first.stop();
    const second = await start();
    await feedEvents(two, three);
    await feedSample(START + 400, 130);
    await caughtUp(6n, 1n);
    await second.stop();
    const views = [...(await candles()).values()];
    const samples = [{ ts: START + 400, slot: START * 2 + 800, price: 130n, high: 130n, low: 130n }];
    for (const resolution of CANDLE_RESOLUTIONS) {
      expect(comparable(views, resolution)).toEqual(naiveCandles({ fills, samples }, resolution));
    }
    expect((await log.bounds(TOPICS.deadLetters, 0)).next).toBe(1n);
  });

  it('takes the fills of a dropped slot out of every candle, over restarts, and a rebuild gives the same', async () => {
    const kept = [
      fillAt(1, START, 100),
      fillAt(3, START + 90, 90),
      fillAt(2, START + 95, 80),
      fillAt(4, START + 500, 95),
    ];
    const dropped: NaiveFill = { ...fillAt(2, START + 70, 900), slot: START * 2 + 141, transaction: 77 };
    const [one, three, two, four] = kept.map((fill) => fillBytes(fill)) as [Buffer, Buffer, Buffer, Buffer];
    const retraction = { slot: dropped.slot, signatures: [signatureOf(77)] };
    const value = encodeMessage('SlotRetraction', retraction);
    const samples = [{ ts: START + 80, slot: START * 2 + 160, price: 130n, high: 130n, low: 130n }];
    const expectCorrected = async (from?: bigint) => {
      const views = [...(await candles(from)).values()];
      for (const resolution of CANDLE_RESOLUTIONS) {
        expect(comparable(views, resolution)).toEqual(naiveCandles({ fills: kept, samples }, resolution));
      }
    };
    // The chain gave the id of the dropped fill again, so the kept one came as a repeat.
    await feedEvents(one, fillBytes(dropped), two, three);
    await feedSample(START + 80, 130);
    const first = await start();
    await caughtUp(4n, 1n);
    expect((await summary())?.fillHigh24h).toBe(900n);
    await log.append(TOPICS.retractions, [{ key: 'slot', value }]);
    await caughtUp(4n, 1n, 1n);
    await first.stop();
    const second = await start();
    await feedEvents(four, fillBytes(dropped));
    await log.append(TOPICS.retractions, [{ key: 'slot', value }]);
    await caughtUp(6n, 1n, 2n);
    await second.stop();
    await expectCorrected();
    expect(await summary()).toMatchObject({ fillHigh24h: 100n, trades24h: 4, baseVolume24h: 4_000_000_000n });
    expect((await log.bounds(TOPICS.deadLetters, 0)).next).toBe(0n);
    const { next } = await log.bounds(TOPICS.candleViews, PARTITION);
    await log.forget(CANDLES_GROUP);
    const rebuilt = await start();
    await caughtUp(6n, 1n, 2n);
    await rebuilt.stop();
    await expectCorrected(next);
  });

  it('takes the fills of a dropped slot out although a long backfill of old events came after them', async () => {
    const kept = [fillAt(1, START, 100), fillAt(2, START + 80, 90)];
    const dropped: NaiveFill = { ...fillAt(3, START + 75, 900), slot: START * 2 + 151, transaction: 77 };
    const old = Array.from({ length: 20_000 }, (_, n) => fillAt(10 + n, START - 7_200 + (n % 600), 95));
    await feedEvents(...[...kept, dropped].map((fill) => fillBytes(fill)));
    const first = await start();
    await caughtUp(3n);
    await first.stop();
    const second = await start();
    await feedEvents(...old.map((fill) => fillBytes(fill)));
    await caughtUp(20_003n);
    const value = encodeMessage('SlotRetraction', { slot: dropped.slot, signatures: [signatureOf(77)] });
    await log.append(TOPICS.retractions, [{ key: 'slot', value }]);
    await caughtUp(20_003n, 0n, 1n);
    await second.stop();
    const expected = naiveCandles({ fills: [...kept, ...old], samples: [] }, '60');
    expect(comparable((await candles()).values(), '60')).toEqual(expected);
    expect((await log.bounds(TOPICS.deadLetters, 0)).next).toBe(0n);
  });

  it('takes the fills of a dropped slot out before it reads a backfill that waits', async () => {
    const dropped: NaiveFill = { ...fillAt(2, START + 5, 900), transaction: 77 };
    await feedEvents(fillBytes(fillAt(1, START, 100)), fillBytes(dropped));
    const first = await start();
    await caughtUp(2n);
    await first.stop();
    const { next } = await log.bounds(TOPICS.candleViews, PARTITION);
    const value = encodeMessage('SlotRetraction', { slot: dropped.slot, signatures: [signatureOf(77)] });
    await feedEvents(fillBytes(fillAt(3, START - 600, 80)));
    await log.append(TOPICS.retractions, [{ key: 'slot', value }]);
    const second = await start();
    await caughtUp(3n, 0n, 1n);
    await second.stop();
    const [oldest] = await log.read(TOPICS.candleViews, PARTITION, next, 1);
    expect(decodeMessage(oldest?.value ?? new Uint8Array()).value).toMatchObject({ ts: START, fillHigh: 100n });
  });

  it('publishes the last 24 hours of a market, with funding and the newest sample', async () => {
    await feedEvents(
      fillBytes(fillAt(1, START - DAY - 60, 70)),
      fillBytes(fillAt(2, START - 60, 100)),
      fillBytes(fillAt(3, START, 120, 'liquidation')),
      fillBytes(fillAt(4, START, 500, 'transferPerpPosition')),
      fundingRate(8, 11_857n, START - 3600),
      fundingRate(9, -150n, START),
      fundingRate(8, 11_857n, START - 3600),
    );
    await feedSample(START, 111);
    const role = await start();
    await caughtUp(7n, 1n);
    await role.stop();
    expect(await summary()).toMatchObject({
      marketType: 'perp',
      marketIndex: 0,
      ts: START,
      quoteVolume24h: 220n,
      baseVolume24h: 2_000_000_000n,
      trades24h: 2,
      lastFillPrice: 100n,
      lastFillTs: START - 60,
      fillPrice24hAgo: 70n,
      fillHigh24h: 100n,
      fillLow24h: 100n,
      oracleHigh24h: 111n,
      oracleLow24h: 100n,
      funding: { recordId: 9n, ts: START, fundingRate: -150n },
      fundingRecords24h: 2,
      // 0.000079046 of the price in an hour is 0.0079 percent.
      fundingPercentSum1e9: 7_904n - 100n,
      oraclePrice: 111n,
      openInterestLong: 7n,
      openInterestShort: -2n,
      bidPrice: 110n,
      askPrice: 112n,
      sampleTs: START,
    });
  });

  it('writes more candles than one write can take, and parks records far ahead of their market', async () => {
    await feedEvents(fillBytes(fillAt(1, START, 100)));
    const role = await start();
    await caughtUp(1n);
    await feedEvents(fillBytes(fillAt(2, START + 12 * DAY, 110)), fillBytes(fillAt(3, START + 3_700 * DAY, 120)));
    await caughtUp(3n);
    await role.stop();
    const minutes = comparable((await candles()).values(), '1');
    expect(minutes).toHaveLength(12 * 1440 + 1);
    expect(minutes.every(({ ts }, index) => ts === START + index * 60)).toBe(true);
    const [letter] = await log.read(TOPICS.deadLetters, 0, 0n, 10);
    expect(decodeMessage(letter?.value ?? new Uint8Array()).value).toMatchObject({ reason: 'candle-time' });
  });
});
