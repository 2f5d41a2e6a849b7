// Reads perp and spot market accounts as BookMarket, with the oracle price stored in the market itself.

import {
  type AccountDefinition,
  type AmmState,
  BASE_DECIMALS,
  type BookMarket,
  type MarketType,
  type NumberedStream,
  type StructLayout,
} from '../../schemas/index.ts';
import { type CompiledAccount, compileAccount } from './account.ts';
import { compileDepositInterest, compilePerpFunds, type DepositInterest, type PerpFunds } from './funds.ts';
import { findField, requireField } from './layout.ts';
import { compilePerpMargin, compileSpotMargin, type OwnMargin } from './margin.ts';
import { compileSpreadInputs } from './spread.ts';
import { bigintField, type Field, keyField, numberField, textAt, variantField } from './values.ts';

/** State.exchange_status bit that pauses the AMM; market bit that stops AMM fills (accounts.md, "Paused operations"). */
const EXCHANGE_AMM_PAUSED = 4;
const OPERATION_AMM_FILL = 2;
/** Drift market status with the same meaning. */
const STATUS_AMM_PAUSED = 'ammPaused';

/** Fields with the number of a stream's next record (docs/internals/ingest.md, "Completeness"). */
const COUNTERS: readonly { readonly field: string; readonly stream: NumberedStream }[] = [
  { field: 'next_fill_record_id', stream: 'fills' },
  { field: 'next_funding_rate_record_id', stream: 'funding' },
  { field: 'next_deposit_record_id', stream: 'deposits' },
];

/** Oracle fields of the market account. The differ uses them while the oracle account is unknown. */
export interface MarketOracle {
  readonly oracle: Uint8Array;
  readonly oracleSource: string;
  readonly lastPrice: bigint;
  readonly lastConfidence: bigint;
  /** Slot of that price, as stored in the account. */
  readonly lastSlot: bigint;
  /** Unix seconds at which the account stored that price. */
  readonly lastTs: bigint;
}

/** Fields of the State account that apply to every perp market. */
export interface ExchangeState {
  /** Pause bits. */
  readonly status: number;
  /** Guard rail as a share of 1e6; null when unknown. */
  readonly oracleTwap5MinPercentDivergence: bigint | null;
}

/** Stands in while the State account is unknown. */
export const UNKNOWN_EXCHANGE: ExchangeState = { status: 0, oracleTwap5MinPercentDivergence: null };

export interface MarketReader {
  readonly account: CompiledAccount;
  readonly marketType: MarketType;
  marketIndex(view: DataView): number;
  oracle(view: DataView): MarketOracle;
  /** Account with the market-level book; null when the market has none. */
  clobMarket(view: DataView): Uint8Array | null;
  market(view: DataView, account: Uint8Array, slot: number, exchange: ExchangeState): BookMarket;
  /** Number of the newest record of each stream that the market counts. */
  counts(view: DataView): readonly { readonly stream: NumberedStream; readonly lastId: number }[];
  /** Perp markets only. */
  readonly funds: Field<PerpFunds> | null;
  /** Spot markets only. */
  readonly interest: Field<DepositInterest> | null;
  readonly margin: Field<OwnMargin>;
}

/** Throws DefinitionError when the definition's PerpMarket lacks a field that the book needs. */
export function compilePerpMarket(definition: AccountDefinition): MarketReader {
  return compileMarket(definition, 'perp', (name) => [
    name,
    `market_stats.${name}`,
    `amm.${name}`,
    `market_stats.historical_oracle_data.${name}`,
    `amm.historical_oracle_data.${name}`,
  ]);
}

/** Throws DefinitionError when the definition's SpotMarket lacks a field that the book needs. */
export function compileSpotMarket(definition: AccountDefinition): MarketReader {
  return compileMarket(definition, 'spot', (name) => [name, `historical_oracle_data.${name}`]);
}

type Paths = (name: string) => readonly string[];

