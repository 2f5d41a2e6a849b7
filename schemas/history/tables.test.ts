import { describe, expect, it } from 'vitest';
import { UNKNOWN_RECORD } from '../chain/event-schemas.ts';
import { EVENT_NAMES } from '../log/event-codec.ts';
import { columnsOf, tableOf } from './tables.ts';

describe('tables', () => {
  it.each([
    ['OrderActionRecord', 'order_action'],
    ['OrderPlaceRecordV0', 'order_place_v0'],
    ['TakerOriginCrossRecordV1', 'taker_origin_cross_v1'],
    ['LPBorrowLendDepositRecord', 'lp_borrow_lend_deposit'],
    ['AmmCurveChanged', 'amm_curve_changed'],
    ['UnknownRecord', 'unknown'],
  ])('%s is stored in %s', (name, table) => {
    expect(tableOf(name)).toBe(table);
  });

  it('have unique names', () => {
    expect(new Set(EVENT_NAMES.map(tableOf)).size).toBe(EVENT_NAMES.length);
  });

  it('begin with the head and name every column once', () => {
    for (const name of [...EVENT_NAMES, UNKNOWN_RECORD]) {
      const columns = columnsOf(name);
      expect(columns.slice(0, 4)).toEqual([
        { name: 'signature', type: 'FixedString(64)' },
        { name: 'event_index', type: 'UInt32' },
        { name: 'slot', type: 'UInt64' },
        { name: 'tx_index', type: 'Nullable(UInt32)' },
      ]);
      expect(new Set(columns.map((column) => column.name)).size).toBe(columns.length);
    }
  });

  it('map each kind of field to its column type', () => {
    const types = (name: string) => Object.fromEntries(columnsOf(name).map((column) => [column.name, column.type]));
    expect(types('OrderActionRecord')).toMatchObject({
      ts: 'Int64',
      action: 'LowCardinality(String)',
      market_index: 'UInt16',
      filler: 'Nullable(FixedString(32))',
      maker: 'Nullable(FixedString(32))',
      taker_fee: 'Nullable(UInt64)',
      maker_fee: 'Nullable(Int64)',
      maker_order_direction: 'LowCardinality(Nullable(String))',
      bit_flags: 'UInt8',
    });
    expect(types('FundingRateRecord')).toMatchObject({
      funding_rate_long: 'Int128',
      base_asset_amount_with_unsettled_lp: 'Nullable(Int128)',
    });
    expect(types('SpotInterestRecord')).toMatchObject({ deposit_balance: 'UInt128', optimal_utilization: 'UInt32' });
    expect(types('FillRecordV0')).toMatchObject({ record_slot: 'UInt64', fills_owner: 'Array(FixedString(32))' });
    expect(types('NewUserRecord')).toMatchObject({ name: 'FixedString(32)', referrer: 'FixedString(32)' });
    expect(types('LiquidationRecord')).toMatchObject({ bankrupt: 'Bool', canceled_order_ids: 'Array(UInt32)' });
    expect(types('UnknownRecord')).toMatchObject({ raw: 'String', record_name: 'Nullable(String)' });
  });

  it('refuse an event without a schema', () => {
    expect(() => columnsOf('CurveRecord')).toThrow(RangeError);
    expect(() => columnsOf('BookSlot')).toThrow(RangeError);
  });
});
