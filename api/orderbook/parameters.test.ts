import { describe, expect, it } from 'vitest';
import { MARKETS } from '../../test/support/api/market-views.ts';
import { givenParameters } from '../http/contract/inputs.ts';
import { MarketRegistry } from '../views/registry.ts';
import { AUCTION_CONTRACT } from './auction/route.ts';
import { MARKET, selectMarket } from './parameters.ts';
import { BATCH_L2_CONTRACT, L2_CONTRACT, L3_CONTRACT, TOP_MAKERS_CONTRACT } from './routes/books.ts';
import { ORACLE_LAZER_CONTRACT } from './routes/oracle-lazer.ts';
import { BATCH_PRIORITY_FEES_CONTRACT, PRIORITY_FEES_CONTRACT } from './routes/priority-fees.ts';
import { QUALITY_CONTRACT } from './routes/quality.ts';
import { UNSETTLED_PNL_CONTRACT } from './routes/unsettled-pnl-users.ts';

const CONTRACTS = [
  L2_CONTRACT,
  L3_CONTRACT,
  BATCH_L2_CONTRACT,
  TOP_MAKERS_CONTRACT,
  PRIORITY_FEES_CONTRACT,
  BATCH_PRIORITY_FEES_CONTRACT,
  UNSETTLED_PNL_CONTRACT,
  ORACLE_LAZER_CONTRACT,
  AUCTION_CONTRACT,
  QUALITY_CONTRACT,
];

interface Documented {
  readonly default?: string | number;
  readonly enum?: readonly string[];
  readonly examples?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
}

const parameters = CONTRACTS.flatMap((contract) =>
  Object.entries(contract.parameters).map(([name, { schema, read, isRequired }]) => ({
    name,
    read: read as (text: string | undefined) => unknown,
    isRequired,
    schema: schema as Documented,
  })),
);

describe('parameters of the order-book server', () => {
  it('accept every value in the contract', () => {
    for (const { name, read, schema } of parameters) {
      const named = [...(schema.enum ?? []), ...(schema.examples ?? []), schema.minimum, schema.maximum];
      for (const value of named.filter((one) => one !== undefined)) {
        expect([name, value, read(String(value))]).not.toEqual([name, value, null]);
      }
    }
  });

  it('have the documented default when absent', () => {
    const withDefault = parameters.filter(({ schema }) => schema.default !== undefined);
    expect(withDefault.length).toBeGreaterThan(5);
    for (const { name, read, schema } of withDefault) {
      const absent = read(undefined);
      // Values derived from the market have a word as documented default.
      if (absent !== undefined) expect([name, read(String(schema.default))]).toEqual([name, absent]);
    }
  });

  it('may be absent unless they are required', () => {
    for (const { name, read, isRequired } of parameters) {
      if (!isRequired) expect(() => read(undefined), name).not.toThrow();
    }
  });
});

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
  it('searches perps before spots, uses the newest description and drops a former symbol', () => {
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
