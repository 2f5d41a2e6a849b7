// Whatever happens to the book and to the connection, the published protocol alone gives every kind of subscriber the
// published book at every message.

import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type BookChoice, BookFeedClient, type BookKeeper } from '../../../client/index.ts';
import { BookView } from '../../../processors/book/index.ts';
import type { BookDiffMessage, BookOrderRef, BookViewDiff, BookViewSnapshot } from '../../../schemas/index.ts';
import { dumpKeeper, dumpView } from '../../../test/support/feed/dump.ts';
import { type DirectSocket, FeedStage } from '../../../test/support/feed/feed-stage.ts';
import { type Change, change, RandomBook } from '../../../test/support/feed/random-book.ts';

const CHOICES: readonly BookChoice[] = [
  { market: 'SOL-PERP' },
  { market: 'sol-perp', conflation: 100, checksum: true },
  { market: 'SOL-PERP', depth: 3 },
  { market: 'SOL-PERP', depth: 2, conflation: 50, checksum: 5 },
  { market: '*', depth: 5, conflation: 400 },
  { market: 'SOL-PERP', level: 'l3', checksum: true },
  { market: 'SOL-PERP', level: 'l3', conflation: 1000 },
  { market: 'SOL-PERP', level: 'l3', depth: 2, checksum: 100 },
  { market: '*', level: 'l3', depth: 4, conflation: 50 },
];

type Step =
  | { readonly do: 'change'; readonly diffs: readonly (readonly Change[])[] }
  | { readonly do: 'pass'; readonly ms: number }
  | { readonly do: 'reconnect' | 'drop' | 'restart' | 'epoch' | 'snapshot' | 'hole' };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc
      .array(fc.array(change, { maxLength: 4 }), { minLength: 1, maxLength: 4 })
      .map((diffs): Step => ({ do: 'change', diffs })),
  },
  { weight: 6, arbitrary: fc.constantFrom(10, 60, 500, 1100, 6000).map((ms): Step => ({ do: 'pass', ms })) },
  {
    weight: 4,
    arbitrary: fc
      .constantFrom('reconnect' as const, 'drop' as const, 'restart' as const, 'epoch' as const, 'snapshot' as const)
      .map((name): Step => ({ do: name })),
  },
  { weight: 1, arbitrary: fc.constant<Step>({ do: 'hole' }) },
);

const orderName = ({ maker, orderId, source }: BookOrderRef): string => `${source}:${orderId}:${maker}`;

/** Keys of the levels and orders of a keeper's book. */
function heldOf(keeper: BookKeeper): Set<string> {
  const names = (['bids', 'asks'] as const).flatMap((side) => [
    ...keeper.levels(side).map(({ price }) => `${side} ${price}`),
    ...keeper.orders(side).map(orderName),
  ]);
  return new Set(names);
}

/** Keys that a change removes. */
function goneOf(message: BookDiffMessage): string[] {
  const levels = (['bids', 'asks'] as const).flatMap((side) =>
    (message[side] ?? []).flatMap((entry) => (Array.isArray(entry) && entry[1] === '0' ? `${side} ${entry[0]}` : [])),
  );
  return [...levels, ...('gone' in message ? (message.gone ?? []).map(orderName) : [])];
}

/** Records every published state and compares each keeper's book with the state of its sequence. */
class Observer {
  readonly compared = { books: 0, differences: 0, neverHeld: 0, gaps: 0, mismatches: 0, recovered: 0, lost: 0 };
  readonly view = new BookView();
  readonly #truth = new Map<string, Map<string, string>>();

