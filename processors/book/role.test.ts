// The book role over a real embedded log: its outputs, and that a restart publishes the same again.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import bs58 from 'bs58';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type Config,
  ConfigError,
  type EventLog,
  metricTotal,
  type NewRecord,
  openEventLog,
  readConfig,
  silentLogger,
} from '../../platform/index.ts';
import { ForwardingLog } from '../../platform/log/forwarding.ts';
import { decodeMessage, encodeMessage, marketKey, partitionOf, TOPICS, type Topic } from '../../schemas/index.ts';
import { eventually } from '../../test/support/platform/eventually.ts';
import {
  beginOf,
  endOf,
  keyOf,
  marketOf,
  oracleOf,
  orderOf,
  ordersOf,
  PERP,
  slotOf,
} from '../../test/support/processors/book/messages.ts';
import { BOOK_GROUP, type BookMessage, BookView, snapshotIndexState, unpackSnapshotIndex } from './index.ts';
import { startBooks } from './role.ts';

const KEY = marketKey(PERP);
const PARTITION = partitionOf(TOPICS.book, KEY);
let folder: string;
let log: EventLog;

beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'book-role-'));
  log = await openEventLog(config(), silentLogger());
});
afterEach(async () => {
  await log.close();
  rmSync(folder, { recursive: true, force: true });
});

const config = (settings: Partial<Config> = {}) => readConfig({}, { dataDir: folder, logLevel: 'silent', ...settings });
const start = (over: EventLog = log, settings: Partial<Config> = {}, metrics = new Registry()) =>
  startBooks({ config: config(settings), log: over, logger: silentLogger(), metrics });

async function feed(messages: readonly BookMessage[]): Promise<void> {
  await log.ensureTopics([TOPICS.book]);
  const records = messages.map(({ name, value }) => ({
    key: KEY,
    partition: PARTITION,
    value: encodeMessage(name, value as never),
  }));
  await log.append(TOPICS.book, records);
}

async function written(topic: Topic, partition: number): Promise<Buffer[]> {
  const { earliest } = await log.bounds(topic, partition);
  const records = await log.read(topic, partition, earliest, 10_000);
  return records.map(({ value }) => Buffer.from(value));
}

async function changesUpTo(seq: number): Promise<Buffer[]> {
  return eventually(async () => {
    const values = await written(TOPICS.bookViews, PARTITION);
    const last = values.map((value) => decodeMessage(value)).findLast(({ name }) => name === 'BookViewDiff');
    expect(last?.name === 'BookViewDiff' && last.value.seq).toBe(seq);
    return values;
  });
}

const order = (orderId: number, price: bigint) => orderOf({ orderId, price, baseAssetAmount: 3n });
const FIRST = [
  beginOf(10),
  ordersOf({ slot: 10, upserts: [order(1, 99n), order(2, 98n)] }),
  endOf(10),
  oracleOf({ slot: 10, price: 100n }),
];
const SECOND = [slotOf(11), ordersOf({ slot: 12, removals: [{ maker: keyOf('maker'), orderId: 1 }] })];

