// Rows of liquidations and bankruptcies. A row has all six nested records, zeros for other types, like the program's event:
// published clients look markets up by each index. `liquidationType` alone says which record is valid.

import {
  amount,
  boolean,
  eventFields,
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

type Unit = Parameters<typeof amount>[1];
type Nested = (type: string, member: string) => RowField;

const column = (type: string, member: string): string => `${snake(type)}_${snake(member)}`;
const index: Nested = (type, member) => integer(`${type}_${member}`, `of ${type} only`, column(type, member));
const raw =
  (unit: Unit): Nested =>
  (type, member) =>
    amount(`${type}_${member}`, unit, column(type, member));
/** Null where the record is older than the member or the program left it empty. */
const absent =
  (unit: Unit): Nested =>
  (type, member) =>
    optionalAmount(`${type}_${member}`, unit, column(type, member));
const absentKey: Nested = (type, member) => optionalKey(`${type}_${member}`, `of ${type} only`, column(type, member));

const [price, base, quote, token] = [raw('price 1e6'), raw('base 1e9'), raw('quote 1e6'), raw('token, mint decimals')];

/** Members of each type, in chain order. */
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
    protocolFee: absent('quote 1e6'),
  },
  liquidateSpot: {
    assetMarketIndex: index,
    assetPrice: price,
    assetTransfer: token,
    liabilityMarketIndex: index,
    liabilityPrice: price,
    liabilityTransfer: token,
    ifFee: token,
    protocolFee: absent('token, mint decimals'),
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
    clawbackUser: absentKey,
    clawbackUserPayment: absent('quote 1e6'),
    cumulativeFundingRateDelta: raw('funding 1e9'),
  },
  spotBankruptcy: {
    marketIndex: index,
    borrowAmount: token,
    ifPayment: token,
    cumulativeDepositInterestDelta: raw('interest 1e10'),
  },
};

export const LIQUIDATION_FIELDS: readonly RowField[] = eventFields(
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
);

export const USER_LIQUIDATIONS: RowSource = {
  from: '{db:Identifier}.liquidation',
  fields: LIQUIDATION_FIELDS,
  filterSql: OF_USER,
};
