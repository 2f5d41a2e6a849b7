// Rows of account balances: deposits, swaps, funding payments, settlements (docs/internals/history-semantics.md, "Deposits and
// transfers", "Funding payments").

import {
  amount,
  eventFields,
  integer,
  key,
  optionalAmount,
  optionalKey,
  type RowField,
  symbol,
  text,
} from '../fields.ts';
import { keySql } from '../keys.ts';
import type { RowSource } from '../lists.ts';

/** SQL that selects one account's rows; `{user}` is its key in base58. */
export const OF_USER = `user = ${keySql('user')}`;
/** SQL that selects one spot market's rows, and none for a perp market, whose indexes are separate. */
const OF_SPOT_MARKET = `market_index = {marketIndex:UInt16} AND {marketType:String} = 'spot'`;

/** Deposit row: deposits, withdrawals, transfers and rewards. */
const DEPOSIT_FIELDS: readonly RowField[] = eventFields(
  key('userAuthority', 'owner of the account'),
  key('user', 'account'),
  text('direction', 'deposit or withdraw'),
  amount('depositRecordId', 'identifier'),
  amount('amount', 'token, mint decimals'),
  integer('marketIndex', 'market index'),
  symbol("'spot'", 'market_index'),
  amount('oraclePrice', 'price 1e6'),
  amount('marketDepositBalance', 'scaled balance 1e9'),
  amount('marketWithdrawBalance', 'scaled balance 1e9'),
  amount('marketCumulativeDepositInterest', 'interest 1e10'),
  amount('marketCumulativeBorrowInterest', 'interest 1e10'),
  amount('totalDepositsAfter', 'quote 1e6'),
  amount('totalWithdrawsAfter', 'quote 1e6'),
  text('explanation', 'none, transfer, borrow, repayBorrow or reward'),
  optionalKey('transferUser', 'the other account of a transfer'),
  optionalKey('signer', 'who signed'),
  optionalAmount('userTokenAmountAfter', 'token, mint decimals'),
);

/** Rewards have lists of their own. */
const NO_REWARD = `explanation != 'reward'`;
const REWARD = `explanation = 'reward'`;

const deposits = (table: string, scopeSql: string, kindSql: string): RowSource => ({
  from: `{db:Identifier}.${table}`,
  fields: DEPOSIT_FIELDS,
  filterSql: `${scopeSql} AND ${kindSql}`,
});

export const MARKET_DEPOSITS = deposits('market_deposit', OF_SPOT_MARKET, NO_REWARD);
export const MARKET_REWARDS = deposits('market_deposit', OF_SPOT_MARKET, REWARD);
export const USER_DEPOSITS = deposits('deposit', OF_USER, NO_REWARD);
export const USER_REWARDS = deposits('deposit', OF_USER, REWARD);

/** Swap row: `in` left the account, `out` arrived. */
const SWAP_FIELDS: readonly RowField[] = eventFields(
  key('user', 'account'),
  amount('amountOut', 'token, mint decimals'),
  amount('amountIn', 'token, mint decimals'),
  integer('outMarketIndex', 'spot market that arrived'),
  integer('inMarketIndex', 'spot market that left'),
  symbol("'spot'", 'out_market_index', 'outSymbol'),
  symbol("'spot'", 'in_market_index', 'inSymbol'),
  amount('outOraclePrice', 'price 1e6'),
  amount('inOraclePrice', 'price 1e6'),
  amount('fee', 'token, mint decimals'),
);

/** Both markets of a swap list it. */
export const MARKET_SWAPS: RowSource = {
  from: '{db:Identifier}.market_swap',
  fields: SWAP_FIELDS,
  filterSql: OF_SPOT_MARKET,
};
export const USER_SWAPS: RowSource = { from: '{db:Identifier}.swap', fields: SWAP_FIELDS, filterSql: OF_USER };

/** FundingPayment row; positive = the account received. */
export const FUNDING_PAYMENTS: RowSource = {
  from: '{db:Identifier}.funding_payment',
  fields: eventFields(
    key('userAuthority', 'owner of the account'),
    key('user', 'account'),
    integer('marketIndex', 'perp market'),
    symbol("'perp'", 'market_index'),
    amount('fundingPayment', 'quote 1e6'),
    amount('baseAssetAmount', 'base 1e9'),
    amount('userLastCumulativeFunding', 'funding 1e9'),
    amount('ammCumulativeFundingLong', 'funding 1e9'),
    amount('ammCumulativeFundingShort', 'funding 1e9'),
  ),
  filterSql: OF_USER,
};

/** SettlePnl row; positive `pnl` moved to the account. */
export const SETTLEMENTS: RowSource = {
  from: '{db:Identifier}.settle_pnl',
  fields: eventFields(
    key('user', 'account'),
    integer('marketIndex', 'perp market'),
    symbol("'perp'", 'market_index'),
    amount('pnl', 'quote 1e6'),
    amount('baseAssetAmount', 'base 1e9'),
    amount('quoteAssetAmountAfter', 'quote 1e6'),
    amount('quoteEntryAmount', 'quote 1e6'),
    amount('settlePrice', 'price 1e6'),
    text('explanation', 'none or expiredPosition'),
  ),
  filterSql: OF_USER,
};