describe('book role', () => {
  it('publishes every change, a snapshot at first load, and a market without an account under its index', async () => {
    await feed([...FIRST, ...SECOND]);
    const role = await start();
    const values = await changesUpTo(4);
    const view = new BookView();
    const names = values.map((value) => {
      const message = decodeMessage(value);
      if (message.name === 'BookViewDiff' || message.name === 'BookViewSnapshot') view.apply(message.value);
      return message.name;
    });
    expect(names).toEqual(['BookViewDiff', 'BookViewSnapshot', 'BookViewDiff', 'BookViewDiff', 'BookViewDiff']);
    expect(view.l2().bids).toEqual([{ price: 98, dlob: 3n, vamm: 0n }]);
    await eventually(async () => {
      const markets = (await written(TOPICS.marketViews, 0)).map((value) => decodeMessage(value));
      expect(markets.map(({ value }) => 'symbol' in value && value.symbol)).toContain('PERP-0');
    });
    await role.stop();
    const { state, offsets } = await log.load(BOOK_GROUP);
    expect(Buffer.from(state.get(`snapshot:${KEY}`) ?? []).toString()).toBe('1');
    expect(offsets.get(`book/${PARTITION}`)).toBe(6n);
  });

  it('lets no market wait for one of another partition, and saves only what is published', async () => {
    let release: () => void = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    class Slow extends ForwardingLog {
      override async append(topic: Topic, records: readonly NewRecord[]): ReturnType<EventLog['append']> {
        if (topic.name === TOPICS.bookViews.name && records.some(({ partition }) => partition === PARTITION))
          await released;
        return super.append(topic, records);
      }
    }
    const other = [1, 2, 3, 4, 5, 6, 7].find((index) => partitionOf(TOPICS.book, `perp-${index}`) !== PARTITION) ?? 0;
    const otherPartition = partitionOf(TOPICS.book, `perp-${other}`);
    await feed(FIRST);
    const records = FIRST.map(({ name, value }) => {
      const moved = 'marketIndex' in value ? { ...value, marketIndex: other } : value;
      return { key: `perp-${other}`, partition: otherPartition, value: encodeMessage(name, moved as never) };
    });
    const role = await start(new Slow(log));
    await log.append(TOPICS.book, records);
    await eventually(async () => {
      const names = (await written(TOPICS.bookViews, otherPartition)).map((value) => decodeMessage(value).name);
      expect(names).toContain('BookViewSnapshot');
    });
    expect(await written(TOPICS.bookViews, PARTITION)).toEqual([]);
    const stopped = role.stop();
    expect((await log.load(BOOK_GROUP)).offsets.size).toBe(0);
    release();
    await stopped;
    expect((await log.load(BOOK_GROUP)).offsets.get(`book/${PARTITION}`)).toBe(4n);
    expect((await written(TOPICS.bookViews, PARTITION)).length).toBeGreaterThan(0);
  });

  it('continues with the next sequence of the same epoch', async () => {
    await feed(FIRST);
    const first = await start();
    await changesUpTo(2);
    await first.stop();
    await feed(SECOND);
    const second = await start();
    const values = await changesUpTo(4);
    await second.stop();
    const seqs = values.flatMap((value) => {
      const { name, value: diff } = decodeMessage(value);
      return name === 'BookViewDiff' ? [[diff.epoch, diff.seq]] : [];
    });
    expect(seqs).toEqual([
      [10, 1],
      [10, 2],
      [10, 3],
      [10, 4],
    ]);
  });

  it('publishes the same bytes again after a death before anything was saved', async () => {
    await feed([...FIRST, ...SECOND]);
    const forgetful = new Proxy(log, {
      get: (target, name) => (name === 'commit' ? async () => {} : bound(target, name as keyof EventLog)),
    });
    const first = await start(forgetful);
    const before = await changesUpTo(4);
    await first.stop();
    const second = await start();
    await eventually(async () => {
      expect((await written(TOPICS.bookViews, PARTITION)).length).toBe(2 * before.length);
    });
    await second.stop();
    const after = await written(TOPICS.bookViews, PARTITION);
    expect(after.slice(before.length)).toEqual(before);
  });

  it('publishes the same again after another process, and readers end with the same book', async () => {
    const roles = await Promise.all([start(), start()]);
    await feed([...FIRST, ...SECOND]);
    const values = await eventually(async () => {
      const all = await written(TOPICS.bookViews, PARTITION);
      expect(all).toHaveLength(10);
      return all;
    });
    await Promise.all(roles.map((role) => role.stop()));
    expect(new Set(values.map((value) => value.toString('hex'))).size).toBe(5);
    const view = new BookView();
    const applied = values.map((value) => {
      const message = decodeMessage(value);
      return message.name === 'BookViewDiff' || message.name === 'BookViewSnapshot' ? view.apply(message.value) : '';
    });
    expect(applied).not.toContain('gap');
    expect([view.l2().bids, view.head?.seq]).toEqual([[{ price: 98, dlob: 3n, vamm: 0n }], 4]);
  });

  it('publishes the same bytes again after a death since it last saved', async () => {
    await feed(FIRST);
    let isDead = false;
    const mortal = new Proxy(log, {
      get: (target, name) => (name === 'commit' && isDead ? async () => {} : bound(target, name as keyof EventLog)),
    });
    const first = await start(mortal);
    await changesUpTo(2);
    await eventually(async () => expect((await log.load(BOOK_GROUP)).state.has(`engine:${KEY}`)).toBe(true));
    isDead = true;
    await feed([...SECOND, marketOf({ slot: 13 })]);
    const before = (await changesUpTo(5)).slice(-3);
    await first.stop();
    const second = await start();
    await eventually(async () => {
      const after = (await written(TOPICS.bookViews, PARTITION)).slice(-6);
      expect(after).toEqual([...before, ...before]);
    });
    await second.stop();
  });

  it('keeps the offsets of exactly the snapshots that the log still has', async () => {
    const earliest = { now: 0n };
    const aged = new Proxy(log, {
      get: (target, name) =>
        name === 'bounds'
          ? async (topic: Topic, partition: number) =>
              topic === TOPICS.bookViews
                ? { ...(await log.bounds(topic, partition)), earliest: earliest.now }
                : log.bounds(topic, partition)
          : bound(target, name as keyof EventLog),
    });
    const slots = async () => {
      const { state } = await log.load(BOOK_GROUP);
      return unpackSnapshotIndex(state.get(snapshotIndexState(KEY)) ?? Buffer.alloc(0))
        .list()
        .map(({ slot }) => slot);
    };
    await feed([...FIRST, slotOf(160), slotOf(310)]);
    const role = await start(aged);
    await eventually(async () => expect(await slots()).toEqual([10, 160, 310]));
    earliest.now = 3n;
    await feed([slotOf(460)]);
    await eventually(async () => expect(await slots()).toEqual([160, 310, 460]));
    await role.stop();
  });

  it('begins a later epoch when the log no longer has its next records', async () => {
    await feed(FIRST);
    const first = await start();
    await changesUpTo(2);
    await first.stop();
    const aged = new Proxy(log, {
      get: (target, name) =>
        name === 'bounds' ? async () => ({ earliest: 5n, next: 5n }) : bound(target, name as keyof EventLog),
    });
    const second = await start(aged);
    await feed([slotOf(11), ordersOf({ slot: 12, upserts: [order(7, 50n)] })]);
    const values = await changesUpTo(1);
    await second.stop();
    const last = decodeMessage(values.at(-1) ?? Buffer.alloc(0));
    expect(last.name === 'BookViewDiff' && last.value.epoch).toBe(12);
  });

  it('goes on with the new records of a partition that lost records which the saved book has', async () => {
    await feed([...FIRST, ...SECOND]);
    const first = await start();
    await changesUpTo(4);
    await first.stop();
    const { offsets, state } = await log.load(BOOK_GROUP);
    await log.close();
    rmSync(folder, { recursive: true, force: true });

    log = await openEventLog(config(), silentLogger());
    await feed([slotOf(11)]);
    await log.commit(BOOK_GROUP, {
      offsets: [{ topic: TOPICS.book.name, partition: PARTITION, next: offsets.get(`book/${PARTITION}`) ?? 0n }],
      state: [...state].map(([key, value]) => ({ key, value })),
    });
    const second = await start();
    await feed([ordersOf({ slot: 13, upserts: [order(3, 97n)] })]);
    await changesUpTo(5);
    await second.stop();
    const saved = await log.load(BOOK_GROUP);
    expect(saved.offsets.get(`book/${PARTITION}`)).toBe(2n);
  });

  it('rebuilds a book in a later epoch when its saved state is damaged, and saves it again', async () => {
    await feed([...FIRST, ...SECOND]);
    const first = await start();
    await changesUpTo(4);
    await first.stop();
    const damages: ((saved: Buffer) => Buffer)[] = [
      (saved) => saved.subarray(0, 5),
      (saved) => saved.subarray(0, -9),
      (saved) => Buffer.concat([saved.subarray(0, 20), Buffer.from([(saved[20] ?? 0) ^ 64]), saved.subarray(21)]),
    ];
    for (const [at, damage] of damages.entries()) {
      const name = `engine:${KEY}`;
      const saved = Buffer.from((await log.load(BOOK_GROUP)).state.get(name) ?? []);
      await log.commit(BOOK_GROUP, { state: [{ key: name, value: damage(saved) }] });
      const role = await start();
      const epoch = 11 + at;
      const view = await eventually(async () => {
        const reader = new BookView();
        for (const value of await written(TOPICS.bookViews, PARTITION)) {
          const message = decodeMessage(value);
          if (message.name === 'BookViewDiff' || message.name === 'BookViewSnapshot') reader.apply(message.value);
        }
        expect(reader.head).toMatchObject({ epoch, seq: 4, slot: 12 });
        return reader;
      });
      expect(view.l2().bids).toEqual([{ price: 98, dlob: 3n, vamm: 0n }]);
      await role.stop();
    }
    const last = await start();
    await feed([slotOf(13)]);
    const values = await changesUpTo(5);
    await last.stop();
    expect(decodeMessage(values.at(-1) ?? Buffer.alloc(0)).value).toMatchObject({ epoch: 13, seq: 5 });
  });

  it('leaves out the orders of ignored accounts; another list begins a later epoch at the next start', async () => {
    const other = orderOf({ maker: keyOf('other'), price: 97n, baseAssetAmount: 5n });
    await feed([...FIRST, ordersOf({ slot: 10, upserts: [other] }), slotOf(11)]);
    const view = new BookView();
    const read = async (seq: number) => {
      for (const value of await changesUpTo(seq)) {
        const message = decodeMessage(value);
        if (message.name !== 'BookViewDiff' && message.name !== 'BookViewSnapshot') continue;
        expect(view.apply(message.value)).not.toBe('gap');
      }
      return [view.head?.epoch, view.l3().bids.map(({ maker }) => Buffer.from(maker).toString('utf8', 0, 5))];
    };
    const ignoring = (name: string) => start(log, { ignoreList: bs58.encode(keyOf(name)) });
    const first = await ignoring('other');
    expect(await read(3)).toEqual([10, ['maker', 'maker']]);
    await first.stop();
    const second = await ignoring('maker');
    await feed([slotOf(12)]);
    expect(await read(1)).toEqual([12, ['other']]);
    await second.stop();
    const third = await ignoring('maker');
    await feed([slotOf(13)]);
    expect(await read(2)).toEqual([12, ['other']]);
    await third.stop();
    const last = await start();
    await feed([slotOf(14)]);
    expect(await read(1)).toEqual([14, ['maker', 'maker', 'other']]);
    await last.stop();
    await expect(start(log, { ignoreList: 'oops' })).rejects.toThrow(ConfigError);
  });

  it('sets health_status 4 while the oracle is too many slots behind the book', async () => {
    const metrics = new Registry();
    const role = await start(log, { killswitchSlotDiffThreshold: 50 }, metrics);
    const status = (code: number) =>
      eventually(async () => expect(await metricTotal(metrics, 'health_status')).toBe(code));
    await feed([...FIRST, marketOf({ slot: 10 }), slotOf(61)]);
    await status(4);
    await feed([oracleOf({ slot: 61 })]);
    await status(0);
    await role.stop();
  });

  it('parks unreadable records and continues', async () => {
    await log.ensureTopics([TOPICS.book]);
    await log.append(TOPICS.book, [{ key: KEY, partition: PARTITION, value: Buffer.from('no record') }]);
    await feed(FIRST);
    const role = await start();
    await changesUpTo(2);
    await eventually(async () => expect((await written(TOPICS.deadLetters, 0)).length).toBe(1));
    await role.stop();
    const [letter] = (await written(TOPICS.deadLetters, 0)).map((value) => decodeMessage(value).value);
    expect(letter).toMatchObject({ reason: 'book-record', origin: `book/${PARTITION}/0` });
  });
});

function bound(target: EventLog, name: keyof EventLog): unknown {
  const member = target[name];
  return typeof member === 'function' ? member.bind(target) : member;
}
