import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  keyText,
  OTHER,
  orderAction,
  orderFill,
  placement,
  USER,
  USER_ID,
} from '../../../test/support/api/history-rows.ts';
import { HistoryStage, NOW } from '../../../test/support/api/history-stage.ts';

// Many requests and inserts, possibly on a busy machine.
let stage: HistoryStage;

beforeAll(async () => {
  stage = await HistoryStage.open();
});

afterAll(() => stage?.close());

beforeEach(() => stage.reset());

const ORDERS = `/user/${USER_ID}/orders`;

async function order(id: number): Promise<Record<string, unknown>> {
  const answer = await stage.app.inject(`${ORDERS}/id/${id}`);
  expect(answer.statusCode).toBe(200);
  const { success, record } = answer.json<{ success: boolean; record: Record<string, unknown> }>();
  expect(success).toBe(true);
  return record;
}

describe('the current state of an order', () => {
  it('is its placement before any action', async () => {
    await stage.store('order', [placement(5)]);
    expect(await order(5)).toEqual({
      ts: NOW - 100,
      txSig: expect.any(String),
      txSigIndex: 1,
      txIndex: null,
      slot: expect.any(Number),
      user: USER_ID,
      status: 'open',
      orderType: 'limit',
      marketType: 'perp',
      marketFilter: 'perp',
      marketIndex: 0,
      symbol: 'SOL-PERP',
      orderId: 5,
      userOrderId: 8,
      price: '150000000',
      triggerPrice: '0',
      baseAssetAmount: '2000000000',
      baseAssetAmountFilled: '0',
      quoteAssetAmount: null,
      quoteAssetAmountFilled: '0',
      direction: 'long',
      existingPositionDirection: 'short',
      reduceOnly: false,
      postOnly: false,
      immediateOrCancel: false,
      triggerCondition: 'above',
      oraclePriceOffset: '-7',
      auctionDuration: null,
      auctionStartPrice: null,
      auctionEndPrice: null,
      maxTs: 0,
      lastActionStatus: 'open',
      lastActionExplanation: 'none',
      lastUpdatedTs: NOW - 100,
      cumulativeFee: '0',
    });
  });

  const at = (ts: number) => ({ ts: NOW - 100 + ts });
  it.each([
    ['placed', [['place', 0]], 'open', 'open', 0],
    [
      'filled in part',
      [
        ['place', 0],
        ['fill', 1, 0.5],
      ],
      'open',
      'partial_fill',
      1,
    ],
    [
      'filled',
      [
        ['fill', 1, 0.5],
        ['fill', 2, 1.5],
      ],
      'filled',
      'filled',
      2,
    ],
    ['filled but for less than a step', [['fill', 1, 1.995]], 'filled', 'filled', 1],
    ['cancelled', [['cancel', 3]], 'canceled', 'cancelled', 3],
    [
      'cancelled after a fill',
      [
        ['fill', 1, 1],
        ['cancel', 3],
      ],
      'canceled',
      'partial_fill_cancelled',
      3,
    ],
    ['expired', [['expire', 4]], 'canceled', 'expired', 4],
    ['triggered', [['trigger', 4]], 'open', 'trigger', 4],
  ] as const)('that was %s', async (_, actions, status, lastActionStatus, last) => {
    let filled = 0;
    const rows = actions.map(([action, ts, base]) => {
      if (base === undefined) return orderAction(5, action, at(ts));
      filled += base;
      return orderFill(5, base, filled, at(ts));
    });
    await stage.store('order', [placement(5)]);
    await stage.store('order_action', rows);
    const fills = actions.filter(([action]) => action === 'fill').length;
    expect(await order(5)).toMatchObject({
      status,
      lastActionStatus,
      lastUpdatedTs: NOW - 100 + last,
      baseAssetAmountFilled: String(filled * 1e9),
      quoteAssetAmountFilled: String(filled * 150e6),
      cumulativeFee: String(fills * 1000),
      triggerCondition: lastActionStatus === 'trigger' ? 'triggeredAbove' : 'above',
    });
  });

  it('is expired, with the reason, after a cancel for its expiry', async () => {
    await stage.store('order', [placement(5)]);
    await stage.store('order_action', [orderAction(5, 'cancel', { action_explanation: 'orderExpired' })]);
    expect(await order(5)).toMatchObject({
      status: 'canceled',
      lastActionStatus: 'expired',
      lastActionExplanation: 'orderExpired',
    });
  });

  it('counts its fills as maker, with their rebates', async () => {
    await stage.store('order', [placement(5)]);
    await stage.store('order_action', [
      orderFill(77, 1, 1, {
        taker: OTHER,
        maker: USER,
        maker_order_id: 5,
        maker_order_cumulative_base_asset_amount_filled: '1000000000',
        maker_order_cumulative_quote_asset_amount_filled: '150000000',
      }),
      orderFill(5, 2, 2, { taker: OTHER, taker_order_id: 5 }),
    ]);
    expect(await order(5)).toMatchObject({ baseAssetAmountFilled: '1000000000', cumulativeFee: '-200' });
  });

  it('does not depend on arrival order and copies', async () => {
    const rows = [
      ['order', placement(5)],
      ['order_action', orderAction(5, 'place')],
      ['order_action', orderFill(5, 0.5, 0.5, { ...at(1), slot: '9000' })],
      ['order_action', orderFill(5, 0.25, 0.75, { ...at(1), slot: '9000' })],
      ['order_action', orderAction(5, 'cancel', { ...at(1), slot: '9000' })],
    ] as const;
    const seen = new Set<string>();
    const sequence = fc.shuffledSubarray([...rows, ...rows], { minLength: 10 });
    for (const arrivals of fc.sample(sequence, { numRuns: 2, seed: 7 })) {
      await stage.reset();
      for (const [table, row] of arrivals) await stage.store(table, [row]);
      seen.add(JSON.stringify(await order(5)));
      expect((await stage.list(`${ORDERS}/perp`)).records).toHaveLength(1);
    }
    expect(seen.size).toBe(1);
    expect(JSON.parse([...seen][0] ?? '')).toMatchObject({
      status: 'canceled',
      lastActionStatus: 'partial_fill_cancelled',
      baseAssetAmountFilled: '750000000',
      cumulativeFee: '2000',
    });
  });

  it('is found at any age, by market type where the path names one', async () => {
    await stage.store('order', [placement(5, { ts: NOW - 90 * 86_400 }), placement(6, { order_market_type: 'spot' })]);
    expect((await order(5)).orderId).toBe(5);
    const statuses = ['perp/id/5', 'spot/id/6', 'spot/id/5'].map(
      async (tail) => (await stage.app.inject(`${ORDERS}/${tail}`)).statusCode,
    );
    expect(await Promise.all(statuses)).toEqual([200, 200, 404]);
  });

  it.each(['id/9', 'perp/id/9', '9/actions'])('is 404 for an unknown order: %s', async (tail) => {
    await stage.store('order_action', [orderFill(9, 1, 1, { taker: OTHER, maker: null })]);
    const answer = await stage.app.inject(`${ORDERS}/${tail}`);
    expect([answer.statusCode, answer.json()]).toEqual([404, { success: false, error: 'Order not found' }]);
  });
});

