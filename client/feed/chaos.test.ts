// Through all faults of the connection and its messages, the user of a feed sees snapshots, changes, resumed and stale, and
// never a wrong book.

import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { BookView } from '../../processors/book/index.ts';
import type { BookViewDiff, BookViewSnapshot } from '../../schemas/index.ts';
import { BookMirror, dumpLive } from '../../test/support/client/book-mirror.ts';
import { dumpView } from '../../test/support/feed/dump.ts';
import { type DirectSocket, FeedStage } from '../../test/support/feed/feed-stage.ts';
import { type Change, change, RandomBook } from '../../test/support/feed/random-book.ts';
import { type BookChoice, type BookSubscription, FeedClient } from '../index.ts';

const CHOICES: readonly BookChoice[] = [
  // A checksum covers no more levels than it names: here every level that the books can have.
  { market: 'SOL-PERP', checksum: 100 },
  { market: 'SOL-PERP', level: 'l3', checksum: 100 },
  { market: 'sol-perp', depth: 3, conflation: 50 },
  { market: '*', conflation: 100, checksum: 100 },
  { market: '*', level: 'l3', depth: 4, conflation: 400 },
];
const FAULTS = ['drop', 'alter', 'forge', 'swap', 'repeat', 'garbage'] as const;
type Fault = (typeof FAULTS)[number];
type Step =
  | { readonly do: 'change'; readonly diffs: readonly (readonly Change[])[] }
  | { readonly do: 'pass'; readonly ms: number }
  | { readonly do: 'reconnect' | 'restart' | 'epoch' | 'read' }
  | { readonly do: 'fault'; readonly fault: Fault };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc
      .array(fc.array(change, { maxLength: 4 }), { minLength: 1, maxLength: 4 })
      .map((diffs): Step => ({ do: 'change', diffs })),
  },
  { weight: 6, arbitrary: fc.constantFrom(10, 60, 500, 1100, 6000).map((ms): Step => ({ do: 'pass', ms })) },
  { weight: 4, arbitrary: fc.constantFrom(...FAULTS).map((fault): Step => ({ do: 'fault', fault })) },
  {
    weight: 4,
    arbitrary: fc
      .constantFrom('reconnect' as const, 'restart' as const, 'epoch' as const, 'read' as const)
      .map((name): Step => ({ do: name })),
  },
);

