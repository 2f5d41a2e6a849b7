// Rows of the insurance fund and its stakes (docs/internals/history-semantics.md, "Insurance fund rows").

import { amount, eventFields, integer, key, type RowField, symbol, text } from '../fields.ts';
import type { RowSource } from '../lists.ts';

/** InsuranceFund row: movements between a market's vault and its insurance vault. */
export const INSURANCE_FUND: RowSource = {
  from: '{db:Identifier}.insurance_fund',
  fields: eventFields(
    integer('spotMarketIndex', 'spot market'),
    integer('perpMarketIndex', 'perp market'),
    symbol("'spot'", 'spot_market_index'),
    integer('userIfFactor', 'share of stakers, 1e6'),
    integer('totalIfFactor', 'share of the insurance fund, 1e6'),
    amount('vaultAmountBefore', 'token, mint decimals'),
    amount('insuranceVaultAmountBefore', 'token, mint decimals'),
    amount('totalIfSharesBefore', 'shares'),
    amount('totalIfSharesAfter', 'shares'),
    amount('amount', 'token, mint decimals'),
  ),
  filterSql: 'spot_market_index = {marketIndex:UInt16}',
};

/** InsuranceFundStake row. */
export const INSURANCE_FUND_STAKE_FIELDS: readonly RowField[] = eventFields(
  key('userAuthority', 'staker'),
  text(
    'action',
    'stake, unstakeRequest, unstakeCancelRequest, unstake, unstakeTransfer, stakeTransfer or adminDeposit',
  ),
  amount('amount', 'token, mint decimals'),
  integer('marketIndex', 'spot market'),
  symbol("'spot'", 'market_index'),
  amount('insuranceVaultAmountBefore', 'token, mint decimals'),
  amount('ifSharesBefore', 'shares'),
  amount('ifSharesAfter', 'shares'),
  amount('userIfSharesBefore', 'shares'),
  amount('userIfSharesAfter', 'shares'),
  amount('totalIfSharesBefore', 'shares'),
  amount('totalIfSharesAfter', 'shares'),
);

export const MARKET_INSURANCE_FUND_STAKES: RowSource = {
  from: '{db:Identifier}.market_insurance_fund_stake',
  fields: INSURANCE_FUND_STAKE_FIELDS,
  filterSql: 'market_index = {marketIndex:UInt16}',
};
