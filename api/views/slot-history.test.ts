// Books of earlier slots: the answer for a slot equals the answer recorded when the slot was published.

import bs58 from 'bs58';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BookEngine, packSnapshotIndex, SnapshotIndex, snapshotIndexState } from '../../processors/book/index.ts';
import {
  type BookOrders,
  type BookViewDiff,
  type BookViewSnapshot,
  marketKey,
  type OrderState,
  partitionOf,
  TOPICS,
  type Topic,
  type ViewOrder,
} from '../../schemas/index.ts';
import { diff, MAKER_B, Stage, snapshot, until } from '../../test/support/api/stage.ts';
import { seededRandom } from '../../test/support/platform/chance.ts';
import { orderOf } from '../../test/support/processors/book/messages.ts';
import { orderbookApp } from '../orderbook/app.ts';
import { BookReader } from './book-reader.ts';
import { SlotHistory } from './slot-history.ts';

const SOL = { marketType: 'perp', marketIndex: 0 } as const;
const KEY = marketKey(SOL);
const PARTITION = partitionOf(TOPICS.bookViews, KEY);

let stage: Stage;
let reader: BookReader;
let nowMs = 1_000;
/** Advances on each call, so that no two readings are equal. */
const clock = () => {
  nowMs += 1;
  return nowMs;
};
let stopApp: () => Promise<void> = async () => {};

beforeEach(async () => {
  nowMs = 1_000;
  stage = new Stage();
  await stage.markets();
  reader = new BookReader({ ...stage.context(), clock });
  await reader.start();
});
afterEach(async () => {
  await stopApp();
  await reader.stop();
});

/** Another process on the same log, which receives everything after its start. */
async function restart() {
  await reader.stop();
  reader = new BookReader({ ...stage.context(), clock });
  const get = await serve();
  await reader.start();
  return get;
}

async function serve() {
  const context = stage.context();
  const slotHistory = new SlotHistory(stage.log, reader);
  const accounts = { read: async () => [] };
  const app = await orderbookApp(
    { reader, accounts: accounts as never, slotStallMs: 5_000, slotHistory },
    context.logger,
  );
  stopApp = () => app.close();
  return async (url: string) => {
    const { statusCode, body } = await app.inject(url);
    return { status: statusCode, body };
  };
}

const indexed = async (index: SnapshotIndex) =>
  stage.log.commit('book', { state: [{ key: snapshotIndexState(KEY), value: packSnapshotIndex(index) }] });

function order(orderId: number, price: number, size: number, short: boolean): OrderState {
  return orderOf({
    maker: new Uint8Array(32).fill(1 + (orderId % 5)),
    orderId,
    direction: short ? 'short' : 'long',
    price: BigInt(price),
    baseAssetAmount: BigInt(size),
    postOnly: true,
  });
}

/** Writes many slots with snapshots, repairs and records repeated after a crash. Records both bodies of each slot. */
async function live(lastSlot: number): Promise<Map<number, { l2: string; l3: string | null }>> {
  const engine = new BookEngine(SOL);
  const random = seededRandom(7);
  const index = new SnapshotIndex();
  const recorded = new Map<number, { l2: string; l3: string | null }>();
  const market = reader.markets.get(SOL);
  if (!market) throw new Error('no market');
  let written = 0;
  const write = async (message: BookViewDiff | BookViewSnapshot) => {
    await stage.books(message);
    written += 1;
  };
  for (let slot = 100; slot <= lastSlot; slot += 1) {
    const changes = Math.floor(random() * 3);
    const diffs = [engine.applySlot(slot)];
    for (let at = 0; at < changes; at += 1) {
      const id = Math.floor(random() * 30);
      const short = id % 2 === 0;
      const upserts = [order(id, (short ? 200 : 100) + Math.floor(random() * 20), 1 + Math.floor(random() * 9), short)];
      const gone = random() < 0.3 ? [{ maker: upserts[0]?.maker ?? new Uint8Array(32), orderId: id }] : [];
      const value: BookOrders = { ...SOL, slot, source: 'user', account: new Uint8Array(32), upserts, removals: [] };
      diffs.push(engine.applyOrders(gone.length > 0 ? { ...value, upserts: [], removals: gone } : value));
    }
    if (slot % 37 === 0) diffs.push(engine.repair(slot));
    nowMs += 400;
    let last = diffs[0];
    for (const change of diffs) {
      if (!change) continue;
      last = change;
      await write(change);
    }
    if (slot % 11 === 0 && last) await write(last);
    if (engine.takeSnapshotDue() || slot % 25 === 0) {
      index.add({ slot, offset: BigInt(written) });
      await write(engine.snapshot());
    }
    await until(() => {
      const head = reader.book(SOL)?.head;
      return head?.slot === slot && head.epoch === engine.state.epoch && head.seq === engine.state.seq;
    });
    recorded.set(slot, {
      l2: reader.bodies.l2(market, 100, false).text,
      l3: reader.bodies.l3(market, false)?.text ?? null,
    });
  }
  // Completes the last slot.
  await write(engine.applySlot(lastSlot + 1) ?? engine.snapshot());
  await until(() => reader.newestSlot === lastSlot + 1);
  await indexed(index);
  return recorded;
}

