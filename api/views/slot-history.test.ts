// Books of earlier slots: what is answered now for a slot is what a recorder saw when it was published.

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
} from '../../schemas/index.ts';
import { orderbookApp } from '../orderbook/app.ts';
import { diff, Stage, snapshot, until } from '../testing/stage.ts';
import { BookReader } from './book-reader.ts';
import { SlotHistory } from './slot-history.ts';

const SOL = { marketType: 'perp', marketIndex: 0 } as const;
const KEY = marketKey(SOL);
const PARTITION = partitionOf(TOPICS.bookViews, KEY);

let stage: Stage;
let reader: BookReader;
let nowMs = 1_000;
let stopApp: () => Promise<void> = async () => {};

beforeEach(async () => {
  nowMs = 1_000;
  stage = new Stage();
  await stage.markets();
  reader = new BookReader({ ...stage.context(), clock: () => nowMs });
  await reader.start();
});
afterEach(async () => {
  await stopApp();
  await reader.stop();
});

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
  return {
    maker: new Uint8Array(32).fill(1 + (orderId % 5)),
    orderId,
    orderType: 'limit',
    direction: short ? 'short' : 'long',
    price: BigInt(price),
    baseAssetAmount: BigInt(size),
    baseAssetAmountFilled: 0n,
    triggerPrice: 0n,
    triggerCondition: 'above',
    oraclePriceOffset: 0n,
    postOnly: true,
    reduceOnly: false,
    auctionDurationSlots: 0,
    auctionStartPrice: 0n,
    auctionEndPrice: 0n,
    placedSlot: 1,
    maxTs: 0n,
    bitFlags: 0,
    positionBaseAmount: 0n,
    bookOrderId: null,
  };
}

/** Small deterministic generator, so that a failure can be repeated. */
function chance(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Lives through many slots with snapshots, repairs and records repeated after a crash; records both bodies of each slot. */
async function live(lastSlot: number): Promise<Map<number, { l2: string; l3: string | null }>> {
  const engine = new BookEngine(SOL);
  const random = chance(7);
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
    recorded.set(slot, { l2: reader.bodies.l2(market, 100, false), l3: reader.bodies.l3(market, false) });
  }
  await indexed(index);
  return recorded;
}

describe('books of earlier slots', () => {
  it('equal what a recorder saw when they were published, at every slot', async () => {
    const get = await serve();
    const recorded = await live(299);
    for (const [slot, seen] of recorded) {
      expect(await get(`/l2?marketName=SOL-PERP&slot=${slot}`)).toEqual({ status: 200, body: seen.l2 });
      expect(await get(`/l3?marketIndex=0&marketType=perp&slot=${slot}`)).toEqual({ status: 200, body: seen.l3 });
    }
    expect(recorded.size).toBe(200);
    expect(new Set([...recorded.values()].map(({ l3 }) => l3)).size).toBe(200);
  });

  it('are cut to the depth asked for', async () => {
    const get = await serve();
    await stage.books(snapshot({ seq: 1, slot: 10 }), diff(2, 11), diff(3, 12));
    await until(() => reader.newestSlot === 12);
    const { body } = await get('/l2?marketName=SOL-PERP&slot=11&depth=1');
    expect(JSON.parse(body)).toMatchObject({ slot: 11, bids: [{ price: '81114210' }] });
    expect(JSON.parse(body).bids).toHaveLength(1);
  });

  it('are those of the last change before a slot at which nothing changed', async () => {
    const get = await serve();
    await stage.books(snapshot({ seq: 1, slot: 10 }), diff(2, 20), diff(3, 30));
    await until(() => reader.newestSlot === 30);
    expect(JSON.parse((await get('/l2?marketName=SOL-PERP&slot=29')).body).slot).toBe(20);
    expect(JSON.parse((await get('/l2?marketName=SOL-PERP&slot=30')).body).slot).toBe(30);
  });

  it('show no time where this process did not see them published', async () => {
    await stage.books(snapshot({ seq: 1, slot: 10 }), diff(2, 11));
    await until(() => reader.newestSlot === 11);
    const get = await serve();
    expect(JSON.parse((await get('/l2?marketName=SOL-PERP&slot=10')).body).ts).toBeNull();
  });

  it('are read from the newest snapshot before them, not from the beginning', async () => {
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
  it('are refused when they are no whole numbers', async () => {
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

  it('are refused with the newest slot when they lie ahead', async () => {
    const get = await serve();
    await stage.books(snapshot());
    await until(() => reader.newestSlot !== null);
    const body = 'Bad Request: nothing was published at this slot yet; the newest is 487';
    expect(await get('/l2?marketName=SOL-PERP&slot=488')).toEqual({ status: 400, body });
    expect(await get('/l3?marketName=SOL-PERP&slot=488')).toEqual({ status: 400, body });
  });

  it('are told with the earliest slot available when they lie before what is kept', async () => {
    const get = await serve();
    await stage.books(diff(6, 15), snapshot({ seq: 6, slot: 15 }), diff(7, 16), diff(8, 17));
    await until(() => reader.newestSlot === 17);
    const index = new SnapshotIndex();
    index.add({ slot: 2, offset: 0n });
    index.add({ slot: 15, offset: 1n });
    await indexed(index);
    stage.log.bounds = async () => ({ earliest: 1n, next: 4n });
    const body = 'Not found: no book of this slot is kept; the earliest slot available is 15';
    expect(await get('/l2?marketName=SOL-PERP&slot=9')).toEqual({ status: 404, body });
    expect((await get('/l2?marketName=SOL-PERP&slot=16')).status).toBe(200);
  });

  it('are answered for a crowd within bounds: some wait, the rest are told to come again', async () => {
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
