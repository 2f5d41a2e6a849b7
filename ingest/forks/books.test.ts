import { describe, expect, it } from 'vitest';
import { createMetrics, nextTurn, readConfig, silentLogger } from '../../platform/index.ts';
import { decodeMessage, loadDefinition, partitionOf, TOPICS } from '../../schemas/index.ts';
import {
  marketBytes,
  marketKeyOf,
  newDiffer,
  PERP,
  USER,
  update,
  userBytes,
  userKey,
} from '../../test/support/ingest/accounts.ts';
import { silentConnection, WaitingWriter } from '../../test/support/ingest/fork-news.ts';
import { MemoryLog } from '../../test/support/ingest/memory-log.ts';
import { until } from '../../test/support/platform/eventually.ts';
import { startIngest } from '../role.ts';
import type { AccountUpdate, SourceUpdate } from '../source.ts';
import { ProcessedBooks } from './books.ts';
import { createForkMetrics } from './metrics.ts';

const MARKET = 0;

/** A user's account with one order of a size. Without one, the account has no order. */
function user(slot: number, size: bigint | null): AccountUpdate {
  const order = {
    slot: 0,
    orderId: 7,
    marketIndex: MARKET,
    price: 5n,
    size: size ?? 0n,
    filled: 0n,
    reduceOnly: false,
  };
  const bytes = userBytes({ user: 1, orders: size === null ? [] : [order], positions: [] });
  return update(userKey(1), USER.owner, bytes, slot);
}

/** The main stream and a reader of `book.processed`: sizes of the user's order, with the undo that each belongs to. */
function stage(waitingMax?: number) {
  const confirmed = newDiffer();
  const writer = new WaitingWriter(TOPICS.processedBook);
  const books = new ProcessedBooks({
    confirmed,
    newDiffer,
    writer,
    metrics: createForkMetrics(createMetrics(['ingest'])),
    logger: silentLogger(),
    ...(waitingMax === undefined ? {} : { waitingMax }),
  });
  const messages = (partition: number) =>
    writer.written.flatMap(({ value, partition: own = partition }) =>
      own === partition ? [decodeMessage(value)] : [],
    );
  return {
    books,
    confirmed,
    confirm: (...batch: SourceUpdate[]) => {
      for (const one of batch) {
        if (one.kind === 'account') confirmed.account(one, () => {});
        else if (one.kind === 'snapshotBegin') confirmed.snapshotBegin();
        else if (one.kind === 'snapshotEnd') confirmed.snapshotEnd(one.slot, () => {});
        for (const _ of books.applied(one) ?? []);
      }
      books.written();
    },
    process: (slot: number, parent: number, size: bigint | null) => {
      books.news((forks) => forks.link(slot, parent));
      books.account(user(slot, size), (forks) => forks.follow(slot));
    },
    goAway: () => writer.away(true),
    comeBack: () => writer.away(false),
    names: () => messages(0).map(({ name }) => name),
    sizes: () => {
      let revert: number | null = null;
      return messages(0).flatMap((message) => {
        if (message.name === 'BookRevert') revert = message.value.reverted;
        if (message.name !== 'BookOrders') return [];
        const { upserts, removals } = message.value;
        return [...upserts.map((order) => [order.baseAssetAmount, revert]), ...removals.map(() => ['gone', revert])];
      });
    },
  };
}

const read = (slot: number, ...accounts: AccountUpdate[]): SourceUpdate[] => [
  { kind: 'snapshotBegin', slot },
  update(marketKeyOf(MARKET), PERP.owner, marketBytes(MARKET, null), slot),
  ...accounts,
  { kind: 'snapshotEnd', slot },
  { kind: 'slot', slot },
];

