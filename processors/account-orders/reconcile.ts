// Compares the open orders that events know with those of the user accounts, and says which differences have lasted. Pure.

import bs58 from 'bs58';
import { type AccountOrder, type MarketRef, marketKey, orderKey, type UserOrders } from '../../schemas/index.ts';
import { piecesUnder, prefixed, type SavedPiece, type StatePiece } from '../follow/pieces.ts';
import { Discrepancies, type Discrepancy } from './discrepancies.ts';
import { ListedAccounts } from './listed.ts';

/** Differences that one slot settles: many orders are older than the log when it begins. */
const SETTLED_MAX = 100;

/** Names of pieces in stored states. */
const DISCREPANCIES = 'doubt:';
const LISTED = 'listed:';
const STATES_SLOT = 'states-slot';

/** The orders by the events alone. */
export interface KnownOrders {
  /** Slot of the newest event. */
  newestSlot(): number;
  open(name: string): ReadonlyMap<string, AccountOrder>;
  /** Whether an event has ended the order. */
  isEnded(user: Uint8Array, orderId: number): boolean;
  /** Names of the accounts with open orders. */
  names(): Iterable<string>;
}

/** The repair of a lasting difference: the order as the account has it, open or closed. */
export interface Correction {
  readonly user: Uint8Array;
  /** Slot of the account's state. */
  readonly slot: number;
  readonly order: AccountOrder;
  readonly isOpen: boolean;
}

type Placed = Pick<Discrepancy, 'user' | 'slot'> & { readonly name: string; readonly order: AccountOrder };

export class Reconciliation {
  readonly #known: KnownOrders;
  readonly #discrepancies = new Discrepancies();
  readonly #listed = new ListedAccounts();
  /** Newest slot of the states; 0 before the first state. */
  #statesSlot = 0;
  #isSlotChanged = false;

  constructor(known: KnownOrders) {
    this.#known = known;
  }

  /** Takes the open orders that an account has in a market. */
  take(state: UserOrders): void {
    const name = bs58.encode(state.user);
    this.#see(state.slot);
    this.#listed.add(marketKey(state), name, state.user);
    this.#compare(name, state);
  }

  /** A whole read of a market begins. */
  begin(market: MarketRef, slot: number): void {
    this.#see(slot);
    this.#listed.begin(marketKey(market));
  }

