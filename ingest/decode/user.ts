// Reads selected parts of User accounts from the bytes: open orders, perp positions and flags.

import type {
  AccountDefinition,
  AccountStateOrder,
  AccountStream,
  Direction,
  OrderState,
  OrderType,
  TriggerCondition,
} from '../../schemas/index.ts';
import { ORDER_FLAG_PLACED_ON_CLOB, PUBKEY_BYTES } from '../../schemas/index.ts';
import { type CompiledAccount, compileAccount } from './account.ts';
import { type FieldOffset, findField, requiredStructArray, requireField, type StructArray } from './layout.ts';
import { compileUserMargin, type UserMarginReader } from './margin.ts';
import { bigintReader, bytesAt, numberField, numberReader, type Read, variantsOf } from './values.ts';

const ORDER_STATUS_OPEN = 'open';
const MARKET_TYPE_PERP = 'perp';

/** Fields of a perp position that the pipeline uses. Base 1e9, quote 1e6, funding rate 1e9. */
export interface PerpPosition {
  readonly marketIndex: number;
  readonly baseAssetAmount: bigint;
  readonly quoteAssetAmount: bigint;
  readonly quoteEntryAmount: bigint;
  readonly quoteBreakEvenAmount: bigint;
  readonly lastCumulativeFundingRate: bigint;
  readonly openOrders: number;
}

/** An order read from an entry of the account, without the fields that come from other accounts. */
export type UserOrder = Omit<OrderState, 'maker' | 'positionBaseAmount' | 'bookOrderId'>;

/** A stream, and the number of its newest record. */
export interface AccountCount {
  readonly stream: AccountStream;
  lastId(view: DataView): number;
}

export interface UserReader {
  readonly account: CompiledAccount;
  readonly orders: StructArray;
  readonly positions: StructArray;
  /** Offset of the idle flag; null when the layout has none. Account filters use it. */
  readonly idleOffset: number | null;
  authority(view: DataView): Uint8Array;
  subAccountId(view: DataView): number;
  hasOpenOrder(view: DataView): boolean;
  /** Whether the entry is an open order that rests in this account. Copies of book orders do not. */
  isResting(view: DataView, index: number): boolean;
  /** Whether the entry is an open order, here or as the copy of a book order. */
  isOpen(view: DataView, index: number): boolean;
  isReduceOnly(view: DataView, index: number): boolean;
  orderId(view: DataView, index: number): number;
  isPerp(view: DataView, index: number): boolean;
  marketIndex(view: DataView, index: number): number;
  /** Null when the definition does not know the value of an enum of the order. */
  order(view: DataView, index: number): UserOrder | null;
  /** As `order`, with the members for the owner of the account. */
  accountOrder(view: DataView, index: number): AccountStateOrder | null;
  positionMarket(view: DataView, index: number): number;
  /** The streams of which the account has a count. */
  readonly counts: readonly AccountCount[];
  /** False for an entry that any market can take: no balance, no debt, no open order. */
  isPositionUsed(view: DataView, index: number): boolean;
  position(view: DataView, index: number): PerpPosition;
  readonly margin: UserMarginReader;
}

/** Throws DefinitionError when the definition's User lacks a field that the order book needs. */
export function compileUser(definition: AccountDefinition): UserReader {
  const account = compileAccount(definition);
  const { layout } = definition;
  const authorityAt = requireField(layout, 'authority').offset;
  const subAccountAt = requireField(layout, 'sub_account_id').offset;
  const hasOpenOrder = findField(layout, 'has_open_order');
  const nextOrder = numberField(requireField(layout, 'next_order_id'), 1);
  const nextLiquidation = numberField(requireField(layout, 'next_liquidation_id'), 1);
  return {
    account,
    margin: compileUserMargin(definition),
    idleOffset: findField(layout, 'idle')?.offset ?? null,
    authority: (view) => bytesAt(view, authorityAt, PUBKEY_BYTES),
    counts: [
      { stream: 'orders', lastId: (view) => Math.max(0, nextOrder(view) - 1) },
      { stream: 'liquidations', lastId: (view) => Math.max(0, nextLiquidation(view) - 1) },
    ],
    subAccountId: (view) => view.getUint16(subAccountAt, true),
    hasOpenOrder: (view) => hasOpenOrder === null || view.getUint8(hasOpenOrder.offset) !== 0,
    ...compileOrders(requiredStructArray(layout, 'orders')),
    ...compilePositions(requiredStructArray(layout, 'perp_positions')),
  };
}