describe('books of earlier slots', () => {
  it('equal the recorded answers at every slot', async () => {
    const get = await serve();
    const recorded = await live(299);
    for (const [slot, seen] of recorded) {
      expect(await get(`/l2?marketName=SOL-PERP&slot=${slot}`)).toEqual({ status: 200, body: seen.l2 });
      expect(await get(`/l3?marketIndex=0&marketType=perp&slot=${slot}`)).toEqual({ status: 200, body: seen.l3 });
    }
    expect(recorded.size).toBe(200);
    expect(new Set([...recorded.values()].map(({ l3 }) => l3)).size).toBe(200);
  });

  it('have the requested depth', async () => {
    const get = await serve();
    await stage.books(snapshot({ seq: 1, slot: 10 }), diff(2, 11), diff(3, 12));
    await until(() => reader.newestSlot === 12);
    const { body } = await get('/l2?marketName=SOL-PERP&slot=11&depth=1');
    expect(JSON.parse(body)).toMatchObject({ slot: 11, bids: [{ price: '81114210' }] });
    expect(JSON.parse(body).bids).toHaveLength(1);
  });

  it('name the transaction that had last written each order at that slot', async () => {
    const get = await serve();
    const [first] = snapshot().bidOrders as [ViewOrder];
    const cause = (slot: number) => ({ slot, signature: new Uint8Array(64).fill(slot), index: 3 });
    const written = (slot: number) => ({ bidOrders: [{ ...first, cause: cause(slot) }] });
    await stage.books(snapshot({ seq: 1, slot: 10 }), diff(2, 11, written(11)), diff(3, 12, written(12)), diff(4, 13));
    await until(() => reader.newestSlot === 13);
    const causes = async (slot: number) => {
      const { body } = await get(`/l3?marketName=SOL-PERP&slot=${slot}&cause=true`);
      return JSON.parse(body).bids.map((order: { cause: unknown }) => order.cause);
    };
    const answered = (slot: number) => ({ ...cause(slot), signature: bs58.encode(cause(slot).signature) });
    expect(await causes(11)).toEqual([answered(11), null]);
    expect(await causes(12)).toEqual([answered(12), null]);
    expect((await get('/l3?marketName=SOL-PERP&slot=11')).body).not.toContain('cause');
  });

  it('come from the last change before a slot without changes', async () => {
    const get = await serve();
    await stage.books(snapshot({ seq: 1, slot: 10 }), diff(2, 20), diff(3, 30));
    await until(() => reader.newestSlot === 30);
    expect(JSON.parse((await get('/l2?marketName=SOL-PERP&slot=29')).body).slot).toBe(20);
  });

  it('have no time when they were published before the start of the process', async () => {
    await stage.books(snapshot({ seq: 1, slot: 10 }), diff(2, 11), diff(3, 12));
    const get = await restart();
    await until(() => reader.ready);
    await stage.books(diff(4, 13));
    await until(() => reader.newestSlot === 13);
    const { ts } = JSON.parse((await get('/l2?marketName=SOL-PERP')).body);
    await stage.books(diff(5, 14));
    await until(() => reader.newestSlot === 14);
    const timeOf = async (slot: number) => JSON.parse((await get(`/l2?marketName=SOL-PERP&slot=${slot}`)).body).ts;
    expect([await timeOf(11), await timeOf(12), await timeOf(13)]).toEqual([null, null, ts]);
  });

  it('are answered after the end of the slot, with its last change', async () => {
    const get = await serve();
    await stage.books(snapshot({ seq: 1, slot: 10 }), diff(2, 11));
    await until(() => reader.newestSlot === 11);
    const early = get('/l2?marketName=SOL-PERP&slot=11&depth=3');
    await stage.books(diff(3, 11));
    await until(() => reader.book(SOL)?.head.seq === 3);
    const { body: live } = await get('/l2?marketName=SOL-PERP&depth=3');
    await stage.books(diff(4, 12));
    expect(await early).toEqual({ status: 200, body: live });
    expect(await get('/l2?marketName=SOL-PERP&slot=11&depth=3')).toEqual({ status: 200, body: live });
  });

  it('of a market that lags behind another wait for its own slot', async () => {
    const get = await serve();
    await stage.books(snapshot({ seq: 1, slot: 10 }), snapshot({ marketIndex: 1, seq: 1, slot: 20 }));
    await until(() => reader.newestSlot === 20);
    const early = get('/l3?marketName=SOL-PERP&slot=15');
    await stage.books(
      diff(2, 14),
      diff(3, 15, { gone: [{ maker: MAKER_B, orderId: 7, source: 'user' }] }),
      diff(4, 16),
    );
    const { slot, bids } = JSON.parse((await early).body);
    expect([slot, bids.length]).toEqual([15, 1]);
  });

  it('use all that remains in the log after retention', async () => {
    await stage.books(diff(1, 10), diff(2, 11), diff(3, 12), snapshot({ seq: 3, slot: 12 }), diff(4, 13), diff(5, 14));
    await stage.books(snapshot({ epoch: 15, slot: 15 }), diff(2, 16, { epoch: 15 }), diff(3, 17, { epoch: 15 }));
    stage.log.removeBefore(TOPICS.bookViews, PARTITION, 2n);
    const get = await restart();
    await until(() => reader.newestSlot === 17);
    for (const slot of [12, 13, 15, 16]) {
      const { status, body } = await get(`/l2?marketName=SOL-PERP&slot=${slot}`);
      expect([status, JSON.parse(body).slot]).toEqual([200, slot]);
    }
    const body = 'Not found: no book of this slot is kept; the earliest slot available is 12';
    expect(await get('/l2?marketName=SOL-PERP&slot=11')).toEqual({ status: 404, body });
  });

  it('are replayed from the newest snapshot before them, not from the beginning', async () => {
    const index = new SnapshotIndex();
    for (let seq = 1; seq <= 400; seq += 1) {
      await stage.books(diff(seq, 100 + seq));
      if (seq % 100 === 0) {
        index.add({ slot: 100 + seq, offset: BigInt(seq + seq / 100 - 1) });
        await stage.books(snapshot({ seq, slot: 100 + seq }));
      }
    }
    await indexed(index);
    await until(() => reader.newestSlot === 500);
    const get = await serve();
    const reads: bigint[] = [];
    const read = stage.log.read.bind(stage.log);
    stage.log.read = async (topic: Topic, partition: number, from: bigint, max: number) => {
      if (topic.name === TOPICS.bookViews.name && partition === PARTITION) reads.push(from);
      return read(topic, partition, from, max);
    };
    expect(JSON.parse((await get('/l2?marketName=SOL-PERP&slot=350')).body).slot).toBe(350);
    expect(reads[0]).toBe(201n);
    expect(JSON.parse((await get('/l3?marketName=SOL-PERP&slot=350')).body).slot).toBe(350);
    expect(reads).toHaveLength(1);
  });
});

