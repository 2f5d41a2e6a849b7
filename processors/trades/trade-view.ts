// A fill as `views.trades` has it: raw integers, absent optionals null. The gateway makes whole units of them.

import bs58 from 'bs58';
import type { ChainEvent, TradeView } from '../../schemas/index.ts';
import { FieldReader, isBigint, isDirection, isKey, isMarketType, isNumber, isString } from '../fields.ts';

export class TradeError extends Error {
  override readonly name = 'TradeError';
}

const FIELDS = new FieldReader(TradeError, 'a fill');

/** A fill without its number. */
export type Fill = Omit<TradeView, 'epoch' | 'seq'>;

/** The fill of an order action; null when the event is no fill. Throws TradeError when a fill lacks a field. */
export function fillOf(event: ChainEvent): Fill | null {
  const { data } = event;
  if (event.name !== 'OrderActionRecord' || data.action !== 'fill') return null;
  const baseAssetAmountFilled = FIELDS.optional(data, 'base_asset_amount_filled', isBigint);
  if (baseAssetAmountFilled === null || baseAssetAmountFilled === 0n) return null;
  return {
    marketType: FIELDS.required(data, 'market_type', isMarketType),
    marketIndex: FIELDS.required(data, 'market_index', isNumber),
    ts: FIELDS.required(data, 'ts', isBigint),
    slot: event.slot,
    txSig: bs58.encode(event.signature),
    txSigIndex: event.eventIndex,
    txIndex: event.txIndex,
    fillRecordId: FIELDS.optional(data, 'fill_record_id', isBigint) ?? 0n,
    action: 'fill',
    actionExplanation: FIELDS.required(data, 'action_explanation', isString),
    filler: FIELDS.optional(data, 'filler', isKey),
    taker: FIELDS.optional(data, 'taker', isKey),
    maker: FIELDS.optional(data, 'maker', isKey),
    takerFee: FIELDS.optional(data, 'taker_fee', isBigint),
    makerFee: FIELDS.optional(data, 'maker_fee', isBigint),
    quoteAssetAmountSurplus: FIELDS.optional(data, 'quote_asset_amount_surplus', isBigint),
    baseAssetAmountFilled,
    quoteAssetAmountFilled: FIELDS.optional(data, 'quote_asset_amount_filled', isBigint) ?? 0n,
    referrerReward: FIELDS.optional(data, 'referrer_reward', isNumber),
    takerOrderId: FIELDS.optional(data, 'taker_order_id', isNumber),
    makerOrderId: FIELDS.optional(data, 'maker_order_id', isNumber),
    takerOrderDirection: FIELDS.optional(data, 'taker_order_direction', isDirection),
    makerOrderDirection: FIELDS.optional(data, 'maker_order_direction', isDirection),
    takerOrderBaseAssetAmount: FIELDS.optional(data, 'taker_order_base_asset_amount', isBigint),
    takerOrderCumulativeBaseAssetAmountFilled: FIELDS.optional(
      data,
      'taker_order_cumulative_base_asset_amount_filled',
      isBigint,
    ),
    takerOrderCumulativeQuoteAssetAmountFilled: FIELDS.optional(
      data,
      'taker_order_cumulative_quote_asset_amount_filled',
      isBigint,
    ),
    makerOrderBaseAssetAmount: FIELDS.optional(data, 'maker_order_base_asset_amount', isBigint),
    makerOrderCumulativeBaseAssetAmountFilled: FIELDS.optional(
      data,
      'maker_order_cumulative_base_asset_amount_filled',
      isBigint,
    ),
    makerOrderCumulativeQuoteAssetAmountFilled: FIELDS.optional(
      data,
      'maker_order_cumulative_quote_asset_amount_filled',
      isBigint,
    ),
    oraclePrice: FIELDS.required(data, 'oracle_price', isBigint),
    bitFlags: FIELDS.optional(data, 'bit_flags', isNumber) ?? 0,
  };
}