function compileOrders(orders: StructArray) {
  const { offset, stride, layout } = orders;
  const status = requireField(layout, 'status');
  const openOrdinal = variantsOf(status).indexOf(ORDER_STATUS_OPEN);
  const marketType = requireField(layout, 'market_type');
  const perpOrdinal = variantsOf(marketType).indexOf(MARKET_TYPE_PERP);
  const onBook = findField(layout, 'clob_order_id') !== null;
  const statusAt = offset + status.offset;
  const flagsAt = offset + requireField(layout, 'bit_flags').offset;
  const idAt = offset + requireField(layout, 'order_id').offset;
  const marketAt = offset + requireField(layout, 'market_index').offset;
  const marketTypeAt = offset + marketType.offset;
  const reduceOnlyAt = offset + requireField(layout, 'reduce_only').offset;
  const userOrderIdAt = offset + requireField(layout, 'user_order_id').offset;
  const quoteFilled = optionalBigint(requireField(orders.layout, 'quote_asset_amount_filled'));
  const fields = orderFields(orders);
  const read = orderReader(fields);
  const isOpen = (view: DataView, index: number) => view.getUint8(statusAt + index * stride) === openOrdinal;
  const isPerp = (view: DataView, index: number) => view.getUint8(marketTypeAt + index * stride) === perpOrdinal;
  const marketIndex = (view: DataView, index: number) => view.getUint16(marketAt + index * stride, true);
  const order = (view: DataView, index: number) => read(view, offset + index * stride);
  return {
    orders,
    isOpen,
    isResting: (view: DataView, index: number) =>
      isOpen(view, index) && !(onBook && (view.getUint8(flagsAt + index * stride) & ORDER_FLAG_PLACED_ON_CLOB) !== 0),
    isReduceOnly: (view: DataView, index: number) => view.getUint8(reduceOnlyAt + index * stride) !== 0,
    orderId: (view: DataView, index: number) => view.getUint32(idAt + index * stride, true),
    isPerp,
    marketIndex,
    order,
    // Not by way of `order`: a change brings all orders of a market, and half of its members would be thrown away.
    accountOrder: (view: DataView, index: number): AccountStateOrder | null => {
      const at = offset + index * stride;
      const variants = fields.variants(view, at);
      if (!variants) return null;
      return {
        marketType: isPerp(view, index) ? 'perp' : 'spot',
        marketIndex: marketIndex(view, index),
        userOrderId: view.getUint8(userOrderIdAt + index * stride),
        orderId: fields.orderId(view, at),
        orderType: variants.orderType,
        direction: variants.direction,
        price: fields.price(view, at),
        baseAssetAmount: fields.size(view, at),
        baseAssetAmountFilled: fields.filled(view, at),
        triggerPrice: fields.triggerPrice(view, at),
        triggerCondition: variants.condition,
        oraclePriceOffset: fields.oracleOffset(view, at),
        postOnly: fields.postOnly(view, at) !== 0,
        reduceOnly: fields.reduceOnly(view, at) !== 0,
        placedSlot: Number(fields.slot(view, at)),
        maxTs: fields.maxTs(view, at),
        quoteAssetAmountFilled: quoteFilled(view, at),
      };
    },
  };
}

/** Reads an optional field of an element. Reads zero when this revision lacks the field. */
function optionalBigint(found: FieldOffset | null): Read<bigint> {
  if (!found) return () => 0n;
  const read = bigintReader(found);
  return (view, at) => read(view, at + found.offset);
}

function optionalNumber(found: FieldOffset | null): Read<number> {
  if (!found) return () => 0;
  const read = numberReader(found);
  return (view, at) => read(view, at + found.offset);
}

