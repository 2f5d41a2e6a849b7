import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { StoredPerp } from './markets.ts';
import type { PerpPosition } from './model.ts';
import { applyFee, trade } from './positions.ts';

function perp(): StoredPerp {
  const zeroes = [
    'base_asset_amount_long',
    'base_asset_amount_short',
    'quote_asset_amount',
    'quote_entry_amount_long',
    'quote_entry_amount_short',
    'quote_break_even_amount_long',
    'quote_break_even_amount_short',
    'cumulative_funding_rate_long',
    'cumulative_funding_rate_short',
  ].map((name) => [name, 0n] as const);
  const account = { ...Object.fromEntries(zeroes), number_of_users: 0, number_of_users_with_base: 0 };
  return { key: 'market', type: 'PerpMarket', grown: 0, account } as unknown as StoredPerp;
}

function position(): PerpPosition {
  return {
    base_asset_amount: 0n,
    quote_asset_amount: 0n,
    quote_entry_amount: 0n,
    quote_break_even_amount: 0n,
    last_cumulative_funding_rate: 0n,
  } as PerpPosition;
}

describe('a perp position', () => {
  it('keeps its entry price when reduced, and reports the closed part of the entry', () => {
    const [market, held] = [perp(), position()];
    trade(market, held, 4_000n, -400n);
    const existing = trade(market, held, -1_000n, 150n);
    expect(existing).toEqual({ quoteEntry: 100n, base: null });
    expect(held.quote_entry_amount).toBe(-300n);
    expect(held.quote_asset_amount).toBe(-250n);
  });

  it('reports the whole entry and base when flipped, and no base when closed', () => {
    const [market, held] = [perp(), position()];
    trade(market, held, 4_000n, -400n);
    expect(trade(market, held, -5_000n, 600n)).toEqual({ quoteEntry: 400n, base: 4_000n });
    expect(held.base_asset_amount).toBe(-1_000n);
    expect(trade(market, held, 1_000n, -110n)).toEqual({ quoteEntry: 120n, base: null });
  });

  it('takes the price of the flipping trade as its new entry', () => {
    const [market, held] = [perp(), position()];
    trade(market, held, 2_000n, -200n);
    trade(market, held, -6_000n, 900n);
    expect(held.base_asset_amount).toBe(-4_000n);
    expect(held.quote_entry_amount).toBe(600n);
    expect(held.quote_asset_amount).toBe(700n);
    expect(market.account.base_asset_amount_long).toBe(0n);
    expect(market.account.base_asset_amount_short).toBe(-4_000n);
  });

  it('keeps its gain or loss as quote when closed', () => {
    const [market, held] = [perp(), position()];
    trade(market, held, -1_000n, 500n);
    applyFee(market, held, -5n);
    trade(market, held, 1_000n, -420n);
    expect(held.base_asset_amount).toBe(0n);
    expect(held.quote_entry_amount).toBe(0n);
    expect(held.quote_asset_amount).toBe(75n);
    expect(market.account.number_of_users_with_base).toBe(0);
    expect(market.account.number_of_users).toBe(1);
  });

  it('matches the market totals after any trades of two traders', () => {
    const trades = fc.array(
      fc.tuple(
        fc.nat({ max: 1 }),
        fc.bigInt({ min: -900n, max: 900n }).filter((base) => base !== 0n),
        fc.bigInt({ min: 1n, max: 900n }),
      ),
    );
    fc.assert(
      fc.property(trades, (list) => {
        const market = perp();
        const held = [position(), position()];
        for (const [who, base, quote] of list) {
          const mine = held[who];
          if (mine) trade(market, mine, base, base > 0n ? -quote : quote);
        }
        const sum = (pick: (one: PerpPosition) => bigint): bigint => held.reduce((total, one) => total + pick(one), 0n);
        const { account } = market;
        expect(account.base_asset_amount_long + account.base_asset_amount_short).toBe(
          sum((one) => one.base_asset_amount),
        );
        expect(account.quote_asset_amount).toBe(sum((one) => one.quote_asset_amount));
        expect(account.quote_entry_amount_long + account.quote_entry_amount_short).toBe(
          sum((one) => one.quote_entry_amount),
        );
      }),
    );
  });
});
