import { describe, expect, it } from 'vitest';
import { givenParameters } from '../contract/inputs.ts';
import { MARKETS } from '../testing/market-views.ts';
import { MarketRegistry } from '../views/registry.ts';
import { MARKET } from './parameters.ts';
import { selectMarket } from './selection.ts';

const markets = new MarketRegistry();
for (const view of MARKETS) markets.put(view);
const select = (query: Record<string, unknown>) => selectMarket(markets, givenParameters(MARKET, query)).symbol;

describe('market selection', () => {
  const missing = 'Bad Request: (marketName) or (marketIndex and marketType) must be supplied';
  const type = 'Bad Request: marketType must be either "spot" or "perp"';
  const index = 'Bad Request: invalid marketIndex';
  const name = 'Bad Request: unrecognized marketName';

  it.each([
    [{}, missing],
    [{ marketIndex: '0' }, missing],
    [{ marketType: 'perp' }, missing],
    [{ marketIndex: '0', marketType: 'prediction' }, type],
    [{ marketIndex: 'abc', marketType: 'prediction' }, type],
    [{ marketIndex: 'abc', marketType: 'perp' }, index],
    [{ marketIndex: '7', marketType: 'perp' }, index],
    [{ marketIndex: '-1', marketType: 'perp' }, index],
    [{ marketIndex: '', marketType: 'perp' }, index],
    [{ marketName: 'NOPE' }, name],
    [{ marketName: '' }, name],
    [{ marketName: 'NOPE', marketIndex: '0', marketType: 'perp' }, name],
  ])('refuses %j', (query, text) => {
    expect(() => select(query)).toThrow(expect.objectContaining({ message: text }));
  });

  it.each([
    [{ marketName: 'sol-perp' }, 'SOL-PERP'],
    [{ marketName: 'sol' }, 'SOL'],
    [{ marketName: 'BTC-PERP', marketIndex: '0', marketType: 'spot' }, 'BTC-PERP'],
    [{ marketIndex: '1abc', marketType: 'PERP' }, 'BTC-PERP'],
    [{ marketIndex: '1', marketType: 'Spot' }, 'SOL'],
    [{ marketIndex: ['1', '0'], marketType: 'perp' }, 'BTC-PERP'],
  ])('finds %j', (query, symbol) => {
    expect(select(query)).toBe(symbol);
  });
});

describe('registry', () => {
  it('searches perps before spots, keeps the newest description and forgets a former symbol', () => {
    const registry = new MarketRegistry();
    for (const view of MARKETS) registry.put(view);
    const [sol] = MARKETS;
    if (!sol) throw new Error('no market');
    registry.put({ ...sol, marketType: 'spot', marketIndex: 9, symbol: 'SOL-PERP' });
    expect(registry.byName('SOL-PERP')?.marketType).toBe('perp');
    expect(registry.byName('SOL-PERP', 'spot')?.marketIndex).toBe(9);
    registry.put({ ...sol, symbol: 'OLD', slot: sol.slot - 1 });
    expect(registry.byName('OLD')).toBeNull();
    registry.put({ ...sol, symbol: 'NEW-PERP', slot: sol.slot + 1 });
    expect(registry.byName('new-perp')?.marketIndex).toBe(0);
    expect(registry.byName('SOL-PERP', 'perp')).toBeNull();
    expect(registry.list().map(({ symbol }) => symbol)).toEqual(['NEW-PERP', 'BTC-PERP', 'USDT', 'SOL', 'SOL-PERP']);
  });
});