function compileMarket(definition: AccountDefinition, marketType: MarketType, paths: Paths): MarketReader {
  const { layout } = definition;
  const perp = marketType === 'perp';
  const at = (name: string) => requireField(layout, ...paths(name));
  const ifPerp = (name: string) => (perp ? at(name) : null);
  const maybe = (name: string) => (perp ? findField(layout, ...paths(name)) : null);
  const name = at('name');
  const marketIndex = numberField(at('market_index'));
  const status = variantField(at('status'), 'initialized');
  const oracle = keyField(at('oracle'));
  const oracleSource = variantField(at('oracle_source'), 'pyth');
  const tickSize = bigintField(at('order_tick_size'));
  const stepSize = bigintField(at('order_step_size'));
  const minOrderSize = bigintField(at('min_order_size'));
  const paused = numberField(at('paused_operations'));
  const clobMarket = keyField(maybe('clob_market'));
  const long = bigintField(ifPerp('base_asset_amount_long'));
  const short = bigintField(ifPerp('base_asset_amount_short'));
  const funding24h = bigintField(ifPerp('last_24h_avg_funding_rate'));
  const mmPrice = bigintField(maybe('mm_oracle_price'));
  const mmSlot = bigintField(maybe('mm_oracle_slot'));
  const mmSequence = bigintField(maybe('mm_oracle_sequence_id'));
  const twap = bigintField(at('last_oracle_price_twap'));
  const twap5 = bigintField(at('last_oracle_price_twap_5min'));
  const mark5 = bigintField(ifPerp('last_mark_price_twap_5min'));
  const decimals = perp ? () => BASE_DECIMALS : numberField(at('decimals'));
  const lastPrice = bigintField(at('last_oracle_price'));
  const lastConfidence = bigintField(at('last_oracle_conf'));
  const lastDelay = bigintField(at('last_oracle_delay'));
  const lastTs = bigintField(at('last_oracle_price_twap_ts'));
  const updated = bigintField(perp ? requireField(layout, 'amm.last_update_slot') : null);
  const counters = COUNTERS.flatMap(({ field, stream }) => {
    const found = findField(layout, field);
    return found ? [{ stream, next: bigintField(found) }] : [];
  });
  const amm = perp ? ammReader(layout) : () => null;
  const spreadInputs = perp ? compileSpreadInputs(layout, paths) : () => null;
  return {
    account: compileAccount(definition),
    marketType,
    funds: perp ? compilePerpFunds(definition) : null,
    interest: perp ? null : compileDepositInterest(definition),
    margin: perp ? compilePerpMargin(definition) : compileSpotMargin(definition),
    marketIndex,
    counts: (view) =>
      counters.map(({ stream, next }) => ({
        stream,
        lastId: Number(BigInt.asUintN(53, atLeastZero(next(view) - 1n))),
      })),
    clobMarket: (view) => unlessZero(clobMarket(view)),
    oracle: (view) => ({
      oracle: oracle(view) ?? new Uint8Array(0),
      oracleSource: oracleSource(view),
      lastPrice: lastPrice(view),
      lastConfidence: lastConfidence(view),
      lastSlot: atLeastZero(updated(view) - atLeastZero(lastDelay(view))),
      lastTs: lastTs(view),
    }),
    market: (view, account, slot, exchange) => ({
      marketType,
      marketIndex: marketIndex(view),
      slot,
      account,
      symbol: textAt(view, name.offset, name.size),
      status: status(view),
      oracle: oracle(view) ?? new Uint8Array(0),
      oracleSource: oracleSource(view),
      tickSize: tickSize(view),
      stepSize: stepSize(view),
      minOrderSize: minOrderSize(view),
      pausedOperations: paused(view),
      ammPaused: perp && isAmmPaused(status(view), paused(view), exchange.status),
      clobMarket: unlessZero(clobMarket(view)),
      baseAssetAmountLong: long(view),
      baseAssetAmountShort: short(view),
      last24hAvgFundingRate: funding24h(view),
      mmOraclePrice: mmPrice(view),
      mmOracleSlot: mmSlot(view),
      mmOracleSequenceId: mmSequence(view),
      lastOraclePriceTwap: twap(view),
      lastOraclePriceTwap5Min: twap5(view),
      lastMarkPriceTwap5Min: mark5(view),
      decimals: decimals(view),
      amm: amm(view),
      spreadInputs: spreadInputs(view),
      oracleTwap5MinPercentDivergence: perp ? exchange.oracleTwap5MinPercentDivergence : null,
    }),
  };
}

