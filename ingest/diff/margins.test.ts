import { describe, expect, it } from 'vitest';
import {
  marketBytes,
  marketKeyOf,
  newDiffer,
  PERP,
  USER,
  update,
  userBytes,
  userKey,
} from '../../test/support/ingest/accounts.ts';
import { setField } from '../../test/support/ingest/bytes.ts';
import type { Output } from './output.ts';

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
