import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeMessage } from '../../../schemas/index.ts';
import { quoteOf } from '../../../test/support/api/quote-maker.ts';
import { MAX_QUOTE_BYTES, MAX_QUOTES } from './limits.ts';
import { readAuthAnswer, readMembers, readQuotes } from './messages.ts';

const message = (quotes: unknown, members: Record<string, unknown> = {}) => ({
  market_index: 0,
  market_type: 'perp',
  quotes,
  ...members,
});

describe('quotes', () => {
  it('are read from decimal strings, each side on its own', () => {
    const quotes = [
      quoteOf(['81114210', '1000000000'], ['81130450', '2']),
      quoteOf(null, ['250000', '7'], true),
      quoteOf(['-250000', '18446744073709551615'], null, true),
    ];
    expect(readQuotes(message(quotes))).toEqual({
      is: 'quotes',
      market: { marketType: 'perp', marketIndex: 0 },
      malformedAt: null,
      quotes: [
        {
          isOracleOffset: false,
          bid: { price: 81_114_210n, size: 1_000_000_000n },
          ask: { price: 81_130_450n, size: 2n },
        },
        { isOracleOffset: true, bid: null, ask: { price: 250_000n, size: 7n } },
        { isOracleOffset: true, bid: { price: -250_000n, size: 2n ** 64n - 1n }, ask: null },
      ],
    });
  });

  it('may be a single quote without a list, as the Python client sends it', () => {
    const flat = {
      market_type: 'perp',
      market_index: 0,
      bid_price: '81114210',
      ask_price: '81130450',
      bid_size: '1000000000',
      ask_size: '2',
      is_oracle_offset: null,
    };
    const { market_type, market_index, ...quote } = flat;
    const read = readQuotes(flat);
    expect(read).toMatchObject({
      is: 'quotes',
      malformedAt: null,
      quotes: [{ ask: { price: 81_130_450n, size: 2n } }],
    });
    expect(read).toEqual(readQuotes({ market_type, market_index, quotes: [quote] }));
    expect(readQuotes({ ...flat, bid_price: 'x' })).toMatchObject({ quotes: [], malformedAt: 0 });
    expect(readQuotes({ ...flat, quotes: null })).toEqual({ is: 'refused', error: 'quotesMissing' });
  });

  it('may be whole JSON numbers, of any market type in letters', () => {
    const quotes = [{ bid_price: 99, bid_size: 5 }];
    expect(readQuotes(message(quotes, { market_type: 'PERP' }))).toMatchObject({
      quotes: [{ isOracleOffset: false, bid: { price: 99n, size: 5n }, ask: null }],
    });
  });

  it.each([
    ['no price', { bid_price: null, bid_size: '5' }],
    ['no size', { bid_price: '99' }],
    ['an empty size', { bid_price: '99', bid_size: '' }],
    ['a size of zero', { bid_price: '99', bid_size: '0' }],
  ])('with %s show nothing and harm nothing', (_, quote) => {
    const read = readQuotes(message([quote, quoteOf(['98', '1'])]));
    expect(read).toMatchObject({ malformedAt: null, quotes: [{ bid: { price: 98n } }] });
  });

  it.each([
    ['not an object', 7],
    ['null', null],
    ['a list', []],
    ['a price in text', quoteOf(['abc', '5'])],
    ['a price with a point', quoteOf(['99.5', '5'])],
    ['a price in scientific form', quoteOf(['1e6', '5'])],
    ['a price of zero', quoteOf(['0', '5'])],
    ['a negative fixed price', quoteOf(['-1', '5'])],
    ['a price of 2^53', quoteOf(['9007199254740992', '5'])],
    ['an offset below -2^53', quoteOf(['-9007199254740993', '5'], null, true)],
    ['a negative size', quoteOf(['99', '-5'])],
    ['a size of 2^64', quoteOf(['99', '18446744073709551616'])],
    ['a broken number', { bid_price: 1.5, bid_size: '1' }],
    ['an object for a price', { bid_price: {}, bid_size: '1' }],
    ['a flag in text', { ...quoteOf(['99', '1']), is_oracle_offset: 'yes' }],
  ])('that are malformed (%s) abort those after them and keep those before', (_, malformed) => {
    const read = readQuotes(message([quoteOf(['98', '1']), malformed, quoteOf(['97', '1'])]));
    expect(read).toMatchObject({ is: 'quotes', malformedAt: 1, quotes: [{ bid: { price: 98n } }] });
    expect(read.is === 'quotes' && read.quotes).toHaveLength(1);
  });

  it.each([
    ['quotesMissing', message(undefined)],
    ['quotesMissing', message({})],
    ['quotesMissing', { market_index: 0, market_type: 'perp', is_oracle_offset: true }],
    ['tooManyQuotes', message(Array.from({ length: MAX_QUOTES + 1 }, () => quoteOf(['1', '1'])))],
    ['marketTypeUnknown', message([], { market_type: 'spot' })],
    ['marketTypeUnknown', message([], { market_type: 1 })],
    ['marketUnknown', message([], { market_index: '0' })],
    ['marketUnknown', message([], { market_index: -1 })],
    ['marketUnknown', message([], { market_index: 65_536 })],
    ['marketUnknown', message([], { market_index: 0.5 })],
  ])('are refused as a whole: %s', (error, sent) => {
    expect(readQuotes(sent)).toEqual({ is: 'refused', error });
  });

  it('fit the payload limit at their greatest number', () => {
    const side = ['9007199254740991', '18446744073709551615'] as const;
    const quotes = Array.from({ length: MAX_QUOTES }, () => quoteOf(side, side));
    expect(JSON.stringify(message(quotes, { market_index: 65_535 })).length).toBeLessThan(MAX_QUOTE_BYTES);
    expect(readQuotes(message(quotes))).toMatchObject({ is: 'quotes', malformedAt: null });
  });

  it('never throw, and every accepted one can be written to the log', () => {
    const number = fc.oneof(fc.bigInt().map(String), fc.integer(), fc.string(), fc.constant(null));
    const quote = fc.record(
      { bid_price: number, bid_size: number, ask_price: number, ask_size: number, is_oracle_offset: fc.boolean() },
      { requiredKeys: [] },
    );
    const any = fc.oneof(
      fc.array(fc.oneof(quote, fc.jsonValue())).map((quotes) => message(quotes)),
      quote.map((flat) => ({ market_index: 0, market_type: 'perp', ...flat })),
      fc.dictionary(fc.string(), fc.jsonValue()),
    );
    fc.assert(
      fc.property(any, (sent) => {
        const read = readQuotes(sent);
        if (read.is !== 'quotes') return;
        const { market, quotes } = read;
        encodeMessage('MakerQuotes', { ...market, receivedAtMs: 1, maker: new Uint8Array(32), quotes });
      }),
    );
  });
});

describe('members', () => {
  it.each(['', 'null', '[]', '7', '"x"', '{'])('are none in %j', (text) => {
    expect(readMembers(text)).toBeNull();
  });

  it('answer the nonce when both are text', () => {
    expect(readAuthAnswer({ pubkey: 'a', signature: 'b', more: 1 })).toEqual({ pubkey: 'a', signature: 'b' });
    expect(readAuthAnswer({ pubkey: 'a' })).toBeNull();
    expect(readAuthAnswer({ pubkey: 'a', signature: 7 })).toBeNull();
  });
});
