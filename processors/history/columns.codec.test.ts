// Columns against the codec: for every kind of event, whole or damaged, they contain what avsc reads.

import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ChainEvent, columnsOf, decodeEvent, EVENT_NAMES, UNKNOWN_RECORD } from '../../schemas/index.ts';
import { sampleRecord } from '../../test/support/processors/history/events.ts';
import { type NativeValue, readNative } from '../../test/support/processors/history/native.ts';
import { compileColumns } from './columns.ts';
import { compileCheck } from './datum.ts';

const HEADER_BYTES = 10;
const MARGIN = 5;

function formatsOf(name: string) {
  const text = readFileSync(new URL(`../../schemas/log/avro/events/${name}.avsc`, import.meta.url), 'utf8');
  const columns = compileColumns(text);
  if (columns === null) throw new Error(`${name} has no columns`);
  return { columns, check: compileCheck(text) };
}

const names = [...EVENT_NAMES, UNKNOWN_RECORD];
const formats = new Map(names.map((name) => [name, formatsOf(name)]));

/** A record unchanged, with one byte changed, or truncated. */
const damage = fc.oneof(
  { weight: 2, arbitrary: fc.constant(null) },
  fc.record({ at: fc.nat(), flip: fc.integer({ min: 1, max: 255 }) }),
  fc.record({ at: fc.nat(), flip: fc.constant('cut' as const) }),
);
type Damage = typeof damage extends fc.Arbitrary<infer T> ? T : never;

function damaged(bytes: Buffer, how: Damage): Buffer {
  if (how === null) return bytes;
  const at = HEADER_BYTES + (how.at % (bytes.length - HEADER_BYTES));
  if (how.flip === 'cut') return bytes.subarray(0, at);
  bytes[at] = (bytes[at] ?? 0) ^ how.flip;
  return bytes;
}

const rows = fc.array(fc.record({ n: fc.nat(100_000), how: damage }), { minLength: 1, maxLength: 30 });

describe('columns of every kind of event', () => {
  it('contain the values that the codec reads, and none of damaged records', () => {
    fc.assert(
      fc.property(fc.constantFrom(...names), rows, (name, wanted) => {
        const { columns, check } = formats.get(name) ?? formatsOf(name);
        const block = columns.open(wanted.length);
        const taken: Buffer[] = [];
        for (const { n, how } of wanted) {
          const record = damaged(sampleRecord(name, n), how);
          // Between other bytes, like in a page.
          const around = Buffer.concat([Buffer.alloc(MARGIN, 0xff), record, Buffer.alloc(MARGIN, n % 256)]);
          const isTaken = block.add(around, MARGIN + HEADER_BYTES, MARGIN + record.length);
          expect(isTaken).toBe(check(record, HEADER_BYTES));
          if (isTaken) taken.push(record);
        }
        const events = taken.map((record) => decodeEvent(record));
        const stored = readNative(Buffer.concat(block.parts()));
        for (const { name: column } of columnsOf(name)) {
          const fields = events.map((event) => fieldOf(event, column));
          const values = stored
            .get(column)
            ?.map((value, row) => (typeof fields[row] === 'string' ? text(value) : value));
          expect(values).toEqual(fields.map(readable));
        }
      }),
      { numRuns: 400 },
    );
  });
});

function fieldOf({ signature, eventIndex, slot, txIndex, data }: ChainEvent, column: string): unknown {
  return { ...data, signature, event_index: eventIndex, slot, tx_index: txIndex }[column];
}

/** The columns keep bytes that are not UTF-8; the codec reads them as replacement characters. */
function text(value: NativeValue): NativeValue {
  return typeof value === 'string' ? Buffer.from(value, 'hex').toString() : value;
}

function readable(value: unknown): NativeValue {
  if (value === null || typeof value === 'string' || typeof value === 'bigint' || typeof value === 'boolean')
    return value;
  if (typeof value === 'number') return BigInt(value);
  if (Array.isArray(value)) return value.map(readable);
  return Buffer.from(value as Uint8Array).toString('hex');
}
