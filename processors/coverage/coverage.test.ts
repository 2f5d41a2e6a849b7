import bs58 from 'bs58';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Output } from '../../ingest/diff/output.ts';
import { RpcSource } from '../../ingest/rpc.ts';
import { type RunningLocalnet, startLocalnet } from '../../localnet/index.ts';
import { silentLogger } from '../../platform/index.ts';
import {
  type ChainEvent,
  decodeEvent,
  loadDefinition,
  type StreamCount,
  type StreamCoverage,
  streamKey,
} from '../../schemas/index.ts';
import { encodedEventsOf } from '../../test/support/ingest/encoded-events.ts';
import { SHARED_NETWORK } from '../../test/support/ingest/shared-thread.ts';
import { SourceReading } from '../../test/support/ingest/source-reading.ts';
import { times } from '../../test/support/platform/times.ts';
import { follow, isFillOf, isTrue, lostHoles, provenOf } from '../../test/support/processors/lost-records.ts';
import type { LifeInput } from '../../test/support/processors/order-lives.ts';
import { OrderFills } from './order-fills.ts';
import { StoredRanges } from './ranges.ts';
import { Coverage, SETTLE_SLOTS } from './reducer.ts';
import { Streams } from './streams.ts';

const fill = (id: number, slot: number): ChainEvent => ({
  name: 'OrderActionRecord',
  signature: new Uint8Array(64).fill(id),
  eventIndex: 0,
  slot,
  txIndex: null,
  data: { market_type: 'perp', market_index: 0, fill_record_id: BigInt(id) },
});
const user = (account: number) => Uint8Array.from({ length: 32 }, (_, at) => (at === 0 ? account : 1));
const placed = (account: number, id: number, slot: number): ChainEvent => ({
  name: 'OrderRecord',
  signature: new Uint8Array(64).fill(id),
  eventIndex: 0,
  slot,
  txIndex: null,
  data: { user: user(account), order_order_id: id },
});
const ordersOf = (account: number) => ({ subject: bs58.encode(user(account)), stream: 'orders' });
/** A reading that has all accounts. */
async function readingOf({ rpcUrl, wsUrl }: RunningLocalnet): Promise<SourceReading> {
  const definition = loadDefinition('velocity');
  const urls = { rpcUrls: [rpcUrl], wsUrls: [wsUrl] };
  const reading = new SourceReading(
    new RpcSource({ ...urls, definition, logger: silentLogger(), transport: SHARED_NETWORK, silenceMs: 60_000 }),
  );
  await reading.until('all accounts', () => reading.of('snapshotEnd').length > 0);
  return reading;
}
/** Counts of all accounts of the chain. */
async function countsOf(net: RunningLocalnet): Promise<readonly StreamCount[]> {
  const reading = await readingOf(net);
  await reading.stop();
  return reading.counts();
}
/** States and counts, by slot. */
const statesOf = (outputs: readonly Output[]): LifeInput[] =>
  outputs.flatMap(({ name, value }): LifeInput[] => {
    if (name === 'UserOrders') return [{ is: 'state', slot: value.slot, state: value }];
    return name === 'StreamCounter' ? [{ is: 'count', slot: value.slot, count: { ...value, fromSlot: null } }] : [];
  });
