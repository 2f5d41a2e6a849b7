// JSON of a fill on the trades channel: whole units as numbers. docs/internals/order-book-server.md, "Trades channel".

import { BASE_DECIMALS, PRICE_DECIMALS, QUOTE_DECIMALS, type TradeView } from '../../schemas/index.ts';
import { base58 } from '../http/base58.ts';
import { wholeUnits } from '../http/units.ts';

/** A double represents every whole number up to here exactly. */
const EXACT_MAX = 2n ** 53n;

const quote = (value: bigint): number => wholeUnits(value, QUOTE_DECIMALS);
const base = (value: bigint): number => wholeUnits(value, BASE_DECIMALS);

/** A JSON number up to 2^53, decimal text beyond. */
export function wholeNumber(value: bigint): number | string {
  return value <= EXACT_MAX ? Number(value) : String(value);
}

/** Leaves out keys, ids and directions that are null in the record. Null amounts are 0. */
function present<K extends string, V>(name: K, value: V | null): { [P in K]?: V } {
  return value === null ? {} : ({ [name]: value } as { [P in K]: V });
}

/** JSON text of one fill. `indicativeKey`: base58 key of the maker when it is a known indicative quoter. */
export function tradeJson(trade: TradeView, indicativeKey: string | null): string {
  const key = (bytes: Uint8Array | null) => (bytes === null ? null : base58(bytes));
  return JSON.stringify({
    ts: Number(trade.ts),
    marketIndex: trade.marketIndex,
    marketType: trade.marketType,
    ...present('filler', key(trade.filler)),
    takerFee: quote(trade.takerFee ?? 0n),
    makerFee: quote(trade.makerFee ?? 0n),
    quoteAssetAmountSurplus: quote(trade.quoteAssetAmountSurplus ?? 0n),
    baseAssetAmountFilled: base(trade.baseAssetAmountFilled),
    quoteAssetAmountFilled: quote(trade.quoteAssetAmountFilled),
    ...present('taker', key(trade.taker)),
    ...present('takerOrderId', trade.takerOrderId),
    ...present('takerOrderDirection', trade.takerOrderDirection),
    takerOrderBaseAssetAmount: base(trade.takerOrderBaseAssetAmount ?? 0n),
    takerOrderCumulativeBaseAssetAmountFilled: base(trade.takerOrderCumulativeBaseAssetAmountFilled ?? 0n),
    takerOrderCumulativeQuoteAssetAmountFilled: quote(trade.takerOrderCumulativeQuoteAssetAmountFilled ?? 0n),
    ...present('maker', key(trade.maker)),
    ...present('makerOrderId', trade.makerOrderId),
    ...present('makerOrderDirection', trade.makerOrderDirection),
    makerOrderBaseAssetAmount: base(trade.makerOrderBaseAssetAmount ?? 0n),
    makerOrderCumulativeBaseAssetAmountFilled: base(trade.makerOrderCumulativeBaseAssetAmountFilled ?? 0n),
    makerOrderCumulativeQuoteAssetAmountFilled: quote(trade.makerOrderCumulativeQuoteAssetAmountFilled ?? 0n),
    oraclePrice: wholeUnits(trade.oraclePrice, PRICE_DECIMALS),
    referrerReward: quote(BigInt(trade.referrerReward ?? 0)),
    txSig: trade.txSig,
    slot: trade.slot,
    fillRecordId: wholeNumber(trade.fillRecordId),
    action: trade.action,
    actionExplanation: trade.actionExplanation,
    bitFlags: trade.bitFlags,
    ...present('makerIndicativeKey', indicativeKey),
  });
}
