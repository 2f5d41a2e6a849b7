import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MARKETS } from '../../test/support/api/market-views.ts';
import { MarketRegistry } from '../views/registry.ts';
import { GROUPINGS, mayBeRequest, readRequest } from './requests.ts';

const markets = new MarketRegistry();
for (const view of MARKETS) markets.put(view);
const read = (message: unknown) => readRequest(JSON.stringify(message), markets);
const base = { type: 'subscribe', channel: 'orderbook', market: 'SOL-PERP', marketType: 'perp' };

describe('subscribe', () => {
  it.each([
    [
      'reads names in any letter case',
      { ...base, type: 'SUBSCRIBE', channel: 'OrderBook', market: 'sol-perp', marketType: 'PERP', grouping: 100 },
      'orderbook_perp_0_grouped_100',
    ],
    [
      'takes 1 for a grouping that is not listed',
      { ...base, channel: 'orderbook_indicative', grouping: 50 },
      'orderbook_perp_0_grouped_1_indicative',
    ],
    ['answers fees on a channel with a capital F', { ...base, channel: 'priorityfees' }, 'priorityFees_perp_0'],
  ])('%s', (_, message, name) => {
    expect(read(message)).toMatchObject({ is: 'subscribe', channel: { name } });
  });

  it.each([
    [{ ...base, channel: 'Trades', market: 'btc-perp' }, 'trades_perp_1'],
    [{ ...base, market: 'SOL', marketType: 'spot' }, 'orderbook_spot_1_grouped_1'],
    [{ ...base, grouping: '100' }, 'orderbook_perp_0_grouped_100'],
    [{ ...base, grouping: '100abc' }, 'orderbook_perp_0_grouped_100'],
    [{ ...base, grouping: null }, 'orderbook_perp_0_grouped_1'],
    [{ ...base, grouping: { a: 1 } }, 'orderbook_perp_0_grouped_1'],
  ])('resolves %j', (message, name) => {
    expect(read(message)).toMatchObject({ is: 'subscribe', channel: { name } });
  });

  it('takes the groupings 1, 10, 100, 500 and 1000, and 1 for any other', () => {
    expect(GROUPINGS).toEqual([1, 10, 100, 500, 1000]);
    for (const [given, used] of [...GROUPINGS.map((grouping) => [grouping, grouping]), [undefined, 1], [2, 1]]) {
      expect(read({ ...base, grouping: given })).toMatchObject({
        channel: { name: `orderbook_perp_0_grouped_${used}` },
      });
    }
  });

  it('acknowledges with the values as the client sent them', () => {
    expect(read({ ...base, channel: 'OrderBook', market: 'sol-perp', marketType: 'PERP' })).toMatchObject({
      acknowledgement: 'Subscribe received for channel: OrderBook, market: sol-perp, marketType: PERP',
    });
  });

  it.each([
    [{ ...base, channel: 'trades', market: 'NOPE-PERP' }],
    [{ ...base, channel: 'trades', marketType: 'spot' }],
    [{ ...base, channel: 'trades', marketType: 'prediction' }],
    [{ ...base, channel: 'trades', marketType: 7 }],
    [{ ...base, channel: 'trades', market: undefined }],
    [{ ...base, channel: 'trades', market: ['SOL-PERP'] }],
  ])('cannot resolve the market of %j', (message) => {
    expect(read(message)).toEqual({ is: 'unresolved', action: 'subscribe', channel: 'trades' });
  });

  it.each([['candles'], [''], [undefined], [null], [5], [['orderbook']], [{}]])(
    'closes on the channel %j',
    (channel) => {
      expect(read({ ...base, channel })).toEqual({ is: 'unknownChannel' });
    },
  );
});

describe('unsubscribe', () => {
  it('resolves like subscribe', () => {
    expect(read({ ...base, type: 'Unsubscribe', grouping: 10 })).toMatchObject({
      is: 'unsubscribe',
      channel: { name: 'orderbook_perp_0_grouped_10' },
    });
  });

  it('answers an unknown channel or market with an error, and closes without a channel', () => {
    expect(read({ ...base, type: 'unsubscribe', channel: 'candles' })).toMatchObject({ is: 'unresolved' });
    expect(read({ ...base, type: 'unsubscribe', market: 'NOPE' })).toMatchObject({ is: 'unresolved' });
    expect(read({ ...base, type: 'unsubscribe', channel: 5 })).toEqual({ is: 'unknownChannel' });
  });
});

describe('any other message', () => {
  it.each(['', 'hello', '{', 'null', '5', '"subscribe"', '[]', '{}', '{"type":5}', '{"type":"ping"}', '{"type":null}'])(
    'is ignored: %s',
    (text) => {
      expect(readRequest(text, markets)).toEqual({ is: 'ignored' });
    },
  );

  it.each(['{"type":"uNSubscribe","channel":5}', '{"type":"\\u0073ubscribe"}'])('may be a request: %s', (text) => {
    expect([mayBeRequest(text), readRequest(text, markets)]).toEqual([true, { is: 'unknownChannel' }]);
  });

  it.each(['', 'hello', '{}', '{"type":"ping"}', '{"type":5,"channel":"book"}'])('cannot be a request: %s', (text) => {
    expect(mayBeRequest(text)).toBe(false);
  });

  it('never throws and never makes a channel name of client text', () => {
    const names = new Set(
      MARKETS.flatMap(({ marketType, marketIndex }) => [
        `trades_${marketType}_${marketIndex}`,
        `priorityFees_${marketType}_${marketIndex}`,
        ...GROUPINGS.flatMap((grouping) => [
          `orderbook_${marketType}_${marketIndex}_grouped_${grouping}`,
          `orderbook_${marketType}_${marketIndex}_grouped_${grouping}_indicative`,
        ]),
      ]),
    );
    const value = fc.oneof(
      fc.constantFrom('subscribe', 'unsubscribe', 'orderbook', 'TRADES', 'sol-perp', 'SOL', 'perp', 'spot', '100', 100),
      fc.jsonValue(),
    );
    const message = fc.record(
      { type: value, channel: value, market: value, marketType: value, grouping: value },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.json(),
          fc.string(),
          message.map((object) => JSON.stringify(object)),
        ),
        (text) => {
          const request = readRequest(text, markets);
          if (!mayBeRequest(text)) expect(request).toEqual({ is: 'ignored' });
          if (request.is === 'subscribe' || request.is === 'unsubscribe') expect(names).toContain(request.channel.name);
        },
      ),
      { numRuns: 2000 },
    );
  });
});