/** Loses fills at random. Every claim about them must be true. */
function expectTrueProofs(events: readonly ChainEvent[], states: readonly LifeInput[]): void {
  const fills = events.filter(({ data }) => typeof data.fill_record_id === 'bigint');
  const markets = [...new Set(fills.map(marketOf))];
  const all = [...events.map((event): LifeInput => ({ is: 'event', slot: event.slot, event })), ...states];
  const inputs = all.sort((a, b) => a.slot - b.slot);
  const proven = { holes: 0, records: 0, states: 0 };
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat(fills.length - 1), { minLength: 60, maxLength: 160 }), (victims) => {
      const lost = victims.map((at) => fills[at]).filter((one) => one !== undefined);
      const left = inputs.filter((one) => one.is !== 'event' || !lost.includes(one.event));
      for (const kind of ['records', 'states'] as const) {
        const coverage = follow(left.filter(({ is }) => kind === 'states' || is !== 'state'));
        for (const market of markets) {
          const ofMarket = lost.filter((one) => marketOf(one) === market).sort((a, b) => idOf(a) - idOf(b));
          const holes = lostHoles(coverage, market);
          for (const hole of holes) {
            for (const one of hole.reconstructed) expect([one, isTrue(ofMarket, hole, one)]).toEqual([one, true]);
          }
          proven[kind] += provenOf(holes);
          if (kind === 'states') proven.holes += holes.length;
        }
      }
    }),
    { numRuns: times(1, 10), endOnFailure: true },
  );
  const { holes, records } = proven;
  process.stdout.write(`chain: ${holes} holes, proven by records ${records}, with states ${proven.states}\n`);
  expect(proven.states).toBeGreaterThan(proven.holes / 4);
}
const idOf = ({ data }: ChainEvent): number => Number(data.fill_record_id);
const marketOf = ({ data }: ChainEvent): string => `${String(data.market_type)}-${String(data.market_index)}`;
/** Fills of which the proof is tried. */
const PROVEN_FILLS = 12;
/** Whether what is proven of each order of a lost fill equals the fill. A whole chain proves nothing. */
function provenWithout(events: readonly ChainEvent[], victim: ChainEvent): readonly ('exact' | 'wrong')[] {
  const fillsOf = new OrderFills();
  for (const event of events) if (event !== victim) fillsOf.event(event);
  const { data } = victim;
  const id = Number(data.fill_record_id);
  const hole = { fromId: id, toId: id };
  return fillsOf.of(`${String(data.market_type)}-${String(data.market_index)}`, hole, [hole], 1).map((one) => {
    const { baseAssetAmount, quoteAssetAmount } = one;
    const isSame =
      baseAssetAmount === String(data.base_asset_amount_filled) &&
      quoteAssetAmount === String(data.quote_asset_amount_filled);
    return isSame && isFillOf(data, one) ? 'exact' : 'wrong';
  });
}
const market = { subject: 'perp-0', stream: 'fills' };
const viewOf = (coverage: Coverage, slot: number): StreamCoverage | undefined => {
  coverage.counter({ subject: 'spot-9', stream: 'deposits', slot, lastId: 0, fromId: null, fromSlot: null });
  return coverage.takeViews().find((view) => streamKey(view) === streamKey(market));
};

describe('stored ranges', () => {
  it('are the same for every order of the same numbers, and equal a plain set', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 80 }), (ids) => {
        const ranges = new StoredRanges();
        const seen = new Set<number>();
        for (const id of ids) {
          expect(ranges.add(id, id * 2)).toBe(!seen.has(id));
          seen.add(id);
        }
        const stored = ranges.ranges.flatMap(({ fromId, toId }) =>
          Array.from({ length: toId - fromId + 1 }, (_, at) => fromId + at),
        );
        expect(stored).toEqual([...seen].sort((a, b) => a - b));
        for (const { fromId, toId, fromSlot, toSlot } of ranges.ranges) {
          expect([fromSlot, toSlot]).toEqual([fromId * 2, toId * 2]);
        }
      }),
    );
  });
});

