// Diffs User accounts: which open orders and perp positions changed with an update.

import bs58 from 'bs58';
import { type AccountStateOrder, keyText, type MarketRef, type OrderState } from '../../schemas/index.ts';
import { viewOf } from '../decode/account.ts';
import { changedBlocks, isSameRange } from '../decode/blocks.ts';
import type { PerpPosition, UserReader } from '../decode/user.ts';
import type { AccountUpdate } from '../source.ts';
import { type Emit, OrderChanges, parkAccount, type WriteOfAccount } from './output.ts';

interface UserState {
  readonly key: string;
  readonly pubkey: Uint8Array;
  readonly authority: Uint8Array;
  readonly view: DataView;
  readonly bytes: Buffer;
}

const NONE: ReadonlySet<number> = new Set();
/** Remembered addresses in base58: encoding them is slow. */
const TEXTS_MAX = 20_000;

export interface UserHooks {
  /** Data of a User account by its key text; null for one that is closed or not known. */
  stored(key: string): Uint8Array | null;
  /** The User account that is being compared appeared, with its authority and sub-account id. */
  userFound(authority: Uint8Array, subAccountId: number): void;
  /** The position that caps the user's reduce-only orders in a perp market changed. */
  positionChanged(user: Uint8Array, marketIndex: number, write: WriteOfAccount): void;
}

export class UserDiffer {
  readonly #reader: UserReader;
  readonly #hooks: UserHooks;
  readonly #texts = new Map<string, string>();
  readonly #blank: Buffer;
  /** The account whose change is being compared: it is not stored yet. */
  #applied: UserState | null = null;

  constructor(reader: UserReader, hooks: UserHooks) {
    this.#reader = reader;
    this.#hooks = hooks;
    this.#blank = Buffer.alloc(reader.account.bytes);
  }

  /**
   * Compares a User account's new state with the data before; null: it appeared. `everything` also emits zero positions, for
   * readers with the state of an earlier process. Throws AccountError for unreadable data and then changes nothing.
   */
  apply(update: AccountUpdate, before: Uint8Array | null, emit: Emit, everything: boolean): void {
    const reader = this.#reader;
    const view = reader.account.open(update.data);
    const earlier = before && reader.account.open(before);
    const after = this.#state(update.pubkey, view, reader.authority(view));
    this.#counts(earlier, after, update.slot, emit);
    if (!earlier) this.#hooks.userFound(after.authority, reader.subAccountId(view));
    const bytes = earlier ? this.#bytesOf(earlier) : this.#blank;
    this.#difference(bytes, after, update, emit, everything && !earlier);
  }

  #state(pubkey: Uint8Array, view: DataView, authority: Uint8Array): UserState {
    return { key: keyText(pubkey), pubkey, authority, view, bytes: this.#bytesOf(view) };
  }

  #bytesOf(view: DataView): Buffer {
    return Buffer.from(view.buffer, view.byteOffset, this.#reader.account.bytes);
  }

