import { BorshEventCoder, type Idl } from '@coral-xyz/anchor';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileEvent, loadDefinition, RecordError, type WireType } from '../../schemas/index.ts';
import { plainFields } from '../../test/support/ingest/anchor-values.ts';
import { seededRandom } from '../../test/support/platform/chance.ts';
import { compileEvents } from './events.ts';

const definition = loadDefinition('velocity');
const SIZES: Readonly<Record<string, number>> = {
  u8: 1,
  i8: 1,
  u16: 2,
  i16: 2,
  u32: 4,
  i32: 4,
  u64: 8,
  i64: 8,
  u128: 16,
  i128: 16,
  pubkey: 32,
};

/** Random wire bytes of a type. */
function encoded(type: WireType, next: () => number): Buffer {
  const bytes = (length: number) => Buffer.from(Array.from({ length }, () => Math.floor(next() * 256)));
  const count = (length: number) => {
    const head = Buffer.alloc(4);
    head.writeUInt32LE(length);
    return head;
  };
  switch (type.kind) {
    case 'bool':
      return Buffer.from([next() < 0.5 ? 0 : 1]);
    case 'bytes':
      return bytes(type.length);
    case 'enum':
      return Buffer.from([Math.floor(next() * type.variants.length)]);
    case 'struct':
      return Buffer.concat(type.layout.fields.map((field) => encoded(field.type, next)));
    case 'option':
      return next() < 0.5 ? Buffer.from([0]) : Buffer.concat([Buffer.from([1]), encoded(type.element, next)]);
    case 'array':
      return Buffer.concat(Array.from({ length: type.length }, () => encoded(type.element, next)));
    case 'vec': {
      const length = Math.floor(next() * 4);
      return Buffer.concat([count(length), ...Array.from({ length }, () => encoded(type.element, next))]);
    }
    case 'string': {
      const text = Buffer.from('hash'.repeat(Math.floor(next() * 3)));
      return Buffer.concat([count(text.length), text]);
    }
    default:
      return bytes(SIZES[type.kind] ?? 0);
  }
}

describe('event decoder', () => {
  for (const program of definition.programs) {
    const anchor = new BorshEventCoder(program.idl as Idl);
    for (const event of program.events.values()) {
      if (event.fields.length === 0) continue;
      it(`agrees with Anchor's coder on every field of ${event.name}`, () => {
        const compiled = compileEvent(event);
        fc.assert(
          fc.property(fc.nat(), (seed) => {
            const next = seededRandom(seed);
            const body = Buffer.concat(event.fields.map((field) => encoded(field.type, next)));
            const theirs = anchor.decode(Buffer.concat([event.discriminator, body]).toString('base64'));
            expect(compiled.decode(body)).toEqual(plainFields(theirs?.data as Record<string, unknown>, event.fields));
          }),
          { numRuns: 10 },
        );
      });
    }
  }

  const exchange = definition.programs.find((program) => program.accounts.has('User'));
  const action = [...(exchange?.events.values() ?? [])].find(({ name }) => name === 'OrderActionRecord');
  if (!exchange || !action) throw new Error('no OrderActionRecord');

  it('reads fields past the end as null, but only at a boundary between fields', () => {
    const next = seededRandom(3);
    const fields = action.fields.map((field) => encoded(field.type, next));
    const compiled = compileEvent(action);
    const whole = compiled.decode(Buffer.concat(fields));
    for (let fieldCount = 1; fieldCount < fields.length; fieldCount++) {
      const value = compiled.decode(Buffer.concat(fields.slice(0, fieldCount)));
      for (const [index, { name }] of action.fields.entries()) {
        expect(value[name]).toEqual(index < fieldCount ? whole[name] : null);
      }
    }
    const inside = Buffer.concat(fields.slice(0, 1)).subarray(0, 5);
    expect(() => compiled.decode(inside)).toThrow(RecordError);
  });

  it('rejects a list that claims more than the record has', () => {
    const list = compileEvent({
      name: 'List',
      discriminator: new Uint8Array(8),
      fields: [{ name: 'ids', type: { kind: 'vec', element: { kind: 'u32' } } }],
    });
    expect(() => list.decode(Buffer.from('ffffffff01020304', 'hex'))).toThrow(RecordError);
    expect(list.decode(Buffer.from('0100000001020304', 'hex'))).toEqual({ ids: [0x04030201] });
  });

  it('names an unknown variant by its ordinal', () => {
    const enumerated = compileEvent({
      name: 'Enum',
      discriminator: new Uint8Array(8),
      fields: [{ name: 'kind', type: { kind: 'enum', name: 'Kind', variants: ['one'] } }],
    });
    expect(enumerated.decode(Buffer.from([7]))).toEqual({ kind: 'unknown(7)' });
  });

  it('keeps undecodable records whole, with the reason', () => {
    const decoder = compileEvents(definition);
    const { programId } = exchange;
    const disc = Buffer.from(action.discriminator);
    const cases = [
      { bytes: Buffer.from('00112233445566778899', 'hex'), damaged: false, reason: 'unknown_record', name: null },
      { bytes: Buffer.concat([disc, Buffer.alloc(3)]), damaged: false, reason: 'damaged_record', name: action.name },
      { bytes: disc, damaged: true, reason: 'damaged_record', name: action.name },
      { bytes: Buffer.from('0011', 'hex'), damaged: true, reason: 'unknown_record', name: null },
    ];
    for (const { bytes, damaged, reason, name } of cases) {
      const record = decoder.decode({ program: programId, bytes, damaged });
      expect(record).toMatchObject({ name: 'UnknownRecord', problem: { reason }, data: { record_name: name } });
      expect(Buffer.from(record.data.raw as Uint8Array)).toEqual(bytes);
    }
  });
});
