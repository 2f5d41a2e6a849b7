import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FollowOptions, LogBatch } from '../../platform/index.ts';
import { partitionOf, TOPICS } from '../../schemas/index.ts';
import { marketView } from '../../test/support/api/market-views.ts';
import { diff, Stage, snapshot, until } from '../../test/support/api/stage.ts';
import { BookReader } from './book-reader.ts';

const SOL = { marketType: 'perp', marketIndex: 0 } as const;

let stage: Stage;
let reader: BookReader;

beforeEach(async () => {
  stage = new Stage();
  await stage.markets();
  reader = new BookReader(stage.context());
});

afterEach(() => reader.stop());

const slot = (): number | undefined => reader.book(SOL)?.head.slot;

describe('the book reader', () => {
  it('builds books from the first change of an epoch, without any snapshot', async () => {
    await stage.books(diff(1, 10), diff(2, 11));
    await reader.start();
    await until(() => reader.ready);
    expect(slot()).toBe(11);
  });

  it('waits for a snapshot when retention removed the beginning', async () => {
    await stage.books(diff(7, 10), diff(8, 11));
    await reader.start();
    await stage.books(snapshot({ seq: 8, slot: 11 }), diff(9, 12));
    await until(() => reader.ready);
    await until(() => slot() === 12);
    expect(reader.book(SOL)?.view.l2(5).bids).toHaveLength(3);
  });

  it('is not ready while a book is incomplete, or its market has no description', async () => {
    await reader.start();
    await stage.markets([marketView({ isLoading: true })]);
    await stage.books(diff(1, 10));
    await until(() => slot() === 10 && reader.markets.get(SOL)?.isLoading === true);
    expect(reader.ready).toBe(false);
    await stage.markets([marketView({ isLoading: false })]);
    await until(() => reader.ready);
    await stage.books(diff(1, 10, { marketIndex: 7 }));
    await until(() => reader.bookByKey('perp-7') !== null);
    expect(reader.ready).toBe(false);
  });

  it('starts at the newest snapshot in the state of the book role', async () => {
    for (let seq = 1; seq <= 50; seq += 1) await stage.books(diff(seq, 10 + seq));
    await stage.books(snapshot({ seq: 50, slot: 60 }), diff(51, 61));
    const value = Buffer.from('50');
    const keys = ['perp-0', 'perp-1', 'spot-0', 'spot-1'];
    await stage.log.commit('book', { state: keys.map((key) => ({ key: `snapshot:${key}`, value })) });
    const partition = partitionOf(TOPICS.bookViews, 'perp-0');
    await reader.start();
    await until(() => reader.ready);
    expect(slot()).toBe(61);
    expect(stage.log.readFrom.get(`${TOPICS.bookViews.name}/${partition}`)).toBe(50n);
  });

  it('starts at the beginning when a market of the partition has no snapshot yet', async () => {
    const partition = partitionOf(TOPICS.bookViews, 'perp-0');
    const other = [1, 2, 3, 4, 5, 6, 7, 8, 9].find(
      (index) => partitionOf(TOPICS.bookViews, `perp-${index}`) === partition,
    );
    await stage.markets([marketView({ marketIndex: other ?? 0, symbol: 'OTHER-PERP' })]);
    await stage.books(diff(1, 10, { marketIndex: other ?? 0 }), snapshot());
    await stage.log.commit('book', { state: [{ key: 'snapshot:perp-0', value: Buffer.from('1') }] });
    await reader.start();
    await until(() => reader.ready);
    expect(reader.book({ marketType: 'perp', marketIndex: other ?? 0 })?.head.slot).toBe(10);
  });

  it('follows a new epoch and ignores the rest of the old one', async () => {
    await stage.books(snapshot({ seq: 5, slot: 20 }), snapshot({ epoch: 2, seq: 1, slot: 21 }), diff(6, 22));
    await reader.start();
    await until(() => reader.ready);
    expect(slot()).toBe(21);
  });

  it('continues after the last applied batch when the log fails for a while', async () => {
    await stage.books(snapshot());
    const follow = stage.log.follow.bind(stage.log);
    let failures = 0;
    stage.log.follow = async function* (options: FollowOptions): AsyncIterable<LogBatch> {
      for await (const batch of follow(options)) {
        yield batch;
        if (options.topic.name === TOPICS.bookViews.name && failures++ === 0) throw new Error('broker away');
      }
    };
    await reader.start();
    await until(() => slot() === 487);
    await stage.books(diff(2, 488));
    await until(() => slot() === 488);
    expect(failures).toBeGreaterThan(0);
  });

  it('reports each batch of changed books to its listeners until they unsubscribe', async () => {
    await stage.books(snapshot());
    await reader.start();
    await until(() => reader.ready);
    const received: string[] = [];
    const leave = reader.onChange((keys) => received.push([...keys].join()));
    await stage.books(diff(2, 488), diff(3, 489));
    await until(() => slot() === 489);
    // The reader may come between the two.
    const batches = received.length;
    expect(batches === 1 || batches === 2).toBe(true);
    expect(new Set(received)).toEqual(new Set(['perp-0']));
    leave();
    await stage.books(diff(4, 490));
    await until(() => slot() === 490);
    expect(received).toHaveLength(batches);
  });
});
