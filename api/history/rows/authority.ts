// Rows listed by wallet: stakes in the insurance fund, and mints and redemptions of liquidity pools.

import { amount, eventFields, integer, key, type RowField, symbol } from '../fields.ts';
import { keySql } from '../keys.ts';
import type { RowSource } from '../lists.ts';
import { INSURANCE_FUND_STAKE_FIELDS } from './insurance.ts';

/** `{authority}` is the wallet's key in base58. */
const of = (column: string): string => `${column} = ${keySql('authority')}`;

export const AUTHORITY_STAKES: RowSource = {
  from: '{db:Identifier}.insurance_fund_stake',
  fields: INSURANCE_FUND_STAKE_FIELDS,
  filterSql: of('user_authority'),
};

/** LPMintRedeem row: the event's own members. */
const LP_MINT_REDEEM_FIELDS: readonly RowField[] = eventFields(
  key('authority', 'wallet'),
  integer('description', '0 or 1; which of them is mint is not published'),
  amount('amount', 'token, mint decimals'),
  amount('fee', 'token, mint decimals'),
  integer('spotMarketIndex', 'spot market'),
  symbol("'spot'", 'spot_market_index'),
  integer('constituentIndex', 'constituent of the pool'),
  amount('oraclePrice', 'price 1e6'),
  key('mint', 'mint of the token'),
  amount('lpAmount', 'shares'),
  amount('lpFee', 'shares'),
  amount('lpPrice', 'price 1e6'),
  amount('mintRedeemId', 'identifier'),
  amount('lastAum', 'quote 1e6'),
  amount('lastAumSlot', 'identifier'),
  amount('inMarketCurrentWeight', 'identifier'),
  amount('inMarketTargetWeight', 'identifier'),
  key('lpPool', 'pool'),
);

export const AUTHORITY_MINTS: RowSource = {
  from: '{db:Identifier}.lp_mint_redeem',
  fields: LP_MINT_REDEEM_FIELDS,
  filterSql: of('authority'),
};