  /** The read has ended: accounts that it did not list have no open order in the market. */
  end({ marketType, marketIndex }: MarketRef, slot: number): void {
    const listed = this.#listed.end(marketKey({ marketType, marketIndex }));
    if (listed === null) return;
    for (const name of new Set([...this.#known.names(), ...this.#discrepancies.names()])) {
      if (listed.has(name)) continue;
      this.#compare(name, { marketType, marketIndex, slot, user: bs58.decode(name), orders: [] });
    }
  }

  /** The states have reached a slot. Slots before the first state do not count. */
  reached(slot: number): void {
    if (this.#statesSlot > 0) this.#see(slot);
  }

  /** An event has placed an order: a state of the account will show it, unless one has already. */
  placed({ name, user, order, slot }: Placed): void {
    const key = orderKey(order);
    if (this.#discrepancies.get(name, key)) this.changed(name, order);
    else if (this.#statesSlot > 0) {
      const placing = { user, key, orderId: order.orderId, order: null, slot, isSeen: false };
      this.#discrepancies.put(name, { ...placing, since: this.#now() });
    }
  }

  /** An event has changed an order that stays open. */
  changed(name: string, order: AccountOrder): void {
    const key = orderKey(order);
    const known = this.#discrepancies.get(name, key);
    if (!known?.order) return;
    if (agrees(order, known.order)) this.#discrepancies.delete(name, key);
    else this.#discrepancies.put(name, { ...known, since: this.#now() });
  }

  /** An event has ended an order. */
  ended(name: string, key: string): void {
    this.#discrepancies.delete(name, key);
  }

  /** Differences that have lasted, each once. */
  settle(): Correction[] {
    const clocks = { events: this.#known.newestSlot(), states: this.#statesSlot };
    const due = this.#discrepancies.due(clocks, SETTLED_MAX);
    for (const { name, discrepancy } of due) this.#discrepancies.delete(name, discrepancy.key);
    return due.flatMap(({ name, discrepancy }) => this.#correction(name, discrepancy) ?? []);
  }

  takeChanges(): StatePiece[] {
    const slot = this.#isSlotChanged ? [{ name: STATES_SLOT, bytes: Buffer.from(String(this.#statesSlot)) }] : [];
    this.#isSlotChanged = false;
    return [
      ...slot,
      ...prefixed(DISCREPANCIES, this.#discrepancies.takeChanges()),
      ...prefixed(LISTED, this.#listed.takeChanges()),
    ];
  }

  restore(pieces: readonly SavedPiece[]): void {
    this.#discrepancies.restore(piecesUnder(DISCREPANCIES, pieces));
    this.#listed.restore(piecesUnder(LISTED, pieces));
    const slot = pieces.find(({ name }) => name === STATES_SLOT);
    if (slot) this.#statesSlot = Number(Buffer.from(slot.bytes).toString('utf8'));
  }

  /** Null when the events have closed the order as well. */
  #correction(name: string, { user, slot, key, order: has }: Discrepancy): Correction | null {
    const mine = this.#known.open(name).get(key);
    const order = mine && has ? merged(mine, has) : (mine ?? has);
    return order && { user, slot, order, isOpen: has !== null };
  }

  #see(slot: number): void {
    if (slot <= this.#statesSlot) return;
    this.#statesSlot = slot;
    this.#isSlotChanged = true;
  }

  #now(): number {
    return Math.max(this.#known.newestSlot(), this.#statesSlot);
  }

  #compare(name: string, state: UserOrders): void {
    const open = this.#known.open(name);
    const has = new Set(state.orders.map(orderKey));
    for (const order of state.orders) this.#has(name, state, order, open.get(orderKey(order)));
    const lacks = ({ marketType, marketIndex }: MarketRef, key: string) =>
      marketType === state.marketType && marketIndex === state.marketIndex && !has.has(key);
    for (const [key, order] of open) if (lacks(order, key)) this.#lacks(name, state, key, order.orderId);
    // Orders that the account had before, of which no event is known yet.
    for (const { key, orderId, order } of [...this.#discrepancies.of(name)]) {
      if (order && !open.has(key) && lacks(order, key)) this.#lacks(name, state, key, orderId);
    }
  }

  /** The account has an order. */
  #has(name: string, { user, slot }: UserOrders, order: AccountOrder, mine: AccountOrder | undefined): void {
    const key = orderKey(order);
    const isRight = mine ? agrees(mine, order) : this.#known.isEnded(user, order.orderId);
    if (isRight) {
      this.#discrepancies.delete(name, key);
      return;
    }
    const before = this.#discrepancies.get(name, key);
    const since = before?.order ? before.since : this.#now();
    this.#discrepancies.put(name, { user, key, orderId: order.orderId, order, slot, since, isSeen: true });
  }

  /** The account does not have an order. */
  #lacks(name: string, { user, slot }: UserOrders, key: string, orderId: number): void {
    const before = this.#discrepancies.get(name, key);
    const isKnown = before?.order === null && before.isSeen;
    // A state from before the placing says nothing.
    const isEarlier = before?.isSeen === false && slot < before.slot;
    if (isKnown || isEarlier) return;
    this.#discrepancies.put(name, { user, key, orderId, order: null, slot, since: this.#now(), isSeen: true });
  }
}

/** Whether events know as much of an open order as the account. They may know more: a state can be late. */
function agrees(mine: AccountOrder, has: AccountOrder): boolean {
  return mine.baseAssetAmountFilled >= has.baseAssetAmountFilled && (isTriggered(mine) || !isTriggered(has));
}

function merged(mine: AccountOrder, has: AccountOrder): AccountOrder {
  const { baseAssetAmountFilled } = has.baseAssetAmountFilled > mine.baseAssetAmountFilled ? has : mine;
  const triggerCondition = isTriggered(mine) ? mine.triggerCondition : has.triggerCondition;
  return { ...mine, baseAssetAmountFilled, triggerCondition };
}

function isTriggered({ triggerCondition }: AccountOrder): boolean {
  return triggerCondition.startsWith('triggered');
}
