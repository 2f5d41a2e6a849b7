// What a market account says about the P&L of its positions: funding, what users hold against the AMM, and the pools
// that claims are paid from (protocol 4.9).

import type { AccountDefinition, PositionMarket } from '../../schemas/index.ts';
import { place, requiredPlace } from './layout.ts';
import { bigintField, type Field, numberField } from './values.ts';

export interface PerpFunds
  extends Omit<
    PositionMarket,
    'marketType' | 'marketIndex' | 'slot' | 'oraclePrice' | 'quoteCumulativeDepositInterest' | 'quoteDecimals'
  > {
  /** Spot market whose deposits the pools are kept as. */
  readonly quoteMarketIndex: number;
}

export interface DepositInterest {
  /** 1e10 */
  readonly cumulativeDepositInterest: bigint;
  readonly decimals: number;
}

/** Throws DefinitionError when the definition's PerpMarket lacks one of the fields. */
export function compilePerpFunds({ layout }: AccountDefinition): Field<PerpFunds> {
  const wide = (name: string) => bigintField(requiredPlace(layout, name, `amm.${name}`));
  // Only Drift has LP amounts; they are part of what users hold there.
  const lp = (name: string) => bigintField(place(layout, `amm.${name}`));
  const quoteMarketIndex = numberField(place(layout, 'quote_spot_market_index'));
  const long = wide('cumulative_funding_rate_long');
  const short = wide('cumulative_funding_rate_short');
  const base = wide('base_asset_amount_with_amm');
  const lpBase = lp('base_asset_amount_with_unsettled_lp');
  const quote = wide('quote_asset_amount');
  const lpQuote = lp('quote_asset_amount_with_unsettled_lp');
  const funding = wide('net_unsettled_funding_pnl');
  const pnlPool = wide('pnl_pool.scaled_balance');
  const feePool = wide('fee_pool.scaled_balance');
  return (view) => ({
    quoteMarketIndex: quoteMarketIndex(view),
    cumulativeFundingRateLong: long(view),
    cumulativeFundingRateShort: short(view),
    netBaseAssetAmount: base(view) + lpBase(view),
    netQuoteAssetAmount: quote(view) + lpQuote(view),
    netUnsettledFundingPnl: funding(view),
    pnlPoolScaledBalance: pnlPool(view),
    feePoolScaledBalance: feePool(view),
  });
}

/** Throws DefinitionError when the definition's SpotMarket lacks one of the fields. */
export function compileDepositInterest({ layout }: AccountDefinition): Field<DepositInterest> {
  const interest = bigintField(requiredPlace(layout, 'cumulative_deposit_interest'));
  const decimals = numberField(requiredPlace(layout, 'decimals'));
  return (view) => ({ cumulativeDepositInterest: interest(view), decimals: decimals(view) });
}
