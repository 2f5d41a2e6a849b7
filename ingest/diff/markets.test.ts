import { describe, expect, it } from 'vitest';
import { key, LAZER, newDiffer, PERP, SPOT, STATE, update } from '../../test/support/ingest/accounts.ts';
import { blankAccount, setField } from '../../test/support/ingest/bytes.ts';
import { NaiveReader } from '../../test/support/ingest/naive-reader.ts';

describe('markets in the differ', () => {
  it('emits P&L inputs once the quote market is known, and after each change', () => {
    const reader = new NaiveReader();
    const differ = newDiffer();
    const perp = blankAccount(PERP);
    const set = (path: string, value: Parameters<typeof setField>[3]) => setField(perp, PERP.layout, path, value);
    set('oracle', key(4));
    set('oracle_source', 'pythLazer');
    set('market_stats.historical_oracle_data.last_oracle_price', 77n);
    set('cumulative_funding_rate_long', -5n);
    set('cumulative_funding_rate_short', 6n);
    set('amm.base_asset_amount_with_amm', -7n);
    set('quote_asset_amount', 8n);
    set('net_unsettled_funding_pnl', -9n);
    set('pnl_pool.scaled_balance', 10n);
    set('amm.fee_pool.scaled_balance', 11n);
    const spot = blankAccount(SPOT);
    setField(spot, SPOT.layout, 'oracle_source', 'quoteAsset');
    setField(spot, SPOT.layout, 'decimals', 6);
    setField(spot, SPOT.layout, 'cumulative_deposit_interest', 10_000_000_000n);
    const emitted = () => reader.outputs.flatMap((one) => (one.name === 'PositionMarket' ? [one.value] : []));
    differ.account(update(key(3), PERP.owner, perp, 10), reader.take);
    expect(emitted()).toEqual([]);
    differ.account(update(key(5), SPOT.owner, spot, 11), reader.take);
    const first = {
      marketType: 'perp',
      marketIndex: 0,
      slot: 11,
      oraclePrice: 77n,
      cumulativeFundingRateLong: -5n,
      cumulativeFundingRateShort: 6n,
      netBaseAssetAmount: -7n,
      netQuoteAssetAmount: 8n,
      netUnsettledFundingPnl: -9n,
      pnlPoolScaledBalance: 10n,
      feePoolScaledBalance: 11n,
      quoteCumulativeDepositInterest: 10_000_000_000n,
      quoteDecimals: 6,
    };
    expect(emitted()).toEqual([first]);
    const quieter = Buffer.from(perp);
    setField(quieter, PERP.layout, 'order_tick_size', 5);
    differ.account(update(key(3), PERP.owner, quieter, 12), reader.take);
    expect(emitted()).toHaveLength(1);
    const richer = Buffer.from(spot);
    setField(richer, SPOT.layout, 'cumulative_deposit_interest', 10_000_000_001n);
    differ.account(update(key(5), SPOT.owner, richer, 13), reader.take);
    expect(emitted().at(-1)).toEqual({ ...first, slot: 13, quoteCumulativeDepositInterest: 10_000_000_001n });
  });

  it('emits markets with prices of their oracles, and falls back to the last price in the market', () => {
    const reader = new NaiveReader();
    const differ = newDiffer();
    const market = blankAccount(PERP);
    const set = (path: string, value: Parameters<typeof setField>[3]) => setField(market, PERP.layout, path, value);
    const oracle = key(4);
    set('market_index', 3);
    set('name', Buffer.from('SOL-PERP'.padEnd(32)));
    set('status', 'active');
    set('oracle', oracle);
    set('oracle_source', 'pythLazer1K');
    set('order_tick_size', 100);
    set('market_stats.historical_oracle_data.last_oracle_price', 77n);
    set('amm.base_asset_reserve', 5n);
    differ.account(update(key(3), PERP.owner, market, 10), reader.take);
    const lazer = blankAccount(LAZER);
    setField(lazer, LAZER.layout, 'price', 123_456n);
    setField(lazer, LAZER.layout, 'exponent', -8);
    setField(lazer, LAZER.layout, 'posted_slot', 11n);
    setField(lazer, LAZER.layout, 'conf', 1000n);
    differ.account(update(oracle, LAZER.owner, lazer, 12), reader.take);
    const spot = blankAccount(SPOT);
    setField(spot, SPOT.layout, 'oracle_source', 'quoteAsset');
    setField(spot, SPOT.layout, 'decimals', 6);
    differ.account(update(key(5), SPOT.owner, spot, 13), reader.take);
    const states = reader.outputs.filter(({ name }) => name !== 'StreamCounter');
    expect(states.map(({ name, value }) => [name, value])).toMatchObject([
      [
        'BookMarket',
        { marketType: 'perp', marketIndex: 3, symbol: 'SOL-PERP', status: 'active', tickSize: 100n, slot: 10 },
      ],
      ['BookOracle', { marketIndex: 3, price: 77n, slot: 10, hasSufficientNumberOfDataPoints: false }],
      [
        'BookOracle',
        {
          marketIndex: 3,
          price: 1_234_560n,
          confidence: 10_000n,
          oracleSlot: 11n,
          slot: 12,
          twap: 1_234_560n,
          twapConfidence: 1_234_560n,
        },
      ],
      ['InsuranceFundState', { marketIndex: 0, slot: 13, unstakingPeriod: 0n }],
      ['BookMarket', { marketType: 'spot', marketIndex: 0, decimals: 6, amm: null, clobMarket: null }],
      ['BookOracle', { marketType: 'spot', price: 1_000_000n }],
      ['PositionMarket', { marketType: 'perp', marketIndex: 3, oraclePrice: 1_234_560n, slot: 13 }],
    ]);
    expect(reader.outputs[0]?.value).toMatchObject({
      ammPaused: false,
      clobMarket: null,
      amm: { baseAssetReserve: 5n },
    });
  });

  it('emits perp markets again when the exchange pauses its AMM or changes its guard rail', () => {
    const reader = new NaiveReader();
    const differ = newDiffer();
    differ.account(update(key(3), PERP.owner, blankAccount(PERP), 10), reader.take);
    const state = blankAccount(STATE);
    setField(state, STATE.layout, 'exchange_status', 4);
    differ.account(update(key(6), STATE.owner, state, 11), reader.take);
    const railed = Buffer.from(state);
    setField(railed, STATE.layout, 'oracle_guard_rails.oracle_twap_5min_percent_divergence', 600_000n);
    differ.account(update(key(6), STATE.owner, railed, 12), reader.take);
    const other = Buffer.from(railed);
    setField(other, STATE.layout, 'number_of_markets', 9);
    differ.account(update(key(6), STATE.owner, other, 13), reader.take);
    const markets = reader.outputs.flatMap((one) => (one.name === 'BookMarket' ? [one.value] : []));
    expect(
      markets.map(({ slot, ammPaused, oracleTwap5MinPercentDivergence: rail }) => [slot, ammPaused, rail]),
    ).toEqual([
      [10, false, null],
      [11, true, 0n],
      [12, true, 600_000n],
    ]);
  });
});
