// The book reducer of one market: takes messages of the `book` topic, returns published changes. No clock, no I/O; the same
// messages give the same changes with the same epoch and sequence, for any batches.

import type {
  BookMarket,
  BookOracle,
  BookOrders,
  BookRepair,
  BookRevert,
  BookSlot,
  BookSnapshotBegin,
  BookSnapshotEnd,
  BookViewDiff,
  BookViewHead,
  BookViewSnapshot,
  Cause,
  MarketRef,
  MarketView,
  ViewLevel,
  ViewOracle,
  ViewOrder,
} from '../../schemas/index.ts';
import type { EngineHead } from './engine-head.ts';
import { NOBODY } from './ignored.ts';
import type { Side } from './ladder.ts';
import { marketView } from './market-view.ts';
import { CLOB, USER } from './orders.ts';
import { Prefetch } from './prefetch.ts';
import { marketMakerOracle, sameOracle, viewOracle } from './quotes.ts';
import { RestingOrders } from './resting.ts';
import { fitsNumber } from './size.ts';
import { finish, listed, type Steps } from './steps.ts';
import { vammQuotes } from './vamm.ts';
import { VammLevels } from './vamm-levels.ts';

/** Slots between whole snapshots of a book (one minute of 400 ms slots). */
export const SNAPSHOT_EVERY_SLOTS = 150;
/** Keeps markets from sending their snapshots in the same slot. */
const SNAPSHOT_STAGGER_SLOTS = 7;

export type BookMessage =
  | { readonly name: 'BookOrders'; readonly value: BookOrders }
  | { readonly name: 'BookMarket'; readonly value: BookMarket }
  | { readonly name: 'BookOracle'; readonly value: BookOracle }
  | { readonly name: 'BookSlot'; readonly value: BookSlot }
  | { readonly name: 'BookSnapshotBegin'; readonly value: BookSnapshotBegin }
  | { readonly name: 'BookSnapshotEnd'; readonly value: BookSnapshotEnd }
  | { readonly name: 'BookRepair'; readonly value: BookRepair }
  | { readonly name: 'BookRevert'; readonly value: BookRevert };

export class BookEngine {
  readonly ref: MarketRef;
  readonly orders: RestingOrders;
  readonly state: EngineHead;
  #mmOracle: ViewOracle | null = null;
  #exchangeOracle: ViewOracle | null = null;
  #isMmOracleActive = false;
  #headChanged = false;
  readonly #prefetch = new Prefetch();
  readonly #vamm: VammLevels;

  /**
   * `epochAfter`: the new epoch is above it; set when an earlier epoch could not be continued. `ignored`: makers whose
   * orders are not visible.
   */
  constructor(ref: MarketRef, epochAfter = 0, ignored = NOBODY) {
    this.orders = new RestingOrders(ignored);
    this.#vamm = new VammLevels(this.orders);
    this.ref = { marketType: ref.marketType, marketIndex: ref.marketIndex };
    this.state = {
      epoch: -epochAfter,
      seq: 0,
      marketSlot: 0,
      market: null,
      oracle: null,
      bracketSlot: -1,
      snapshotPeriod: 0,
      isLoaded: false,
      snapshotDue: false,
    };
  }

  /** Slot of the newest slot, market, oracle or order update applied. */
  get slot(): number {
    return this.orders.slot;
  }

  /** The newest epoch, continued or not; a new one must be above it. */
  get lastEpoch(): number {
    return Math.abs(this.state.epoch);
  }

  /** Open orders, visible or not. */
  get orderCount(): number {
    return this.orders.table.count;
  }

  /** Orders left out because one of their numbers is beyond 2^53. */
  get leftOut(): number {
    return this.orders.leftOut;
  }

  /**
   * Inside a bracket a loaded book keeps its changes for the end: the slot that it shows has none of them. The kept changes are not in a
   * checkpoint.
   */
  get isHeld(): boolean {
    return this.state.isLoaded && this.state.bracketSlot >= 0;
  }

  /** Applies the next message of this market; returns the change to publish, or null when nothing visible changed. */
  apply(message: BookMessage): BookViewDiff | null {
    switch (message.name) {
      case 'BookOrders':
        return this.applyOrders(message.value);
      case 'BookSlot':
        return this.applySlot(message.value.slot);
      case 'BookMarket':
        return this.applyMarket(message.value);
      case 'BookOracle':
        return this.applyOracle(message.value);
      case 'BookSnapshotBegin':
        return this.beginSnapshot(message.value.snapshotSlot);
      case 'BookSnapshotEnd':
        return this.endSnapshot(message.value.snapshotSlot);
      case 'BookRepair':
        return this.repair(message.value.slot);
      case 'BookRevert':
        return this.revert(message.value);
    }
  }

