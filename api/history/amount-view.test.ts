import { describe, expect, it } from 'vitest';
import { MARKETS } from '../../test/support/api/market-views.ts';
import { MarketRegistry } from '../views/registry.ts';
import { decimalsOf, type Members } from './amount-decimals.ts';
import { type AmountFormat, convertedSchema, converterOf, DECIMAL_TEXT, JSON_NUMBER } from './amount-view.ts';
import { answerOf, listOf, objectOf, orNull, QUOTE, raw, type Schema, TEXT, WHOLE } from './answer-schemas.ts';
import { rowSchema } from './fields.ts';
import { MARKET_SWAPS } from './rows/balances.ts';

const registry = new MarketRegistry();
for (const view of MARKETS) registry.put(view);

const converter = (schema: Schema, format: AmountFormat = DECIMAL_TEXT) =>
  converterOf(schema, {
    format,
    decimalsOf: (unit, name, holder) => decimalsOf((market) => registry.get(market), unit, name, holder),
  });
const converted = (schema: Schema, value: unknown) => converter(schema)?.(value, '', {});

/** Converts one member of an object. */
const amountOf = (unit: Parameters<typeof raw>[0], value: string | null, others: Members = {}) =>
  (converted(objectOf({ amount: raw(unit) }), { amount: value, ...others }) as Members).amount;

describe('amounts as decimal text', () => {
  it('of an object that may be null are converted in it, and null stays null', () => {
    const schema = objectOf({ account: orNull(objectOf({ amount: QUOTE })) });
    expect(converted(schema, { account: { amount: '5' } })).toEqual({ account: { amount: '0.000005' } });
    expect(converted(schema, { account: null })).toEqual({ account: null });
  });

  it.each([
    ['quote 1e6', '225300000', '225.300000'],
    ['price 1e6', '-1', '-0.000001'],
    ['funding 1e9', '11857755', '0.011857755'],
    ['scaled balance 1e9', '7', '0.000000007'],
    ['interest 1e10', '10000000001', '1.0000000001'],
    ['share 1e6', '20000', '0.020000'],
    ['base 1e9', '1500000000', '1.500000000'],
    ['quote 1e6', '340282366920938463463374607431768211455', '340282366920938463463374607431768.211455'],
  ] as const)('in %s: %s is %s', (unit, value, text) => {
    expect(amountOf(unit, value)).toBe(text);
  });

  it('have the decimals of the market in the same object', () => {
    expect(amountOf('token, mint decimals', '2500000', { marketIndex: 0 })).toBe('2.500000');
    expect(amountOf('token, mint decimals', '2500000', { spotMarketIndex: 1 })).toBe('0.002500000');
    expect(amountOf('shares', '3', { spotMarketIndex: 0 })).toBe('0.000003');
    expect(amountOf('base units of the market', '3', { marketType: 'spot', marketIndex: 0 })).toBe('0.000003');
    expect(amountOf('base units of the market', '3', { marketType: 'perp', marketIndex: 0 })).toBe('0.000000003');
  });

  it('are null where the raw value is null or the market is unknown', () => {
    expect(amountOf('quote 1e6', null)).toBeNull();
    expect(amountOf('token, mint decimals', '5', { marketIndex: 99 })).toBeNull();
  });

  it('leave identifiers, numbers and texts unchanged at any depth', () => {
    const schema = answerOf('', {
      data: listOf(objectOf({ id: raw('identifier'), n: WHOLE, text: TEXT, paid: QUOTE })),
    });
    const body = { success: true, data: [{ id: '18446744073709551615', n: 5, text: '7', paid: '1' }] };
    expect(converted(schema, body)).toEqual({
      success: true,
      data: [{ id: '18446744073709551615', n: 5, text: '7', paid: '0.000001' }],
    });
    expect(converter(objectOf({ id: raw('identifier'), n: WHOLE }))).toBeNull();
  });

  it('of swaps have the decimals of the token that moved', () => {
    const row = { amountIn: '150000000', amountOut: '1000000000', fee: '3', inMarketIndex: 0, outMarketIndex: 1 };
    expect(converted(rowSchema(MARKET_SWAPS.fields), row)).toMatchObject({
      amountIn: '150.000000',
      amountOut: '1.000000000',
      fee: '0.000000003',
    });
  });
});

describe('amounts as JSON numbers', () => {
  const schema = objectOf({
    paid: orNull(QUOTE),
    base: raw('base 1e9'),
    price: raw('price 1e6'),
    id: raw('identifier'),
  });

  it('are whole units, with identifiers and nulls unchanged', () => {
    const row = { paid: null, base: '1500000000', price: '150200000', id: '8' };
    expect(converter(schema, JSON_NUMBER)?.(row, '', {})).toEqual({ paid: null, base: 1.5, price: 150.2, id: '8' });
  });

  it('have a schema of numbers without units', () => {
    expect(convertedSchema(schema, JSON_NUMBER).properties).toEqual({
      paid: { type: ['number', 'null'], description: 'whole quote units' },
      base: { type: 'number', description: 'whole base units' },
      price: { type: 'number', description: 'whole quote units per whole base unit' },
      id: { type: 'string', description: 'identifier' },
    });
  });
});