describe('coverage', () => {
  it('names a hole once its slots are settled, and closes it when the record comes', () => {
    const coverage = new Coverage();
    for (const id of [1, 2, 3, 6, 7]) coverage.event(fill(id, 100 + id));
    coverage.counter({ ...market, slot: 108, lastId: 7, fromId: 6, fromSlot: 100 });
    expect(viewOf(coverage, 110)).toMatchObject({ firstId: 1, lastId: 7, chainId: 7, missing: 0, holes: [] });
    const hole = { fromId: 4, toId: 5, fromSlot: 103, toSlot: 106, isLost: false, reconstructed: [] };
    expect(viewOf(coverage, 106 + SETTLE_SLOTS)).toMatchObject({ missing: 2, holes: [hole] });
    coverage.event(fill(5, 105));
    coverage.event(fill(4, 104));
    expect(viewOf(coverage, 300 + SETTLE_SLOTS)).toMatchObject({ firstId: 1, lastId: 7, missing: 0, holes: [] });
  });

  it('names records at the end that the chain counts and the log lacks', () => {
    const coverage = new Coverage();
    coverage.event(fill(10, 100));
    coverage.counter({ ...market, slot: 120, lastId: 12, fromId: null, fromSlot: null });
    const holes = [{ fromId: 11, toId: 12, fromSlot: 100, toSlot: 120, isLost: false, reconstructed: [] }];
    expect(viewOf(coverage, 120 + SETTLE_SLOTS)).toMatchObject({ lastId: 10, chainId: 12, missing: 2, holes });
  });

  it('names records that the chain counts of a stream without any stored record, and none before its first count', () => {
    const coverage = new Coverage();
    coverage.counter({ ...market, slot: 100, lastId: 7, fromId: null, fromSlot: null });
    expect(viewOf(coverage, 400)).toMatchObject({ firstId: null, lastId: null, chainId: 7, missing: 0, holes: [] });
    coverage.counter({ ...market, slot: 450, lastId: 9, fromId: 7, fromSlot: 440 });
    const holes = [{ fromId: 8, toId: 9, fromSlot: 440, toSlot: 450, isLost: false, reconstructed: [] }];
    expect(viewOf(coverage, 450 + SETTLE_SLOTS)).toMatchObject({ firstId: null, chainId: 9, missing: 2, holes });
    coverage.event(fill(9, 449));
    const rest = [{ fromId: 8, toId: 8, fromSlot: 440, toSlot: 449, isLost: false, reconstructed: [] }];
    expect(viewOf(coverage, 700)).toMatchObject({ firstId: 9, lastId: 9, missing: 1, holes: rest });
    coverage.event(fill(8, 445));
    coverage.event(fill(6, 90));
    expect(viewOf(coverage, 800)?.holes).toMatchObject([{ fromId: 7, toId: 7, fromSlot: 90, toSlot: 100 }]);
  });

  it('searches a hole only where the count of the chain rose', () => {
    const coverage = new Coverage();
    coverage.event(fill(1, 100));
    coverage.counter({ ...market, slot: 100, lastId: 1, fromId: null, fromSlot: null });
    coverage.counter({ ...market, slot: 90_004, lastId: 2, fromId: 1, fromSlot: 90_001 });
    coverage.event(fill(3, 500_000));
    coverage.counter({ ...market, slot: 500_000, lastId: 3, fromId: 2, fromSlot: 499_990 });
    const holes = [{ fromId: 2, toId: 2, fromSlot: 90_001, toSlot: 90_004, isLost: false, reconstructed: [] }];
    expect(viewOf(coverage, 600_000)).toMatchObject({ missing: 1, holes });
  });

  it('calls a hole lost when a backfill of its slots is done and the records did not come', () => {
    const coverage = new Coverage();
    for (const id of [1, 3]) coverage.event(fill(id, 100 + id));
    const backfill = { id: 'x', fromSlot: 90, nextSlot: 120, found: 0, lost: 0, reason: '', atMs: 0 };
    coverage.backfill({ ...backfill, toSlot: 103, state: 'done' });
    expect(viewOf(coverage, 400)?.holes).toEqual([
      { fromId: 2, toId: 2, fromSlot: 101, toSlot: 103, isLost: true, reconstructed: [], reconstructedOrders: [] },
    ]);
  });

  it('saves after a backfill only the streams whose holes it has read', () => {
    const coverage = new Coverage();
    const count = { lastId: 8, fromId: 7 };
    for (const [account, slot] of [[7, 105] as const, [8, 505] as const]) {
      coverage.counter({ ...ordersOf(account), ...count, slot, fromSlot: slot - 5 });
    }
    viewOf(coverage, 1_000);
    coverage.takeChanges();
    const backfill = { id: 'x', fromSlot: 90, toSlot: 120, nextSlot: 121, found: 0, lost: 0, reason: '', atMs: 0 };
    coverage.backfill({ ...backfill, state: 'done' });
    viewOf(coverage, 1_010);
    const names = coverage.takeChanges().map(({ name }) => name);
    expect(names.filter((name) => name.endsWith('/orders'))).toEqual([`stream:${streamKey(ordersOf(7))}`]);
    coverage.backfill({ ...backfill, fromSlot: 2, toSlot: 3, state: 'done' });
    coverage.takeViews();
    expect(coverage.takeChanges().map(({ name }) => name)).toEqual(['backfills']);
  });

  it('does not call a hole lost after a backfill that lacked blocks: another node may have them', () => {
    const coverage = new Coverage();
    for (const id of [1, 3]) coverage.event(fill(id, 100 + id));
    const backfill = {
      id: 'x',
      fromSlot: 90,
      nextSlot: 120,
      found: 0,
      reason: '',
      atMs: 0,
      toSlot: 103,
      state: 'done' as const,
    };
    coverage.backfill({ ...backfill, lost: 5 });
    expect(viewOf(coverage, 400)?.holes).toMatchObject([{ fromId: 2, toId: 2, isLost: false }]);
    coverage.backfill({ ...backfill, lost: 0 });
    expect(viewOf(coverage, 500)?.holes).toMatchObject([{ fromId: 2, toId: 2, isLost: true }]);
  });

  it('publishes the newest state of a quiet market, also when it changed soon after a publication, over saves and restarts', () => {
    let coverage = new Coverage();
    const pieces = new Map<string, Uint8Array>();
    const published = () => {
      const views = coverage.takeViews();
      for (const { name, bytes } of coverage.takeChanges()) if (bytes) pieces.set(name, bytes);
      return views.map(({ lastId, chainId }) => [lastId, chainId]);
    };
    const count = (lastId: number, slot: number) =>
      coverage.counter({ ...market, slot, lastId, fromId: lastId - 1, fromSlot: slot - 1 });
    coverage.event(fill(4, 900));
    count(5, 1_100);
    expect(published()).toEqual([[4, 5]]);
    coverage.event(fill(5, 1_100));
    expect(published()).toEqual([]);
    coverage.event(placed(7, 1, 1_120));
    expect(published()).toEqual([[5, 5]]);
    coverage.event(placed(7, 2, 1_140));
    expect(published()).toEqual([]);
    coverage.event(fill(6, 1_140));
    expect(published()).toEqual([[6, 5]]);
    coverage.event(fill(7, 1_141));
    expect(published()).toEqual([]);
    coverage = new Coverage();
    coverage.restore([...pieces].map(([name, bytes]) => ({ name, bytes })));
    coverage.event(placed(7, 3, 1_160));
    expect(published()).toEqual([[7, 5]]);
    coverage.event(placed(7, 4, 1_180));
    expect(published()).toEqual([]);
  });

  it('continues from saved pieces as without a restart', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 40 }), fc.nat(), (ids, cut) => {
        const one = new Coverage();
        let other = new Coverage();
        const pieces = new Map<string, Uint8Array>();
        for (const [at, id] of ids.entries()) {
          for (const each of [one, other]) {
            each.event(fill(id, 1000 + at * 20));
            each.takeViews();
          }
          for (const { name, bytes } of other.takeChanges()) if (bytes) pieces.set(name, bytes);
          if (at !== cut % ids.length) continue;
          other = new Coverage();
          other.restore([...pieces].map(([name, bytes]) => ({ name, bytes })));
        }
        for (const each of [one, other]) each.event(fill(31, 9_000));
        expect(viewOf(other, 10_000)).toEqual(viewOf(one, 10_000));
      }),
    );
  });

  it('follows orders and liquidations of an account, and publishes only accounts with holes', () => {
    const coverage = new Coverage();
    for (const id of [1, 2]) coverage.event(placed(7, id, 100 + id));
    coverage.event(placed(8, 1, 104));
    coverage.counter({ ...ordersOf(7), slot: 110, lastId: 3, fromId: 2, fromSlot: 108 });
    coverage.counter({
      subject: bs58.encode(user(8)),
      stream: 'liquidations',
      slot: 111,
      lastId: 1,
      fromId: 0,
      fromSlot: 105,
    });
    expect([coverage.takeViews(), coverage.takeTotals()]).toMatchObject([
      [],
      [
        { stream: 'orders', accounts: 2, withHoles: 0, missing: 0 },
        { stream: 'liquidations', accounts: 1, withHoles: 0 },
      ],
    ]);
    coverage.event(placed(8, 2, 400));
    const hole = { fromId: 3, toId: 3, fromSlot: 108, toSlot: 110, isLost: false, reconstructed: [] };
    expect(coverage.takeViews()).toMatchObject([
      { ...ordersOf(7), firstId: 1, lastId: 2, chainId: 3, missing: 1, holes: [hole] },
      {
        stream: 'liquidations',
        firstId: null,
        chainId: 1,
        holes: [{ fromId: 1, toId: 1, fromSlot: 105, toSlot: 111 }],
      },
    ]);
    expect(coverage.takeTotals()).toMatchObject([
      { accounts: 2, withHoles: 1, missing: 1, lost: 0 },
      { withHoles: 1, missing: 1 },
    ]);
    coverage.event(placed(7, 3, 109));
    coverage.event(placed(8, 3, 450));
    expect(coverage.takeViews()).toMatchObject([{ ...ordersOf(7), lastId: 3, missing: 0, holes: [] }]);
    expect(coverage.viewOf(bs58.encode(user(8)), 'orders')).toMatchObject({ firstId: 1, lastId: 3, missing: 0 });
  });

  it('counts an account that was deleted and opened again anew', () => {
    const coverage = new Coverage();
    coverage.event(placed(7, 40, 100));
    coverage.counter({ ...ordersOf(7), slot: 100, lastId: 40, fromId: null, fromSlot: null });
    coverage.counter({ ...ordersOf(7), slot: 300, lastId: 2, fromId: null, fromSlot: 290 });
    coverage.event(placed(7, 4, 320));
    coverage.event(placed(9, 1, 900));
    const holes = [{ fromId: 3, toId: 3, fromSlot: 300, toSlot: 320 }];
    expect(coverage.takeViews()).toMatchObject([{ ...ordersOf(7), firstId: 4, chainId: 2, holes }]);
  });

  it('forgets the account that is quiet for longest when there are too many, and says how many', () => {
    const coverage = new Coverage(new Streams(2));
    for (const account of [1, 2, 1, 3]) coverage.event(placed(account, 1, 100 + account));
    coverage.takeViews();
    expect(coverage.takeTotals()).toMatchObject([{ stream: 'orders', accounts: 2, forgotten: 1 }]);
    const removed = coverage.takeChanges().filter(({ bytes }) => bytes === null);
    expect(removed.map(({ name }) => name)).toEqual([`stream:${streamKey(ordersOf(2))}`]);
    expect(coverage.viewOf(bs58.encode(user(1)), 'orders')).toMatchObject({ firstId: 1 });
    expect(coverage.viewOf(bs58.encode(user(2)), 'orders')).toBeNull();
  });

  it('finds no hole in a whole chain, and exactly the removed records otherwise', async () => {
    const net = await startLocalnet({
      rpcPort: 0,
      wsPort: 0,
      speed: 0,
      seed: 3,
      keepLedger: true,
      announce: true,
      accounts: 16,
      ordersPerMarket: 8,
    });
    try {
      const reading = await readingOf(net);
      await net.step(times(300, 400));
      const events = (await encodedEventsOf(net)).map(({ value }) => decodeEvent(value));
      const counts = await countsOf(net);
      const end = (events.at(-1)?.slot ?? 0) + SETTLE_SLOTS;
      const holesWithout = (victim: ChainEvent | undefined): string[] => {
        const coverage = new Coverage();
        for (const event of events) if (event !== victim) coverage.event(event);
        for (const count of counts) coverage.counter({ ...count, fromSlot: null });
        coverage.counter({ subject: 'spot-9', stream: 'deposits', slot: end, lastId: 0, fromId: null, fromSlot: null });
        const views = coverage.takeViews();
        if (!victim) expect(coverage.takeTotals().map(({ accounts }) => accounts > 5)).toContain(true);
        return views.flatMap((view) => view.holes.map((hole) => `${view.stream} ${hole.fromId}-${hole.toId}`));
      };
      const fills = events.filter(({ data }) => typeof data.fill_record_id === 'bigint');
      expect(fills.length).toBeGreaterThan(20);
      const fill = fills.find(({ data }, at) => at > fills.length / 2 && data.action_explanation !== 'liquidation');
      const some = fills.filter((_, at) => at % Math.ceil(fills.length / PROVEN_FILLS) === 0);
      const proofs = some.map((one) => provenWithout(events, one));
      expect(proofs.flat()).not.toContain('wrong');
      expect(proofs.filter((proof) => proof.includes('exact')).length).toBeGreaterThan(some.length / 4);
      const order = events.find(({ name, data }, at) => {
        return name === 'OrderRecord' && Number(data.order_order_id) > 1 && at > events.length / 2;
      });
      expect(holesWithout(undefined)).toEqual([]);
      expect(holesWithout(fill)).toEqual([`fills ${fill?.data.fill_record_id}-${fill?.data.fill_record_id}`]);
      expect(holesWithout(order)).toEqual([`orders ${order?.data.order_order_id}-${order?.data.order_order_id}`]);
      await reading.until('the newest slot', () => reading.of('slot').some(({ slot }) => slot >= net.ledger.tipSlot));
      await reading.stop();
      expectTrueProofs(events, statesOf(reading.outputs()));
    } finally {
      await net.stop();
    }
  });
});
