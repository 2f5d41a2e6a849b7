import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Clob,
  emptyNodes,
  growClob,
  insertOrder,
  NO_NODE,
  NODE_OPEN,
  NODE_TAKER_ORIGIN,
  newClobHeader,
  nodeAt,
  reduceOrder,
  removeOrder,
  sideIsFull,
  walk,
} from './clob.ts';
import { NO_KEY } from './keys.ts';

function book(capacity: number): Clob {
  return {
    key: 'book',
    type: 'ClobHeaderV0',
    grown: 0,
    nodes: emptyNodes(capacity, NO_KEY),
    dirty: new Set(),
    account: newClobHeader({
      authority: NO_KEY,
      place_authority: NO_KEY,
      order_tick_size: 1n,
      order_step_size: 1n,
      min_order_size: 5n,
      market_index: 0,
      capacity,
      evictThreshold: capacity,
    }),
  };
}

function place(clob: Clob, isAsk: boolean, price: number, base = 10n, flags = 0, maxTs = 0n): number {
  return insertOrder(
    clob,
    { authority: NO_KEY, subAccountId: 0, clientOrderId: 1, isAsk, price: BigInt(price), base, maxTs, flags },
    1,
  );
}

const steps = fc.array(
  fc.record({
    remove: fc.boolean(),
    ask: fc.boolean(),
    price: fc.integer({ min: 1, max: 9 }),
    origin: fc.boolean(),
    at: fc.nat(),
  }),
  { maxLength: 60 },
);

describe('the order account', () => {
  it('keeps its lists in price-time order through any inserts and removals', () => {
    fc.assert(
      fc.property(steps, (actions) => {
        const clob = book(16);
        const open: number[] = [];
        for (const { remove, ask, price, origin, at } of actions) {
          if (remove || sideIsFull(clob, ask)) {
            const [index] = open.splice(at % Math.max(1, open.length), 1);
            if (index !== undefined) removeOrder(clob, index);
          } else {
            open.push(place(clob, ask, price, 10n, origin ? NODE_TAKER_ORIGIN : 0));
          }
        }
        const walked = [false, true].map((ask) => [...walk(clob, ask)].map((index) => nodeAt(clob, index)));
        const [bids = [], asks = []] = walked;
        const byTime = (a: (typeof bids)[number], b: (typeof bids)[number]): number => Number(a.order_id - b.order_id);
        expect(bids).toEqual([...bids].sort((a, b) => Number(b.price - a.price) || byTime(a, b)));
        expect(asks).toEqual([...asks].sort((a, b) => Number(a.price - b.price) || byTime(a, b)));
        expect(bids.length + asks.length).toBe(open.length);
        expect(clob.account.bid_count + clob.account.ask_count + clob.account.free_count).toBe(16);
        expect(clob.account.taker_origin_count[0] + clob.account.taker_origin_count[1]).toBe(
          [...bids, ...asks].filter((node) => node.bit_flags & NODE_TAKER_ORIGIN).length,
        );
      }),
    );
  });

  it('reuses a freed node under a new order id and never reuses the id', () => {
    const clob = book(4);
    const first = place(clob, false, 5);
    const { order_id: firstId } = { ...nodeAt(clob, first) };
    removeOrder(clob, first);
    expect(nodeAt(clob, first).bit_flags & NODE_OPEN).toBe(0);
    const second = place(clob, true, 7);
    expect(second).toBe(first);
    expect(nodeAt(clob, second).order_id).toBeGreaterThan(firstId);
    expect(() => removeOrder(clob, NO_NODE)).toThrow(RangeError);
  });

  it('rejects more than half of the arena on one side', () => {
    const clob = book(4);
    place(clob, true, 1);
    place(clob, true, 2);
    expect(() => place(clob, true, 3)).toThrow('capacity');
    expect(() => place(clob, false, 1)).not.toThrow();
  });

  it('removes an order when a fill leaves less than the minimum', () => {
    const clob = book(4);
    const index = place(clob, true, 3, 20n);
    expect(reduceOrder(clob, index, 14n)).toBe(false);
    expect(reduceOrder(clob, index, 2n)).toBe(true);
    expect(clob.account.ask_count).toBe(0);
    expect(clob.account.best_ask).toBe(NO_NODE);
  });

  it('tracks the earliest expiry while orders change', () => {
    const clob = book(8);
    const late = place(clob, true, 3, 10n, 0, 900n);
    const early = place(clob, false, 2, 10n, 0, 500n);
    expect(clob.account.next_expiry_ts).toBe(500n);
    removeOrder(clob, early);
    expect(clob.account.next_expiry_ts).toBe(900n);
    removeOrder(clob, late);
    expect(clob.account.next_expiry_ts).toBe(2n ** 63n - 1n);
  });

  it('gains free nodes when it grows and loses no order', () => {
    const clob = book(4);
    const index = place(clob, false, 5);
    growClob(clob, 7);
    expect(clob.nodes).toHaveLength(7);
    expect(clob.account.free_count).toBe(6);
    expect([...walk(clob, false)]).toEqual([index]);
    expect(new Set([place(clob, false, 4), place(clob, false, 3)])).toEqual(new Set([4, 5]));
  });
});
