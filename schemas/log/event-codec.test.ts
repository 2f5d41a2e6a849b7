import { BorshCoder } from '@coral-xyz/anchor';
import { describe, expect, it } from 'vitest';
import { loadDefinition } from '../chain/definition.ts';
import type { ChainEvent } from '../chain/event.ts';
import { eventKey } from '../chain/event-keys.ts';
import { flattenFields, flattenRecord, isFlat } from '../chain/flatten.ts';
import type { NamedType, WireType } from '../chain/layout.ts';
import { fingerprint, readPastVersions } from './avro.ts';
import { encodeMessage } from './codec.ts';
import { decodeEvent, EVENT_NAMES, encodeEvent } from './event-codec.ts';

const velocity = loadDefinition('velocity');
const definitions = new Map(
  velocity.programs.flatMap(({ events }) => [...events.values()].map((event) => [event.name, event.fields] as const)),
);

/** A value of a type; `full` fills options and lists and takes the largest numbers. */
function sample(type: WireType, full: boolean): unknown {
  switch (type.kind) {
    case 'bool':
      return full;
    case 'string':
      return full ? 'text' : '';
    case 'pubkey':
      return new Uint8Array(32).fill(full ? 200 : 0);
    case 'bytes':
      return new Uint8Array(type.length).fill(full ? 97 : 0);
    case 'enum':
      return full ? (type.variants.at(-1) ?? '') : 'unknown(250)';
    case 'option':
      return full ? sample(type.element, full) : null;
    case 'vec':
      return full ? [sample(type.element, true), sample(type.element, false)] : [];
    case 'array':
      return Array.from({ length: type.length }, () => sample(type.element, full));
    case 'struct':
      return Object.fromEntries(type.layout.fields.map((field) => [field.name, sample(field.type, full)]));
    default:
      return integer(type.kind, full);
  }
}

function integer(kind: string, full: boolean): number | bigint {
  const bits = Number(kind.slice(1));
  const signed = kind.startsWith('i');
  const value = signed ? (full ? -(2n ** BigInt(bits - 1)) : -1n) : full ? 2n ** BigInt(bits) - 1n : 0n;
  return bits > 32 ? value : Number(value);
}

function eventOf(name: string, full: boolean): ChainEvent {
  const fields = definitions.get(name) ?? [];
  const value = Object.fromEntries(fields.map((field: NamedType) => [field.name, sample(field.type, full)]));
  return {
    name,
    signature: new Uint8Array(64).fill(5),
    eventIndex: 3,
    slot: 300_000_000,
    txIndex: full ? 1200 : null,
    data: flattenRecord(fields, value),
  };
}

const action = eventOf('OrderActionRecord', true);

describe('program events', () => {
  it('have a schema each, except for unpublished bodies', () => {
    const bodiless = [
      'AcceleratedReferralStatusChangedRecord',
      'CrankConditionsRecordV0',
      'MarketAuthorityAcceptedRecordV0',
      'MarketAuthorityProposedRecordV0',
      'MarketCloseRecordV0',
      'TakerOriginCrossRecordV0',
    ];
    expect([...EVENT_NAMES, ...bodiless].sort()).toEqual([...definitions.keys()].sort());
  });

  it.each(EVENT_NAMES)('%s survives encoding and decoding, full and empty', (name) => {
    for (const full of [true, false]) {
      const event = eventOf(name, full);
      const decoded = decodeEvent(encodeEvent(event));
      const nulls = Object.fromEntries(Object.keys(decoded.data).map((key) => [key, null]));
      expect(decoded).toEqual({ ...event, data: { ...nulls, ...event.data } });
    }
  });

  it('keep an unknown record as its bytes', () => {
    const data = {
      program: new Uint8Array(32).fill(1),
      discriminator: new Uint8Array(8).fill(2),
      record_name: 'MarketCloseRecordV0',
      raw: new Uint8Array(5000).fill(3),
    };
    const event = { ...action, name: 'UnknownRecord', data };
    expect(decodeEvent(encodeEvent(event))).toEqual(event);
  });

  it("of a book update have the program's names, also from past versions", () => {
    const event = eventOf('MarketUpdateRecordV0', true);
    const past = readPastVersions({ name: event.name, kind: 'event' });
    expect(past).toHaveLength(1);
    expect(event.data).toHaveProperty('before_order_tick_size');
    for (const { type } of past) {
      const old = Object.entries(event.data).map(([name, value]) => [
        name.replace(/^(?=before_|after_)/, 'settings_'),
        value,
      ]);
      const head = { signature: event.signature, event_index: 3, slot: event.slot, tx_index: event.txIndex };
      const id = Buffer.alloc(8);
      id.writeBigUInt64LE(fingerprint(type));
      const record = Buffer.concat([
        Buffer.from([0xc3, 0x01]),
        id,
        type.toBuffer({ ...head, ...Object.fromEntries(old) }),
      ]);
      expect(decodeEvent(record)).toEqual(event);
    }
  });

  it('name the field that is missing or out of range', () => {
    const { oracle_price: _, ...without } = action.data;
    expect(() => encodeEvent({ ...action, data: without })).toThrow(/OrderActionRecord\.oracle_price/);
    const wide = { ...action.data, market_index: 65_536 };
    expect(() => encodeEvent({ ...action, data: wide })).toThrow(/OrderActionRecord\.market_index: not a u16/);
    expect(() => encodeEvent({ ...action, slot: -1 })).toThrow(/OrderActionRecord\.slot/);
    expect(() => encodeEvent({ ...action, name: 'CurveRecord' })).toThrow(/CurveRecord/);
  });

  it('refuse a message of our own', () => {
    expect(() => decodeEvent(encodeMessage('BookSlot', { slot: 1 }))).toThrow(/not a program event/);
  });
});

