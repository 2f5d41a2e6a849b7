import bs58 from 'bs58';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  accountOf,
  CLOB,
  clobBytes,
  clobKey,
  key,
  LAZER,
  marketBytes,
  marketKeyOf,
  newDiffer,
  PERP,
  SPOT,
  STATE,
  USER,
  type UserState,
  update,
  userBytes,
  userKey,
} from '../test/support/ingest/accounts.ts';
import { blankAccount, random, setField } from '../test/support/ingest/bytes.ts';
import { history, openOrders, truth } from '../test/support/ingest/history.ts';
import { NaiveReader } from '../test/support/ingest/naive-reader.ts';
import { keyText, type Output } from './diff/output.ts';
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
        const next = random(seed ^ 0x55);
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
    expect(reader.outputs.slice(before).map(({ name }) => name)).toEqual(['BookOrders', 'UserOrders']);
  });

  it('names no slot of a later snapshot before all its orders have come', () => {
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
    const read = (first: AccountUpdate, others: readonly AccountUpdate[], slot: number, completeSlot: number) => {
      differ.snapshotBegin(completeSlot);
      for (const one of [first, ...others]) differ.account(one, emit);
      differ.snapshotEnd(slot, emit);
    };
    read(market(10), [account(1, 10, 1n), account(2, 10, 1n), account(3, 10, 1n)], 10, 0);
    outputs.length = 0;
    // Users were read later than the market; user 3 is gone.
    read(market(100, changed), [account(1, 98, 2n), account(2, 103, 2n)], 100, 20);
    const slots = outputs.flatMap(({ name, value }) =>
      name === 'BookOrders' || name === 'BookMarket' ? [[name, value.slot]] : [],
    );
    expect(slots).toEqual([...Array(3).fill(['BookOrders', 20]), ['BookMarket', 100]]);
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

  it('emits P&L inputs once the quote market is known, and after each change', () => {
    const reader = new NaiveReader();
    const differ = newDiffer();
    const perp = blankAccount(PERP);
    const set = (path: string, value: Parameters<typeof setField>[3]) => setField(perp, PERP.layout, path, value);
    set('oracle', key(4));
    set('oracle_source', 'pythLazer');
    set('market_stats.historical_oracle_data.last_oracle_price', 77n);
    set('cumulative_funding_rate_long', -5n);
    set('cumulative_funding_rate_short', 6n);
    set('amm.base_asset_amount_with_amm', -7n);
    set('quote_asset_amount', 8n);
    set('net_unsettled_funding_pnl', -9n);
    set('pnl_pool.scaled_balance', 10n);
    set('amm.fee_pool.scaled_balance', 11n);
    const spot = blankAccount(SPOT);
    setField(spot, SPOT.layout, 'oracle_source', 'quoteAsset');
    setField(spot, SPOT.layout, 'decimals', 6);
    setField(spot, SPOT.layout, 'cumulative_deposit_interest', 10_000_000_000n);
    const emitted = () => reader.outputs.flatMap((one) => (one.name === 'PositionMarket' ? [one.value] : []));
    differ.account(update(key(3), PERP.owner, perp, 10), reader.take);
    expect(emitted()).toEqual([]);
    differ.account(update(key(5), SPOT.owner, spot, 11), reader.take);
    const first = {
      marketType: 'perp',
      marketIndex: 0,
      slot: 11,
      oraclePrice: 77n,
      cumulativeFundingRateLong: -5n,
      cumulativeFundingRateShort: 6n,
      netBaseAssetAmount: -7n,
      netQuoteAssetAmount: 8n,
      netUnsettledFundingPnl: -9n,
      pnlPoolScaledBalance: 10n,
      feePoolScaledBalance: 11n,
      quoteCumulativeDepositInterest: 10_000_000_000n,
      quoteDecimals: 6,
    };
    expect(emitted()).toEqual([first]);
    const quieter = Buffer.from(perp);
    setField(quieter, PERP.layout, 'order_tick_size', 5);
    differ.account(update(key(3), PERP.owner, quieter, 12), reader.take);
    expect(emitted()).toHaveLength(1);
    const richer = Buffer.from(spot);
    setField(richer, SPOT.layout, 'cumulative_deposit_interest', 10_000_000_001n);
    differ.account(update(key(5), SPOT.owner, richer, 13), reader.take);
    expect(emitted().at(-1)).toEqual({ ...first, slot: 13, quoteCumulativeDepositInterest: 10_000_000_001n });
  });

  it('emits markets with prices of their oracles, and falls back to the last price in the market', () => {
    const reader = new NaiveReader();
    const differ = newDiffer();
    const market = blankAccount(PERP);
    const set = (path: string, value: Parameters<typeof setField>[3]) => setField(market, PERP.layout, path, value);
    const oracle = key(4);
    set('market_index', 3);
    set('name', Buffer.from('SOL-PERP'.padEnd(32)));
    set('status', 'active');
    set('oracle', oracle);
    set('oracle_source', 'pythLazer1K');
    set('order_tick_size', 100);
    set('market_stats.historical_oracle_data.last_oracle_price', 77n);
    set('amm.base_asset_reserve', 5n);
    differ.account(update(key(3), PERP.owner, market, 10), reader.take);
    const lazer = blankAccount(LAZER);
    setField(lazer, LAZER.layout, 'price', 123_456n);
    setField(lazer, LAZER.layout, 'exponent', -8);
    setField(lazer, LAZER.layout, 'posted_slot', 11n);
    setField(lazer, LAZER.layout, 'conf', 1000n);
    differ.account(update(oracle, LAZER.owner, lazer, 12), reader.take);
    const spot = blankAccount(SPOT);
    setField(spot, SPOT.layout, 'oracle_source', 'quoteAsset');
    setField(spot, SPOT.layout, 'decimals', 6);
    differ.account(update(key(5), SPOT.owner, spot, 13), reader.take);
    const states = reader.outputs.filter(({ name }) => name !== 'StreamCounter');
    expect(states.map(({ name, value }) => [name, value])).toMatchObject([
      [
        'BookMarket',
        { marketType: 'perp', marketIndex: 3, symbol: 'SOL-PERP', status: 'active', tickSize: 100n, slot: 10 },
      ],
      ['BookOracle', { marketIndex: 3, price: 77n, slot: 10, hasSufficientNumberOfDataPoints: false }],
      [
        'BookOracle',
        {
          marketIndex: 3,
          price: 1_234_560n,
          confidence: 10_000n,
          oracleSlot: 11n,
          slot: 12,
          twap: 1_234_560n,
          twapConfidence: 1_234_560n,
        },
      ],
      ['InsuranceFundState', { marketIndex: 0, slot: 13, unstakingPeriod: 0n }],
      ['BookMarket', { marketType: 'spot', marketIndex: 0, decimals: 6, amm: null, clobMarket: null }],
      ['BookOracle', { marketType: 'spot', price: 1_000_000n }],
      ['PositionMarket', { marketType: 'perp', marketIndex: 3, oraclePrice: 1_234_560n, slot: 13 }],
    ]);
    expect(reader.outputs[0]?.value).toMatchObject({
      ammPaused: false,
      clobMarket: null,
      amm: { baseAssetReserve: 5n },
    });
  });

  it('emits perp markets again when the exchange pauses its AMM or changes its guard rail', () => {
    const reader = new NaiveReader();
    const differ = newDiffer();
    differ.account(update(key(3), PERP.owner, blankAccount(PERP), 10), reader.take);
    const state = blankAccount(STATE);
    setField(state, STATE.layout, 'exchange_status', 4);
    differ.account(update(key(6), STATE.owner, state, 11), reader.take);
    const railed = Buffer.from(state);
    setField(railed, STATE.layout, 'oracle_guard_rails.oracle_twap_5min_percent_divergence', 600_000n);
    differ.account(update(key(6), STATE.owner, railed, 12), reader.take);
    const other = Buffer.from(railed);
    setField(other, STATE.layout, 'number_of_markets', 9);
    differ.account(update(key(6), STATE.owner, other, 13), reader.take);
    const markets = reader.outputs.flatMap((one) => (one.name === 'BookMarket' ? [one.value] : []));
    expect(
      markets.map(({ slot, ammPaused, oracleTwap5MinPercentDivergence: rail }) => [slot, ammPaused, rail]),
    ).toEqual([
      [10, false, null],
      [11, true, 0n],
      [12, true, 600_000n],
    ]);
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

describe('margins of accounts and markets', () => {
  const account = (n: number, base: bigint, slot: number) =>
    update(
      userKey(n),
      USER.owner,
      userBytes({ user: n, orders: [], positions: [{ marketIndex: 3, base, openOrders: 0 }] }),
      slot,
    );
  const perp = (price: bigint, slot: number) => {
    const bytes = marketBytes(3, null);
    setField(bytes, PERP.layout, 'market_stats.historical_oracle_data.last_oracle_price', price);
    setField(bytes, PERP.layout, 'margin_ratio_maintenance', 500);
    return update(marketKeyOf(3), PERP.owner, bytes, slot);
  };
  const take = (differ: ReturnType<typeof newDiffer>, slot: number) => {
    const outputs: Output[] = [];
    const isWhole = differ.margins(slot, (output) => outputs.push(output));
    return { isWhole, outputs };
  };
  const nothing = (): void => {};

  it('come once for each change between two calls, markets first', () => {
    const differ = newDiffer();
    differ.account(account(1, 5n, 10), nothing);
    differ.account(account(1, 7n, 11), nothing);
    differ.account(perp(150n, 12), nothing);
    const { isWhole, outputs } = take(differ, 20);
    expect(isWhole).toBe(false);
    expect(outputs).toMatchObject([
      { name: 'MarketMargin', value: { marketIndex: 3, perp: { marginRatioMaintenance: 500 }, spot: null } },
      { name: 'AccountMargin', value: { slot: 11, positions: [{ marketIndex: 3, baseAssetAmount: 7n }] } },
    ]);
    expect(take(differ, 21).outputs).toEqual([]);
    // Another slot with the same positions, and the same market once more.
    differ.account(update(userKey(1), USER.owner, changedOrders(), 22), nothing);
    differ.account(perp(150n, 22), nothing);
    expect(take(differ, 23).outputs).toEqual([]);
    differ.account(update(userKey(1), USER.owner, new Uint8Array(0), 24), nothing);
    expect(take(differ, 25).outputs).toMatchObject([
      { name: 'AccountMargin', value: { user: userKey(1), balances: [], positions: [] } },
    ]);
  });

  const changedOrders = () => {
    const positions = [{ marketIndex: 3, base: 7n, openOrders: 0 }];
    const order = { slot: 0, orderId: 1, marketIndex: 3, price: 1n, size: 1n, filled: 0n, reduceOnly: false };
    return userBytes({ user: 1, orders: [order], positions });
  };

  it('come in full after the first complete read, and never during one', () => {
    const differ = newDiffer();
    differ.account(account(1, 5n, 10), nothing);
    expect(take(differ, 10).outputs).toHaveLength(1);
    differ.snapshotBegin();
    for (const one of [account(1, 5n, 10), account(2, 6n, 11), perp(150n, 11)]) differ.account(one, nothing);
    expect(take(differ, 12)).toEqual({ isWhole: false, outputs: [] });
    differ.snapshotEnd(13, nothing);
    const { isWhole, outputs } = take(differ, 14);
    expect(isWhole).toBe(true);
    expect(outputs.map(({ name }) => name)).toEqual(['MarginBegin', 'MarketMargin', 'AccountMargin', 'AccountMargin']);
    expect(take(differ, 15)).toEqual({ isWhole: false, outputs: [] });
  });
});
