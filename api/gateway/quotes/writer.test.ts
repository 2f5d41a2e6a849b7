import { pino } from 'pino';
import { beforeEach, describe, expect, it } from 'vitest';
import { decodeMessage, type MakerQuotes, TOPICS } from '../../../schemas/index.ts';
import { FakeLog } from '../../../test/support/api/fake-log.ts';
import { MAX_WAITING_SETS } from './limits.ts';
import { QuoteWriter } from './writer.ts';

let log: FakeLog;
let writer: QuoteWriter;
let nowMs: number;
let open: () => void;
let failing: boolean;

/** Runs everything that is ready. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

const set = (marketIndex: number, size: number, seed = 1): MakerQuotes => ({
  marketType: 'perp',
  marketIndex,
  receivedAtMs: nowMs,
  maker: new Uint8Array(32).fill(seed),
  quotes: [{ isOracleOffset: false, bid: { price: 1n, size: BigInt(size) }, ask: null }],
});

async function written(): Promise<string[]> {
  const texts: string[] = [];
  for (let partition = 0; partition < TOPICS.quotes.partitions; partition += 1) {
    for (const { key, value } of await log.read(TOPICS.quotes, partition, 0n, 100_000)) {
      const message = decodeMessage(value);
      if (message.name === 'MakerQuotes') texts.push(`${key}:${message.value.quotes[0]?.bid?.size}`);
    }
  }
  return texts.sort();
}

beforeEach(() => {
  nowMs = 50_000;
  failing = false;
  log = new FakeLog();
  const append = log.append.bind(log);
  let gate = Promise.resolve();
  open = () => {};
  log.append = async (topic, records) => {
    await gate;
    if (failing) throw new Error('log away');
    gate = new Promise((resolve) => {
      open = resolve;
    });
    return append(topic, records);
  };
  writer = new QuoteWriter({ log, logger: pino({ level: 'silent' }), clock: () => nowMs });
});

describe('the quote writer', () => {
  it('writes only the newest set of a maker and market when the log is slow', async () => {
    writer.put(set(0, 1));
    await turn();
    for (const size of [2, 3, 4]) writer.put(set(0, size));
    writer.put(set(1, 9));
    writer.put(set(0, 7, 2));
    await turn();
    open();
    await turn();
    expect(await written()).toEqual(['perp-0:1', 'perp-0:4', 'perp-0:7', 'perp-1:9']);
  });

  it('drops sets that have lapsed', async () => {
    writer.put(set(0, 1));
    await turn();
    writer.put(set(0, 2));
    await turn();
    // The second append waits for the log; a third set then grows old behind it.
    writer.put(set(0, 3));
    nowMs += 1000;
    open();
    await turn();
    open();
    await turn();
    expect(await written()).toEqual(['perp-0:1', 'perp-0:2']);
  });

  it('says once what became of each set', async () => {
    const outcomes: string[] = [];
    const put = (name: string, size: number) =>
      writer.put(set(0, size), (outcome) => outcomes.push(`${name} ${outcome}`));
    put('first', 1);
    expect(outcomes).toEqual([]);
    await turn();
    expect(outcomes).toEqual(['first written']);
    put('second', 2); // Its append waits for the log.
    await turn();
    put('third', 3);
    put('fourth', 4);
    expect(outcomes.slice(1)).toEqual(['third superseded']);
    nowMs += 1000;
    open();
    await turn();
    expect(outcomes.slice(2)).toEqual(['second written', 'fourth lapsed']);
    failing = true;
    put('fifth', 5);
    open();
    await turn();
    expect(outcomes.slice(4)).toEqual(['fifth notStored']);
  });

  it('goes on after a failed append', async () => {
    failing = true;
    writer.put(set(0, 1));
    await turn();
    failing = false;
    writer.put(set(0, 2));
    await turn();
    expect(await written()).toEqual(['perp-0:2']);
  });

  it('bounds the waiting sets, yet accepts newer sets in their place', async () => {
    writer.put(set(0, 1));
    await turn();
    writer.put(set(0, 2)); // The append that waits for the log.
    await turn();
    for (let index = 0; index < MAX_WAITING_SETS; index += 1) expect(writer.put(set(index, 3))).toBe(true);
    expect(writer.put(set(MAX_WAITING_SETS, 3))).toBe(false);
    expect(writer.put(set(5, 4))).toBe(true);
    const stopped = writer.stop();
    open();
    await stopped;
    expect(await written()).toEqual(['perp-0:1', 'perp-0:2']);
  });
});
