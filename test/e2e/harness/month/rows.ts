// The expected row of each event (docs/internals/history-semantics.md), from the event as the chain emitted it. Integers above
// 32 bits are decimal strings, keys base58, enums lower camel, absent members null.

import { big, type Data, type MonthEvent, symbolOf } from './truth.ts';

export type Row = Readonly<Record<string, unknown>>;

const camel = (name: string): string => name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/** The program's fields under their REST names, without the time, which belongs to the head. */
function members(data: Data): Record<string, unknown> {
  const entries = Object.entries(data).filter(([name]) => name !== 'ts' && name !== 'slot' && !/padding/.test(name));
  return Object.fromEntries(entries.map(([name, value]) => [camel(name), value ?? null]));
}

/** The source of the month gives no index in the block. */
function head(event: MonthEvent): Row {
  return { ts: event.ts, txSig: event.signature, txSigIndex: event.index, slot: event.slot, txIndex: null };
}

/** quote / base as price 1e6, rounded to the nearest; perps have base 1e9. */
export function fillPrice(data: Data): bigint | null {
  const base = big(data.base_asset_amount_filled);
  if (base === 0n) return null;
  return (big(data.quote_asset_amount_filled) * 1_000_000_000n * 2n + base) / (base * 2n);
}

/** A row of a trades list; `user` is the account of the list. */
export function tradeRow(event: MonthEvent, user: string | null): Row {
  const { data } = event;
  return {
    ...head(event),
    ...members(data),
    makerRebate: String(big(data.maker_fee)),
    marketFilter: data.market_type,
    symbol: symbolOf(data.market_type, data.market_index),
    referrerReward: data.referrer_reward === null ? null : String(data.referrer_reward),
    user,
    price: fillPrice(data)?.toString() ?? null,
  };
}

/** A funding payment, and every other kind with a row of the record and its symbol. */
export function perpRow(event: MonthEvent): Row {
  return { ...head(event), ...members(event.data), symbol: symbolOf('perp', event.data.market_index) };
}

/** A deposit or a transfer. */
export function depositRow(event: MonthEvent): Row {
  return { ...head(event), ...members(event.data), symbol: symbolOf('spot', event.data.market_index) };
}

const PARTS: Readonly<Record<string, readonly string[]>> = {
  liquidate_perp: [
    'market_index',
    'oracle_price',
    'base_asset_amount',
    'quote_asset_amount',
    'fill_record_id',
    'user_order_id',
    'liquidator_order_id',
    'liquidator_fee',
    'if_fee',
    'protocol_fee',
  ],
  liquidate_spot: [
    'asset_market_index',
    'asset_price',
    'asset_transfer',
    'liability_market_index',
    'liability_price',
    'liability_transfer',
    'if_fee',
    'protocol_fee',
  ],
  liquidate_borrow_for_perp_pnl: [
    'perp_market_index',
    'market_oracle_price',
    'pnl_transfer',
    'liability_market_index',
    'liability_price',
    'liability_transfer',
  ],
  liquidate_perp_pnl_for_deposit: [
    'perp_market_index',
    'market_oracle_price',
    'pnl_transfer',
    'asset_market_index',
    'asset_price',
    'asset_transfer',
  ],
  perp_bankruptcy: [
    'market_index',
    'pnl',
    'if_payment',
    'clawback_user',
    'clawback_user_payment',
    'cumulative_funding_rate_delta',
  ],
  spot_bankruptcy: ['market_index', 'borrow_amount', 'if_payment', 'cumulative_deposit_interest_delta'],
};

/** Every part of the record with its prefix. Parts of other liquidation types are zeros on the chain and here. */
export function liquidationRow(event: MonthEvent): Row {
  const { data } = event;
  const row: Record<string, unknown> = { ...head(event) };
  for (const [name, value] of Object.entries(members(data))) {
    if (!Object.keys(PARTS).some((part) => camel(part) === name)) row[name] = value;
  }
  for (const [part, fields] of Object.entries(PARTS)) {
    const nested = data[part] as Data;
    for (const field of fields) row[`${camel(part)}_${camel(field)}`] = nested[field] ?? null;
  }
  return row;
}

export function swapRow(event: MonthEvent): Row {
  return {
    ...head(event),
    ...members(event.data),
    outSymbol: symbolOf('spot', event.data.out_market_index),
    inSymbol: symbolOf('spot', event.data.in_market_index),
  };
}

/** A row of the insurance fund. */
export function insuranceRow(event: MonthEvent): Row {
  return { ...head(event), ...members(event.data), symbol: symbolOf('spot', event.data.spot_market_index) };
}

/** Liquidity-pool records: the record itself. */
export function poolRow(event: MonthEvent): Row {
  return { ...head(event), ...members(event.data), symbol: symbolOf('spot', event.data.spot_market_index) };
}

/** A side of a fill that reduced, closed or flipped its account's position; null when it did not. */
export function closedPositionRow(event: MonthEvent, side: 'taker' | 'maker'): Row | null {
  const { data } = event;
  const entry = data[`${side}_existing_quote_entry_amount`];
  if (entry === null || entry === undefined) return null;
  const existingBase = data[`${side}_existing_base_asset_amount`] ?? null;
  const user = String(data[side]);
  return {
    ...tradeRow(event, user),
    userFee: data[`${side}_fee`] ?? null,
    baseClosedForPnl: String(existingBase ?? data.base_asset_amount_filled),
    userExistingQuoteEntryAmount: entry,
    userExistingBaseAssetAmount: existingBase,
  };
}
