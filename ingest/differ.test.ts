import bs58 from 'bs58';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { keyText } from '../schemas/index.ts';
import {
  accountOf,
  CLOB,
  clobBytes,
  clobKey,
  key,
  marketBytes,
  marketKeyOf,
  newDiffer,
  PERP,
  USER,
  type UserState,
  update,
  userBytes,
  userKey,
} from '../test/support/ingest/accounts.ts';
import { blankAccount, setField } from '../test/support/ingest/bytes.ts';
import { history, openOrders, truth } from '../test/support/ingest/history.ts';
import { NaiveReader } from '../test/support/ingest/naive-reader.ts';
import { seededRandom } from '../test/support/platform/chance.ts';
import { isBookChange, type Output } from './diff/output.ts';
import type { AccountUpdate } from './source.ts';

describe('differ', () => {
  it('emits messages that add up to the accounts, for any sequence of states', () => {
    fc.assert(
      fc.property(fc.nat(), fc.integer({ min: 1, max: 40 }), (seed, steps) => {
        const { updates, world } = history(seed, steps);
        const reader = new NaiveReader();
        const differ = newDiffer();
        for (const one of updates) differ.account(one, reader.take);
        expect({ orders: reader.orders, positions: reader.positions }).toEqual(truth(world));
        expect(reader.open).toEqual(openOrders(world));
      }),
      { numRuns: 60 },
    );
  });

  it('changes nothing for repeated or late updates', () => {
    fc.assert(
      fc.property(fc.nat(), fc.integer({ min: 1, max: 30 }), (seed, steps) => {
        const { updates, world } = history(seed, steps);
        const next = seededRandom(seed ^ 0x55);
        const reader = new NaiveReader();
        const differ = newDiffer();
        for (const [index, one] of updates.entries()) {
          differ.account(one, reader.take);
          const before = reader.outputs.length;
          differ.account(one, reader.take);
          const earlier = updates[Math.floor(next() * (index + 1))];
          if (earlier) differ.account(earlier, reader.take);
          // An earlier update counts only for an account without a state of a later slot.
          expect(reader.outputs.length).toBe(before);
        }
        expect({ orders: reader.orders, positions: reader.positions }).toEqual(truth(world));
      }),
      { numRuns: 40 },
    );
  });

  it('orders two writes of one slot by their write version', () => {
    const reader = new NaiveReader();
    const differ = newDiffer();
    const state = (price: bigint): UserState => ({
      user: 1,
      orders: [{ slot: 0, orderId: 1, marketIndex: 0, price, size: 10n, filled: 0n, reduceOnly: false }],
      positions: [],
    });
    differ.account(update(userKey(1), USER.owner, userBytes(state(2n)), 5, 20n), reader.take);
    differ.account(update(userKey(1), USER.owner, userBytes(state(1n)), 5, 19n), reader.take);
    expect([...reader.orders.values()][0]).toMatch(/^2 /);
  });

  it('emits the first snapshot in full between brackets of every market', () => {
    const { updates, world } = history(42, 30);
    const newest = new Map(updates.map((one) => [bs58.encode(one.pubkey), one]));
    const market = blankAccount(PERP);
    setField(market, PERP.layout, 'market_index', 5);
    const reader = new NaiveReader();
    const differ = newDiffer();
    differ.snapshotBegin();
    for (const one of newest.values()) differ.account(one, reader.take);
    differ.account(update(key(3), PERP.owner, market, 200), reader.take);
    expect(reader.outputs).toEqual([]);
    differ.snapshotEnd(300, reader.take);
    expect(reader.orders).toEqual(truth(world).orders);
    expect(reader.positions).toEqual(truth(world).positions);
    expect(reader.open).toEqual(openOrders(world));
    const names = reader.outputs.map(({ name }) => name);
    const brackets = names.filter((name) => name === 'BookSnapshotBegin').length;
    expect(brackets).toBeGreaterThanOrEqual(3);
    expect(names.slice(0, brackets).every((name) => name === 'BookSnapshotBegin')).toBe(true);
    expect(names.slice(-brackets).every((name) => name === 'BookSnapshotEnd')).toBe(true);
    expect(reader.outputs.find((output) => output.name === 'BookSnapshotEnd')?.value).toMatchObject({
      snapshotSlot: 300,
    });
  });

  it.each([
    ['first', 1],
    ['second', 2],
  ])('ends the %s read in steps with the same outputs, and is not settled in between', (_, reads) => {
    const { updates } = history(7, 30);
    const newest = new Map(updates.map((one) => [bs58.encode(one.pubkey), one]));
    const ended = (end: (differ: ReturnType<typeof newDiffer>, take: NaiveReader['take']) => void) => {
      const reader = new NaiveReader();
      const differ = newDiffer();
      for (let read = 1; read <= reads; read++) {
        differ.snapshotBegin();
        // A later read lacks some accounts, which it closes.
        const part = [...newest.values()].slice(0, newest.size - (read - 1));
        for (const one of part) differ.account(one, reader.take);
        end(differ, reader.take);
      }
      return reader.outputs;
    };
    let steps = 0;
    const inSteps = ended((differ, take) => {
      for (const _step of differ.snapshotEnding(300, take)) {
        steps += 1;
        expect(differ.isSettled).toBe(false);
      }
      expect(differ.isSettled).toBe(true);
    });
    expect(steps).toBeGreaterThan(newest.size);
    expect(inSteps).toEqual(ended((differ, take) => differ.snapshotEnd(300, take)));
  });

  it('emits the first snapshot in full also after single updates, and keeps newer ones', () => {
    const reader = new NaiveReader();
    const differ = newDiffer();
    const account = (user: number, slot: number, price: bigint) => {
      const order = { slot: 0, orderId: 1, marketIndex: 0, price, size: 1n, filled: 0n, reduceOnly: false };
      return update(userKey(user), USER.owner, userBytes({ user, orders: [order], positions: [] }), slot);
    };
    // A read that was not believed, then changes: user 2 changed since the read, user 3 is not in it any more.
    for (const user of [1, 2, 3]) differ.account(account(user, 10, 1n), reader.take);
    differ.account(account(2, 30, 2n), reader.take);
    const before = reader.outputs.length;
    differ.snapshotBegin();
    for (const user of [1, 2]) differ.account(account(user, 20, 1n), reader.take);
    differ.snapshotEnd(20, reader.take);
    const orders = reader.outputs
      .slice(before)
      .flatMap(({ name, value }) => (name === 'BookOrders' ? value.upserts : []));
    expect(orders.map(({ maker, price }) => [maker[1], price]).sort()).toEqual([
      [1, 1n],
      [2, 2n],
    ]);
  });

  it('emits all in full again when a later snapshot has a market that the first one lacked', () => {
    const reader = new NaiveReader();
    const order = { slot: 0, orderId: 1, marketIndex: 0, price: 1n, size: 1n, filled: 0n, reduceOnly: false };
    const account = (user: number, orders: UserState['orders']) =>
      update(userKey(user), USER.owner, userBytes({ user, orders, positions: [] }), 20);
    const market = update(marketKeyOf(0), PERP.owner, marketBytes(0, null), 20);
    // An order that an earlier process wrote, and that has closed since.
    newDiffer().account({ ...account(1, [order]), slot: 10 }, reader.take);
    const differ = newDiffer();
    const read = (updates: readonly ReturnType<typeof account>[]) => {
      differ.snapshotBegin();
      for (const one of updates) differ.account(one, reader.take);
      differ.snapshotEnd(20, reader.take);
    };
    read([]);
    expect(reader.orders.size).toBe(1);
    read([market, account(1, []), account(2, [order])]);
    expect([...reader.orders.keys()]).toEqual(['user perp-0 2 1']);
    const before = reader.outputs.length;
    read([market, account(1, []), account(2, [order])]);
    expect(reader.outputs.length).toBe(before);
  });

  it('closes accounts that a later snapshot lacks, unless a newer update exists', () => {
    const reader = new NaiveReader();
    const differ = newDiffer();
    const order = { slot: 0, orderId: 1, marketIndex: 0, price: 1n, size: 1n, filled: 0n, reduceOnly: false };
    const state = (user: number): UserState => ({ user, orders: [order], positions: [] });
    const account = (user: number, slot: number) => update(userKey(user), USER.owner, userBytes(state(user)), slot);
    differ.snapshotBegin();
    for (const user of [1, 2, 3]) differ.account(account(user, 10), reader.take);
    differ.snapshotEnd(10, reader.take);
    differ.account({ ...account(3, 30), data: userBytes({ ...state(3), positions: [] }) }, reader.take);
    expect(reader.orders.size).toBe(3);
    const before = reader.outputs.length;
    differ.snapshotBegin();
    differ.account(account(1, 20), reader.take);
    differ.snapshotEnd(20, reader.take);
    expect([...reader.orders.keys()]).toEqual(['user perp-0 1 1', 'user perp-0 3 1']);
    expect(reader.outputs.slice(before).map(({ name }) => name)).toEqual(['UserOrders', 'BookOrders']);
  });

  it('gives all changes of a later snapshot its own slot, after the last of its accounts', () => {
    const differ = newDiffer();
    const outputs: Output[] = [];
    const emit = (output: Output) => void outputs.push(output);
    const account = (user: number, slot: number, price: bigint) => {
      const order = { slot: 0, orderId: 1, marketIndex: 0, price, size: 1n, filled: 0n, reduceOnly: false };
      return update(userKey(user), USER.owner, userBytes({ user, orders: [order], positions: [] }), slot);
    };
    const market = (slot: number, data = marketBytes(0, null)) => update(marketKeyOf(0), PERP.owner, data, slot);
    const changed = marketBytes(0, null);
    setField(changed, PERP.layout, 'order_step_size', 77);
    const read = (first: AccountUpdate, others: readonly AccountUpdate[], slot: number) => {
      differ.snapshotBegin();
      for (const one of [first, ...others]) differ.account(one, emit);
      expect(outputs.filter(isBookChange)).toEqual([]);
      differ.snapshotEnd(slot, emit);
    };
    read(market(10), [account(1, 10, 1n), account(2, 10, 1n), account(3, 10, 1n)], 10);
    outputs.length = 0;
    // Users were read later than the market; user 3 is gone.
    read(market(100, changed), [account(1, 98, 2n), account(2, 103, 2n)], 103);
    const slots = outputs.filter(isBookChange).map(({ name, value }) => [name, value.slot]);
    expect(slots).toEqual([['BookMarket', 103], ['BookOracle', 103], ...Array(3).fill(['BookOrders', 103])]);
    expect(differ.stored(keyText(userKey(2)))?.slot).toBe(103);
  });

  it('repeats reduce-only orders of both sources when the position that caps them changes', () => {
    const reader = new NaiveReader();
    const differ = newDiffer();
    const state = (base: bigint): UserState => ({
      user: 1,
      orders: [{ slot: 2, orderId: 8, marketIndex: 0, price: 1n, size: 10n, filled: 0n, reduceOnly: true }],
      positions: [{ marketIndex: 0, base, openOrders: 1 }],
    });
    const node = { node: 0, maker: 1, clientOrderId: 4, bookOrderId: 9n, price: 3n, size: 2n, ask: true, next: 0 };
    differ.account(update(marketKeyOf(0), PERP.owner, marketBytes(0, clobKey(0)), 1), () => {});
    differ.account(update(userKey(1), USER.owner, userBytes(state(5n)), 1), reader.take);
    differ.account(update(clobKey(0), CLOB.owner, clobBytes(0, 4, [{ ...node, reduceOnly: true }]), 2), reader.take);
    differ.account(update(userKey(1), USER.owner, userBytes(state(7n)), 3), reader.take);
    expect(reader.orders.get('user perp-0 1 8')).toBe('1 10 0 long 7 ');
    expect(reader.orders.get('clob perp-0 1 4')).toBe('3 2 0 short 7 9');
    expect(reader.outputs.map(({ name, value }) => [name, 'source' in value ? value.source : ''])).toEqual([
      ['PositionState', ''],
      ['BookOrders', 'user'],
      ['UserOrders', ''],
      ['BookOrders', 'clob'],
      ['PositionState', ''],
      ['BookOrders', 'user'],
      ['BookOrders', 'clob'],
    ]);
  });

  it('emits all open orders of a market when one changes, with what is filled in base and quote', () => {
    const reader = new NaiveReader();
    const differ = newDiffer();
    const order = { marketIndex: 0, price: 1n, size: 10n, filled: 0n, reduceOnly: false };
    const state = (filled: bigint, quoteFilled: bigint): UserState => ({
      user: 1,
      orders: [
        { ...order, slot: 0, orderId: 1 },
        { ...order, slot: 3, orderId: 2, filled, quoteFilled },
      ],
      positions: [],
    });
    for (const [slot, filled] of [2n, 7n].entries()) {
      differ.account(update(userKey(1), USER.owner, userBytes(state(filled, filled * 3n)), slot + 1), reader.take);
    }
    const filled = reader.outputs.flatMap(({ name, value }) =>
      name === 'UserOrders' ? [value.orders.map((one) => [one.baseAssetAmountFilled, one.quoteAssetAmountFilled])] : [],
    );
    expect(filled).toEqual([
      [
        [0n, 0n],
        [2n, 6n],
      ],
      [
        [0n, 0n],
        [7n, 21n],
      ],
    ]);
  });

  it('emits nothing when only the links of a book node changed', () => {
    const reader = new NaiveReader();
    const differ = newDiffer();
    const node = {
      node: 1,
      maker: 1,
      clientOrderId: 4,
      bookOrderId: 9n,
      price: 3n,
      size: 2n,
      ask: true,
      reduceOnly: false,
    };
    differ.account(update(marketKeyOf(0), PERP.owner, marketBytes(0, clobKey(0)), 1), () => {});
    differ.account(update(clobKey(0), CLOB.owner, clobBytes(0, 8, [{ ...node, next: 3 }]), 2), reader.take);
    differ.account(update(clobKey(0), CLOB.owner, clobBytes(0, 8, [{ ...node, next: 5 }]), 3), reader.take);
    expect(reader.outputs.length).toBe(1);
  });

  it('uses the book account that the market names, even when others carry its index', () => {
    const reader = new NaiveReader();
    const differ = newDiffer();
    const clob = (account: number, price: bigint, slot: number) => {
      const node = { node: 0, maker: 1, clientOrderId: 4, bookOrderId: 9n, price, size: 2n, ask: true };
      const data = clobBytes(0, 4, [{ ...node, reduceOnly: false, next: 0 }]);
      differ.account(update(clobKey(0, account), CLOB.owner, data, slot), reader.take);
    };
    const names = (account: number | null, slot: number) => {
      const data = marketBytes(0, account === null ? null : clobKey(0, account));
      differ.account(update(marketKeyOf(0), PERP.owner, data, slot), reader.take);
    };
    const held = () => [...reader.orders.values()].map((order) => order.split(' ')[0]);
    clob(1, 11n, 1);
    expect(held()).toEqual([]);
    names(1, 2);
    expect(held()).toEqual(['11']);
    clob(2, 22n, 3);
    expect(held()).toEqual(['11']);
    names(2, 4);
    expect(held()).toEqual(['22']);
    clob(1, 12n, 5);
    expect(held()).toEqual(['22']);
    names(null, 6);
    expect(held()).toEqual([]);
    clob(2, 23n, 7);
    expect(held()).toEqual([]);
    names(1, 8);
    expect(held()).toEqual(['12']);
  });

  it('parks unreadable accounts and keeps their previous state', () => {
    const reader = new NaiveReader();
    const differ = newDiffer();
    const state: UserState = {
      user: 1,
      orders: [{ slot: 0, orderId: 1, marketIndex: 0, price: 1n, size: 1n, filled: 0n, reduceOnly: false }],
      positions: [],
    };
    differ.account(update(userKey(1), USER.owner, userBytes(state), 1), reader.take);
    differ.account(update(userKey(1), USER.owner, userBytes(state).subarray(0, 3000), 2), reader.take);
    differ.account(update(key(8), USER.owner, Buffer.alloc(50, 0xee), 3), reader.take);
    differ.account(update(key(8), USER.owner, blankAccount(accountOf('UserStats')), 4), reader.take);
    expect(reader.orders.size).toBe(1);
    const letters = reader.outputs.flatMap((output) => (output.name === 'DeadLetter' ? [output.value] : []));
    expect(letters.map(({ reason, slot }) => [reason, slot])).toEqual([
      ['wrong_length', 2],
      ['unknown_discriminator', 3],
    ]);
    expect(letters[0]?.origin).toBe(bs58.encode(userKey(1)));
    expect(letters[0]?.bytes.length).toBe(3000);
  });
});
