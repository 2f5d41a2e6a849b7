// A repaired book as subscribers of the `book` channel see it, through a keeper that knows only the protocol. A repair
// publishes two messages (processors/book): a change of a new epoch that is the whole book, and a snapshot of it. Readers that
// begin there need the snapshot.

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type BookChoice, BookFeedClient } from '../../../client/index.ts';
import { BookView } from '../../../processors/book/index.ts';
import type { BookViewDiff, BookViewSnapshot } from '../../../schemas/index.ts';
import { diff, snapshot } from '../../../test/support/api/stage.ts';
import { dumpKeeper, dumpView } from '../../../test/support/feed/dump.ts';
import { type DirectSocket, FeedStage } from '../../../test/support/feed/feed-stage.ts';

const [firstOrder] = snapshot().bidOrders;
/** The correct book: one order less, another level, the same slot. */
const REPAIRED = snapshot({
  epoch: 2,
  seq: 1,
  bidOrders: firstOrder ? [firstOrder] : [],
  bids: [{ price: 80_000_000, dlob: 7n, vamm: 0n }],
});
const REPAIR: readonly [BookViewDiff, BookViewSnapshot] = [{ ...REPAIRED, gone: [] }, REPAIRED];
const CHOICES: readonly BookChoice[] = [
  { market: 'SOL-PERP', checksum: true },
  { market: 'SOL-PERP', conflation: 100, checksum: true },
  { market: 'SOL-PERP', depth: 1 },
  { market: 'SOL-PERP', level: 'l3', checksum: true },
  { market: '*', level: 'l3', depth: 2, conflation: 50 },
];

let stage: FeedStage;
let truth: BookView;
let socket: DirectSocket;
let client: BookFeedClient;
let faults: string[];

beforeEach(() => {
  vi.useFakeTimers();
  stage = new FeedStage();
  truth = new BookView();
  faults = [];
});

afterEach(() => {
  client.close();
  stage.feed.stop();
  vi.useRealTimers();
});

async function publish(...messages: readonly (BookViewDiff | BookViewSnapshot)[]): Promise<void> {
  for (const message of messages) truth.apply(message);
  await stage.publish(...messages);
}

async function follow(choice: BookChoice): Promise<void> {
  client = new BookFeedClient({
    url: '',
    open: () => {
      socket = stage.socket();
      return socket;
    },
  });
  client.on('gap', () => faults.push('gap'));
  client.on('mismatch', () => faults.push('mismatch'));
  client.subscribe(choice);
  client.connect();
  await publish(snapshot(), diff(2, 488));
  await vi.advanceTimersByTimeAsync(1000);
}

const keeperOf = () => client.book('SOL-PERP');

describe.each(CHOICES)('a subscriber of %j', (choice) => {
  const expectTheTruth = (): void => {
    const keeper = keeperOf();
    expect(keeper && dumpKeeper(keeper)).toBe(dumpView(truth, choice.level ?? 'l2', choice.depth));
    expect(faults).toEqual([]);
  };

  it('gets the repaired book as one snapshot of the new epoch, and changes follow it', async () => {
    await follow(choice);
    expectTheTruth();
    expect(keeperOf()?.position).toEqual({ epoch: 1, seq: 2 });
    const before = socket.received.length;
    await publish(...REPAIR);
    await vi.advanceTimersByTimeAsync(1000);
    expect(keeperOf()?.position).toEqual({ epoch: 2, seq: 1 });
    expectTheTruth();
    expect(socket.received.slice(before).map(({ type }) => type)).toEqual(['snapshot']);
    await publish(diff(2, 489, { epoch: 2, bids: [{ price: 81_000_000, dlob: 3n, vamm: 0n }] }));
    await vi.advanceTimersByTimeAsync(1000);
    expect(keeperOf()?.position).toEqual({ epoch: 2, seq: 2 });
    expectTheTruth();
  });

  it('that lost its connection before the repair gets `recovered: false` and the book', async () => {
    await follow(choice);
    const answers: boolean[] = [];
    client.on('resumed', ({ stream, recovered }) => {
      if (stream.startsWith('perp_0_')) answers.push(recovered);
    });
    socket.tamper = () => null;
    await publish(...REPAIR);
    await vi.advanceTimersByTimeAsync(1000);
    client.reconnect();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(answers).toEqual([false]);
    expect(keeperOf()?.position).toEqual({ epoch: 2, seq: 1 });
    expectTheTruth();
  });

  it('of a gateway that started at the snapshot of the repair has the same book', async () => {
    await follow(choice);
    await publish(...REPAIR);
    await vi.advanceTimersByTimeAsync(1000);
    await stage.restart();
    await vi.advanceTimersByTimeAsync(20_000);
    await publish(diff(2, 490, { epoch: 2 }));
    await vi.advanceTimersByTimeAsync(1000);
    expect(keeperOf()?.position).toEqual({ epoch: 2, seq: 2 });
    expectTheTruth();
  });
});
