// A row built from an event equals the row that REST answers after the event is stored.

import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ChainEvent } from '../../../schemas/index.ts';
import { fill, HistoryStage, registry } from '../../../test/support/api/history-stage.ts';
import { ORDER_ACTIONS } from './account-fills.ts';
import { TRADE_FIELDS } from './market.ts';
import { orderActionRow } from './order-action.ts';

let stage: HistoryStage;
beforeAll(async () => {
  stage = await HistoryStage.open();
});
afterAll(() => stage.close());

const KEYS = new Set(['taker', 'maker', 'filler']);

/** The event of a stored row. */
function eventOf(row: Readonly<Record<string, unknown>>): ChainEvent {
  const { signature, event_index, slot, tx_index: _, ...members } = row;
  const data = Object.entries(members).map(([name, value]) => {
    if (KEYS.has(name) && typeof value === 'string') return [name, Buffer.from(value)];
    return [name, typeof value === 'string' && /^-?\d+$/.test(value) ? BigInt(value) : value];
  });
  const head = { signature: Buffer.from(String(signature)), eventIndex: Number(event_index), slot: Number(slot) };
  return { name: 'OrderActionRecord', ...head, txIndex: null, data: Object.fromEntries(data) };
}

const market = registry().byName('SOL-PERP');

it.each([
  ['a match', { maker: 'm'.repeat(32), maker_order_id: 4, filler: 'f'.repeat(32), filler_reward: '10000' }],
  ['a fill by the AMM', { maker_fee: null, quote_asset_amount_filled: '1' }],
  ['a liquidation', { action_explanation: 'liquidation', bit_flags: 3 }],
])('makes the row of the list from the event of %s', async (_name, members) => {
  await stage.reset();
  const stored = fill(members);
  await stage.store('order_action', [stored]);
  const { records } = await stage.list('/market/SOL-PERP/trades');
  expect([orderActionRow(TRADE_FIELDS, eventOf(stored), market)]).toEqual(records);
});

it('names the account of its list', () => {
  const row = orderActionRow(ORDER_ACTIONS.fields, eventOf(fill()), market, 'account');
  expect(row).toMatchObject({ user: 'account', action: 'fill', symbol: 'SOL-PERP' });
});

it('has an empty symbol for an unknown market', () => {
  expect(orderActionRow(TRADE_FIELDS, eventOf(fill()), null).symbol).toBe('');
});
