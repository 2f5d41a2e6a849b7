// File types of statement exports: the rows of each, and what a market restricts (docs/internals/exports.md, "File types").

import { LIQUIDATED_PERP, type MarketType } from '../../../schemas/index.ts';
import type { RowSource } from '../lists.ts';
import { USER_MARKET_TRADES, USER_TRADES } from '../rows/account-fills.ts';
import { AUTHORITY_STAKES } from '../rows/authority.ts';
import { FUNDING_PAYMENTS, SETTLEMENTS, USER_DEPOSITS, USER_REWARDS, USER_SWAPS } from '../rows/balances.ts';
import { USER_LIQUIDATIONS } from '../rows/liquidations.ts';
import { FUNDING_RATES, TRADES } from '../rows/market.ts';

export interface FileType {
  /** Scope of the rows. */
  readonly of: 'accounts' | 'wallet' | 'market';
  /** The only type of market that it accepts. */
  readonly only?: MarketType;
  readonly summary: string;
  /** Rows, of one market of the given type or of all. Null: `balances`, which are computed. */
  readonly source: ((market: MarketType | null) => RowSource) | null;
}

const INDEX = '{marketIndex:UInt16}';

/** A source with a further filter where a market is selected. */
const within =
  (source: RowSource, marketSql: (type: MarketType) => string = () => `market_index = ${INDEX}`) =>
  (market: MarketType | null): RowSource =>
    market === null ? source : { ...source, filterSql: `${source.filterSql} AND (${marketSql(market)})` };

/** Columns with a market of each liquidation type. The other nested records of a row are zeros. */
const LIQUIDATED: Readonly<Record<MarketType, readonly (readonly [type: string, column: string])[]>> = {
  perp: Object.entries(LIQUIDATED_PERP),
  spot: [
    ['liquidateSpot', 'liquidate_spot_asset_market_index'],
    ['liquidateSpot', 'liquidate_spot_liability_market_index'],
    ['liquidateBorrowForPerpPnl', 'liquidate_borrow_for_perp_pnl_liability_market_index'],
    ['liquidatePerpPnlForDeposit', 'liquidate_perp_pnl_for_deposit_asset_market_index'],
    ['spotBankruptcy', 'spot_bankruptcy_market_index'],
  ],
};

const liquidatedIn = (type: MarketType): string =>
  LIQUIDATED[type].map(([kind, column]) => `(liquidation_type = '${kind}' AND ${column} = ${INDEX})`).join(' OR ');

export const FILE_TYPES = {
  trades: {
    of: 'accounts',
    summary: 'fills with the account as taker or maker',
    source: (market) => (market === null ? USER_TRADES : USER_MARKET_TRADES),
  },
  marketTrades: { of: 'market', summary: 'fills of a market', source: () => TRADES },
  fundingRates: { of: 'market', only: 'perp', summary: 'funding rates of a perp market', source: () => FUNDING_RATES },
  fundingPayments: {
    of: 'accounts',
    only: 'perp',
    summary: 'funding paid and received',
    source: within(FUNDING_PAYMENTS),
  },
  deposits: {
    of: 'accounts',
    only: 'spot',
    summary: 'deposits, withdrawals and transfers',
    source: within(USER_DEPOSITS),
  },
  liquidations: {
    of: 'accounts',
    summary: 'liquidations and bankruptcies of the account',
    source: within(USER_LIQUIDATIONS, liquidatedIn),
  },
  settlePnl: { of: 'accounts', only: 'perp', summary: 'settlements of profit and loss', source: within(SETTLEMENTS) },
  swaps: {
    of: 'accounts',
    only: 'spot',
    summary: 'swaps',
    source: within(USER_SWAPS, () => `in_market_index = ${INDEX} OR out_market_index = ${INDEX}`),
  },
  rewards: { of: 'accounts', only: 'spot', summary: 'rewards', source: within(USER_REWARDS) },
  insuranceFundStake: {
    of: 'wallet',
    only: 'spot',
    summary: 'insurance-fund stakes of the wallet',
    source: within(AUTHORITY_STAKES),
  },
  balances: {
    of: 'accounts',
    only: 'spot',
    summary: 'opening balance, movements and closing balance of each token',
    source: null,
  },
} as const satisfies Readonly<Record<string, FileType>>;

export type FileTypeName = keyof typeof FILE_TYPES;
export const FILE_TYPE_NAMES = Object.keys(FILE_TYPES) as readonly FileTypeName[];

/** The file type of a name in the log, which may come from a newer version. */
export function fileTypeOf(name: string): FileType | null {
  return Object.hasOwn(FILE_TYPES, name) ? FILE_TYPES[name as FileTypeName] : null;
}
