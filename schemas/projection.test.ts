import { describe, expect, it } from 'vitest';
import { type ChainEvent, decodeEvent, encodeEvent } from './events.ts';
import { eventProjection } from './projection.ts';
import { columnsOf } from './tables.ts';

const U64_MAX = 2n ** 64n - 1n;
const HEAD = ['signature', 'event_index', 'slot', 'tx_index'];

/** An order action whose optionals are all there or all null, with numbers at one end of their range. */
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

describe('event projection', () => {
  it.each([true, false])('reads each member as the whole decoder does (optionals there: %s)', (full) => {
    const bytes = encodeEvent(orderAction(full));
    const { data, slot } = decodeEvent(bytes);
    const members = Object.keys(data);
    for (const member of members) {
      const projected = eventProjection({ OrderActionRecord: ['slot', member] })(bytes);
      expect(projected?.data.slot).toBe(slot);
      expect(exact(projected?.data[member])).toEqual(exact(data[member]));
    }
  });
  it('is null for a kind that was not asked for', () => {
    expect(eventProjection({ FundingRateRecord: ['ts'] })(encodeEvent(orderAction(true)))).toBeNull();
  });
  it('refuses kinds and members without a schema', () => {
    expect(() => eventProjection({ NoRecord: ['ts'] })).toThrow(RangeError);
    expect(() => eventProjection({ OrderActionRecord: ['nothing'] })).toThrow(RangeError);
  });
  it('refuses bytes that end too soon', () => {
    const bytes = encodeEvent(orderAction(true));
    const read = eventProjection({ OrderActionRecord: ['oracle_price'] });
    expect(() => read(bytes.subarray(0, 60))).toThrow('truncated');
    expect(() => read(Buffer.from('nothing'))).toThrow('not-a-record');
  });
});