  /** Loads the rows that these messages will change into the processor's cache, and changes nothing (prefetch.ts). */
  prefetch(messages: readonly BookOrders[]): void {
    this.#prefetch.load(messages, this.orders.table);
  }

  applyOrders(value: BookOrders): BookViewDiff | null {
    this.#reachBy(value.slot);
    const source = value.source === 'clob' ? CLOB : USER;
    const { upserts, removals } = value;
    for (let i = 0; i < removals.length; i++) {
      const removal = removals[i] as (typeof removals)[number];
      this.orders.remove(removal.maker, removal.orderId, source);
    }
    for (let i = 0; i < upserts.length; i++) this.orders.upsert(upserts[i] as (typeof upserts)[number], source);
    return this.#finish(value.cause);
  }

  applySlot(slot: number): BookViewDiff | null {
    this.#reach(slot);
    return this.#finish();
  }

  applyMarket(value: BookMarket): BookViewDiff | null {
    this.state.market = value;
    if (this.state.marketSlot !== value.slot) {
      this.state.marketSlot = value.slot;
      this.#headChanged = true;
    }
    this.orders.setHasBookAccount(value.clobMarket !== null);
    this.#selectOracle();
    this.#reachBy(value.slot);
    this.#quote();
    return this.#finish();
  }

  applyOracle(value: BookOracle): BookViewDiff | null {
    this.state.oracle = value;
    const seen = viewOracle(value);
    if (!sameOracle(this.#exchangeOracle, seen)) {
      this.#exchangeOracle = seen;
      this.#headChanged = true;
    }
    this.#reachBy(value.slot);
    this.orders.setOracle(fitsNumber(value.price) ? Number(value.price) : Number.NaN);
    this.#selectOracle();
    this.#quote();
    return this.#finish();
  }

  /** Opens a bracket: its end removes every order without an upsert inside it. A later begin replaces an open one. */
  beginSnapshot(snapshotSlot: number): BookViewDiff | null {
    this.#start(snapshotSlot);
    this.state.bracketSlot = snapshotSlot;
    this.orders.generation += 1;
    return this.#finish();
  }

  /** Ends the open bracket; ignored when the slot is another's. */
  endSnapshot(snapshotSlot: number): BookViewDiff | null {
    if (this.state.bracketSlot !== snapshotSlot) return null;
    this.state.bracketSlot = -1;
    this.#reach(snapshotSlot);
    this.orders.sweep();
    if (!this.state.isLoaded) {
      this.state.isLoaded = true;
      this.state.snapshotDue = true;
    }
    return this.#finish();
  }

  /**
   * Begins a later epoch after a fault. Its first change is the whole book, so readers of changes need nothing else; a
   * snapshot follows for new readers. Null before the first message.
   */
  repair(slot: number): BookViewDiff | null {
    const { state, orders } = this;
    if (state.epoch <= 0 && orders.slot === 0) return null;
    this.#reach(slot);
    state.epoch = Math.max(slot, state.epoch + 1);
    state.seq = 1;
    state.snapshotDue = true;
    // The whole book contains the changes of the slot.
    orders.changes();
    orders.bids.changes();
    orders.asks.changes();
    this.#headChanged = false;
    return { ...this.snapshot(), gone: [] };
  }

  /** The changes up to the next call with null undo abandoned slots from `reverted` on. */
  revert({ slot, reverted }: BookRevert): BookViewDiff | null {
    this.#reach(slot);
    this.state.revert = reverted;
    return this.#finish();
  }

  /** True once after a change that a whole snapshot should follow: the first load, and each period of slots. */
  takeSnapshotDue(): boolean {
    if (this.isHeld) return false;
    const due = this.state.snapshotDue && this.state.seq > 0;
    this.state.snapshotDue = false;
    return due;
  }

  /** The whole published book after the newest change. */
  snapshot(): BookViewSnapshot {
    return finish(this.snapshotInSteps());
  }

  /** As `snapshot`; no message may be applied before the end. */
  *snapshotInSteps(): Steps<BookViewSnapshot> {
    return {
      ...this.head(),
      bids: yield* listed(this.levels('bid')),
      asks: yield* listed(this.levels('ask')),
      bidOrders: yield* listed(this.walk('bid')),
      askOrders: yield* listed(this.walk('ask')),
    };
  }

  /** Published levels of a side, best first. */
  levels(side: Side): Generator<ViewLevel> {
    return (side === 'bid' ? this.orders.bids : this.orders.asks).levels();
  }

  /** Visible orders of a side in walk order. */
  walk(side: Side): Generator<ViewOrder> {
    return this.orders.walk(side === 'bid' ? this.orders.bids : this.orders.asks);
  }

  /** Description of the market for readers. */
  marketView(): MarketView | null {
    return marketView(this.ref, this.state, this.#exchangeOracle);
  }

  /** Restores a checkpoint's head, after its orders. Without an epoch the orders are the first change of the next one. */
  resume(state: EngineHead): void {
    Object.assign(this.state, state);
    if (state.oracle) this.#exchangeOracle = viewOracle(state.oracle);
    this.#selectOracle();
    this.#quote();
    if (state.epoch <= 0) return;
    this.orders.bids.changes();
    this.orders.asks.changes();
    this.orders.changes();
    this.#headChanged = false;
  }

  // The epoch is the slot of the first message, or one more than the last epoch. Any kind of first message sets the book's
  // slot.
  #start(slot: number): void {
    if (this.state.epoch > 0) return;
    this.state.epoch = Math.max(slot, 1 - this.state.epoch);
    this.state.snapshotPeriod = this.#period(slot);
    if (slot > this.orders.slot) this.orders.advance(slot);
  }

  // Inside a bracket the slot stands: states of several slots follow each other, orders of older ones last.
  #reachBy(slot: number): void {
    if (this.state.bracketSlot < 0) this.#reach(slot);
    else this.#start(this.orders.slot);
  }