describe('records that grew over time', () => {
  it('an order action that ends after bit_flags has null in appended fields', () => {
    const { data } = action;
    const appended = Object.keys(data).slice(Object.keys(data).indexOf('bit_flags') + 1);
    const short = Object.fromEntries(Object.entries(data).filter(([name]) => !appended.includes(name)));
    const decoded = decodeEvent(encodeEvent({ ...action, data: short }));
    expect(appended).toHaveLength(7);
    for (const name of appended) expect(decoded.data[name]).toBeNull();
  });

  it('a Drift order has its auction, a Velocity order its book id', () => {
    const event = eventOf('OrderRecord', true);
    const { order_clob_node_index, order_clob_order_id, order_unused_auction_duration, ...common } = event.data;
    const drift = {
      ...common,
      order_oracle_price_offset: -7,
      order_auction_start_price: 1n,
      order_auction_end_price: 2n,
      order_auction_duration: 20,
    };
    expect(decodeEvent(encodeEvent({ ...event, data: drift })).data).toEqual({
      ...drift,
      order_oracle_price_offset: -7n,
      order_clob_node_index: null,
      order_clob_order_id: null,
      order_unused_auction_duration: null,
    });
    expect(decodeEvent(encodeEvent(event)).data).toMatchObject({ order_clob_order_id, order_auction_duration: null });
  });

  it('Drift funding, deposit and liquidation records fit the same schemas', () => {
    const funding = eventOf('FundingRateRecord', true);
    const unsettled = { period_revenue: -1n, base_asset_amount_with_unsettled_lp: -2n };
    const data = { ...funding.data, ...unsettled };
    expect(decodeEvent(encodeEvent({ ...funding, data })).data).toEqual(data);
    const deposit = eventOf('DepositRecord', true);
    const { signer: _, user_token_amount_after: __, ...early } = deposit.data;
    expect(decodeEvent(encodeEvent({ ...deposit, data: early })).data).toEqual({
      ...early,
      signer: null,
      user_token_amount_after: null,
    });
    const liquidation = eventOf('LiquidationRecord', true);
    const { liquidate_perp_protocol_fee: a, liquidate_spot_protocol_fee: b, bit_flags: c, ...rest } = liquidation.data;
    const drift = { ...rest, liquidate_perp_lp_shares: 5n };
    expect(decodeEvent(encodeEvent({ ...liquidation, data: drift })).data).toMatchObject({
      liquidate_perp_lp_shares: 5n,
      liquidate_perp_protocol_fee: null,
      bit_flags: null,
    });
    expect([a, b, c]).not.toContain(undefined);
  });
});

