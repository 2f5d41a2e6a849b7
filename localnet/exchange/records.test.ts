// Records as Anchor's own layouts encode them.

import type { Idl } from '@coral-xyz/anchor';
import anchor from '@coral-xyz/anchor';
import { PublicKey } from '@solana/web3.js';
import bs58 from 'bs58';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { variantName } from '../../schemas/index.ts';
import { chainDefinition } from './accounts.ts';
import { encodeRecord, type RecordData, truthOf } from './records.ts';

interface Layout {
  encode(value: unknown, buffer: Buffer): number;
}

/** A field's arbitrary model value, and what Anchor wants instead. */
interface Sample {
  readonly model: unknown;
  readonly anchor: unknown;
}

const BYTES_MAX = 8192;

const same = (model: unknown): Sample => ({ model, anchor: model });
const big = (model: bigint): Sample => ({ model, anchor: new anchor.BN(model.toString()) });

function leaf(type: string): fc.Arbitrary<Sample> {
  const [, sign, digits] = /^([ui])(\d+)$/.exec(type) ?? [];
  const bits = Number(digits);
  if (sign !== undefined) {
    const min = sign === 'i' ? -(2n ** BigInt(bits - 1)) : 0n;
    const max = min + 2n ** BigInt(bits) - 1n;
    const values = fc.bigInt({ min, max });
    return bits > 32 ? values.map(big) : values.map((value) => same(Number(value)));
  }
  if (type === 'bool') return fc.boolean().map(same);
  if (type === 'string') return fc.string({ unit: 'binary', maxLength: 20 }).map(same);
  if (type !== 'pubkey') throw new Error(`no arbitrary value of type ${type}`);
  return fc
    .uint8Array({ minLength: 32, maxLength: 32 })
    .map((bytes) => ({ model: bs58.encode(bytes), anchor: new PublicKey(bytes) }));
}

function arbitrary(idl: Idl, type: unknown): fc.Arbitrary<Sample> {
  if (typeof type === 'string') return leaf(type);
  const shape = type as {
    option?: unknown;
    vec?: unknown;
    array?: [unknown, number];
    defined?: { name: string };
  };
  const list = (samples: fc.Arbitrary<Sample[]>) =>
    samples.map((all) => ({ model: all.map(({ model }) => model), anchor: all.map((one) => one.anchor) }));
  if (shape.option !== undefined) return fc.oneof(fc.constant(same(null)), arbitrary(idl, shape.option));
  if (shape.vec !== undefined) return list(fc.array(arbitrary(idl, shape.vec), { maxLength: 3 }));
  if (shape.array !== undefined) {
    const [element, length] = shape.array;
    return list(fc.array(arbitrary(idl, element), { minLength: length, maxLength: length }));
  }
  return defined(idl, shape.defined?.name ?? '');
}

function defined(idl: Idl, name: string): fc.Arbitrary<Sample> {
  const type = idl.types?.find((candidate) => candidate.name === name)?.type;
  if (type?.kind === 'enum') {
    return fc
      .constantFrom(...type.variants)
      .map(({ name: variant }) => ({ model: variantName(variant), anchor: { [variant]: {} } }));
  }
  if (type?.kind !== 'struct') throw new Error(`the IDL lacks struct ${name}`);
  const fields = (type.fields ?? []) as { name: string; type: unknown }[];
  return fc.tuple(...fields.map((field) => arbitrary(idl, field.type))).map((samples) => {
    const members = (of: (sample: Sample) => unknown) =>
      Object.fromEntries(fields.map((field, index) => [field.name, of(samples[index] as Sample)]));
    return { model: members(({ model }) => model), anchor: members((sample) => sample.anchor) };
  });
}

/** Anchor's coder only decodes; encoding needs its private layouts. */
const records = chainDefinition().programs.flatMap(({ idl }) => {
  const coder = new anchor.BorshEventCoder(idl as Idl) as unknown as {
    layouts: Map<string, { discriminator: number[]; layout: Layout }>;
  };
  return [...coder.layouts].map(([name, { discriminator, layout }]) => ({
    name,
    discriminator,
    layout,
    samples: defined(idl as Idl, name),
  }));
});

describe('records', () => {
  it('of every type of the definition are encoded as Anchor encodes them', () => {
    expect(records.length).toBeGreaterThan(20);
    for (const { name, discriminator, layout, samples } of records) {
      fc.assert(
        fc.property(samples, (sample) => {
          const buffer = Buffer.alloc(BYTES_MAX);
          const length = layout.encode(sample.anchor, buffer);
          const expected = Buffer.concat([Buffer.from(discriminator), buffer.subarray(0, length)]).toString('base64');
          expect(encodeRecord(name, sample.model as RecordData)).toBe(expected);
        }),
        { numRuns: 30 },
      );
    }
  });

  it('lack fields that the model lacks: they are zero', () => {
    for (const { name } of records) {
      const zero = truthOf(name, {});
      expect(
        Buffer.from(encodeRecord(name, {}), 'base64')
          .subarray(8)
          .every((byte) => byte === 0),
      ).toBe(true);
      expect(Object.values(zero).every((value) => value !== undefined)).toBe(true);
    }
  });

  it('with an amount that its field cannot hold are refused', () => {
    const amounts = { base_asset_amount_filled: 2n ** 64n, taker_fee: -1n, maker_fee: 2n ** 63n, market_index: 65_536 };
    for (const [field, amount] of Object.entries(amounts)) {
      expect(() => encodeRecord('OrderActionRecord', { [field]: amount })).toThrow(RangeError);
    }
    expect(() => encodeRecord('OrderActionRecord', { maker_fee: -(2n ** 63n), market_index: 65_535 })).not.toThrow();
  });

  it('of unknown types and variants are refused', () => {
    expect(() => encodeRecord('NoSuchRecord', {})).toThrow('the chain definition has no record NoSuchRecord');
    expect(() => encodeRecord('OrderActionRecord', { action: 'noSuchAction' })).toThrow(
      'no such variant: noSuchAction',
    );
  });
});
