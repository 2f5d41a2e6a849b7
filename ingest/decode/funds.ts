// Reads the inputs of position P&L from market accounts: funding, users' net position against the AMM, and the pools
// that pay claims (docs/internals/accounts.md, "Positions and P&L").

import type { AccountDefinition, PositionMarket } from '../../schemas/index.ts';
import { findField, requireField } from './layout.ts';
import { bigintField, type Field, numberField } from './values.ts';

export interface PerpFunds
  extends Omit<
    PositionMarket,
    'marketType' | 'marketIndex' | 'slot' | 'oraclePrice' | 'quoteCumulativeDepositInterest' | 'quoteDecimals'
  > {
  /** Spot market whose deposits hold the pools. */
  readonly quoteMarketIndex: number;
}

export interface DepositInterest {
  /** 1e10 */
  readonly cumulativeDepositInterest: bigint;
  readonly decimals: number;
}

/** Throws DefinitionError when the definition's PerpMarket lacks a field. */
export function compilePerpFunds({ layout }: AccountDefinition): Field<PerpFunds> {
  const wide = (name: string) => bigintField(requireField(layout, name, `amm.${name}`));
  // Only Drift has LP amounts; there they count towards the users' net position.
  const lp = (name: string) => bigintField(findField(layout, `amm.${name}`));
  const quoteMarketIndex = numberField(findField(layout, 'quote_spot_market_index'));
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

/** Throws DefinitionError when the definition's SpotMarket lacks a field. */
export function compileDepositInterest({ layout }: AccountDefinition): Field<DepositInterest> {
  const interest = bigintField(requireField(layout, 'cumulative_deposit_interest'));
  const decimals = numberField(requireField(layout, 'decimals'));
  return (view) => ({ cumulativeDepositInterest: interest(view), decimals: decimals(view) });
}
