import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { UNKNOWN_RECORD } from '../chain/event-schemas.ts';
import { EVENT_NAMES } from '../log/event-codec.ts';
import { storedTables } from './table-catalogue.ts';
import { meaningOf } from './table-units.ts';
import { columnsOf, tableOf } from './tables.ts';
import { tablesPage } from './tables-page.ts';

const page = readFileSync(fileURLToPath(new URL('../../docs/reference/tables.md', import.meta.url)), 'utf8');
const tables = storedTables();

describe('the page of tables', () => {
  it('matches the migrations (npm run docs writes it)', () => {
    expect(page).toBe(tablesPage());
  });

  it('has every event table as in the schemas', () => {
    for (const event of [...EVENT_NAMES, UNKNOWN_RECORD]) {
      expect([event, tables.get(tableOf(event))?.columns]).toEqual([event, columnsOf(event)]);
    }
  });

  it('knows the meaning of every column', () => {
    const unknown = [...tables.values()].flatMap(({ name, columns }) =>
      columns.filter((column) => meaningOf(column) === null).map((column) => `${name}.${column.name}`),
    );
    expect(unknown).toEqual([]);
  });

  it('names lookup tables with the table that fills them, and their own order', () => {
    expect(tables.get('market_deposit')).toMatchObject({
      filledFrom: 'deposit',
      columns: tables.get('deposit')?.columns,
    });
    expect(tables.get('account_action')?.orderBy).toBe('user, ts, slot, signature, event_index, side');
    expect(page).toContain('In another order: [`account_action`](#account_action)');
  });

  it.each([
    ['order_action', 'base_asset_amount_filled', 'base, 1e9'],
    ['order_action', 'quote_asset_amount_filled', 'quote, 1e6'],
    ['order_action', 'oracle_price', 'price, quote per base, 1e6'],
    ['order_action', 'taker_fee', 'quote, 1e6'],
    ['funding_rate', 'funding_rate_long', 'quote per base, 1e9'],
    ['funding_rate', 'oracle_price_twap', 'price, quote per base, 1e6'],
    ['spot_interest', 'cumulative_borrow_interest', '1e10'],
    ['amm_curve_changed', 'base_asset_reserve_before', '1e9'],
    ['deposit', 'amount', 'units of the token, 10^decimals of its spot market'],
    ['deposit', 'market_deposit_balance', 'scaled balance, 1e9'],
    ['settle_pnl', 'pnl', 'quote, 1e6'],
    ['liquidation', 'liquidate_perp_base_asset_amount', 'base, 1e9'],
    ['liquidation', 'liquidate_perp_pnl_for_deposit_asset_market_index', 'index of the market'],
    ['candle', 'ts', 'unix seconds'],
  ])('gives %s.%s its unit', (table, name, unit) => {
    const column = tables.get(table)?.columns.find((one) => one.name === name);
    expect(column && meaningOf(column)).toBe(unit);
  });
});
