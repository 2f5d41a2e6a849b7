// Selective reads of User accounts: open orders, perp positions and flags, straight from the bytes.

import type { AccountDefinition, Direction, OrderState, OrderType, TriggerCondition } from '../../schemas/index.ts';
import { ORDER_FLAG_PLACED_ON_CLOB } from '../../schemas/index.ts';
import { type CompiledAccount, compileAccount } from './account.ts';
import { type Place, place, requiredPlace, requiredStructArray, type StructArray } from './layout.ts';
import { bigintReader, bytesAt, numberReader, type Read, variantsOf } from './values.ts';

const ORDER_STATUS_OPEN = 'open';
const MARKET_TYPE_PERP = 'perp';
const KEY_BYTES = 32;

/** Perp position fields the pipeline carries. Base 1e9, quote 1e6, funding rate 1e9. */
export interface PerpPosition {
  readonly marketIndex: number;
  readonly baseAssetAmount: bigint;
  readonly quoteAssetAmount: bigint;
  readonly quoteEntryAmount: bigint;
  readonly quoteBreakEvenAmount: bigint;
  readonly lastCumulativeFundingRate: bigint;
  readonly openOrders: number;
}

/** An order read from a slot, still without what other accounts decide. */
export type UserOrder = Omit<OrderState, 'maker' | 'positionBaseAmount' | 'bookOrderId'>;

export interface UserReader {
  readonly account: CompiledAccount;
  readonly orders: StructArray;
  readonly positions: StructArray;
  /** Where the idle flag lies, null when the layout has none. Filters of account queries use it. */
  readonly idleOffset: number | null;
  authority(view: DataView): Uint8Array;
  subAccountId(view: DataView): number;
  hasOpenOrder(view: DataView): boolean;
  /** Whether the slot holds an open order that rests here (shadows of book orders do not). */
  isResting(view: DataView, slot: number): boolean;
  isReduceOnly(view: DataView, slot: number): boolean;
  orderId(view: DataView, slot: number): number;
  isPerp(view: DataView, slot: number): boolean;
  marketIndex(view: DataView, slot: number): number;
  /** Null when an enum of the order has a value this definition does not know. */
  order(view: DataView, slot: number): UserOrder | null;
  positionMarket(view: DataView, slot: number): number;
  /** False for a slot free for any market: nothing held, nothing owed, no open order. */
  isPositionUsed(view: DataView, slot: number): boolean;
  position(view: DataView, slot: number): PerpPosition;
}

/** Throws DefinitionError when the definition's User lacks a field the order book needs. */
export function compileUser(definition: AccountDefinition): UserReader {
  const account = compileAccount(definition);
  const { layout } = definition;
  const authorityAt = requiredPlace(layout, 'authority').offset;
  const subAccountAt = requiredPlace(layout, 'sub_account_id').offset;
  const hasOpenOrder = place(layout, 'has_open_order');
  return {
    account,
    idleOffset: place(layout, 'idle')?.offset ?? null,
    authority: (view) => bytesAt(view, authorityAt, KEY_BYTES),
    subAccountId: (view) => view.getUint16(subAccountAt, true),
    hasOpenOrder: (view) => hasOpenOrder === null || view.getUint8(hasOpenOrder.offset) !== 0,
    ...compileOrders(requiredStructArray(layout, 'orders')),
    ...compilePositions(requiredStructArray(layout, 'perp_positions')),
  };
}

function compileOrders(orders: StructArray) {
  const { offset, stride, layout } = orders;
  const status = requiredPlace(layout, 'status');
  const openOrdinal = variantsOf(status).indexOf(ORDER_STATUS_OPEN);
  const marketType = requiredPlace(layout, 'market_type');
  const perpOrdinal = variantsOf(marketType).indexOf(MARKET_TYPE_PERP);
  const onBook = place(layout, 'clob_order_id') !== null;
  const statusAt = offset + status.offset;
  const flagsAt = offset + requiredPlace(layout, 'bit_flags').offset;
  const idAt = offset + requiredPlace(layout, 'order_id').offset;
  const marketAt = offset + requiredPlace(layout, 'market_index').offset;
  const marketTypeAt = offset + marketType.offset;
  const reduceOnlyAt = offset + requiredPlace(layout, 'reduce_only').offset;
  const read = orderReader(orders);
  return {
    orders,
    isResting: (view: DataView, slot: number) =>
      view.getUint8(statusAt + slot * stride) === openOrdinal &&
      !(onBook && (view.getUint8(flagsAt + slot * stride) & ORDER_FLAG_PLACED_ON_CLOB) !== 0),
    isReduceOnly: (view: DataView, slot: number) => view.getUint8(reduceOnlyAt + slot * stride) !== 0,
    orderId: (view: DataView, slot: number) => view.getUint32(idAt + slot * stride, true),
    isPerp: (view: DataView, slot: number) => view.getUint8(marketTypeAt + slot * stride) === perpOrdinal,
    marketIndex: (view: DataView, slot: number) => view.getUint16(marketAt + slot * stride, true),
    order: (view: DataView, slot: number) => read(view, offset + slot * stride),
  };
}

