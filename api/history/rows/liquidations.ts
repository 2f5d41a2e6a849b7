// Rows of liquidations and bankruptcies (history reference 4.7). All six nested records are stored, those of other types as
// zeros: the type alone says which one means something.

import {
  amount,
  boolean,
  HEAD,
  integer,
  integers,
  key,
  optionalAmount,
  optionalInteger,
  optionalKey,
  type RowField,
  snake,
  text,
} from '../fields.ts';
import type { RowSource } from '../lists.ts';
import { OF_USER } from './balances.ts';

type Nested = (type: string, member: string) => RowField;

const ofType = (type: string, member: string): string =>
  `if(liquidation_type = '${type}', ${snake(type)}_${snake(member)}, NULL)`;

const index: Nested = (type, member) => optionalInteger(`${type}_${member}`, `of ${type} only`, ofType(type, member));
const nestedKey: Nested = (type, member) => optionalKey(`${type}_${member}`, `of ${type} only`, ofType(type, member));
const raw =
  (unit: Parameters<typeof amount>[1]): Nested =>
  (type, member) =>
    optionalAmount(`${type}_${member}`, unit, ofType(type, member));

const [price, base, quote, token] = [raw('price 1e6'), raw('base 1e9'), raw('quote 1e6'), raw('token, mint decimals')];

/** Members of each type, in their order on the chain. */
const NESTED: Readonly<Record<string, Readonly<Record<string, Nested>>>> = {
  liquidatePerp: {
    marketIndex: index,
    oraclePrice: price,
    baseAssetAmount: base,
    quoteAssetAmount: quote,
    fillRecordId: raw('identifier'),
    userOrderId: index,
    liquidatorOrderId: index,
    liquidatorFee: quote,
    ifFee: quote,
    protocolFee: quote,
  },
  liquidateSpot: {
    assetMarketIndex: index,
    assetPrice: price,
    assetTransfer: token,
    liabilityMarketIndex: index,
    liabilityPrice: price,
    liabilityTransfer: token,
    ifFee: token,
    protocolFee: token,
  },
  liquidateBorrowForPerpPnl: {
    perpMarketIndex: index,
    marketOraclePrice: price,
    pnlTransfer: quote,
    liabilityMarketIndex: index,
    liabilityPrice: price,
    liabilityTransfer: token,
  },
  liquidatePerpPnlForDeposit: {
    perpMarketIndex: index,
    marketOraclePrice: price,
    pnlTransfer: quote,
    assetMarketIndex: index,
    assetPrice: price,
    assetTransfer: token,
  },
  perpBankruptcy: {
    marketIndex: index,
    pnl: quote,
    ifPayment: quote,
    clawbackUser: nestedKey,
    clawbackUserPayment: quote,
    cumulativeFundingRateDelta: raw('funding 1e9'),
  },
  spotBankruptcy: {
    marketIndex: index,
    borrowAmount: token,
    ifPayment: token,
    cumulativeDepositInterestDelta: raw('interest 1e10'),
  },
};

/** Liquidation row, 4.7. */
export const LIQUIDATION_FIELDS: readonly RowField[] = [
  ...HEAD,
  key('user', 'liquidated account'),
  key('liquidator', 'liquidating account'),
  text('liquidationType', Object.keys(NESTED).join(', ')),
  integer('liquidationId', 'per account, wraps at 65,536'),
  boolean('bankrupt', 'whether the account was bankrupt'),
  amount('marginRequirement', 'quote 1e6'),
  amount('totalCollateral', 'quote 1e6'),
  amount('marginFreed', 'quote 1e6'),
  integers('canceledOrderIds', 'orders that were cancelled'),
  optionalInteger('bitFlags', '1 = isolated position'),
  ...Object.entries(NESTED).flatMap(([type, members]) =>
    Object.entries(members).map(([member, field]) => field(type, member)),
  ),
];

export const USER_LIQUIDATIONS: RowSource = {
  from: '{db:Identifier}.liquidation',
  fields: LIQUIDATION_FIELDS,
  filterSql: OF_USER,
};