describe('slots that cannot be answered', () => {
  it('are refused when they are not whole numbers', async () => {
    const get = await serve();
    await stage.books(snapshot());
    await until(() => reader.newestSlot !== null);
    for (const slot of ['', 'x', '-1', '1.5', '1e3', ' 7', '9'.repeat(16)]) {
      for (const path of ['/l2', '/l3']) {
        const answer = await get(`${path}?marketName=SOL-PERP&slot=${encodeURIComponent(slot)}`);
        expect(answer).toEqual({ status: 400, body: 'Bad Request: slot must be a whole number' });
      }
    }
    expect((await get('/l2?slot=7')).body).toContain('(marketName)');
  });

  it('are refused with the newest complete slot when they lie ahead or do not end', async () => {
    const get = await serve();
    const url = (slot: number) => `/l2?marketName=SOL-PERP&slot=${slot}`;
    expect((await get(url(1))).body).toBe('Bad Request: this slot is not complete yet');
    await stage.books(snapshot());
    await until(() => reader.newestSlot !== null);
    const body = 'Bad Request: this slot is not complete yet; the newest complete slot is 486';
    expect(await get(url(488))).toEqual({ status: 400, body });
    expect(await get(url(487))).toEqual({ status: 400, body });
  });

  it('are refused when nothing of the market was ever published', async () => {
    const get = await serve();
    await stage.books(snapshot());
    await until(() => reader.newestSlot !== null);
    const body = 'Not found: no book of this slot is kept';
    expect(await get('/l3?marketName=BTC-PERP&slot=400')).toEqual({ status: 404, body });
  });

  it('are refused when the book has a hole', async () => {
    const get = await serve();
    await stage.books(snapshot({ seq: 1, slot: 10 }), diff(2, 11));
    await stage.log.append(TOPICS.bookViews, [{ key: KEY, value: Buffer.from('no record') }]);
    await stage.books(diff(4, 13), diff(5, 14), snapshot({ seq: 5, slot: 14 }), diff(6, 15));
    await until(() => reader.newestSlot === 15);
    const statuses = await Promise.all(
      [10, 11, 12, 13, 14].map(async (slot) => (await get(`/l2?marketName=SOL-PERP&slot=${slot}`)).status),
    );
    // The unreadable record could belong to slot 11, 12 or 13.
    expect(statuses).toEqual([200, 404, 404, 404, 200]);
  });

  it('are refused while the served book has a hole', async () => {
    const get = await serve();
    await stage.books(snapshot({ seq: 1, slot: 10 }), diff(2, 11), diff(4, 13), diff(5, 14));
    await until(() => reader.receivedSlot(KEY) === 14);
    const body = 'Not found: no book of this slot is kept; the earliest slot available is 10';
    for (const slot of [11, 12, 13]) {
      expect(await get(`/l3?marketName=SOL-PERP&slot=${slot}`)).toEqual({ status: 404, body });
    }
  });

  it('are refused when retention removes records during the replay', async () => {
    const get = await serve();
    await stage.books(snapshot({ seq: 1, slot: 10 }), diff(2, 11), diff(3, 12));
    await until(() => reader.newestSlot === 12);
    const read = stage.log.read.bind(stage.log);
    stage.log.read = async (topic: Topic, partition: number, from: bigint, max: number) => {
      const records = await read(topic, partition, from, max);
      stage.log.removeBefore(TOPICS.bookViews, PARTITION, 1n);
      return records;
    };
    expect((await get('/l2?marketName=SOL-PERP&slot=11')).status).toBe(404);
  });

  it('are refused with the earliest slot available when they precede it', async () => {
    const get = await serve();
    await stage.books(diff(6, 15), snapshot({ seq: 6, slot: 15 }), diff(7, 16), diff(8, 17));
    await until(() => reader.newestSlot === 17);
    const index = new SnapshotIndex();
    index.add({ slot: 2, offset: 0n });
    index.add({ slot: 15, offset: 1n });
    const body = 'Not found: no book of this slot is kept; the earliest slot available is 15';
    expect(await get('/l2?marketName=SOL-PERP&slot=9')).toEqual({ status: 404, body });
    await indexed(index);
    stage.log.removeBefore(TOPICS.bookViews, PARTITION, 1n);
    expect(await get('/l2?marketName=SOL-PERP&slot=9')).toEqual({ status: 404, body });
    expect((await get('/l2?marketName=SOL-PERP&slot=16')).status).toBe(200);
  });

  it('are refused with the slot of the first change when the log begins before the first snapshot', async () => {
    const get = await serve();
    await stage.books(diff(1, 10), diff(2, 11), snapshot({ seq: 2, slot: 11 }), diff(3, 12));
    await until(() => reader.newestSlot === 12);
    const index = new SnapshotIndex();
    index.add({ slot: 11, offset: 2n });
    await indexed(index);
    const body = 'Not found: no book of this slot is kept; the earliest slot available is 10';
    expect(await get('/l2?marketName=SOL-PERP&slot=9')).toEqual({ status: 404, body });
    expect((await get('/l2?marketName=SOL-PERP&slot=10')).status).toBe(200);
  });

  it('are bounded for a crowd: some requests wait, the rest get 503', async () => {
    const get = await serve();
    const changes = Array.from({ length: 200 }, (_, at) => diff(at + 2, at + 11));
    await stage.books(snapshot({ seq: 1, slot: 10 }), ...changes);
    await until(() => reader.newestSlot === 210);
    const answers = await Promise.all(
      Array.from({ length: 190 }, (_, at) => get(`/l2?marketName=SOL-PERP&slot=${at + 11}`)),
    );
    const statuses = answers.map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([200, 503]));
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(66);
    expect((await get('/l2?marketName=SOL-PERP&slot=200')).status).toBe(200);
  });
});
