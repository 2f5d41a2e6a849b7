// Reads the inputs of account health: balances and positions of a User account, weights and ratios of a market
// (docs/internals/notifications.md, "Account health").

import type {
  AccountDefinition,
  AccountMargin,
  MarginBalance,
  MarginPosition,
  MarketMargin,
} from '../../schemas/index.ts';
import { isSameRange } from './blocks.ts';
import { findField, requiredStructArray, requireField, type StructArray } from './layout.ts';
import { bigintField, bigintReader, type Field, numberField, numberReader, type Read, variantsOf } from './values.ts';

/** Bits of `User.status`: being liquidated, bankrupt. */
const STATUS_LIQUIDATED = 1 | 2;
/** Bits of a perp position: its own collateral; being liquidated, bankrupt. */
const POSITION_ISOLATED = 1;
const POSITION_LIQUIDATED = 2 | 4;

export interface UserMarginReader {
  /** Whether two states of an account have the same margin. */
  isSame(before: Uint8Array, after: Uint8Array): boolean;
  read(view: DataView): Omit<AccountMargin, 'slot' | 'user' | 'authority'>;
}

/** Throws DefinitionError when the definition's User lacks a field. */
export function compileUserMargin({ layout }: AccountDefinition): UserMarginReader {
  const spots = requiredStructArray(layout, 'spot_positions');
  const perps = requiredStructArray(layout, 'perp_positions');
  const status = requireField(layout, 'status');
  const statusOf = numberField(status);
  const balances = balanceReader(spots);
  const positions = positionReader(perps);
  const regions = [spots, perps].map(({ offset, length, stride }) => [offset, offset + length * stride] as const);
  regions.push([status.offset, status.offset + status.size]);
  return {
    isSame: (before, after) => regions.every(([from, to]) => isSameRange(before, after, from, to)),
    read: (view) => ({
      isBeingLiquidated: (statusOf(view) & STATUS_LIQUIDATED) !== 0,
      balances: balances(view),
      positions: positions(view),
    }),
  };
}

function elementReaders(array: StructArray) {
  const { offset, stride, layout } = array;
  const wide = (name: string): Read<bigint> => {
    const found = findField(layout, name);
    if (!found) return () => 0n;
    const read = bigintReader(found);
    return (view, index) => read(view, offset + index * stride + found.offset);
  };
  const small = (name: string): Read<number> => {
    const found = findField(layout, name);
    if (!found) return () => 0;
    const read = numberReader(found);
    return (view, index) => read(view, offset + index * stride + found.offset);
  };
  return { wide, small };
}

function balanceReader(spots: StructArray): Field<readonly MarginBalance[]> {
  const { wide, small } = elementReaders(spots);
  const balance = wide('scaled_balance');
  const market = small('market_index');
  const type = small('balance_type');
  const borrow = variantsOf(requireField(spots.layout, 'balance_type')).indexOf('borrow');
  return (view) => {
    const found: MarginBalance[] = [];
    for (let index = 0; index < spots.length; index++) {
      const scaledBalance = balance(view, index);
      if (scaledBalance === 0n) continue;
      found.push({ marketIndex: market(view, index), scaledBalance, isBorrow: type(view, index) === borrow });
    }
    return found;
  };
}

function positionReader(perps: StructArray): Field<readonly MarginPosition[]> {
  const { wide, small } = elementReaders(perps);
  const market = small('market_index');
  const base = wide('base_asset_amount');
  const quote = wide('quote_asset_amount');
  const funding = wide('last_cumulative_funding_rate');
  const bids = wide('open_bids');
  const asks = wide('open_asks');
  const orders = small('open_orders');
  const isolated = wide('isolated_position_scaled_balance');
  const flags = small('position_flag');
  return (view) => {
    const found: MarginPosition[] = [];
    for (let index = 0; index < perps.length; index++) {
      const position = {
        marketIndex: market(view, index),
        baseAssetAmount: base(view, index),
        quoteAssetAmount: quote(view, index),
        lastCumulativeFundingRate: funding(view, index),
        openBids: bids(view, index),
        openAsks: asks(view, index),
        openOrders: orders(view, index),
        isIsolated: (flags(view, index) & POSITION_ISOLATED) !== 0,
        isolatedScaledBalance: isolated(view, index),
        isBeingLiquidated: (flags(view, index) & POSITION_LIQUIDATED) !== 0,
      };
      if (isUsed(position)) found.push(position);
    }
    return found;
  };
}

function isUsed(position: MarginPosition): boolean {
  const { baseAssetAmount, quoteAssetAmount, openOrders, isolatedScaledBalance, isBeingLiquidated } = position;
  const hasAmount = baseAssetAmount !== 0n || quoteAssetAmount !== 0n || isolatedScaledBalance !== 0n;
  return hasAmount || openOrders !== 0 || isBeingLiquidated;
}

/** Margin members of a market account, without its price. */
export type OwnMargin = Omit<MarketMargin, 'marketType' | 'marketIndex' | 'slot' | 'symbol' | 'status' | 'oraclePrice'>;

/** Throws DefinitionError when the definition's PerpMarket lacks a field. */
export function compilePerpMargin({ layout }: AccountDefinition): Field<OwnMargin> {
  const at = (name: string) => requireField(layout, name, `amm.${name}`);
  const imfFactor = numberField(at('imf_factor'));
  const expiryPrice = bigintField(at('expiry_price'));
  const ratio = numberField(at('margin_ratio_maintenance'));
  const weight = numberField(at('unrealized_pnl_maintenance_asset_weight'));
  const long = bigintField(at('cumulative_funding_rate_long'));
  const short = bigintField(at('cumulative_funding_rate_short'));
  const quoteMarketIndex = numberField(findField(layout, 'quote_spot_market_index'));
  return (view) => ({
    imfFactor: imfFactor(view),
    expiryPrice: expiryPrice(view),
    spot: null,
    perp: {
      marginRatioMaintenance: ratio(view),
      pnlAssetWeightMaintenance: weight(view),
      cumulativeFundingRateLong: long(view),
      cumulativeFundingRateShort: short(view),
      quoteMarketIndex: quoteMarketIndex(view),
    },
  });
}

/** Throws DefinitionError when the definition's SpotMarket lacks a field. */
export function compileSpotMargin({ layout }: AccountDefinition): Field<OwnMargin> {
  const at = (name: string) => requireField(layout, name);
  const imfFactor = numberField(at('imf_factor'));
  const asset = numberField(at('maintenance_asset_weight'));
  const liability = numberField(at('maintenance_liability_weight'));
  const deposit = bigintField(at('cumulative_deposit_interest'));
  const borrow = bigintField(at('cumulative_borrow_interest'));
  const decimals = numberField(at('decimals'));
  return (view) => ({
    imfFactor: imfFactor(view),
    expiryPrice: 0n,
    perp: null,
    spot: {
      assetWeightMaintenance: asset(view),
      liabilityWeightMaintenance: liability(view),
      cumulativeDepositInterest: deposit(view),
      cumulativeBorrowInterest: borrow(view),
      decimals: decimals(view),
    },
  });
}
