// Bodies of `/tx/*`, checked in the order of their members. Each function throws TxError with the published text.

import type { PublicKey } from '@solana/web3.js';
import { BASE_DECIMALS } from '../../../schemas/index.ts';
import { TxError } from '../../http/errors.ts';
import type { Markets, PerpMarket, SpotMarket } from './accounts.ts';
import { amountOf, type Body, flag, isWhole, oneOf, publicKey, requireMembers, text } from './body.ts';
import type { Order } from './calls.ts';
import type { WantedCommitment } from './execute.ts';
import { orderTerms } from './order-terms.ts';

const SYMBOLS_MAX = 32;
const ORDERS_MAX = 32;
const U32_MAX = 2 ** 32 - 1;
const U16_MAX = 2 ** 16 - 1;
const ESCROW_ORDERS_MAX = 128;
const ESCROW_ORDERS_DEFAULT = 16;

/** The market of a symbol, in any letter case. */
function marketNamed<T extends { readonly symbol: string }>(markets: readonly T[], symbol: string): T | undefined {
  const wanted = symbol.toUpperCase();
  return markets.find((market) => market.symbol.toUpperCase() === wanted);
}

export interface TokenRequest {
  readonly market: SpotMarket;
  readonly account: PublicKey;
  /** Raw integer with the token's decimals. */
  readonly amount: bigint;
  readonly simulate: boolean;
}

/** Body of a deposit or a withdrawal. */
export function tokenRequest(body: Body, { spots }: Markets): TokenRequest {
  requireMembers(body, ['accountId', 'amount', 'symbol']);
  const market = marketNamed(spots, text(body, 'symbol'));
  if (!market) throw new TxError('symbol', text(body, 'symbol'));
  const account = publicKey(body, 'accountId');
  const amount = amountOf(body, 'amount', market.decimals, 'amount');
  return { market, account, amount, simulate: flag(body, 'simulate', true) };
}

export interface OrderRequest extends Order {
  readonly account: PublicKey;
  readonly isIsolated: boolean;
  readonly useSwift: boolean;
  readonly simulate: boolean;
}

export function orderRequest(body: Body, { perps }: Markets): OrderRequest {
  requireMembers(body, ['accountId', 'symbol', 'direction', 'amount', 'orderType']);
  const market = marketNamed(perps, text(body, 'symbol'));
  if (!market) throw new TxError('symbol', text(body, 'symbol'));
  const account = publicKey(body, 'accountId');
  const direction = oneOf(body, 'direction', ['long', 'short'], 'direction');
  const base = amountOf(body, 'amount', BASE_DECIMALS, 'amount');
  const terms = orderTerms(body);
  const useSwift = flag(body, 'useSwift', false);
  if (useSwift && terms.trigger) throw new TxError('swiftOrderType');
  return {
    account,
    market,
    direction,
    base,
    ...terms,
    reduceOnly: flag(body, 'reduceOnly', false),
    isIsolated: oneOf(body, 'marginMode', ['cross', 'isolated'], 'marginMode', 'cross') === 'isolated',
    useSwift,
    simulate: flag(body, 'simulate', true),
  };
}

export interface CancelRequest {
  readonly account: PublicKey;
  /** Null: not by id. */
  readonly orderIds: readonly number[] | null;
  readonly market: PerpMarket | null;
  readonly simulate: boolean;
}

export function cancelRequest(body: Body, { perps }: Markets): CancelRequest {
  requireMembers(body, ['accountId']);
  const account = publicKey(body, 'accountId');
  const given = ['orderId', 'orderIds', 'symbol'].filter((name) => (body[name] ?? null) !== null);
  if (given.length > 1) throw new TxError('oneSelection');
  const symbol = given[0] === 'symbol' ? text(body, 'symbol') : null;
  const market = symbol === null ? null : marketNamed(perps, symbol);
  if (market === undefined) throw new TxError('symbol', symbol ?? '');
  return { account, orderIds: orderIdsOf(body, given[0]), market, simulate: flag(body, 'simulate', true) };
}

function orderIdsOf(body: Body, given: string | undefined): readonly number[] | null {
  if (given === 'orderId') {
    const orderId = Number(text(body, 'orderId') || Number.NaN);
    if (!isWhole(orderId, U32_MAX)) throw new TxError('orderId');
    return [orderId];
  }
  if (given !== 'orderIds') return null;
  const { orderIds } = body;
  const isList = Array.isArray(orderIds) && orderIds.length > 0 && orderIds.length <= ORDERS_MAX;
  if (!isList || !orderIds.every((one) => isWhole(one, U32_MAX))) throw new TxError('orderIds');
  return [...new Set(orderIds as number[])];
}

export interface SettleRequest {
  readonly account: PublicKey;
  /** Null: the markets in which the account has a position. */
  readonly perpIndexes: readonly number[] | null;
  readonly simulate: boolean;
}

export function settleRequest(body: Body, { perps }: Markets): SettleRequest {
  requireMembers(body, ['accountId']);
  const account = publicKey(body, 'accountId');
  const simulate = flag(body, 'simulate', true);
  const symbols = body.symbols ?? null;
  if (symbols === null) return { account, perpIndexes: null, simulate };
  const isList = Array.isArray(symbols) && symbols.length > 0 && symbols.length <= SYMBOLS_MAX;
  if (!isList || !symbols.every((one) => typeof one === 'string')) throw new TxError('symbolList');
  const wanted = [...new Set((symbols as string[]).map((symbol) => symbol.trim()))];
  const unknown = wanted.filter((symbol) => !marketNamed(perps, symbol));
  if (unknown.length > 0) throw new TxError('symbols', unknown.join(', '));
  const perpIndexes = wanted.flatMap((symbol) => marketNamed(perps, symbol)?.index ?? []);
  return { account, perpIndexes: [...new Set(perpIndexes)], simulate };
}

export interface BuilderRequest {
  readonly builder: PublicKey;
  readonly simulate: boolean;
}

export function builderRequest(body: Body): BuilderRequest {
  requireMembers(body, ['builderId']);
  return { builder: publicKey(body, 'builderId'), simulate: flag(body, 'simulate', true) };
}

export interface ApproveRequest extends BuilderRequest {
  readonly authority: PublicKey;
  readonly maxFeeTenthBps: number;
  readonly numOrders: number;
}

export function approveRequest(body: Body): ApproveRequest {
  requireMembers(body, ['authorityId', 'builderId', 'maxFeeTenthBps']);
  const { maxFeeTenthBps, numOrders = ESCROW_ORDERS_DEFAULT } = body;
  if (!isWhole(maxFeeTenthBps, U16_MAX) || maxFeeTenthBps === 0) throw new TxError('maxFee');
  if (!isWhole(numOrders, ESCROW_ORDERS_MAX) || numOrders === 0) throw new TxError('numOrders');
  const authority = publicKey(body, 'authorityId');
  const builder = publicKey(body, 'builderId');
  if (builder.equals(authority)) throw new TxError('ownBuilder');
  return { authority, builder, maxFeeTenthBps, numOrders, simulate: flag(body, 'simulate', true) };
}

export interface ExecuteRequest {
  readonly signedTx: unknown;
  readonly simulate: boolean;
  readonly commitment: WantedCommitment;
}

export function executeRequest(body: Body): ExecuteRequest {
  return {
    signedTx: body.signedTx,
    simulate: flag(body, 'simulate', true),
    commitment: oneOf(body, 'commitment', ['processed', 'confirmed', 'finalized'], 'commitment', 'confirmed'),
  };
}
