// Decimals of a raw integer in an answer: its unit gives them, or the market in the same object.

import { BASE_DECIMALS, type MarketRef, type MarketView } from '../../schemas/index.ts';
import type { Unit } from './answer-schemas.ts';
import { baseDecimals } from './lists.ts';

/** Members of a JSON object, or the cells of a CSV line by their columns. */
export type Members = Readonly<Record<string, unknown>>;

/** Units whose scale is the same in every market. */
const FIXED = {
  'quote 1e6': 6,
  'price 1e6': 6,
  'share 1e6': 6,
  'funding 1e9': 9,
  'scaled balance 1e9': 9,
  'interest 1e10': 10,
} as const satisfies Partial<Record<Unit, number>>;

/** Tokens of liquidity pools have no market. */
const POOL_TOKEN_DECIMALS = 6;
const POOL_TOKEN_MEMBERS: readonly string[] = ['lpAmount', 'lpFee'];

/** For token amounts in rows with several markets: the member with the index of the amount's market. */
const TOKEN_MARKETS: Readonly<Record<string, string>> = {
  amountIn: 'inMarketIndex',
  amountOut: 'outMarketIndex',
  fee: 'outMarketIndex',
  liquidateSpot_assetTransfer: 'liquidateSpot_assetMarketIndex',
  liquidateSpot_liabilityTransfer: 'liquidateSpot_liabilityMarketIndex',
  liquidateSpot_ifFee: 'liquidateSpot_liabilityMarketIndex',
  liquidateSpot_protocolFee: 'liquidateSpot_liabilityMarketIndex',
  liquidateBorrowForPerpPnl_liabilityTransfer: 'liquidateBorrowForPerpPnl_liabilityMarketIndex',
  liquidatePerpPnlForDeposit_assetTransfer: 'liquidatePerpPnlForDeposit_assetMarketIndex',
  spotBankruptcy_borrowAmount: 'spotBankruptcy_marketIndex',
  spotBankruptcy_ifPayment: 'spotBankruptcy_marketIndex',
};

/** Finds a market; null or undefined when it is unknown. */
export type FindMarket = (market: MarketRef) => MarketView | null | undefined;

/** Decimals of an amount in `unit`, the member `name` of `holder`; null for an unknown market. */
export function decimalsOf(
  find: FindMarket,
  unit: Exclude<Unit, 'identifier'>,
  name: string,
  holder: Members,
): number | null {
  if (unit in FIXED) return FIXED[unit as keyof typeof FIXED];
  if (POOL_TOKEN_MEMBERS.includes(name)) return POOL_TOKEN_DECIMALS;
  if (unit === 'base 1e9' || unit === 'base units of the market') {
    const { marketType = 'perp', marketIndex } = holder;
    if (marketType === 'perp') return BASE_DECIMALS;
    return ofMarket(find, { marketType: 'spot', marketIndex: Number(marketIndex) });
  }
  const own = holder[TOKEN_MARKETS[name] ?? ''];
  const index = own ?? holder.marketIndex ?? holder.spotMarketIndex;
  return ofMarket(find, { marketType: 'spot', marketIndex: Number(index) });
}

function ofMarket(find: FindMarket, market: MarketRef): number | null {
  const view = find(market);
  return view ? baseDecimals(view) : null;
}

/** Whether a unit's scale depends on the market. */
export const isOfMarket = (unit: Unit): boolean => !(unit in FIXED) && unit !== 'identifier';

/** Contract text of a decimal number in a unit. */
export function decimalDescription(unit: Unit): string {
  if (unit in FIXED) return `decimal number, ${FIXED[unit as keyof typeof FIXED]} places`;
  if (unit === 'base 1e9' || unit === 'base units of the market') {
    return `decimal number, ${BASE_DECIMALS} places in perp markets, in spot markets those of the mint`;
  }
  return 'decimal number, as many places as the mint has';
}
