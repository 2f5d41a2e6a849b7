// Times on the `book` channel: when a state was published, and its distance to the chain.

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { BookFeedClient, type FeedEvents } from '../../../client/index.ts';
import { diff, snapshot } from '../../../test/support/api/stage.ts';
import { FeedStage } from '../../../test/support/feed/feed-stage.ts';
import { BOOK_HEARTBEAT_MS, HEARTBEAT_STREAMS } from './limits.ts';

const BEGAN_MS = 1_790_000_000_000;

let stage: FeedStage;

beforeEach(async () => {
  vi.useFakeTimers();
  stage = new FeedStage();
  stage.reader.nowMs = BEGAN_MS;
  await stage.publish(snapshot());
});

afterEach(() => {
  stage.feed.stop();
  vi.useRealTimers();
});

describe('the time of a message', () => {
  it('is when the server published the state, in diffs and in snapshots of that state', async () => {
    const socket = stage.socket();
    stage.reader.nowMs = BEGAN_MS + 10;
    socket.ask();
    stage.reader.nowMs = BEGAN_MS + 25;
    await stage.publish(diff(2, 488));
    stage.reader.nowMs = BEGAN_MS + 9000;
    const late = stage.socket();
    late.ask();
    expect(socket.published().map(({ ts }) => ts)).toEqual([BEGAN_MS]);
    expect(socket.diffs().map(({ ts }) => ts)).toEqual([BEGAN_MS + 25]);
    expect(late.published()).toMatchObject([{ seq: 2, ts: BEGAN_MS + 25 }]);
  });

  it('is the tick of a conflated stream, not the change before it', async () => {
    const socket = stage.socket();
    socket.ask({ conflation: 100 });
    await stage.publish(diff(2, 488));
    stage.reader.nowMs = BEGAN_MS + 100;
    await vi.advanceTimersByTimeAsync(100);
    expect(socket.diffs().map(({ ts }) => ts)).toEqual([BEGAN_MS + 100]);
  });

  it('is rendered once per message: all subscribers get the same bytes', async () => {
    const texts = ['one', 'other'].map(() => {
      const received: string[] = [];
      const socket = stage.socket();
      socket.tamper = (text) => {
        stage.reader.nowMs += 1;
        if (!text.includes('"subscribed"')) received.push(text);
        return text;
      };
      socket.ask({ checksum: true });
      return received;
    });
    await stage.publish(diff(2, 488));
    await stage.publish(diff(3, 489));
    expect(texts[0]).toHaveLength(3);
    expect(texts[1]).toEqual(texts[0]);
  });

  it('of a backfill is when the server rendered it, not when the change was published', async () => {
    for (const seq of [2, 3, 4]) await stage.publish(diff(seq, 486 + seq));
    stage.reader.nowMs = BEGAN_MS + 60_000;
    const [each, merged] = [stage.socket(), stage.socket()];
    each.ask({ resume: { epoch: 1, seq: 1 } });
    merged.ask({ resume: { epoch: 1, seq: 1 }, conflation: 100 });
    expect(each.diffs().map(({ seq, ts }) => [seq, ts])).toEqual([2, 3, 4].map((seq) => [seq, BEGAN_MS + 60_000]));
    expect(merged.diffs()).toMatchObject([{ seq: 4, ts: BEGAN_MS + 60_000 }]);
  });

  it('is not part of any checksum', async () => {
    const checksums: unknown[] = [];
    for (const nowMs of [BEGAN_MS, BEGAN_MS + 5]) {
      stage.feed.stop();
      stage = new FeedStage();
      stage.reader.nowMs = nowMs;
      await stage.publish(snapshot());
      const socket = stage.socket();
      socket.ask({ checksum: true });
      expect(socket.published()).toMatchObject([{ ts: nowMs }]);
      checksums.push(socket.published()[0]?.checksum);
    }
    expect(checksums[1]).toBe(checksums[0]);
    expect(typeof checksums[0]).toBe('number');
  });
});

describe('the distance to the chain', () => {
  const beat = async () => {
    const socket = stage.socket();
    socket.ask({ market: '*', marketType: '*' });
    await vi.advanceTimersByTimeAsync(BOOK_HEARTBEAT_MS);
    return socket.ofType('heartbeat');
  };

  it('is that of the book furthest behind', async () => {
    stage.chainSlot = 500;
    await stage.publish(snapshot({ marketIndex: 1, slot: 499 }));
    stage.reader.nowMs = BEGAN_MS + 7;
    expect(await beat()).toEqual([
      {
        channel: 'book',
        type: 'heartbeat',
        ts: BEGAN_MS + 7,
        headSlot: 500,
        slotsBehind: 500 - 487,
        sequences: { perp_0_l2: { epoch: 1, seq: 1 }, perp_1_l2: { epoch: 1, seq: 1 } },
      },
    ]);
  });

  it('is counted from the newest book while no slot of the chain is known', async () => {
    await stage.publish(snapshot({ marketIndex: 1, slot: 490 }));
    expect(await beat()).toMatchObject([{ headSlot: 490, slotsBehind: 3 }]);
  });

  it('is null before the first book', async () => {
    stage.feed.stop();
    stage = new FeedStage();
    expect(await beat()).toMatchObject([{ headSlot: null, slotsBehind: null, sequences: {} }]);
  });

  it('comes in several messages to a connection with very many streams, each stream once', async () => {
    const indexes = Array.from({ length: HEARTBEAT_STREAMS }, (_, index) => 10 + index);
    stage.describe(...indexes);
    await stage.publish(...indexes.map((marketIndex) => snapshot({ marketIndex, slot: 490 })));
    const beats = (await beat()) as { sequences: object; slotsBehind: number }[];
    expect(beats.map(({ sequences }) => Object.keys(sequences).length)).toEqual([HEARTBEAT_STREAMS, 1]);
    expect(new Set(beats.flatMap(({ sequences }) => Object.keys(sequences))).size).toBe(HEARTBEAT_STREAMS + 1);
    expect(beats.map(({ slotsBehind }) => slotsBehind)).toEqual([3, 3]);
  });

  it('reaches listeners of the published client, and its books have their time', async () => {
    const beats: FeedEvents['heartbeat'][] = [];
    const client = new BookFeedClient({ url: '', open: () => stage.socket() });
    client.on('heartbeat', (message) => beats.push(message));
    client.subscribe({ market: 'SOL-PERP', checksum: true });
    client.connect();
    await vi.advanceTimersByTimeAsync(1);
    expect(client.book('SOL-PERP')?.ts).toBe(BEGAN_MS);
    stage.reader.nowMs = BEGAN_MS + 30;
    stage.chainSlot = 489;
    await stage.publish(diff(2, 488));
    expect(client.book('SOL-PERP')?.ts).toBe(BEGAN_MS + 30);
    await vi.advanceTimersByTimeAsync(BOOK_HEARTBEAT_MS);
    expect(beats).toMatchObject([{ headSlot: 489, slotsBehind: 1, ts: BEGAN_MS + 30 }]);
    client.close();
  });
});