/** Readers of the fields of an order. */
function orderFields({ layout }: StructArray) {
  const wide = (name: string) => optionalBigint(requireField(layout, name));
  const small = (name: string) => optionalNumber(requireField(layout, name));
  const orderTypes = variantsOf(requireField(layout, 'order_type'));
  const directions = variantsOf(requireField(layout, 'direction'));
  const conditions = variantsOf(requireField(layout, 'trigger_condition'));
  const orderType = small('order_type');
  const direction = small('direction');
  const condition = small('trigger_condition');
  return {
    /** The enums of an order; null when the definition does not know the value of one. */
    variants(view: DataView, at: number) {
      const type = orderTypes[orderType(view, at)];
      const side = directions[direction(view, at)];
      const trigger = conditions[condition(view, at)];
      if (type === undefined || side === undefined || trigger === undefined) return null;
      return {
        orderType: type as OrderType,
        direction: side as Direction,
        condition: trigger as TriggerCondition,
      };
    },
    slot: wide('slot'),
    price: wide('price'),
    size: wide('base_asset_amount'),
    filled: wide('base_asset_amount_filled'),
    triggerPrice: wide('trigger_price'),
    oracleOffset: wide('oracle_price_offset'),
    maxTs: wide('max_ts'),
    auctionStart: optionalBigint(findField(layout, 'auction_start_price')),
    auctionEnd: optionalBigint(findField(layout, 'auction_end_price')),
    auctionDuration: optionalNumber(findField(layout, 'auction_duration')),
    orderId: small('order_id'),
    postOnly: small('post_only'),
    reduceOnly: small('reduce_only'),
    flags: small('bit_flags'),
  };
}

function orderReader(fields: ReturnType<typeof orderFields>): (view: DataView, at: number) => UserOrder | null {
  return (view, at) => {
    const variants = fields.variants(view, at);
    if (!variants) return null;
    return {
      orderId: fields.orderId(view, at),
      orderType: variants.orderType,
      direction: variants.direction,
      price: fields.price(view, at),
      baseAssetAmount: fields.size(view, at),
      baseAssetAmountFilled: fields.filled(view, at),
      triggerPrice: fields.triggerPrice(view, at),
      triggerCondition: variants.condition,
      oraclePriceOffset: fields.oracleOffset(view, at),
      postOnly: fields.postOnly(view, at) !== 0,
      reduceOnly: fields.reduceOnly(view, at) !== 0,
      auctionDurationSlots: fields.auctionDuration(view, at),
      auctionStartPrice: fields.auctionStart(view, at),
      auctionEndPrice: fields.auctionEnd(view, at),
      placedSlot: Number(fields.slot(view, at)),
      maxTs: fields.maxTs(view, at),
      bitFlags: fields.flags(view, at),
    };
  };
}

function compilePositions(positions: StructArray) {
  const { offset, stride, layout } = positions;
  const wide = (name: string) => optionalBigint(requireField(layout, name));
  const base = wide('base_asset_amount');
  const quote = wide('quote_asset_amount');
  const entry = wide('quote_entry_amount');
  const breakEven = wide('quote_break_even_amount');
  const funding = wide('last_cumulative_funding_rate');
  const openOrders = optionalNumber(requireField(layout, 'open_orders'));
  const marketIndex = optionalNumber(requireField(layout, 'market_index'));
  // Isolated collateral and LP shares (Drift) also keep an entry in use.
  const isolated = optionalBigint(findField(layout, 'isolated_position_scaled_balance'));
  const lpShares = optionalBigint(findField(layout, 'lp_shares'));
  const flags = optionalNumber(findField(layout, 'position_flag'));
  const busyFlags = 2 | 4 | 8; // being liquidated, bankrupt, bankruptcy claim
  return {
    positions,
    positionMarket: (view: DataView, index: number) => marketIndex(view, offset + index * stride),
    isPositionUsed: (view: DataView, index: number) => {
      const at = offset + index * stride;
      return (
        openOrders(view, at) !== 0 ||
        base(view, at) !== 0n ||
        quote(view, at) !== 0n ||
        isolated(view, at) !== 0n ||
        lpShares(view, at) !== 0n ||
        (flags(view, at) & busyFlags) !== 0
      );
    },
    position: (view: DataView, index: number): PerpPosition => {
      const at = offset + index * stride;
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
