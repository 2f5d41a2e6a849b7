import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { QUOTE_FRESH_MS } from '../../processors/book/index.ts';
import { encodeMessage, type MakerQuotes, marketKey, partitionOf, TOPICS } from '../../schemas/index.ts';
import { FakeLog } from '../../test/support/api/fake-log.ts';
import { diff, snapshot, until } from '../../test/support/api/stage.ts';
import { eventually } from '../../test/support/platform/eventually.ts';
import type { ServedBook } from './bodies.ts';
import { KnownQuoters } from './indicative-quoters.ts';
import { IndicativeQuotes } from './indicative-quotes.ts';
import { PublishedBook } from './published-book.ts';

const START_MS = 1_783_268_433_000;
const KEY = 'perp-0';

let log: FakeLog;
let quotes: IndicativeQuotes;
let book: PublishedBook;
let nowMs: number;
let changes: string[];

const set = (overrides: Partial<MakerQuotes> = {}): MakerQuotes => ({
  marketType: 'perp',
  marketIndex: 0,
  receivedAtMs: nowMs,
  maker: new Uint8Array(32).fill(9),
  quotes: [{ isOracleOffset: false, bid: { price: 81_000_000n, size: 5n }, ask: null }],
  ...overrides,
});

async function put(...sets: readonly MakerQuotes[]): Promise<void> {
  await log.append(
    TOPICS.quotes,
    sets.map((value) => ({ key: marketKey(value), value: encodeMessage('MakerQuotes', value) })),
  );
}

const over = (): ServedBook => quotes.over(KEY, book);
const indicativeSize = (served: ServedBook) =>
  served.view.l2().bids.reduce((sum, level) => sum + (level.indicative ?? 0n), 0n);

async function start(): Promise<void> {
  quotes = new IndicativeQuotes({
    log,
    logger: pino({ level: 'silent' }),
    metrics: new Registry(),
    clock: () => nowMs,
    isPreferred: () => false,
  });
  changes = [];
  quotes.onChange((keys) => changes.push([...keys].join()));
  await quotes.start();
}

beforeEach(() => {
  nowMs = START_MS;
  log = new FakeLog();
  book = new PublishedBook();
  book.take(snapshot(), START_MS - 50);
});

afterEach(async () => {
  await quotes.stop();
  vi.useRealTimers();
});

describe('indicative quotes over a book', () => {
  it('return the book itself when nobody quotes', async () => {
    await start();
    expect(over()).toBe(book);
  });

  it('are one object until the book or the quotes change', async () => {
    await start();
    await put(set());
    await until(() => changes.length === 1);
    const first = over();
    expect([indicativeSize(first), first.publishedAtMs]).toEqual([5n, START_MS]);
    nowMs += 100;
    expect(over()).toBe(first);
    book.take(diff(2, 488), nowMs);
    const second = over();
    expect(second).not.toBe(first);
    expect([indicativeSize(second), second.version, second.head.slot, second.publishedAtMs]).toEqual([
      5n,
      2,
      488,
      nowMs,
    ]);
  });

  it('expire after one second even before the timer runs, and `ts` does not go back', async () => {
    await start();
    await put(set());
    await until(() => changes.length === 1);
    nowMs += QUOTE_FRESH_MS - 1;
    expect(indicativeSize(over())).toBe(5n);
    nowMs += 1;
    const after = over();
    expect(indicativeSize(after)).toBe(0n);
    expect(after.publishedAtMs).toBe(START_MS);
  });

  it('notify listeners of changes and expiry, not of repetitions', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const arrived = async (count: number) => eventually(() => expect(seen).toBe(count));
    let seen = 0;
    await start();
    const saw = quotes.quoters.record.bind(quotes.quoters);
    quotes.quoters.record = (...args) => {
      seen += 1;
      saw(...args);
    };
    await put(set());
    await arrived(1);
    nowMs += 600;
    await put(set());
    await arrived(2);
    expect(changes).toEqual([KEY]);
    nowMs += 400;
    vi.advanceTimersByTime(1000);
    expect(changes).toEqual([KEY]);
    expect(indicativeSize(over())).toBe(5n);
    nowMs += 600;
    vi.advanceTimersByTime(600);
    expect(changes).toEqual([KEY, KEY]);
    expect(over().publishedAtMs).toBe(nowMs);
  });

  it('read back a little at the start, so that a new replica equals the others', async () => {
    await put(set({ receivedAtMs: nowMs - 900 }), set({ marketIndex: 1, receivedAtMs: nowMs - 5000 }));
    await start();
    await until(() => changes.length > 0);
    expect(changes).toEqual([KEY]);
    expect(indicativeSize(over())).toBe(5n);
  });

  it('do not read back a whole hour', async () => {
    const old = encodeMessage('MakerQuotes', set({ receivedAtMs: nowMs - 60_000 }));
    await log.append(
      TOPICS.quotes,
      Array.from({ length: 5000 }, () => ({ key: KEY, value: old })),
    );
    await start();
    await until(() => log.readFrom.has(`quotes/${partitionOf(TOPICS.quotes, KEY)}`));
    expect(log.readFrom.get(`quotes/${partitionOf(TOPICS.quotes, KEY)}`)).toBe(3000n);
  });
});

describe('known quoters', () => {
  it('are the keys of the market within the hour, the newest when there are too many', () => {
    const known = new KnownQuoters();
    const key = (seed: number) => {
      const bytes = new Uint8Array(32);
      new DataView(bytes.buffer).setUint16(0, seed);
      return bytes;
    };
    known.record(KEY, key(1), 0);
    known.record(KEY, key(2), 3_000_000);
    expect(known.in(KEY, 3_599_999)).toEqual([key(2), key(1)]);
    expect(known.in(KEY, 3_600_000)).toEqual([key(2)]);
    expect(known.in('perp-1', 0)).toEqual([]);
    for (let seed = 10; seed < 1000; seed += 1) known.record(KEY, key(seed), 3_000_000);
    const kept = known.in(KEY, 3_000_000);
    expect(kept).toHaveLength(256);
    expect(kept[0]).toEqual(key(999));
    expect(kept.at(-1)).toEqual(key(744));
  });
});
