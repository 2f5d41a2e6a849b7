// User accounts: what an update changed among open orders and perp positions.

import type { OrderState } from '../../schemas/index.ts';
import { viewOf } from '../decode/account.ts';
import { changedBlocks } from '../decode/blocks.ts';
import type { PerpPosition, UserReader } from '../decode/user.ts';
import type { AccountUpdate } from '../source.ts';
import { type Emit, keyText, OrderChanges, parkAccount } from './output.ts';

interface HeldUser {
  readonly pubkey: Uint8Array;
  readonly authority: Uint8Array;
  readonly subAccountId: number;
  readonly view: DataView;
  readonly bytes: Uint8Array;
}

export interface UserHooks {
  /** A User account and whose it is. */
  learned(user: Uint8Array, authority: Uint8Array, subAccountId: number): void;
  /** The position that caps the user's reduce-only orders in a perp market changed. */
  positionChanged(user: Uint8Array, marketIndex: number, slot: number): void;
}

export class UserDiffer {
  readonly #reader: UserReader;
  readonly #hooks: UserHooks;
  readonly #users = new Map<string, HeldUser>();
  readonly #blank: Uint8Array;

  constructor(reader: UserReader, hooks: UserHooks) {
    this.#reader = reader;
    this.#hooks = hooks;
    this.#blank = new Uint8Array(reader.account.bytes);
  }

