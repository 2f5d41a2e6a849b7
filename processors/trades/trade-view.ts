// A fill as `views.trades` has it: raw integers, absent optionals null. The gateway makes whole units of them.

import bs58 from 'bs58';
import type { ChainEvent, Direction, MarketType, TradeView } from '../../schemas/index.ts';

export class TradeError extends Error {
  override readonly name = 'TradeError';
}

/** A fill without its number. */
export type Fill = Omit<TradeView, 'epoch' | 'seq'>;

/** The fill of an order action; null when the event is no fill. Throws TradeError when a fill lacks a field. */
export function fillOf(event: ChainEvent): Fill | null {
  const { data } = event;
  if (event.name !== 'OrderActionRecord' || data.action !== 'fill') return null;
  const baseAssetAmountFilled = optional(data, 'base_asset_amount_filled', isBigint);
  if (baseAssetAmountFilled === null || baseAssetAmountFilled === 0n) return null;
  return {
    marketType: required(data, 'market_type', isMarketType),
    marketIndex: required(data, 'market_index', isNumber),
    ts: required(data, 'ts', isBigint),
    slot: event.slot,
    txSig: bs58.encode(event.signature),
    txSigIndex: event.eventIndex,
    txIndex: event.txIndex,
    fillRecordId: optional(data, 'fill_record_id', isBigint) ?? 0n,
    action: 'fill',
    actionExplanation: required(data, 'action_explanation', isString),
    filler: optional(data, 'filler', isKey),
    taker: optional(data, 'taker', isKey),
    maker: optional(data, 'maker', isKey),
    takerFee: optional(data, 'taker_fee', isBigint),
    makerFee: optional(data, 'maker_fee', isBigint),
    quoteAssetAmountSurplus: optional(data, 'quote_asset_amount_surplus', isBigint),
    baseAssetAmountFilled,
    quoteAssetAmountFilled: optional(data, 'quote_asset_amount_filled', isBigint) ?? 0n,
    referrerReward: optional(data, 'referrer_reward', isNumber),
    takerOrderId: optional(data, 'taker_order_id', isNumber),
    makerOrderId: optional(data, 'maker_order_id', isNumber),
    takerOrderDirection: optional(data, 'taker_order_direction', isDirection),
    makerOrderDirection: optional(data, 'maker_order_direction', isDirection),
    takerOrderBaseAssetAmount: optional(data, 'taker_order_base_asset_amount', isBigint),
    takerOrderCumulativeBaseAssetAmountFilled: optional(
      data,
      'taker_order_cumulative_base_asset_amount_filled',
      isBigint,
    ),
    takerOrderCumulativeQuoteAssetAmountFilled: optional(
      data,
      'taker_order_cumulative_quote_asset_amount_filled',
      isBigint,
    ),
    makerOrderBaseAssetAmount: optional(data, 'maker_order_base_asset_amount', isBigint),
    makerOrderCumulativeBaseAssetAmountFilled: optional(
      data,
      'maker_order_cumulative_base_asset_amount_filled',
      isBigint,
    ),
    makerOrderCumulativeQuoteAssetAmountFilled: optional(
      data,
      'maker_order_cumulative_quote_asset_amount_filled',
      isBigint,
    ),
    oraclePrice: required(data, 'oracle_price', isBigint),
    bitFlags: optional(data, 'bit_flags', isNumber) ?? 0,
  };
}

type Guard<T> = (value: unknown) => value is T;
const isBigint: Guard<bigint> = (value) => typeof value === 'bigint';
const isNumber: Guard<number> = (value) => typeof value === 'number';
const isString: Guard<string> = (value) => typeof value === 'string';
const isKey: Guard<Uint8Array> = (value) => value instanceof Uint8Array;
const isMarketType: Guard<MarketType> = (value) => value === 'perp' || value === 'spot';
const isDirection: Guard<Direction> = (value) => value === 'long' || value === 'short';

function required<T>(data: ChainEvent['data'], field: string, holds: Guard<T>): T {
  const value = data[field];
  if (!holds(value)) throw new TradeError(`${field} of a fill is ${String(value)}`);
  return value;
}

function optional<T>(data: ChainEvent['data'], field: string, holds: Guard<T>): T | null {
  const value = data[field];
  if (value === null || value === undefined) return null;
  if (!holds(value)) throw new TradeError(`${field} of a fill is ${String(value)}`);
  return value;
}
