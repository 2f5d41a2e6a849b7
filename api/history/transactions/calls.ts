// The instructions of each request. Pure: everything read from the chain comes in as arguments.

import { PublicKey, SYSVAR_RENT_PUBKEY, SystemProgram, TransactionInstruction } from '@solana/web3.js';
import { BASE_PRECISION } from '../../../schemas/index.ts';
import { TxError } from '../../http/errors.ts';
import type { Markets, PerpMarket, SpotMarket, UserAccount } from './accounts.ts';
import { ASSOCIATED_TOKEN_PROGRAM, associatedTokenAddress, type ExchangeProgram } from './program.ts';
import { meta, QUOTE_SPOT_INDEX, remainingAccounts } from './remaining.ts';

/** Wrapped SOL: its account is filled from the wallet's lamports. */
export const NATIVE_MINT = new PublicKey('So11111111111111111111111111111111111111112');
const CREATE_IDEMPOTENT = Buffer.from([1]);
const SYNC_NATIVE = Buffer.from([17]);
const CLOSE_ACCOUNT = Buffer.from([9]);
const RATIO_SCALE = 10_000n;
const SET_RATIO = 'update_user_perp_position_custom_margin_ratio';

/** The program of the deployment and its markets as read from the chain. */
export interface Exchange {
  readonly program: ExchangeProgram;
  readonly markets: Markets;
}

export interface Order {
  readonly market: PerpMarket;
  readonly direction: 'long' | 'short';
  readonly orderType: 'market' | 'limit' | 'triggerMarket' | 'triggerLimit' | 'oracle';
  /** 1e9. */
  readonly base: bigint;
  /** 1e6; 0 for an order without a fixed price. */
  readonly price: bigint;
  readonly reduceOnly: boolean;
  readonly postOnly: boolean;
  /** Price 1e6. Null for an order that is active at once. */
  readonly trigger: { readonly price: bigint; readonly condition: 'above' | 'below' } | null;
  /** Price less the oracle price, 1e6. Null for an order that does not follow the oracle. */
  readonly oracleOffset: bigint | null;
  /** Least initial margin ratio of the position, 1e4; null leaves it as it is. */
  readonly maxMarginRatio: number | null;
  /** Place of an approved builder in the escrow of the authority, and its fee. */
  readonly builder: { readonly index: number; readonly feeTenthBps: number } | null;
}

export function depositCalls(
  { program, markets }: Exchange,
  user: UserAccount,
  spot: SpotMarket,
  amount: bigint,
): TransactionInstruction[] {
  const tokens = associatedTokenAddress(user.authority, spot.mint, spot.tokenProgram);
  const deposit = program.instruction(
    'deposit',
    { market_index: spot.index, amount, reduce_only: false },
    tokenMoveAccounts(program, user, spot, tokens),
    [...remainingAccounts(markets, { user, writableSpots: [spot.index] }), ...mintOf(spot)],
  );
  if (!spot.mint.equals(NATIVE_MINT)) return [deposit];
  return [
    createTokenAccount(user.authority, spot, tokens),
    SystemProgram.transfer({ fromPubkey: user.authority, toPubkey: tokens, lamports: amount }),
    new TransactionInstruction({ programId: spot.tokenProgram, keys: [meta(tokens, true)], data: SYNC_NATIVE }),
    deposit,
  ];
}

/** The accounts that a deposit and a withdrawal have alike. */
function tokenMoveAccounts(program: ExchangeProgram, user: UserAccount, spot: SpotMarket, tokens: PublicKey) {
  return {
    state: program.state,
    user: user.key,
    user_stats: program.userStats(user.authority),
    authority: user.authority,
    spot_market_vault: spot.vault,
    user_token_account: tokens,
    token_program: spot.tokenProgram,
  };
}

export function withdrawCalls(
  { program, markets }: Exchange,
  user: UserAccount,
  spot: SpotMarket,
  amount: bigint,
): TransactionInstruction[] {
  const tokens = associatedTokenAddress(user.authority, spot.mint, spot.tokenProgram);
  const wanted = { user, spots: [QUOTE_SPOT_INDEX], writableSpots: [spot.index] };
  const withdraw = program.instruction(
    'withdraw',
    { market_index: spot.index, amount, reduce_only: false },
    { ...tokenMoveAccounts(program, user, spot, tokens), [program.signerAccount]: program.signer },
    [...remainingAccounts(markets, wanted), ...mintOf(spot)],
  );
  const calls = [createTokenAccount(user.authority, spot, tokens), withdraw];
  return spot.mint.equals(NATIVE_MINT) ? [...calls, closeTokenAccount(user.authority, spot, tokens)] : calls;
}