  /**
   * Takes a User account as it is now. `everything` also reports positions that are zero, for readers whose state may
   * be older than this process. Throws AccountError when the data cannot be read; nothing is changed then.
   */
  apply(update: AccountUpdate, emit: Emit, everything: boolean): void {
    const opened = this.#reader.account.open(update.data);
    const bytes = new Uint8Array(opened.buffer, opened.byteOffset, this.#reader.account.bytes);
    const key = keyText(update.pubkey);
    const before = this.#users.get(key);
    const after: HeldUser = {
      pubkey: update.pubkey,
      authority: before?.authority ?? this.#reader.authority(opened),
      subAccountId: before?.subAccountId ?? this.#reader.subAccountId(opened),
      view: opened,
      bytes,
    };
    this.#users.set(key, after);
    if (!before) this.#hooks.learned(update.pubkey, after.authority, after.subAccountId);
    this.#difference(before?.bytes ?? this.#blank, after, update, emit, everything && !before);
  }

  /** The account is gone: its orders are removed, its positions are zero. */
  close(update: AccountUpdate, emit: Emit): void {
    const key = keyText(update.pubkey);
    const before = this.#users.get(key);
    if (!before) return;
    const blank: HeldUser = { ...before, view: viewOf(this.#blank, 0), bytes: this.#blank };
    this.#users.set(key, blank);
    this.#difference(before.bytes, blank, update, emit, false);
    this.#users.delete(key);
  }

  /** Base amount (1e9) that caps reduce-only orders: the perp position with at least one open order, else 0. */
  cappingBase(user: Uint8Array, marketIndex: number): bigint {
    const held = this.#users.get(keyText(user));
    return held ? capOf(findPosition(this.#reader, held.view, marketIndex)) : 0n;
  }

  #difference(before: Uint8Array, after: HeldUser, update: AccountUpdate, emit: Emit, everything: boolean): void {
    const caps = this.#positions(before, after, update.slot, emit, everything);
    this.#orders(before, after, update, emit, caps);
    for (const marketIndex of caps) this.#hooks.positionChanged(after.pubkey, marketIndex, update.slot);
  }

  /** Emits changed positions; returns the perp markets in which the cap of reduce-only orders changed. */
  #positions(before: Uint8Array, after: HeldUser, slot: number, emit: Emit, everything: boolean): ReadonlySet<number> {
    const reader = this.#reader;
    const { offset, stride, length: count } = reader.positions;
    const old = viewOf(before, 0);
    const markets = new Set<number>();
    const touch = (view: DataView, index: number) => {
      if (everything || reader.isPositionUsed(view, index)) markets.add(reader.positionMarket(view, index));
    };
    if (everything) for (let index = 0; index < count; index++) touch(after.view, index);
    changedBlocks(before, after.bytes, { offset, stride, count }, (index) => {
      touch(old, index);
      touch(after.view, index);
    });
    const caps = new Set<number>();
    for (const marketIndex of markets) {
      const was = findPosition(reader, old, marketIndex);
      const is = findPosition(reader, after.view, marketIndex);
      if (capOf(was) !== capOf(is)) caps.add(marketIndex);
      if (!everything && same(was, is)) continue;
      const { pubkey: user, authority } = after;
      emit({
        name: 'PositionState',
        value: { marketType: 'perp', slot, user, authority, ...(is ?? empty(marketIndex)) },
      });
    }
    return caps;
  }

  #orders(before: Uint8Array, after: HeldUser, update: AccountUpdate, emit: Emit, caps: ReadonlySet<number>): void {
    const reader = this.#reader;
    const { offset, stride, length: count } = reader.orders;
    const old = viewOf(before, 0);
    const changes = new OrderChanges('user', update.pubkey, update.slot);
    const done = new Set<number>();
    changedBlocks(before, after.bytes, { offset, stride, count }, (slot) => {
      done.add(slot);
      if (reader.isResting(old, slot) && !this.#stillRests(old, slot, after.view)) {
        changes.remove(reader.isPerp(old, slot) ? 'perp' : 'spot', reader.marketIndex(old, slot), {
          maker: update.pubkey,
          orderId: reader.orderId(old, slot),
        });
      }
      if (reader.isResting(after.view, slot)) this.#upsert(after, slot, update, changes, emit);
    });
    for (let slot = 0; caps.size > 0 && slot < count; slot++) {
      const { view } = after;
      if (done.has(slot) || !reader.isResting(view, slot) || !reader.isReduceOnly(view, slot)) continue;
      if (reader.isPerp(view, slot) && caps.has(reader.marketIndex(view, slot))) {
        this.#upsert(after, slot, update, changes, emit);
      }
    }
    changes.emit(emit);
  }

  /** Whether the order that was in this slot rests in the account now, here or in another slot. */
  #stillRests(old: DataView, slot: number, now: DataView): boolean {
    const reader = this.#reader;
    const same = (other: number) =>
      reader.isResting(now, other) &&
      reader.orderId(now, other) === reader.orderId(old, slot) &&
      reader.marketIndex(now, other) === reader.marketIndex(old, slot) &&
      reader.isPerp(now, other) === reader.isPerp(old, slot);
    if (same(slot)) return true;
    for (let other = 0; other < reader.orders.length; other++) if (same(other)) return true;
    return false;
  }

  #upsert(user: HeldUser, slot: number, update: AccountUpdate, changes: OrderChanges, emit: Emit): void {
    const reader = this.#reader;
    const order = reader.order(user.view, slot);
    if (!order) {
      parkAccount(emit, update, 'unknown_enum', `order slot ${slot} of ${reader.account.name}`);
      return;
    }
    const perp = reader.isPerp(user.view, slot);
    const marketIndex = reader.marketIndex(user.view, slot);
    const state: OrderState = {
      ...order,
      maker: user.pubkey,
      positionBaseAmount: perp && order.reduceOnly ? capOf(findPosition(reader, user.view, marketIndex)) : 0n,
      bookOrderId: null,
    };
    changes.upsert(perp ? 'perp' : 'spot', marketIndex, state);
  }
}

function findPosition(reader: UserReader, view: DataView, marketIndex: number): PerpPosition | null {
  for (let index = 0; index < reader.positions.length; index++) {
    if (reader.positionMarket(view, index) === marketIndex && reader.isPositionUsed(view, index)) {
      return reader.position(view, index);
    }
  }
  return null;
}

function capOf(position: PerpPosition | null): bigint {
  return position && position.openOrders > 0 ? position.baseAssetAmount : 0n;
}

function empty(marketIndex: number): PerpPosition {
  return {
    marketIndex,
    baseAssetAmount: 0n,
    quoteAssetAmount: 0n,
    quoteEntryAmount: 0n,
    quoteBreakEvenAmount: 0n,
    lastCumulativeFundingRate: 0n,
    openOrders: 0,
  };
}

function same(was: PerpPosition | null, is: PerpPosition | null): boolean {
  if (!was || !is) return was === is;
  return (Object.keys(was) as (keyof PerpPosition)[]).every((key) => was[key] === is[key]);
}
