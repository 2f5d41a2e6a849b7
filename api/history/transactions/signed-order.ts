// An order that a wallet signs as a message instead of a transaction; a keeper places it (docs/internals/transactions.md, "Signed
// orders").

import { createHash, randomBytes } from 'node:crypto';
import type { UserAccount } from './accounts.ts';
import { type Order, orderParams } from './calls.ts';
import type { ExchangeProgram } from './program.ts';

const UUID_BYTES = 8;
const DISCRIMINATOR_BYTES = 8;
/** Slots from now until the slot in the message: time for the wallet to sign. */
const SIGNING_SLOTS = 7;
const GUARD_SLOTS = 5;
/** Slots of the auction of a market or oracle order, and of the wait of an order without one. */
const AUCTION_SLOTS = 20;
const PLACING_SLOTS = 35;
const SLOT_MS = 400;

export interface SignedOrder {
  readonly payload: {
    readonly market_index: number;
    readonly market_type: 'perp';
    /** Hex text to sign as it stands. */
    readonly message: string;
    /** Empty: the client fills it in. */
    readonly signature: '';
    readonly signing_authority: string;
    readonly taker_authority: string;
  };
  readonly meta: {
    /** Base64. */
    readonly signedMsgOrderUuid: string;
    readonly slotForSignedMsg: string;
    readonly slotsTillAuctionEnd: number;
    readonly expirationTimeMs: number;
  };
}

export interface SignedOrderOptions {
  readonly slot: number;
  /** Quote deposit that moves to an isolated position, 1e6; null where none moves. */
  readonly isolatedDeposit: bigint | null;
  readonly uuid?: Buffer;
}

export function signedOrder(
  program: ExchangeProgram,
  user: UserAccount,
  order: Order,
  { slot, isolatedDeposit, uuid = randomBytes(UUID_BYTES) }: SignedOrderOptions,
): SignedOrder {
  const signedSlot = slot + SIGNING_SLOTS;
  const body = program.encodeType('SignedMsgOrderParamsMessage', {
    // The message names the builder itself.
    signed_msg_order_params: orderParams(program, { ...order, builder: null }),
    sub_account_id: user.subAccountId,
    slot: BigInt(signedSlot),
    uuid: [...uuid],
    max_margin_ratio: order.maxMarginRatio,
    builder_idx: order.builder?.index ?? null,
    builder_fee_tenth_bps: order.builder?.feeTenthBps ?? null,
    isolated_position_deposit: isolatedDeposit,
  });
  const discriminator = createHash('sha256').update('global:SignedMsgOrderParamsMessage').digest();
  const message = Buffer.concat([discriminator.subarray(0, DISCRIMINATOR_BYTES), body]);
  const slots = order.orderType !== 'limit' ? SIGNING_SLOTS + AUCTION_SLOTS : PLACING_SLOTS;
  const authority = user.authority.toBase58();
  return {
    payload: {
      market_index: order.market.index,
      market_type: 'perp',
      message: message.toString('hex'),
      signature: '',
      signing_authority: authority,
      taker_authority: authority,
    },
    meta: {
      signedMsgOrderUuid: uuid.toString('base64'),
      slotForSignedMsg: String(signedSlot),
      slotsTillAuctionEnd: slots,
      expirationTimeMs: (slots - GUARD_SLOTS) * SLOT_MS,
    },
  };
}