/** Does something to the next message with a checksum on its way to the client; a drop takes any message. */
function spoilNext(socket: DirectSocket, fault: Fault): void {
  let held: string | null = null;
  socket.tamper = (text) => {
    if (held !== null) {
      // The held message comes after this one.
      const late = held;
      socket.tamper = (rest) => rest;
      queueMicrotask(() => socket.onmessage?.({ data: late }));
      return text;
    }
    if (fault === 'drop') {
      socket.tamper = (rest) => rest;
      return null;
    }
    if (!text.includes('"checksum":')) return text;
    if (fault === 'swap') {
      held = text;
      return null;
    }
    socket.tamper = (rest) => rest;
    if (fault === 'repeat') queueMicrotask(() => socket.onmessage?.({ data: text }));
    if (fault === 'forge') return text.replace(/"checksum":\d+/, '"checksum":1');
    if (fault === 'garbage') return text.replace(/\["\d+"/, '["x"').replace(/"price":"\d+"/, '"price":null');
    return fault === 'alter'
      ? text.replace(/(\["|"price":")(\d+)/, (_, head, price) => `${head}${BigInt(price) + 7n}`)
      : text;
  };
}

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

interface Follower {
  readonly choice: BookChoice;
  readonly books: BookSubscription;
  readonly mirror: BookMirror;
}

async function run(steps: readonly Step[]) {
  const seen = { wrong: 0, snapshots: 0, changes: 0, resumed: 0, stale: 0 };
  const stage = new FeedStage();
  const view = new BookView();
  const truth = new Map<string, string>();
  const random = new RandomBook();
  const keyOf = (epoch: number, seq: number, level = 'l2', depth?: number) => `${epoch}/${seq}/${level}/${depth ?? ''}`;
  const note = (epoch: number, seq: number): void => {
    for (const { level = 'l2', depth } of CHOICES) {
      truth.set(keyOf(epoch, seq, level, depth), dumpView(view, level, depth));
    }
  };
  note(0, 0);
  const publish = async (...messages: readonly (BookViewDiff | BookViewSnapshot)[]): Promise<void> => {
    for (const message of messages) if (view.apply(message) === 'applied') note(message.epoch, message.seq);
    await stage.publish(...messages);
  };
  await publish(random.diff([]));
  let socket: DirectSocket | null = null;
  const client = new FeedClient({
    url: '',
    open: () => {
      socket = stage.socket();
      return socket;
    },
  });
  const readers: AsyncGenerator[] = [];
  const slow = { isReading: false };
  const followers = CHOICES.map((choice): Follower => {
    const books = client.book(choice);
    const mirror = new BookMirror();
    const check = (book: NonNullable<ReturnType<BookSubscription['book']>>): void => {
      const { epoch = -1, seq = -1 } = book.position ?? {};
      const expected = book.market === 'SOL-PERP' ? truth.get(keyOf(epoch, seq, choice.level, choice.depth)) : null;
      if (expected !== null && dumpLive(book) !== expected) seen.wrong += 1;
      if (mirror.dump(book.stream) !== dumpLive(book)) seen.wrong += 1;
    };
    books.on('snapshot', (event) => {
      mirror.take(event);
      seen.snapshots += 1;
      check(event.book);
    });
    books.on('change', (event) => {
      mirror.take(event);
      seen.changes += 1;
      check(event.book);
    });
    books.on('resumed', () => {
      seen.resumed += 1;
    });
    books.on('stale', () => {
      seen.stale += 1;
    });
    return { choice, books, mirror };
  });
  const slowMirrors = followers.map(({ books }) => {
    const mirror = new BookMirror();
    const reader = books[Symbol.asyncIterator]();
    readers.push(reader);
    const read = async (): Promise<void> => {
      for await (const event of reader) {
        mirror.take(event);
        while (!slow.isReading) await new Promise((resolve) => setTimeout(resolve, 700));
      }
    };
    void read();
    return mirror;
  });
  for (const one of steps) {
    if (one.do === 'change') await publish(...one.diffs.map((changes) => random.diff(changes)));
    else if (one.do === 'pass') await vi.advanceTimersByTimeAsync(one.ms);
    else if (one.do === 'reconnect') client.reconnect();
    else if (one.do === 'restart') await stage.restart();
    else if (one.do === 'epoch') {
      random.nextEpoch();
      await publish(random.diff([]));
    } else if (one.do === 'fault') spoilNext(socket ?? stage.socket(), one.fault);
    else slow.isReading = !slow.isReading;
  }
  if (socket) (socket as DirectSocket).tamper = (text) => text;
  slow.isReading = true;
  await vi.advanceTimersByTimeAsync(20_000);
  const unequal = followers.flatMap(({ choice, books, mirror }, index) => {
    const book = books.book('SOL-PERP');
    const expected = dumpView(view, choice.level ?? 'l2', choice.depth);
    const live = book?.isCurrent ? dumpLive(book) : 'not current';
    const texts = [live, mirror.dump(book?.stream ?? ''), slowMirrors[index]?.dump(book?.stream ?? '')];
    return texts.flatMap((text, who) => (text === expected ? [] : [`${JSON.stringify(choice)} ${who}`]));
  });
  client.close();
  stage.feed.stop();
  return { ...seen, unequal };
}

describe('FeedClient', () => {
  it('has a current book again after the answer to its resume was lost, without another change', async () => {
    const stage = new FeedStage();
    const random = new RandomBook();
    await stage.publish(random.snapshot());
    let losesAnswer = false;
    const open = (): DirectSocket => {
      const socket = stage.socket();
      socket.tamper = (text) => {
        if (!losesAnswer || !text.includes('"type":"resumed"')) return text;
        losesAnswer = false;
        return null;
      };
      return socket;
    };
    const client = new FeedClient({ url: '', open });
    const books = client.book({ market: 'SOL-PERP' });
    await vi.advanceTimersByTimeAsync(100);
    expect(books.book()?.isCurrent).toBe(true);
    losesAnswer = true;
    client.reconnect();
    await vi.advanceTimersByTimeAsync(20_000);
    expect([losesAnswer, books.book()?.isCurrent]).toEqual([false, true]);
    client.close();
    stage.feed.stop();
  });

  for (const market of ['SOL-PERP', '*']) {
    it(`keeps the other books of a market current after the book of ${market} is closed`, async () => {
      const stage = new FeedStage();
      const view = new BookView();
      const random = new RandomBook();
      const publish = async (message: BookViewDiff | BookViewSnapshot): Promise<void> => {
        view.apply(message);
        await stage.publish(message);
      };
      await publish(random.snapshot());
      let socket = stage.socket();
      const open = (): DirectSocket => {
        socket = stage.socket();
        return socket;
      };
      const client = new FeedClient({ url: '', open });
      const closed = client.book({ market });
      const choices: readonly BookChoice[] = [
        { market: 'SOL-PERP', level: 'l3' },
        { market: 'SOL-PERP', depth: 5 },
        { market: '*', depth: 3 },
        { market: 'SOL-PERP', conflation: 50 },
        { market: 'SOL-PERP', checksum: false },
        { market: 'SOL-PERP', checksum: 5 },
        { market: 'SOL-PERP', level: 'l3', cause: true },
      ];
      const books = choices.map((choice) => client.book(choice));
      let stale = 0;
      for (const one of books) {
        one.on('stale', () => {
          stale += 1;
        });
      }
      await vi.advanceTimersByTimeAsync(100);
      closed.close();
      await vi.advanceTimersByTimeAsync(100);
      const ended = socket.ofType('unsubscribed').flatMap(({ streams }) => streams as string[]);
      expect(ended.filter((stream) => stream.startsWith('perp_0_')).sort()).toEqual([
        'perp_0_l2_d3_k10',
        'perp_0_l2_d5_k10',
        'perp_0_l2_k10',
      ]);
      for (let size = 1; size <= 5; size += 1) {
        const bid = {
          side: 'bid',
          tick: 1,
          dlob: size,
          vamm: 0,
          orderId: size,
          size,
          slots: 1,
          isGone: false,
        } as const;
        await publish(random.diff([bid]));
        await vi.advanceTimersByTimeAsync(100);
      }
      const dumps = books.map((one) => {
        const book = one.book('SOL-PERP');
        return book?.isCurrent ? dumpLive(book) : 'not current';
      });
      expect(dumps).toEqual(choices.map(({ level = 'l2', depth }) => dumpView(view, level, depth)));
      expect(stale).toBe(0);
      client.close();
      stage.feed.stop();
    });
  }

  it('gives an iterator that begins while the book is stale a snapshot once it is current, and the next stale', async () => {
    const stage = new FeedStage();
    await stage.publish(new RandomBook().snapshot());
    const client = new FeedClient({ url: '', open: () => stage.socket() });
    const books = client.book({ market: 'SOL-PERP' });
    await vi.advanceTimersByTimeAsync(100);
    client.reconnect();
    const seen: string[] = [];
    const reading = (async () => {
      for await (const { type } of books) seen.push(type);
    })();
    for (let loss = 0; loss < 2; loss += 1) {
      await vi.advanceTimersByTimeAsync(20_000);
      client.reconnect();
    }
    await vi.advanceTimersByTimeAsync(20_000);
    expect(seen).toEqual(['snapshot', 'stale', 'resumed', 'stale', 'resumed']);
    client.close();
    await reading;
    stage.feed.stop();
  });

  it('never shows a wrong book, through losses, reconnects, restarts, altered, repeated and reordered messages', async () => {
    const total = { snapshots: 0, changes: 0, resumed: 0, stale: 0 };
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        const seen = await run(steps);
        expect(seen).toMatchObject({ wrong: 0, unequal: [] });
        for (const name of ['snapshots', 'changes', 'resumed', 'stale'] as const) total[name] += seen[name];
      }),
      { numRuns: 60 },
    );
    expect(Math.min(...Object.values(total)), JSON.stringify(total)).toBeGreaterThan(10);
  });
});