describe('/user/{accountId}/orders/{marketFilter}', () => {
  const ids = async (tail: string) =>
    (await stage.list(`${ORDERS}/${tail}`)).records.map(({ orderId }) => Number(orderId));

  it('lists one type of market, or one market, newest placement first', async () => {
    await stage.store('order', [
      placement(1),
      placement(2, { order_market_index: 1 }),
      placement(3, { order_market_type: 'spot', order_market_index: 1 }),
      placement(4),
      placement(5, { user: OTHER }),
      placement(6, { ts: NOW - 40 * 86_400 }),
    ]);
    expect(await ids('perp')).toEqual([4, 2, 1]);
    expect(await ids('spot')).toEqual([3]);
    expect(await ids('perp/sol-perp')).toEqual([4, 1]);
    expect(await ids('spot/SOL')).toEqual([3]);
  });

  it('filters by fills and by an interval', async () => {
    await stage.store(
      'order',
      [1, 2, 3].map((id) => placement(id, { ts: NOW - 100 + id })),
    );
    await stage.store('order_action', [orderFill(2, 1, 1), orderAction(3, 'cancel')]);
    expect(await ids('perp?hasFill=true')).toEqual([2]);
    expect(await ids('perp/SOL-PERP?hasFill=true')).toEqual([2]);
    expect(await ids('perp?hasFill=false')).toEqual([3, 2, 1]);
    expect(await ids(`perp?startTs=${NOW - 98}`)).toEqual([3, 2]);
    expect(await ids(`perp?startTs=${NOW - 98}&endTs=${NOW - 99}`)).toEqual([2, 1]);
  });

  it('keep an order with hasFill whose fill is lost, when a later action says what was filled', async () => {
    await stage.store(
      'order',
      [1, 2, 3].map((id) => placement(id)),
    );
    const filled = { taker_order_cumulative_base_asset_amount_filled: '500000000' };
    await stage.store('order_action', [orderAction(1, 'cancel', filled), orderAction(2, 'trigger', filled)]);
    await stage.store('order_action', [orderAction(3, 'cancel')]);
    for (const list of ['perp', 'perp/SOL-PERP']) {
      const { records } = await stage.list(`${ORDERS}/${list}?hasFill=true`);
      expect(records.map(({ orderId, baseAssetAmountFilled }) => [orderId, baseAssetAmountFilled])).toEqual([
        [2, '500000000'],
        [1, '500000000'],
      ]);
    }
  });

  it('pages by placement, with each order in its current state', async () => {
    await stage.store(
      'order',
      [1, 2, 3, 4, 5].map((id) => placement(id)),
    );
    const first = await stage.list(`${ORDERS}/perp?limit=2`);
    await stage.store('order', [placement(6)]);
    await stage.store('order_action', [orderFill(3, 2, 2)]);
    const second = await stage.list(`${ORDERS}/perp?limit=2&page=${first.meta.nextPage}`);
    const third = await stage.list(`${ORDERS}/perp?limit=2&page=${second.meta.nextPage}`);
    const seen = [first, second, third].map(({ records }) => records.map(({ orderId, status }) => [orderId, status]));
    expect(seen).toEqual([
      [
        [5, 'open'],
        [4, 'open'],
      ],
      [
        [3, 'filled'],
        [2, 'open'],
      ],
      [[1, 'open']],
    ]);
    expect(third.meta.nextPage).toBeNull();
  });

  it('is empty for a key without history', async () => {
    expect((await stage.list(`/user/${keyText('n')}/orders/spot`)).records).toEqual([]);
  });

  it.each([
    ['futures'],
    ['id'],
    ['perp/NOPE'],
    ['perp/SOL'],
    ['spot/SOL-PERP'],
    ['perp?hasFill=maybe'],
    ['perp?limit=51'],
    ['id/x'],
    ['id/-1'],
    ['id/4294967296'],
    ['perp/id/1.5'],
    ['x/actions'],
    ['1/actions?limit=0'],
  ])('refuses %s', async (tail) => {
    const answer = await stage.app.inject(`${ORDERS}/${tail}`);
    expect([answer.statusCode, answer.json().error]).toEqual([400, 'ValidationError']);
  });

  it.each(['perp', 'perp/SOL-PERP', 'id/1', 'perp/id/1', '1/actions'])('refuses an invalid key: %s', async (tail) => {
    const answer = await stage.app.inject(`/user/nonsense/orders/${tail}`);
    expect([answer.statusCode, answer.json().message]).toEqual([400, 'Invalid account ID format: nonsense']);
  });
});