  /** An account without any order or liquidation says nothing at its first sight: its first record brings both counts. */
  #counts(before: DataView | null, { key, pubkey, view }: UserState, slot: number, emit: Emit): void {
    for (const { stream, lastId: lastIdOf } of this.#reader.counts) {
      const lastId = lastIdOf(view);
      const fromId = before && lastIdOf(before);
      if (lastId === (fromId ?? 0)) continue;
      // The accounts of a full read appear once, and would drive out those that change.
      const subject = before ? this.#textOf(key, pubkey) : bs58.encode(pubkey);
      emit({ name: 'StreamCounter', value: { subject, stream, slot, lastId, fromId } });
    }
  }

  #textOf(key: string, pubkey: Uint8Array): string {
    let text = this.#texts.get(key);
    if (text === undefined) {
      if (this.#texts.size >= TEXTS_MAX) this.#texts.clear();
      text = bs58.encode(pubkey);
      this.#texts.set(key, text);
    }
    return text;
  }

  /** Removes the orders of an account that is closed, and sets its positions to zero. */
  close(update: AccountUpdate, before: Uint8Array | null, emit: Emit): void {
    if (!before) return;
    const earlier = this.#reader.account.open(before);
    const blank = this.#state(update.pubkey, viewOf(this.#blank, 0), this.#reader.authority(earlier));
    this.#difference(this.#bytesOf(earlier), blank, update, emit, false);
  }

  /** Base amount (1e9) that caps reduce-only orders: the perp position if it has an open order, else 0. */
  cappingBase(user: Uint8Array, marketIndex: number): bigint {
    const key = keyText(user);
    if (this.#applied?.key === key) return capOf(findPosition(this.#reader, this.#applied.view, marketIndex));
    const stored = this.#hooks.stored(key);
    return stored ? capOf(findPosition(this.#reader, this.#reader.account.open(stored), marketIndex)) : 0n;
  }

  #difference(before: Buffer, after: UserState, update: AccountUpdate, emit: Emit, everything: boolean): void {
    this.#applied = after;
    const caps = this.#positions(before, after, update.slot, emit, everything);
    const changed = this.#orders(before, after, update, emit, caps);
    if (changed.size > 0) this.#openOrders(changed, viewOf(before, 0), after, update, emit);
    for (const marketIndex of caps) this.#hooks.positionChanged(after.pubkey, marketIndex, update);
    this.#applied = null;
  }

  /** Markets of an account's open orders; none of data that cannot be read. */
  openMarkets(data: Uint8Array): readonly MarketRef[] {
    const reader = this.#reader;
    if (data.length < reader.account.bytesMin) return [];
    const view = reader.account.open(data);
    const markets: MarketRef[] = [];
    for (let index = 0; index < reader.orders.length; index++) {
      if (!reader.isOpen(view, index)) continue;
      const marketType = reader.isPerp(view, index) ? 'perp' : 'spot';
      markets.push({ marketType, marketIndex: reader.marketIndex(view, index) });
    }
    return markets;
  }

  /** Emits changed positions. Returns the perp markets whose cap of reduce-only orders changed. */
  #positions(before: Buffer, after: UserState, slot: number, emit: Emit, everything: boolean): ReadonlySet<number> {
    const reader = this.#reader;
    const { offset, stride, length: count } = reader.positions;
    if (!everything && isSameRange(before, after.bytes, offset, offset + stride * count)) return NONE;
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

  /** Returns the indexes of the entries that changed. */
  #orders(
    before: Buffer,
    after: UserState,
    update: AccountUpdate,
    emit: Emit,
    caps: ReadonlySet<number>,
  ): ReadonlySet<number> {
    const reader = this.#reader;
    const { offset, stride, length: count } = reader.orders;
    if (caps.size === 0 && isSameRange(before, after.bytes, offset, offset + stride * count)) return NONE;
    const old = viewOf(before, 0);
    const changes = new OrderChanges('user', update.pubkey, update);
    const done = new Set<number>();
    changedBlocks(before, after.bytes, { offset, stride, count }, (index) => {
      done.add(index);
      if (reader.isResting(old, index) && !this.#restsIn(old, index, after.view)) {
        changes.remove(reader.isPerp(old, index) ? 'perp' : 'spot', reader.marketIndex(old, index), {
          maker: update.pubkey,
          orderId: reader.orderId(old, index),
        });
      }
      if (reader.isResting(after.view, index)) this.#upsert(after, index, update, changes, emit);
    });
    for (let index = 0; caps.size > 0 && index < count; index++) {
      const { view } = after;
      if (done.has(index) || !reader.isResting(view, index) || !reader.isReduceOnly(view, index)) continue;
      if (reader.isPerp(view, index) && caps.has(reader.marketIndex(view, index))) {
        this.#upsert(after, index, update, changes, emit);
      }
    }
    changes.emit(emit);
    return done;
  }

  /** Emits all open orders of each market of which one changed. */
  #openOrders(
    changed: ReadonlySet<number>,
    before: DataView,
    after: UserState,
    { slot, pubkey: user }: AccountUpdate,
    emit: Emit,
  ): void {
    for (const market of this.#changedMarkets(changed, before, after.view)) {
      const orders = this.#accountOrders(after.view, market);
      if (orders !== null) emit({ name: 'UserOrders', value: { ...market, slot, user, orders } });
    }
  }

  #changedMarkets(changed: ReadonlySet<number>, before: DataView, after: DataView): readonly MarketRef[] {
    const reader = this.#reader;
    const markets: MarketRef[] = [];
    const touch = (view: DataView, index: number): void => {
      if (!reader.isOpen(view, index)) return;
      const marketType = reader.isPerp(view, index) ? 'perp' : 'spot';
      const marketIndex = reader.marketIndex(view, index);
      const isKnown = markets.some((one) => one.marketType === marketType && one.marketIndex === marketIndex);
      if (!isKnown) markets.push({ marketType, marketIndex });
    };
    for (const index of changed) {
      touch(before, index);
      touch(after, index);
    }
    return markets;
  }

  /** Open orders of a market. Null when one cannot be read: a list without it would say that it is closed. */
  #accountOrders(view: DataView, { marketType, marketIndex }: MarketRef): AccountStateOrder[] | null {
    const reader = this.#reader;
    const isPerp = marketType === 'perp';
    const orders: AccountStateOrder[] = [];
    for (let index = 0; index < reader.orders.length; index++) {
      if (!reader.isOpen(view, index)) continue;
      if (reader.marketIndex(view, index) !== marketIndex || reader.isPerp(view, index) !== isPerp) continue;
      const order = reader.accountOrder(view, index);
      if (!order) return null;
      orders.push(order);
    }
    return orders;
  }

  /** Whether the order of an old entry still rests in the account, in the same entry or another one. */
  #restsIn(old: DataView, index: number, now: DataView): boolean {
    const reader = this.#reader;
    const same = (other: number) =>
      reader.isResting(now, other) &&
      reader.orderId(now, other) === reader.orderId(old, index) &&
      reader.marketIndex(now, other) === reader.marketIndex(old, index) &&
      reader.isPerp(now, other) === reader.isPerp(old, index);
    if (same(index)) return true;
    for (let other = 0; other < reader.orders.length; other++) if (same(other)) return true;
    return false;
  }

  #upsert(user: UserState, index: number, update: AccountUpdate, changes: OrderChanges, emit: Emit): void {
    const reader = this.#reader;
    const order = reader.order(user.view, index);
    if (!order) {
      parkAccount(emit, update, 'unknown_enum', `order entry ${index} of ${reader.account.name}`);
      return;
    }
    const perp = reader.isPerp(user.view, index);
    const marketIndex = reader.marketIndex(user.view, index);
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
