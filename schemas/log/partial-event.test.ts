import { describe, expect, it } from 'vitest';
import { sampleEvent } from '../../test/support/processors/history/events.ts';
import type { ChainEvent } from '../chain/event.ts';
import { columnsOf } from '../history/tables.ts';
import { decodeEvent, encodeEvent } from './event-codec.ts';
import { partialEventDecoder } from './partial-event.ts';

const U64_MAX = 2n ** 64n - 1n;
const HEAD = ['signature', 'event_index', 'slot', 'tx_index'];

/** An order action with all optionals set or all null, and numbers at one end of their range. */
function orderAction(full: boolean): ChainEvent {
  const data: Record<string, unknown> = {};
  for (const { name, type } of columnsOf('OrderActionRecord')) {
    if (HEAD.includes(name)) continue;
    if (!full && type.includes('Nullable')) data[name] = null;
    else if (type.includes('FixedString')) data[name] = new Uint8Array(32).fill(200);
    else if (type.includes('LowCardinality')) data[name] = full ? 'fill' : 'orderFilledWithMatch';
    else if (type.includes('UInt64')) data[name] = full ? U64_MAX : 0n;
    else if (type.includes('Int64')) data[name] = full ? -(2n ** 63n) : -1n;
    else data[name] = full ? 200 : 0;
  }
  return {
    name: 'OrderActionRecord',
    signature: new Uint8Array(64).fill(9),
    eventIndex: 3,
    slot: 2 ** 40,
    txIndex: null,
    data,
  };
}

const exact = (value: unknown): unknown => (typeof value === 'number' ? BigInt(value) : value);

describe('partial event decoder', () => {
  it.each([true, false])('reads each member like the full decoder (optionals present: %s)', (full) => {
    const bytes = encodeEvent(orderAction(full));
    const { data, slot } = decodeEvent(bytes);
    const members = Object.keys(data);
    for (const member of members) {
      const projected = partialEventDecoder({ OrderActionRecord: ['slot', member] })(bytes);
      expect(projected?.data.slot).toBe(slot);
      expect(exact(projected?.data[member])).toEqual(exact(data[member]));
    }
  });
  it('reads booleans', () => {
    const read = partialEventDecoder({ LiquidationRecord: ['bankrupt', 'liquidation_id'] });
    for (const n of [2, 3]) {
      const event = sampleEvent('LiquidationRecord', n);
      const { bankrupt, liquidation_id } = event.data;
      expect(read(encodeEvent(event))?.data).toEqual({ bankrupt, liquidation_id });
    }
  });
  it('returns null for other kinds', () => {
    expect(partialEventDecoder({ FundingRateRecord: ['ts'] })(encodeEvent(orderAction(true)))).toBeNull();
  });
  it('refuses kinds and members without a schema', () => {
    expect(() => partialEventDecoder({ NoRecord: ['ts'] })).toThrow(RangeError);
    expect(() => partialEventDecoder({ OrderActionRecord: ['nothing'] })).toThrow(RangeError);
  });
  it('refuses bytes that end too soon', () => {
    const bytes = encodeEvent(orderAction(true));
    const read = partialEventDecoder({ OrderActionRecord: ['oracle_price'] });
    expect(() => read(bytes.subarray(0, 60))).toThrow('truncated');
    expect(() => read(Buffer.from('nothing'))).toThrow('not-a-record');
  });
});