/** The log goes away, for more records than may wait. */
async function dropRecords({ books, confirm, process, goAway, names }: ReturnType<typeof stage>): Promise<void> {
  confirm(...read(100, user(100, 10n)));
  books.news((forks) => forks.restart(100));
  await until(async () => names().includes('BookSnapshotEnd'));
  goAway();
  for (let slot = 101; slot < 120; slot++) {
    process(slot, slot - 1, BigInt(slot));
    await nextTurn();
  }
}

describe('books at processed', () => {
  it('are at each label those of its slot, also when one batch confirms several slots', async () => {
    const log = new MemoryLog();
    const market = partitionOf(TOPICS.processedBook, `perp-${MARKET}`);
    const inBook = () =>
      log
        .all(TOPICS.processedBook)
        .filter(({ partition }) => partition === market)
        .map(({ value }) => decodeMessage(value));
    const labels = () => inBook().flatMap((one) => (one.name === 'BookSlot' ? [one.value.slot] : []));
    const updates = async function* () {
      yield read(100, user(100, 10n));
      yield [
        user(101, 11n),
        { kind: 'slot', slot: 101 },
        user(102, 12n),
        { kind: 'slot', slot: 102 },
      ] as SourceUpdate[];
      await until(() => labels().includes(102));
    };
    const context = { config: readConfig({}), log, logger: silentLogger(), metrics: createMetrics(['ingest']) };
    const source = { updates, transaction: async () => null };
    const role = await startIngest(context, {
      definition: loadDefinition('velocity'),
      source,
      forks: silentConnection,
    });
    await role.done;
    await role.stop();
    const seen = inBook().flatMap((one): (bigint | string)[] => {
      if (one.name === 'BookSlot') return [`slot ${one.value.slot}`];
      return one.name === 'BookOrders' ? one.value.upserts.map((order) => order.baseAssetAmount) : [];
    });
    expect(seen).toEqual([10n, 'slot 100', 11n, 'slot 101', 12n, 'slot 102']);
  });

  it('get the label of a confirmed slot before states that waited for it show', async () => {
    const { books, confirm, process, names, sizes } = stage();
    confirm(...read(100, user(100, 10n)));
    books.news((forks) => forks.restart(101));
    process(103, 102, 12n);
    await new Promise((resolve) => setImmediate(resolve));
    const before = names().length;
    confirm({ kind: 'slot', slot: 102 }, user(103, 12n));
    await new Promise((resolve) => setImmediate(resolve));
    expect(names().slice(before)).toEqual(['BookSlot', 'BookOrders']);
    expect(sizes().at(-1)).toEqual([12n, null]);
  });

  it('get the label of a confirmed slot when a newer state is taken back on a chain that stands still', async () => {
    const { books, confirm, process, names } = stage();
    confirm(...read(100, user(100, 10n)));
    books.news((forks) => {
      forks.restart(100);
      forks.link(102, 100);
      forks.delivered(102);
    });
    process(103, 102, 12n);
    confirm({ kind: 'slot', slot: 102 });
    books.news((forks) => forks.restart(103));
    await new Promise((resolve) => setImmediate(resolve));
    expect(names().at(-1)).toBe('BookSlot');
  });

  it('write every book in full, then each change of the fork, and undo an abandoned slot by changes that name it', async () => {
    const { books, confirm, process, sizes } = stage();
    confirm(...read(100, user(100, 10n)));
    books.news((forks) => forks.restart(100));
    process(101, 100, 11n);
    process(102, 101, null);
    // Another fork wins, on which the order never changed after slot 101.
    books.news((forks) => {
      forks.link(103, 101);
      forks.follow(103);
    });
    confirm(user(101, 11n), { kind: 'slot', slot: 101 });
    await until(async () => sizes().length === 4);
    expect(sizes()).toEqual([
      [10n, null],
      [11n, null],
      ['gone', null],
      [11n, 102],
    ]);
  });

  it('undo by the surviving state of the account, also when it lies before the read', async () => {
    const { books, confirm, process, sizes } = stage();
    confirm(...read(100));
    books.news((forks) => forks.restart(100));
    process(101, 100, 11n);
    books.news((forks) => forks.dead(101));
    process(102, 100, 12n);
    await until(async () => sizes().length === 3);
    expect(sizes()).toEqual([
      [11n, null],
      ['gone', 101],
      [12n, null],
    ]);
  });

  it('read all accounts in small steps, and apply news that come between two of them afterwards', async () => {
    const { books, confirmed, confirm, process, sizes, names } = stage();
    const updates = read(100, user(100, 10n));
    for (const one of updates) {
      if (one.kind === 'account') confirmed.account(one, () => {});
      else if (one.kind === 'snapshotBegin') confirmed.snapshotBegin();
      else if (one.kind === 'snapshotEnd') confirmed.snapshotEnd(one.slot, () => {});
    }
    const steps = books.applied({ kind: 'snapshotEnd', slot: 100 });
    let count = 0;
    for (const _ of steps ?? []) {
      count += 1;
      if (count === 1) books.news((forks) => forks.restart(100));
      if (count === 2) process(101, 100, 11n);
      await nextTurn();
    }
    expect(count).toBeGreaterThan(confirmed.size);
    confirm({ kind: 'slot', slot: 100 });
    await until(async () => sizes().length === 2);
    expect(sizes()).toEqual([
      [10n, null],
      [11n, null],
    ]);
    expect(names().indexOf('BookSnapshotEnd')).toBeLessThan(names().lastIndexOf('BookOrders'));
    process(102, 101, null);
    await until(async () => sizes().length === 3);
  });

  it('follow a correction of the confirmed states', async () => {
    const { books, confirmed, confirm, sizes } = stage();
    confirm(...read(100, user(100, 10n)));
    confirmed.account(user(100, 12n), () => {});
    for (const _ of books.corrected() ?? []);
    await until(async () => sizes().length === 2);
    expect(sizes().at(-1)).toEqual([12n, null]);
  });

  it('never goes back with a slot, and completes each slot once', async () => {
    const { books, confirm, process, names } = stage();
    confirm(...read(100, user(100, 10n)));
    books.news((forks) => forks.restart(100));
    for (const slot of [101, 102, 103]) process(slot, slot - 1, BigInt(slot));
    confirm(user(102, 102n), { kind: 'slot', slot: 102 });
    await until(async () => names().filter((name) => name === 'BookSlot').length === 3);
    expect(names().filter((name) => name === 'BookSlot' || name === 'BookOrders')).toEqual([
      'BookOrders',
      'BookSlot',
      'BookOrders',
      'BookOrders',
      'BookSlot',
      'BookOrders',
      'BookSlot',
    ]);
  });

  it('write every book anew after the log was away for more records than may wait', async () => {
    const staged = stage(20);
    const { confirm, comeBack, names, sizes } = staged;
    await dropRecords(staged);
    comeBack();
    await nextTurn();
    confirm({ kind: 'slot', slot: 101 });
    await until(async () => sizes().at(-1)?.[0] === 119n);
    expect(names().filter((name) => name === 'BookSnapshotBegin')).toHaveLength(2);
    expect(sizes().length).toBeLessThan(10);
  });

  it('leave a read that is under way when the log comes back after too many records, and are written anew', async () => {
    const staged = stage(20);
    const { books, confirm, comeBack, names, sizes } = staged;
    await dropRecords(staged);
    const steps = books.corrected();
    expect(steps?.next().done).toBe(false);
    comeBack();
    await nextTurn();
    const before = names().length;
    for (const _ of steps ?? []);
    await nextTurn();
    // The rest of the read would miss accounts, and take their orders out.
    expect(names().slice(before)).not.toContain('BookOrders');
    confirm({ kind: 'slot', slot: 101 });
    await until(async () => sizes().at(-1)?.[0] === 119n);
    expect(names().filter((name) => name === 'BookSnapshotBegin')).toHaveLength(2);
  });
});
