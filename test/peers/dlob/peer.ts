// @drift-labs/sdk to compare with, and its DLOB behind the few calls of the book bench. The package is installed on demand from
// the lock file beside this file; the product does not depend on it.

import { createRequire } from 'node:module';
import { type Change, MID_PRICE, makerOf, ORDER_SIZE } from '../../support/processors/book/book-flow.ts';
import { installPeer } from '../install.ts';

const PACKAGE = '@drift-labs/sdk';

type Variant = Readonly<Record<string, Record<string, never>>>;
type Big = object;
type PeerOrder = Readonly<Record<string, unknown>>;
interface List {
  update(order: PeerOrder, account: string): void;
}
interface Dlob {
  insertOrder(order: PeerOrder, account: string, slot: number, isProtected: boolean, base: Big): void;
  delete(order: PeerOrder, account: object, slot: number, isProtected: boolean): void;
  getListForOnChainOrder(order: PeerOrder, slot: number, isProtected: boolean): List | undefined;
  getL2(request: Readonly<Record<string, unknown>>): unknown;
  getL3(request: Readonly<Record<string, unknown>>): unknown;
}

export interface PeerBook {
  /** Makes the input of the library's own decoder, outside the measured time. */
  prepare(change: Change): PeerOrder;
  applyPrepared(change: Change, order: PeerOrder): void;
  apply(change: Change): void;
  /** 100 levels per side. */
  readL2(slot: number): void;
  /** Every resting order. */
  readL3(slot: number): void;
}

export interface Peer {
  readonly name: string;
  create(): PeerBook;
}

/** A `require` that finds the peer. Installs it when it is missing; throws an Error when the install fails. */
export function requirePeer(): NodeJS.Require {
  installPeer(new URL('.', import.meta.url), PACKAGE);
  return createRequire(new URL('package.json', import.meta.url));
}

/** Loads the peer's book. Installs it when it is missing; throws an Error when the install fails. */
export async function loadPeer(): Promise<Peer> {
  const require = requirePeer();
  const { DLOB } = require(`${PACKAGE}/lib/node/dlob/DLOB`) as { DLOB: new () => Dlob };
  const { BN } = require('@coral-xyz/anchor') as { BN: new (value: string | number) => Big };
  const { PublicKey } = require('@solana/web3.js') as { PublicKey: new (key: Uint8Array) => { toBase58(): string } };
  const { version } = require(`${PACKAGE}/package.json`) as { version: string };
  const variant = (name: string): Variant => ({ [name]: {} });
  const zero = new BN(0);
  const accounts = new Map<Uint8Array, { readonly key: object; readonly text: string }>();
  const accountOf = (orderId: number) => {
    const maker = makerOf(orderId);
    const known = accounts.get(maker);
    if (known) return known;
    const key = new PublicKey(maker);
    const account = { key, text: key.toBase58() };
    accounts.set(maker, account);
    return account;
  };
  return {
    name: `${PACKAGE} ${version}`,
    create() {
      const dlob = new DLOB();
      const oraclePriceData = { price: new BN(MID_PRICE), slot: zero, confidence: zero };
      const prepare = (change: Change): PeerOrder => ({
        status: variant('open'),
        orderType: variant('limit'),
        marketType: variant('perp'),
        direction: variant(change.isLong ? 'long' : 'short'),
        triggerCondition: variant('above'),
        existingPositionDirection: variant('long'),
        slot: new BN(change.placedSlot),
        orderId: change.orderId,
        userOrderId: 0,
        marketIndex: 0,
        price: new BN(change.price),
        baseAssetAmount: new BN(String(ORDER_SIZE)),
        baseAssetAmountFilled: new BN(String(change.filled)),
        quoteAssetAmountFilled: zero,
        triggerPrice: zero,
        reduceOnly: false,
        postOnly: true,
        immediateOrCancel: false,
        oraclePriceOffset: 0,
        auctionDuration: 0,
        auctionStartPrice: zero,
        auctionEndPrice: zero,
        maxTs: zero,
        bitFlags: 0,
        postedSlotTail: 0,
      });
      const applyPrepared = (change: Change, order: PeerOrder): void => {
        const account = accountOf(change.orderId);
        if (change.kind === 'cancel') dlob.delete(order, account.key, change.slot, false);
        else if (change.kind === 'fill') {
          dlob.getListForOnChainOrder(order, change.slot, false)?.update(order, account.text);
        } else dlob.insertOrder(order, account.text, change.slot, false, order.baseAssetAmount as Big);
      };
      return {
        prepare,
        applyPrepared,
        apply: (change) => applyPrepared(change, prepare(change)),
        readL2(slot) {
          dlob.getL2({ marketIndex: 0, marketType: variant('perp'), slot, oraclePriceData, depth: 100 });
        },
        readL3(slot) {
          dlob.getL3({ marketIndex: 0, marketType: variant('perp'), slot, oraclePriceData });
        },
      };
    },
  };
}
