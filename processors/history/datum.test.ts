import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeEvent, EVENT_NAMES, UNKNOWN_RECORD } from '../../schemas/index.ts';
import { sampleRecord } from '../../test/support/processors/history/events.ts';
import { compileCheck } from './datum.ts';

const START = 10;
const events = [...EVENT_NAMES, UNKNOWN_RECORD];

function checkOf(name: string) {
  const folder = new URL(`../../schemas/log/avro/events/`, import.meta.url);
  const file = readdirSync(folder).find((entry) => entry === `${name}.avsc`) ?? '';
  return compileCheck(readFileSync(new URL(file, folder), 'utf8'));
}

const checks = new Map(events.map((name) => [name, checkOf(name)]));
const isValid = (name: string, bytes: Uint8Array) => checks.get(name)?.(bytes, START) ?? false;
const anyEvent = fc.record({ name: fc.constantFrom(...events), n: fc.nat(100_000) });

describe('record check', () => {
  it('accepts every record that the codec writes', () => {
    fc.assert(
      fc.property(anyEvent, ({ name, n }) => isValid(name, sampleRecord(name, n))),
      { numRuns: 500 },
    );
  });

  it('refuses a record that ends early or late', () => {
    const cut = fc.double({ min: 0, max: 0.999, noNaN: true });
    fc.assert(
      fc.property(anyEvent, cut, ({ name, n }, part) => {
        const bytes = sampleRecord(name, n);
        const end = START + Math.floor((bytes.length - START) * part);
        expect(isValid(name, bytes.subarray(0, end))).toBe(false);
        expect(isValid(name, Buffer.concat([bytes, Buffer.of(0)]))).toBe(false);
      }),
      { numRuns: 500 },
    );
  });

  it('accepts damaged bytes only when they are still one whole record', () => {
    fc.assert(
      fc.property(anyEvent, fc.nat(), fc.integer({ min: 1, max: 255 }), ({ name, n }, at, flip) => {
        const bytes = sampleRecord(name, n);
        const index = START + (at % (bytes.length - START));
        bytes[index] = (bytes[index] ?? 0) ^ flip;
        if (isValid(name, bytes)) decodeEvent(bytes);
      }),
      { numRuns: 2_000 },
    );
  });
});