/** Token-2022 transfers need the mint. */
function mintOf(spot: SpotMarket) {
  return spot.isToken2022 ? [meta(spot.mint, false)] : [];
}

function createTokenAccount(owner: PublicKey, spot: SpotMarket, tokens: PublicKey): TransactionInstruction {
  const keys = [
    { pubkey: owner, isSigner: true, isWritable: true },
    meta(tokens, true),
    meta(owner, false),
    meta(spot.mint, false),
    meta(SystemProgram.programId, false),
    meta(spot.tokenProgram, false),
  ];
  return new TransactionInstruction({ programId: ASSOCIATED_TOKEN_PROGRAM, keys, data: CREATE_IDEMPOTENT });
}

/** Returns wrapped SOL to the wallet. */
function closeTokenAccount(owner: PublicKey, spot: SpotMarket, tokens: PublicKey): TransactionInstruction {
  const keys = [meta(tokens, true), meta(owner, true), { pubkey: owner, isSigner: true, isWritable: false }];
  return new TransactionInstruction({ programId: spot.tokenProgram, keys, data: CLOSE_ACCOUNT });
}

/**
 * The program's order parameters. Members that a deployment does not have are left out of its bytes. Throws TxError for an
 * oracle offset that its program cannot hold.
 */
export function orderParams(program: ExchangeProgram, order: Order): Record<string, unknown> {
  const { oracleOffset } = order;
  if (oracleOffset !== null && !program.fits('OrderParams', 'oracle_price_offset', oracleOffset)) {
    throw new TxError('oracleOffset');
  }
  return {
    order_type: order.orderType,
    market_type: 'perp',
    direction: order.direction,
    user_order_id: 0,
    base_asset_amount: order.base,
    price: order.price,
    market_index: order.market.index,
    reduce_only: order.reduceOnly,
    post_only: order.postOnly ? 'mustPostOnly' : 'none',
    bit_flags: 0,
    max_ts: null,
    trigger_price: order.trigger?.price ?? null,
    trigger_condition: order.trigger?.condition ?? 'above',
    oracle_price_offset: oracleOffset,
    builder_idx: order.builder?.index ?? null,
    builder_fee_tenth_bps: order.builder?.feeTenthBps ?? null,
  };
}

/** Throws TxError for a part of the order that the program of the deployment does not have. */
export function placeOrderCalls(
  { program, markets }: Exchange,
  user: UserAccount,
  order: Order,
  isIsolated: boolean,
): TransactionInstruction[] {
  if (order.builder && !program.hasField('OrderParams', 'builder_idx')) {
    throw new TxError('unsupported', 'builderParams of orders without useSwift');
  }
  const remaining = remainingAccounts(markets, { user, perps: [order.market.index] });
  // The program looks the builder up in the escrow.
  if (order.builder) remaining.push(meta(program.revenueShareEscrow(user.authority), true));
  const place = program.instruction(
    'place_perp_order',
    { params: orderParams(program, order) },
    { state: program.state, user: user.key, authority: user.authority },
    remaining,
  );
  const deposit = isolatedDeposit(order, isIsolated);
  return [
    ...leverageCalls(program, user, order),
    ...(deposit === null ? [] : [isolate({ program, markets }, user, order.market, deposit)]),
    place,
  ];
}

/** Sets the least initial margin ratio of the order's position. */
function leverageCalls(program: ExchangeProgram, user: UserAccount, order: Order): TransactionInstruction[] {
  if (order.maxMarginRatio === null) return [];
  if (!program.hasInstruction(SET_RATIO)) throw new TxError('unsupported', 'positionMaxLeverage');
  const args = {
    sub_account_id: user.subAccountId,
    perp_market_index: order.market.index,
    margin_ratio: order.maxMarginRatio,
  };
  return [program.instruction(SET_RATIO, args, { user: user.key, authority: user.authority })];
}

/** Moves quote from the account's deposit to its position. */
function isolate(
  { program, markets }: Exchange,
  user: UserAccount,
  perp: PerpMarket,
  amount: bigint,
): TransactionInstruction {
  const quote = markets.spots[perp.quoteSpotIndex];
  if (!quote) throw new Error(`no spot market ${perp.quoteSpotIndex}`);
  return program.instruction(
    'transfer_isolated_perp_position_deposit',
    { spot_market_index: quote.index, perp_market_index: perp.index, amount },
    {
      user: user.key,
      user_stats: program.userStats(user.authority),
      authority: user.authority,
      state: program.state,
      spot_market_vault: quote.vault,
    },
    remainingAccounts(markets, { user, writablePerps: [perp.index], writableSpots: [quote.index] }),
  );
}