describe('/user/{accountId}/orders/{orderId}/actions', () => {
  it('lists the order’s actions newest first, without amounts for other actions than fills', async () => {
    await stage.store('order', [placement(5)]);
    await stage.store('order_action', [
      orderAction(5, 'place'),
      orderFill(5, 1, 1),
      orderFill(6, 1, 1),
      orderFill(5, 1, 1, { taker: OTHER }),
      orderAction(5, 'cancel'),
    ]);
    const { records, meta } = await stage.list(`${ORDERS}/5/actions`);
    expect(records.map(({ action, baseAssetAmountFilled, price }) => [action, baseAssetAmountFilled, price])).toEqual([
      ['cancel', null, null],
      ['fill', '1000000000', '150000000'],
      ['place', null, null],
    ]);
    expect([records[0]?.user, meta.nextPage]).toEqual([USER_ID, null]);
  });

  it('is empty, not unknown, for an old order', async () => {
    const ts = NOW - 60 * 86_400;
    await stage.store('order', [placement(5, { ts })]);
    await stage.store('order_action', [orderAction(5, 'place', { ts }), orderAction(6, 'place', { ts })]);
    expect((await stage.list(`${ORDERS}/5/actions`)).records).toEqual([]);
    expect((await stage.list(`${ORDERS}/6/actions`)).records).toEqual([]);
  });
});
