import avro from 'avsc';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MESSAGE_EXAMPLES } from '../../test/support/schemas/message-examples.ts';
import { decodeMessage, encodeMessage, type MessageName } from './codec.ts';
import { encodeEvent } from './event-codec.ts';
import { allWriters, SchemaError } from './wire.ts';

const names = Object.keys(MESSAGE_EXAMPLES) as MessageName[];
const slotBytes = encodeMessage('BookSlot', { slot: 7 });

describe('own messages', () => {
  it('have one schema each', () => {
    const schemas = allWriters().filter(({ kind }) => kind === 'message');
    expect(schemas.map(({ name }) => name).sort()).toEqual([...names].sort());
  });

  it.each(names)('%s survives encoding and decoding', (name) => {
    const decoded = decodeMessage(encodeMessage(name, MESSAGE_EXAMPLES[name]));
    expect(decoded).toEqual({ name, value: MESSAGE_EXAMPLES[name] });
  });

  it.each(names)('%s has the same members in schema and interface', (name) => {
    const type = allWriters().find((writer) => writer.name === name)?.type;
    const fields = type instanceof avro.types.RecordType ? type.fields.map((field) => field.name) : [];
    expect(Object.keys(MESSAGE_EXAMPLES[name]).sort()).toEqual(fields.sort());
  });

  it('begin with the mark and fingerprint of single-object encoding', () => {
    const writer = allWriters().find(({ name }) => name === 'BookSlot');
    expect(slotBytes.subarray(0, 2).toString('hex')).toBe('c301');
    expect(slotBytes.readBigUInt64LE(2)).toBe(writer?.fingerprint);
    expect(slotBytes.subarray(10).toString('hex')).toBe('0e');
  });

  it('are readable from any byte array, at any offset', () => {
    const padded = new Uint8Array(slotBytes.length + 5);
    padded.set(slotBytes, 5);
    expect(decodeMessage(padded.subarray(5)).value).toEqual({ slot: 7 });
  });

  it('larger than the scratch buffer stay complete', () => {
    const { upserts, ...rest } = MESSAGE_EXAMPLES.BookOrders;
    const large = { ...rest, upserts: Array.from({ length: 3000 }, (_, id) => ({ ...upserts[0], orderId: id })) };
    const value = large as typeof MESSAGE_EXAMPLES.BookOrders;
    expect(decodeMessage(encodeMessage('BookOrders', value)).value).toEqual(value);
    expect(decodeMessage(encodeMessage('BookSlot', { slot: 7 })).value).toEqual({ slot: 7 });
  });

  it('name the field that cannot be encoded', () => {
    const { BookOracle } = MESSAGE_EXAMPLES;
    expect(() => encodeMessage('BookOracle', { ...BookOracle, price: 2n ** 63n })).toThrow(
      /BookOracle\.price: not a i64/,
    );
    expect(() => encodeMessage('BookOracle', { ...BookOracle, slot: -1 })).toThrow(/BookOracle\.slot/);
    const { confidence: _, ...without } = BookOracle;
    expect(() => encodeMessage('BookOracle', without as typeof BookOracle)).toThrow(/BookOracle\.confidence/);
  });
});

describe('bytes that are no message', () => {
  it.each([
    ['nothing', Buffer.alloc(0), 'not-a-record'],
    ['text', Buffer.from('hello, world'), 'not-a-record'],
    ['a mark alone', slotBytes.subarray(0, 9), 'not-a-record'],
    ['an unknown fingerprint', Buffer.from('c3010102030405060708', 'hex'), 'unknown-fingerprint'],
    ['a registry id without a registry', Buffer.from('0000000001ff', 'hex'), 'unknown-schema-id'],
    ['a body cut short', encodeMessage('PositionState', MESSAGE_EXAMPLES.PositionState).subarray(0, 40), 'truncated'],
  ])('%s is refused with its reason', (_, bytes, code) => {
    expect(() => decodeMessage(bytes)).toThrow(expect.objectContaining({ code }));
  });

  it.each(names)('a damaged %s decodes to a value or is refused with a reason, at little cost', (name) => {
    const whole = encodeMessage(name, MESSAGE_EXAMPLES[name]);
    const damage = fc.tuple(fc.integer({ min: 10, max: whole.length - 1 }), fc.integer({ min: 0, max: 255 }));
    fc.assert(
      fc.property(fc.array(damage, { minLength: 1, maxLength: 4 }), fc.boolean(), (places, cut) => {
        const bytes = Buffer.from(whole);
        for (const [at, byte] of places) bytes[at] = byte;
        try {
          decodeMessage(cut ? bytes.subarray(0, places[0]?.[0]) : bytes);
        } catch (error) {
          expect(error).toBeInstanceOf(SchemaError);
        }
      }),
    );
  });

  it('a list longer than the bytes that follow is refused', () => {
    const { upserts: _, removals: __, ...rest } = MESSAGE_EXAMPLES.BookOrders;
    const bytes = encodeMessage('BookOrders', { ...rest, upserts: [], removals: [] });
    const counted = Buffer.concat([bytes.subarray(0, -2), Buffer.from('ffffffff0f', 'hex')]);
    expect(() => decodeMessage(counted)).toThrow(expect.objectContaining({ code: 'corrupt' }));
  });

  it('a program event is refused', () => {
    const data = {
      program: new Uint8Array(32),
      discriminator: new Uint8Array(8),
      record_name: null,
      raw: new Uint8Array(9),
    };
    const head = { signature: new Uint8Array(64), eventIndex: 0, slot: 1, txIndex: null };
    const bytes = encodeEvent({ name: 'UnknownRecord', ...head, data });
    expect(() => decodeMessage(bytes)).toThrow(/program event/);
  });
});