describe('flat records', () => {
  const fill = definitions.get('FillRecordV0') ?? [];
  const owner = new Uint8Array(32).fill(4);

  it('have parallel lists for a list of structs, and a separate slot of the record', () => {
    const fills = [
      { order_id: 1n, owner, price: 10n, base_size: 100n, client_order_id: 7 },
      { order_id: 2n, owner, price: 20n, base_size: 200n, client_order_id: 8 },
    ];
    const value = { ts: 1n, slot: 5n, market_index: 2, fills, cancelled_client_order_ids: [9] };
    expect(flattenRecord(fill, value)).toEqual({
      ts: 1n,
      record_slot: 5n,
      market_index: 2,
      fills_order_id: [1n, 2n],
      fills_owner: [owner, owner],
      fills_price: [10n, 20n],
      fills_base_size: [100n, 200n],
      fills_client_order_id: [7, 8],
      cancelled_client_order_ids: [9],
    });
    expect(flattenRecord(fill, { ...value, fills: [] })).toMatchObject({ fills_price: [], fills_owner: [] });
  });

  it('are the decoded records themselves where nothing is nested, renamed or padded', () => {
    for (const [name, fields] of definitions) {
      const value = Object.fromEntries(fields.map((field: NamedType) => [field.name, sample(field.type, true)]));
      const flat = flattenRecord(fields, value);
      const isSame =
        Object.keys(flat).join() === Object.keys(value).join() &&
        Object.keys(flat).every((key) => flat[key] === value[key]);
      expect([name, isFlat(fields)]).toEqual([name, isSame]);
    }
    expect(isFlat(definitions.get('OrderActionRecord') ?? [])).toBe(true);
    expect(isFlat(definitions.get('OrderRecord') ?? [])).toBe(false);
  });

  it('join the names of nested structs, drop padding, and have null for missing fields', () => {
    const order = definitions.get('OrderRecord') ?? [];
    const flat = flattenRecord(order, { ts: 1n, user: owner, order: { price: 3n, padding: owner } });
    expect(flat).toMatchObject({ ts: 1n, order_price: 3n, order_direction: null });
    expect(Object.keys(flat).some((name) => name.includes('padding'))).toBe(false);
    expect(Object.keys(flat)).toEqual(flattenFields(order).map(({ name }) => name));
  });
});

describe('event keys', () => {
  const key = (name: string, data: Record<string, unknown>) => eventKey({ name, data });
  const owner = new Uint8Array(32).fill(0);
  const system = '11111111111111111111111111111111';

  it('exist for every event', () => {
    for (const name of EVENT_NAMES) expect(eventKey(eventOf(name, true)).length).toBeGreaterThan(0);
  });

  it('are the market of a record with one', () => {
    expect(key('OrderActionRecord', { market_type: 'spot', market_index: 1 })).toBe('spot-1');
    expect(key('OrderRecord', { order_market_type: 'perp', order_market_index: 0 })).toBe('perp-0');
    expect(key('DepositRecord', { market_index: 2 })).toBe('spot-2');
    expect(key('FillRecordV0', { market_index: 2 })).toBe('perp-2');
    expect(key('ProtocolFeeWithdrawRecord', { is_perp: false, market_index: 4 })).toBe('spot-4');
  });

  it('are the account otherwise', () => {
    expect(key('SwapRecord', { user: owner, in_market_index: 0 })).toBe(system);
    expect(key('UnknownRecord', { program: owner })).toBe(system);
  });

  it('fall back to the record name for an unknown market type', () => {
    expect(key('OrderActionRecord', { market_type: 'unknown(2)', market_index: 1 })).toBe('OrderActionRecord');
    expect(() => key('NoSuchRecord', {})).toThrow(RangeError);
  });
});

describe('the IDL compared with Anchor', () => {
  it('gives an order action the wire order of Anchor', () => {
    const program = velocity.programs[0];
    const coder = new BorshCoder(
      program?.idl ?? { address: '', metadata: { name: '', version: '', spec: '' }, instructions: [] },
    );
    const body = Buffer.alloc(200);
    Buffer.from('e0344347c2ed6d01', 'hex').copy(body);
    body.writeBigInt64LE(1_710_893_646n, 8);
    body.set([2, 8, 24, 0, 1], 16);
    const decoded = coder.events.decode(body.toString('base64'));
    expect(decoded?.name).toBe('OrderActionRecord');
    expect(decoded?.data).toMatchObject({ action: { Fill: {} }, action_explanation: { OrderFilledWithMatch: {} } });
    expect(decoded?.data).toMatchObject({ market_index: 24, market_type: { Perp: {} }, filler: null });
  });
});
