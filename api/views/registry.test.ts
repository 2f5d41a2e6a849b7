// Markets by name, including renamed markets.

import { describe, expect, it } from 'vitest';
import { MARKETS } from '../../test/support/api/market-views.ts';
import { MarketRegistry } from './registry.ts';

const [first, second] = MARKETS.filter(({ marketType }) => marketType === 'perp');
if (!first || !second) throw new Error('two perp markets are needed');

describe('the registry of markets', () => {
  it('finds a market by its newest name alone', () => {
    const registry = new MarketRegistry();
    registry.put(first);
    registry.put({ ...first, slot: first.slot + 1, symbol: 'NEW-PERP' });
    expect(registry.byName(first.symbol)).toBeNull();
    expect(registry.byName('new-perp')?.marketIndex).toBe(first.marketIndex);
  });

  it('reports each name of a market once, when it can be found', () => {
    const registry = new MarketRegistry();
    const found: (string | null | undefined)[][] = [];
    const unlisten = registry.onNamed((key, before) => found.push([before, registry.byKey(key)?.symbol]));
    registry.put(first);
    registry.put({ ...first, slot: first.slot + 1 });
    registry.put({ ...first, slot: first.slot + 2, symbol: 'NEW-PERP' });
    unlisten();
    registry.put(second);
    expect(found).toEqual([
      [null, first.symbol],
      [first.symbol, 'NEW-PERP'],
    ]);
  });

  it('finds the market that took the name of another', () => {
    const registry = new MarketRegistry();
    registry.put(first);
    registry.put({ ...second, symbol: first.symbol });
    registry.put({ ...first, slot: first.slot + 1, symbol: 'OLD-PERP' });
    expect(registry.byName(first.symbol)?.marketIndex).toBe(second.marketIndex);
    expect(registry.byName('OLD-PERP')?.marketIndex).toBe(first.marketIndex);
  });
});
