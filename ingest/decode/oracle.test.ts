import { describe, expect, it } from 'vitest';
import { readOracle } from './oracle.ts';

type Field = readonly ['u32' | 'i32' | 'u64' | 'i64' | 'pad', string, bigint?];

/** A price account of Pyth's push oracle, member by member in the published order (docs/internals/accounts.md, "Oracles"). */
function pushAccount(values: Readonly<Record<string, bigint>>): Uint8Array {
  const ema = (name: string): Field[] => [
    ['i64', name],
    ['i64', `${name}Numerator`],
    ['i64', `${name}Denominator`],
  ];
  const fields: Field[] = [
    ['u32', 'magic', 0xa1b2c3d4n],
    ['u32', 'version', 2n],
    ['u32', 'accountType', 3n],
    ['u32', 'size', 3_312n],
    ['u32', 'priceType', 1n],
    ['i32', 'exponent'],
    ['u32', 'publishers'],
    ['u32', 'quoting'],
    ['u64', 'lastSlot'],
    ['u64', 'validSlot'],
    ...ema('emaPrice'),
    ...ema('emaConfidence'),
    ['i64', 'timestamp'],
    ['pad', 'minPublishersAndFlags', 8n],
    ['pad', 'product', 32n],
    ['pad', 'next', 32n],
    ['u64', 'previousSlot'],
    ['i64', 'previousPrice'],
    ['u64', 'previousConfidence'],
    ['i64', 'previousTimestamp'],
    ['i64', 'price'],
    ['u64', 'confidence'],
    ['u32', 'status', 1n],
    ['u32', 'corporateAction'],
    ['u64', 'publishSlot'],
  ];
  const bytes = new Uint8Array(3_312);
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const [kind, name, fixed = 0n] of fields) {
    const value = values[name] ?? fixed;
    if (kind === 'u32') view.setUint32(at, Number(value), true);
    if (kind === 'i32') view.setInt32(at, Number(value), true);
    if (kind === 'u64') view.setBigUint64(at, value, true);
    if (kind === 'i64') view.setBigInt64(at, value, true);
    at += kind === 'pad' ? Number(fixed) : kind.endsWith('32') ? 4 : 8;
  }
  return bytes;
}

const SOL = {
  ...{ exponent: -8n, publishers: 30n, quoting: 28n, lastSlot: 901n, validSlot: 900n, timestamp: 1_700_000_000n },
  ...{ emaPrice: 15_412_345_678n, emaConfidence: 7_000_000n, price: 15_450_000_000n, confidence: 9_000_000n },
  ...{ previousPrice: 1n, previousConfidence: 2n, publishSlot: 902n },
};

describe('a price account of the Pyth push oracle', () => {
  it('gives price, confidence and averages at 1e6, with the slot and time of its newest valid price', () => {
    expect(readOracle(pushAccount(SOL), 'Pyth')).toEqual({
      price: 154_500_000n,
      confidence: 90_000n,
      twap: 154_123_456n,
      twapConfidence: 70_000n,
      oracleSlot: 900n,
      publishTs: 1_700_000_000n,
      hasSufficientNumberOfDataPoints: true,
      maxPrice: null,
      sequenceId: null,
    });
  });

  it('counts a thousand units for the 1K source', () => {
    expect(readOracle(pushAccount(SOL), 'Pyth1K').price).toBe(154_500_000_000n);
  });

  it.each([
    [2n, 30n, false],
    [3n, 30n, true],
    [2n, 2n, true],
  ])('with %i of %i publishers is sufficient: %s', (quoting, publishers, isSufficient) => {
    const { hasSufficientNumberOfDataPoints } = readOracle(pushAccount({ ...SOL, quoting, publishers }), 'Pyth');
    expect(hasSufficientNumberOfDataPoints).toBe(isSufficient);
  });

  it('of a product is refused', () => {
    expect(() => readOracle(pushAccount({ ...SOL, accountType: 2n }), 'Pyth')).toThrow('Pyth account of kind 2');
  });

  it('that is cut off is refused', () => {
    expect(() => readOracle(pushAccount(SOL).subarray(0, 239), 'Pyth')).toThrow('has 239 bytes');
  });
});