/** Quote, 1e6, that an order moves to its position: the order's initial margin. Null where it moves none: it only reduces, or margin is cross. */
export function isolatedDeposit(order: Order, isIsolated: boolean): bigint | null {
  return isIsolated && !order.reduceOnly ? marginOf(order) : null;
}

/** Initial margin of an order, quote 1e6, rounded up: size times price times ratio. An order without a fixed price counts at the oracle. */
function marginOf({ market, base, price, oracleOffset, maxMarginRatio }: Order): bigint {
  const orderPrice = price === 0n ? market.oraclePrice + (oracleOffset ?? 0n) : price;
  const ratio = Math.max(market.marginRatioInitial, maxMarginRatio ?? 0);
  const worth = base * (orderPrice > 0n ? orderPrice : 0n) * BigInt(ratio);
  const scale = BASE_PRECISION * RATIO_SCALE;
  return (worth + scale - 1n) / scale;
}

export type Cancellation =
  | { readonly kind: 'ids'; readonly orderIds: readonly number[] }
  | { readonly kind: 'market'; readonly market: PerpMarket }
  | { readonly kind: 'all' };

export function cancelCalls(
  { program, markets }: Exchange,
  user: UserAccount,
  cancellation: Cancellation,
): TransactionInstruction[] {
  const accounts = { state: program.state, user: user.key, authority: user.authority };
  if (cancellation.kind === 'ids') {
    const remaining = remainingAccounts(markets, { user });
    const [first, ...others] = cancellation.orderIds;
    return others.length === 0
      ? [program.instruction('cancel_order', { order_id: first }, accounts, remaining)]
      : [program.instruction('cancel_orders_by_ids', { order_ids: cancellation.orderIds }, accounts, remaining)];
  }
  const index = cancellation.kind === 'market' ? cancellation.market.index : null;
  const remaining = remainingAccounts(markets, { user, perps: index === null ? [] : [index] });
  const args = { market_type: index === null ? null : 'perp', market_index: index, direction: null };
  return [program.instruction('cancel_orders', args, accounts, remaining)];
}

/** Settles each market that can settle; one that cannot does not fail the others. A single market must settle. */
export function settleCalls(
  { program, markets }: Exchange,
  user: UserAccount,
  perpIndexes: readonly number[],
): TransactionInstruction[] {
  const quote = markets.spots[QUOTE_SPOT_INDEX];
  if (!quote) throw new Error('no quote spot market');
  const remaining = remainingAccounts(markets, {
    user,
    writablePerps: perpIndexes,
    writableSpots: [QUOTE_SPOT_INDEX],
  });
  // The program clears completed builder orders of the escrow.
  if (user.hasBuilderOrder) remaining.push(meta(program.revenueShareEscrow(user.authority), true));
  const accounts = {
    state: program.state,
    user: user.key,
    authority: user.authority,
    spot_market_vault: quote.vault,
  };
  const [only, ...others] = perpIndexes;
  return others.length === 0
    ? [program.instruction('settle_pnl', { market_index: only }, accounts, remaining)]
    : [
        program.instruction(
          'settle_multiple_pnls',
          { market_indexes: perpIndexes, mode: 'trySettle' },
          accounts,
          remaining,
        ),
      ];
}

export function initBuilderCalls(program: ExchangeProgram, builder: PublicKey): TransactionInstruction[] {
  const accounts = {
    revenue_share: program.revenueShare(builder),
    authority: builder,
    payer: builder,
    rent: SYSVAR_RENT_PUBKEY,
    system_program: SystemProgram.programId,
  };
  return [program.instruction('initialize_revenue_share', {}, accounts)];
}

export function createEscrowCalls(
  program: ExchangeProgram,
  authority: PublicKey,
  numOrders: number,
): TransactionInstruction[] {
  const accounts = {
    escrow: program.revenueShareEscrow(authority),
    authority,
    user_stats: program.userStats(authority),
    state: program.state,
    payer: authority,
    rent: SYSVAR_RENT_PUBKEY,
    system_program: SystemProgram.programId,
  };
  return [program.instruction('initialize_revenue_share_escrow', { num_orders: numOrders }, accounts)];
}

export function approveBuilderCalls(
  program: ExchangeProgram,
  authority: PublicKey,
  builder: PublicKey,
  maxFeeTenthBps: number,
): TransactionInstruction[] {
  const accounts = {
    escrow: program.revenueShareEscrow(authority),
    authority,
    payer: authority,
    system_program: SystemProgram.programId,
  };
  // Deployments differ in the name of the fee.
  const args = { builder, max_fee_tenth_bps: maxFeeTenthBps, max_fee_bps: maxFeeTenthBps, add: true };
  return [program.instruction('change_approved_builder', args, accounts)];
}
