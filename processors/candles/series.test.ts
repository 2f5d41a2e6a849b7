// Rows, ids and packed forms of candles, each against a plain model.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { priceOf as naivePrice } from '../../test/support/processors/candles/naive.ts';
import { keepPieces } from '../../test/support/processors/keep-pieces.ts';
import { priceOf } from './fill.ts';
import { FillIds } from './fill-ids.ts';
import { packRows, unpackRows } from './packing.ts';
import { BUCKET, Series } from './series.ts';

const WIDTH = 3;
/** Far enough apart that most chunks are old enough to be packed. */
const buckets = fc.oneof(fc.nat(200), fc.nat(10_000));

describe('rows by bucket', () => {
  it('are found, walked and pruned like a sorted list, packed or not, over restarts', () => {
    const act = fc.oneof(
      { weight: 6, arbitrary: fc.record({ kind: fc.constant('add' as const), bucket: buckets }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('save' as const), bucket: buckets }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart' as const), bucket: buckets }) },
    );
    fc.assert(
      fc.property(fc.array(act, { maxLength: 80 }), fc.array(buckets, { maxLength: 30 }), (acts, probes) => {
        const model = new Map<number, number>();
        const saved = new Map<number, Uint8Array>();
        let series = new Series(WIDTH);
        const save = () => {
          for (const { chunk, bytes } of series.takeChanges()) {
            if (bytes === null) saved.delete(chunk);
            else saved.set(chunk, bytes);
          }
        };
        for (const { kind, bucket } of acts) {
          if (kind === 'add') {
            expect(series.open(bucket)).toBe(!model.has(bucket));
            model.set(bucket, (model.get(bucket) ?? 0) + 1);
            series.rows[series.at + 1] = (series.rows[series.at + 1] ?? 0) + 1;
            continue;
          }
          save();
          if (kind !== 'restart') continue;
          series = new Series(WIDTH);
          for (const [chunk, bytes] of saved) series.restore(chunk, bytes);
        }
        const sorted = [...model.keys()].sort((left, right) => left - right);
        const here = (found: boolean) => (found ? series.rows[series.at + BUCKET] : undefined);
        for (const probe of probes) {
          expect(series.find(probe) ? series.rows[series.at + 1] : undefined).toBe(model.get(probe));
          expect(here(series.findBefore(probe))).toBe(sorted.findLast((bucket) => bucket < probe));
          expect(here(series.findAfter(probe))).toBe(sorted.find((bucket) => bucket > probe));
          const walked: number[] = [];
          series.forRange(probe, probe + 100, (rows, at) => walked.push(rows[at + BUCKET] ?? -1));
          expect(walked).toEqual(sorted.filter((bucket) => bucket >= probe && bucket <= probe + 100));
        }
        expect(here(series.findNewest())).toBe(sorted.at(-1));
        const [limit = 0] = probes;
        const gone: number[] = [];
        series.prune(limit, (rows, at) => gone.push(rows[at + BUCKET] ?? -1));
        expect(gone).toEqual(sorted.filter((bucket) => (bucket >> 5) + 1 <= limit >> 5));
        save();
        expect([...saved.keys()].every((chunk) => chunk + 1 > limit >> 5)).toBe(true);
      }),
    );
  });

  it('survive packing', () => {
    const number = fc.oneof(
      fc.integer(),
      fc.maxSafeInteger().map((value) => Math.trunc(value / 2)),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(number, number, number), { maxLength: 32 }), (list) => {
        const rows = Float64Array.from(list.flat());
        const packed = packRows(rows, list.length, WIDTH);
        const back = new Float64Array(rows.length);
        expect(unpackRows(packed, WIDTH, back)).toBe(list.length);
        expect([...back].map((value) => value + 0)).toEqual([...rows].map((value) => value + 0));
      }),
    );
  });
});

describe('fill ids', () => {
  it('are new exactly once, over restarts, in any order', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.nat(50), fc.nat(20_000)), { maxLength: 200 }),
        fc.integer({ min: 1, max: 50 }),
        (list, every) => {
          const seen = new Set<number>();
          const saved = new Map<string, Uint8Array>();
          let ids = new FillIds();
          for (const [index, id] of list.entries()) {
            expect(ids.has(id)).toBe(seen.has(id));
            expect(ids.add(id)).toBe(!seen.has(id));
            seen.add(id);
            if (index % every !== 0) continue;
            ids = restarted(ids, saved);
          }
        },
      ),
    );
  });

  it('merge into ranges of pages where they have no gaps', () => {
    const saved = new Map<string, Uint8Array>();
    let ids = new FillIds();
    const pages = [3, 0, 2, 1];
    for (const page of pages) for (let id = page * 4096; id < (page + 1) * 4096; id++) expect(ids.add(id)).toBe(true);
    ids = restarted(ids, saved);
    expect([...saved.keys()]).toEqual(['full']);
    expect(Buffer.from(saved.get('full') ?? []).toString()).toBe('[[0,3]]');
    expect([0, 4096, 16_383].map((id) => ids.add(id))).toEqual([false, false, false]);
    expect(ids.add(16_384)).toBe(true);
  });
});

function restarted(ids: FillIds, saved: Map<string, Uint8Array>): FillIds {
  keepPieces(saved, ids.takeChanges());
  const next = new FillIds();
  for (const [name, bytes] of saved) next.restore(name, bytes);
  return next;
}

describe('price of a fill', () => {
  it('is rounded half up like exact integers, ties included', () => {
    const amount = fc.oneof(fc.bigInt({ min: 1n, max: 2n ** 53n - 1n }), fc.bigInt({ min: 1n, max: 5000n }));
    fc.assert(
      fc.property(amount, amount, (quote, base) => {
        const exact = naivePrice({ quote, base });
        fc.pre(exact < 2n ** 51n);
        expect(BigInt(priceOf(Number(quote), Number(base)))).toBe(exact);
        expect(BigInt(priceOf(quote, base))).toBe(exact);
      }),
      { numRuns: 2000 },
    );
    expect(priceOf(3, 2_000_000_000)).toBe(2);
    expect(priceOf(1, 2_000_000_001)).toBe(0);
    expect(priceOf(5, 2_000_000_000)).toBe(3);
  });
});