/** Reads an optional field of an element; zero when this revision lacks it. */
function optionalBigint(found: Place | null): Read<bigint> {
  if (!found) return () => 0n;
  const read = bigintReader(found);
  return (view, at) => read(view, at + found.offset);
}

function optionalNumber(found: Place | null): Read<number> {
  if (!found) return () => 0;
  const read = numberReader(found);
  return (view, at) => read(view, at + found.offset);
}

function orderReader({ layout }: StructArray): (view: DataView, at: number) => UserOrder | null {
  const wide = (name: string) => optionalBigint(requiredPlace(layout, name));
  const small = (name: string) => optionalNumber(requiredPlace(layout, name));
  const orderTypes = variantsOf(requiredPlace(layout, 'order_type'));
  const directions = variantsOf(requiredPlace(layout, 'direction'));
  const conditions = variantsOf(requiredPlace(layout, 'trigger_condition'));
  const slot = wide('slot');
  const price = wide('price');
  const size = wide('base_asset_amount');
  const filled = wide('base_asset_amount_filled');
  const triggerPrice = wide('trigger_price');
  const offset = wide('oracle_price_offset');
  const maxTs = wide('max_ts');
  const auctionStart = optionalBigint(place(layout, 'auction_start_price'));
  const auctionEnd = optionalBigint(place(layout, 'auction_end_price'));
  const auctionDuration = optionalNumber(place(layout, 'auction_duration'));
  const orderId = small('order_id');
  const orderType = small('order_type');
  const direction = small('direction');
  const condition = small('trigger_condition');
  const postOnly = small('post_only');
  const reduceOnly = small('reduce_only');
  const flags = small('bit_flags');
  return (view, at) => {
    const type = orderTypes[orderType(view, at)];
    const side = directions[direction(view, at)];
    const trigger = conditions[condition(view, at)];
    if (type === undefined || side === undefined || trigger === undefined) return null;
    return {
      orderId: orderId(view, at),
      orderType: type as OrderType,
      direction: side as Direction,
      price: price(view, at),
      baseAssetAmount: size(view, at),
      baseAssetAmountFilled: filled(view, at),
      triggerPrice: triggerPrice(view, at),
      triggerCondition: trigger as TriggerCondition,
      oraclePriceOffset: offset(view, at),
      postOnly: postOnly(view, at) !== 0,
      reduceOnly: reduceOnly(view, at) !== 0,
      auctionDurationSlots: auctionDuration(view, at),
      auctionStartPrice: auctionStart(view, at),
      auctionEndPrice: auctionEnd(view, at),
      placedSlot: Number(slot(view, at)),
      maxTs: maxTs(view, at),
      bitFlags: flags(view, at),
    };
  };
}

function compilePositions(positions: StructArray) {
  const { offset, stride, layout } = positions;
  const wide = (name: string) => optionalBigint(requiredPlace(layout, name));
  const base = wide('base_asset_amount');
  const quote = wide('quote_asset_amount');
  const entry = wide('quote_entry_amount');
  const breakEven = wide('quote_break_even_amount');
  const funding = wide('last_cumulative_funding_rate');
  const openOrders = optionalNumber(requiredPlace(layout, 'open_orders'));
  const marketIndex = optionalNumber(requiredPlace(layout, 'market_index'));
  // What else keeps a slot in use: collateral of an isolated position, LP shares (Drift).
  const isolated = optionalBigint(place(layout, 'isolated_position_scaled_balance'));
  const lpShares = optionalBigint(place(layout, 'lp_shares'));
  const flags = optionalNumber(place(layout, 'position_flag'));
  const busyFlags = 2 | 4 | 8; // being liquidated, bankrupt, bankruptcy claim
  return {
    positions,
    positionMarket: (view: DataView, slot: number) => marketIndex(view, offset + slot * stride),
    isPositionUsed: (view: DataView, slot: number) => {
      const at = offset + slot * stride;
      return (
        openOrders(view, at) !== 0 ||
        base(view, at) !== 0n ||
        quote(view, at) !== 0n ||
        isolated(view, at) !== 0n ||
        lpShares(view, at) !== 0n ||
        (flags(view, at) & busyFlags) !== 0
      );
    },
    position: (view: DataView, slot: number): PerpPosition => {
      const at = offset + slot * stride;
      return {
        marketIndex: marketIndex(view, at),
        baseAssetAmount: base(view, at),
        quoteAssetAmount: quote(view, at),
        quoteEntryAmount: entry(view, at),
        quoteBreakEvenAmount: breakEven(view, at),
        lastCumulativeFundingRate: funding(view, at),
        openOrders: openOrders(view, at),
      };
    },
  };
}