function isAmmPaused(status: string, pausedOperations: number, exchangeStatus: number): boolean {
  return (
    status === STATUS_AMM_PAUSED ||
    (pausedOperations & OPERATION_AMM_FILL) !== 0 ||
    (exchangeStatus & EXCHANGE_AMM_PAUSED) !== 0
  );
}

function ammReader(layout: StructLayout): Field<AmmState> {
  const wide = (name: string) => bigintField(requireField(layout, `amm.${name}`));
  const small = (name: string) => numberField(requireField(layout, `amm.${name}`));
  const wideOrZero = (name: string) => bigintField(findField(layout, `amm.${name}`));
  const smallOrZero = (name: string) => numberField(findField(layout, `amm.${name}`));
  const fields: { readonly [K in keyof AmmState]: Field<AmmState[K]> } = {
    baseAssetReserve: wide('base_asset_reserve'),
    quoteAssetReserve: wide('quote_asset_reserve'),
    sqrtK: wide('sqrt_k'),
    pegMultiplier: wide('peg_multiplier'),
    minBaseAssetReserve: wide('min_base_asset_reserve'),
    maxBaseAssetReserve: wide('max_base_asset_reserve'),
    terminalQuoteAssetReserve: wide('terminal_quote_asset_reserve'),
    concentrationCoef: wide('concentration_coef'),
    askBaseAssetReserve: wide('ask_base_asset_reserve'),
    askQuoteAssetReserve: wide('ask_quote_asset_reserve'),
    bidBaseAssetReserve: wide('bid_base_asset_reserve'),
    bidQuoteAssetReserve: wide('bid_quote_asset_reserve'),
    baseAssetAmountWithAmm: wide('base_asset_amount_with_amm'),
    totalFeeMinusDistributions: wide('total_fee_minus_distributions'),
    totalExchangeFee: bigintField(requireField(layout, 'fee_ledger.total_exchange_fee', 'amm.total_exchange_fee')),
    netRevenueSinceLastFunding: wideOrZero('net_revenue_since_last_funding'),
    baseSpread: small('base_spread'),
    maxSpread: small('max_spread'),
    longSpread: small('long_spread'),
    shortSpread: small('short_spread'),
    referencePriceOffset: smallOrZero('reference_price_offset'),
    curveUpdateIntensity: smallOrZero('curve_update_intensity'),
    ammSpreadAdjustment: smallOrZero('amm_spread_adjustment'),
    ammInventorySpreadAdjustment: smallOrZero('amm_inventory_spread_adjustment'),
    lastUpdateSlot: wideOrZero('last_update_slot'),
  };
  const readers = Object.entries(fields);
  return (view) => Object.fromEntries(readers.map(([key, read]) => [key, read(view)])) as unknown as AmmState;
}

/** Compiles the reader of the State account. Drift keeps the guard rails in groups. */
export function compileExchangeState({ layout }: AccountDefinition): Field<ExchangeState> {
  const status = numberField(findField(layout, 'exchange_status'));
  const rail = 'oracle_twap_5min_percent_divergence';
  const found = findField(layout, `oracle_guard_rails.${rail}`, `oracle_guard_rails.price_divergence.${rail}`);
  const divergence = found ? bigintField(found) : () => null;
  return (view) => ({ status: status(view), oracleTwap5MinPercentDivergence: divergence(view) });
}

function unlessZero(key: Uint8Array | null): Uint8Array | null {
  return key?.some((byte) => byte !== 0) ? key : null;
}

function atLeastZero(value: bigint): bigint {
  return value < 0n ? 0n : value;
}