  watch(client: BookFeedClient, { level = 'l2', depth, conflation }: BookChoice): void {
    const held = new Map<string, ReadonlySet<string>>();
    /** Streams whose next message may be a backfill, which may remove keys that the client never had. */
    const filled = new Set<string>();
    const isEach = depth === undefined && conflation === undefined;
    client.on('book', ({ stream, keeper, message }) => {
      const { epoch, seq } = message;
      if ('diff' in message && !isEach && !filled.has(stream)) {
        this.compared.neverHeld += goneOf(message).filter((name) => !held.get(stream)?.has(name)).length;
      }
      filled.delete(stream);
      held.set(stream, heldOf(keeper));
      this.compared.books += 1;
      const truth = this.#truth.get(`${epoch}/${seq}`)?.get(`${level}/${depth ?? ''}`);
      if (dumpKeeper(keeper) !== truth) this.compared.differences += 1;
    });
    client.on('gap', () => {
      this.compared.gaps += 1;
    });
    client.on('mismatch', () => {
      this.compared.mismatches += 1;
    });
    client.on('resumed', ({ stream, recovered }) => {
      if (recovered) filled.add(stream);
      this.compared[recovered ? 'recovered' : 'lost'] += 1;
    });
  }

  constructor() {
    // Markets without a book.
    this.#note('0/0');
  }

  saw(message: BookViewDiff | BookViewSnapshot): void {
    if (this.view.apply(message) === 'applied') this.#note(`${message.epoch}/${message.seq}`);
  }

  #note(version: string): void {
    const states = CHOICES.map(({ level = 'l2', depth }): [string, string] => [
      `${level}/${depth ?? ''}`,
      dumpView(this.view, level, depth),
    ]);
    this.#truth.set(version, new Map(states));
  }
}

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

async function run(steps: readonly Step[]): Promise<Observer['compared'] & { readonly unequalAtEnd: string[] }> {
  const stage = new FeedStage();
  const observer = new Observer();
  const book = new RandomBook();
  const publish = async (...messages: readonly (BookViewDiff | BookViewSnapshot)[]): Promise<void> => {
    for (const message of messages) observer.saw(message);
    await stage.publish(...messages);
  };
  await publish(book.diff([]));
  const sockets = new Map<BookFeedClient, DirectSocket>();
  const clients = CHOICES.map((choice) => {
    const client: BookFeedClient = new BookFeedClient({
      url: '',
      open: () => {
        const socket = stage.socket();
        sockets.set(client, socket);
        return socket;
      },
    });
    observer.watch(client, choice);
    client.subscribe(choice);
    client.connect();
    return { client, choice };
  });
  for (const one of steps) {
    if (one.do === 'change') await publish(...one.diffs.map((changes) => book.diff(changes)));
    else if (one.do === 'pass') await vi.advanceTimersByTimeAsync(one.ms);
    else if (one.do === 'reconnect') for (const { client } of clients) client.reconnect();
    else if (one.do === 'restart') await stage.restart();
    else if (one.do === 'snapshot') await publish(book.snapshot());
    else if (one.do === 'epoch') {
      book.nextEpoch();
      await publish(book.diff([]));
    } else if (one.do === 'hole') {
      book.diff([]); // never published
      await publish(book.diff([]), book.snapshot());
    } else for (const socket of sockets.values()) dropNext(socket);
  }
  await vi.advanceTimersByTimeAsync(20_000);
  const unequalAtEnd = clients
    .filter(({ client, choice: { level, depth } }) => {
      const keeper = client.book('SOL-PERP');
      return !keeper?.position || dumpKeeper(keeper) !== dumpView(observer.view, level ?? 'l2', depth);
    })
    .map(({ choice }) => JSON.stringify(choice));
  for (const { client } of clients) client.close();
  stage.feed.stop();
  return { ...observer.compared, unequalAtEnd };
}

/** Drops the next change on its way to the client. */
function dropNext(socket: DirectSocket): void {
  socket.tamper = (text) => {
    if (!text.startsWith('{"diff":')) return text;
    socket.tamper = (rest) => rest;
    return null;
  };
}

describe('a book keeper', () => {
  it('has the published book at every message, through losses, reconnects, restarts and new epochs', async () => {
    const total = { books: 0, gaps: 0, recovered: 0, lost: 0 };
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        const seen = await run(steps);
        expect(seen).toMatchObject({ differences: 0, neverHeld: 0, mismatches: 0, unequalAtEnd: [] });
        for (const name of ['books', 'gaps', 'recovered', 'lost'] as const) total[name] += seen[name];
      }),
      { numRuns: 60 },
    );
    // Every kind of disturbance happened often enough.
    expect(Math.min(...Object.values(total)), JSON.stringify(total)).toBeGreaterThan(10);
  });
});