  #reach(slot: number): void {
    const before = this.orders.slot;
    this.#start(slot);
    if (slot <= before) return;
    this.#headChanged = true;
    this.orders.advance(slot);
    const period = this.#period(slot);
    if (period !== this.state.snapshotPeriod) {
      this.state.snapshotPeriod = period;
      this.state.snapshotDue = true;
    }
    if (this.#vamm.isQuoting && !this.#mayQuote()) this.#quote();
  }

  #period(slot: number): number {
    return Math.floor((slot + this.ref.marketIndex * SNAPSHOT_STAGGER_SLOTS) / SNAPSHOT_EVERY_SLOTS);
  }

  #selectOracle(): void {
    const { market, oracle } = this.state;
    const own = market && oracle ? marketMakerOracle(market, oracle) : null;
    const inForce = own ?? this.#exchangeOracle;
    if (this.#isMmOracleActive !== (own !== null) || !sameOracle(this.#mmOracle, inForce)) this.#headChanged = true;
    this.#isMmOracleActive = own !== null;
    this.#mmOracle = inForce;
  }

  #mayQuote(): boolean {
    const { market } = this.state;
    return market !== null && this.#mmOracle !== null && vammQuotes(market, this.#mmOracle.slot, this.orders.slot);
  }

  #quote(): void {
    const { market, oracle } = this.state;
    if (market && oracle && this.#mayQuote()) this.#vamm.quote(market, oracle);
    else this.#vamm.withdraw();
  }

  #finish(cause?: Cause | null): BookViewDiff | null {
    if (this.isHeld) return null;
    const { state, orders } = this;
    const { bidOrders, askOrders, gone } = orders.changes(cause ?? null);
    const bids = orders.bids.changes();
    const asks = orders.asks.changes();
    const isChanged =
      this.#headChanged ||
      bids.length > 0 ||
      asks.length > 0 ||
      bidOrders.length > 0 ||
      askOrders.length > 0 ||
      gone.length > 0;
    if (!isChanged) return null;
    this.#headChanged = false;
    state.seq += 1;
    return {
      marketType: this.ref.marketType,
      marketIndex: this.ref.marketIndex,
      epoch: state.epoch,
      seq: state.seq,
      slot: orders.slot,
      marketSlot: state.marketSlot,
      oracle: this.#exchangeOracle,
      mmOracle: this.#mmOracle,
      isMmOracleActive: this.#isMmOracleActive,
      bids,
      asks,
      bidOrders,
      askOrders,
      gone,
      revert: state.revert ?? null,
    };
  }

  /** Head of the newest change. */
  head(): BookViewHead {
    return {
      ...this.ref,
      epoch: this.state.epoch,
      seq: this.state.seq,
      slot: this.orders.slot,
      marketSlot: this.state.marketSlot,
      oracle: this.#exchangeOracle,
      mmOracle: this.#mmOracle,
      isMmOracleActive: this.#isMmOracleActive,
    };
  }
}
