// Which numbered records the log has: a function of events, the chain's counts and finished backfills. Pure: time is the
// newest slot seen.

import bs58 from 'bs58';
import {
  type AccountStream,
  type AccountsCoverage,
  type Backfill,
  type ChainEvent,
  COVERAGE_HOLES_MAX,
  type CoverageHole,
  isAccountStream,
  type StreamCounter,
  type StreamCoverage,
  streamKey,
  type UserOrders,
} from '../../schemas/index.ts';
import type { StatePiece } from '../follow/pieces.ts';
import { numbersOf } from './numbers.ts';
import { OrderFills } from './order-fills.ts';
import type { SavedStream, Stream } from './stream.ts';
import { Streams } from './streams.ts';
import { UnrecordedOrders } from './unrecorded-orders.ts';

/** A missing number is a hole once the log is so many slots past it: records of one slot arrive in any order. */
export const SETTLE_SLOTS = 150;
/** Slots between two publications of an unchanged kind of coverage. */
const PUBLISH_SLOTS = 10;
/** Finished backfills that are remembered. */
const BACKFILLS_MAX = 1_000;

const SLOT = 'slot';
const FIRST_SLOT = 'first-slot';
const BACKFILLS = 'backfills';
const STREAM = 'stream:';
const FORGOTTEN = 'forgotten';
export const ACCOUNT_STREAMS: readonly AccountStream[] = ['orders', 'liquidations'];

type SlotRange = readonly [fromSlot: number, toSlot: number];

export class Coverage {
  readonly #streams: Streams;
  /** Streams that changed since the last save. */
  readonly #changed = new Set<string>();
  /** Streams of markets that changed since their last publication. */
  readonly #unpublished = new Set<string>();
  /** Streams with more than one range, or behind the chain's count. */
  readonly #open = new Set<string>();
  readonly #fills: OrderFills;
  readonly #unrecorded: UnrecordedOrders;
  /** Streams of accounts that were forgotten since the last save, and their number since the first start. */
  #forgotten: string[] = [];
  #forgottenCounts: Readonly<Record<string, number>> = {};
  /** The newest published totals of each stream of accounts. */
  readonly #totals = new Map<string, AccountsCoverage>();
  #totalsSlot = -PUBLISH_SLOTS;
  #backfills: readonly SlotRange[] = [];
  #areBackfillsChanged = false;
  #slot = 0;
  #savedSlot = 0;
  /** Slot at which the log begins; null before the first input. */
  #firstSlot: number | null = null;
  #savedFirstSlot: number | null = null;

  constructor(streams = new Streams(), fills = new OrderFills(), unrecorded = new UnrecordedOrders()) {
    this.#fills = fills;
    this.#streams = streams;
    this.#unrecorded = unrecorded;
  }

  /** Newest slot of events and counts. */
  get slot(): number {
    return this.#slot;
  }

  /** Applies an event. Events without a number change only the newest slot. */
  event(event: ChainEvent): void {
    this.#reach(event.slot);
    this.#fills.event(event);
    for (const { subject, stream, id } of numbersOf(event)) {
      const key = streamKey({ subject, stream });
      const one = this.#streams.of(subject, stream);
      if (one.add(id, event.slot)) this.#touch(key, one);
      if (stream === 'orders') this.#unrecorded.delete(subject, id);
    }
  }

  counter(counter: StreamCounter): void {
    this.#reach(counter.slot);
    const { subject, stream } = counter;
    const one = this.#streams.of(subject, stream);
    const before = one.chainId ?? 0;
    if (!one.counted(counter)) return;
    this.#touch(streamKey(counter), one);
    if (stream === 'fills') this.#fills.counter(counter);
    if (stream === 'orders' && (one.chainId ?? 0) < before) this.#unrecorded.forget(subject);
  }

  /** The open orders of an account in a market, which show fills and orders without records. */
  state(state: UserOrders): void {
    this.#firstSlot ??= state.slot;
    this.#fills.state(state);
    const subject = bs58.encode(state.user);
    const stream = this.#streams.get(streamKey({ subject, stream: 'orders' }));
    for (const order of state.orders) {
      const isOlder = order.placedSlot < this.#firstSlot;
      if (!isOlder && !stream?.has(order.orderId)) this.#unrecorded.add(subject, order);
    }
  }

  #reach(slot: number): void {
    this.#slot = Math.max(this.#slot, slot);
    this.#firstSlot = Math.min(this.#firstSlot ?? slot, slot);
  }

  /** A finished backfill that had every block: the holes inside its slots that remain are lost. */
  backfill({ state, fromSlot, toSlot, lost }: Backfill): void {
    if (state !== 'done' || lost > 0) return;
    this.#backfills = [...this.#backfills, [fromSlot, toSlot] as const].slice(-BACKFILLS_MAX);
    this.#areBackfillsChanged = true;
  }

  /** Coverages that changed and are due. Call after a batch. */
  takeViews(): StreamCoverage[] {
    const views: StreamCoverage[] = [];
    this.#forgetQuiet();
    for (const key of new Set([...this.#unpublished, ...this.#open])) {
      const one = this.#streams.get(key);
      if (!one || this.#slot < (one.checkedSlot ?? -PUBLISH_SLOTS) + PUBLISH_SLOTS) continue;
      const view = this.#dueView(key, one);
      if (view) views.push(view);
    }
    return views;
  }

  /** Totals of the streams of accounts that changed and are due. Call after `takeViews`. */
  takeTotals(): AccountsCoverage[] {
    if (this.#slot < this.#totalsSlot + PUBLISH_SLOTS) return [];
    this.#totalsSlot = this.#slot;
    const changed = ACCOUNT_STREAMS.map((stream) => this.#totalsOf(stream)).filter((now) => {
      const before = this.#totals.get(now.stream);
      return now.accounts > 0 && JSON.stringify({ ...now, slot: 0 }) !== JSON.stringify({ ...before, slot: 0 });
    });
    for (const now of changed) this.#totals.set(now.stream, now);
    return changed;
  }

  /** Coverage of one stream by the log; null for an unknown stream. */
  viewOf(subject: string, stream: string): StreamCoverage | null {
    const one = this.#streams.get(streamKey({ subject, stream }));
    return one ? this.#view(one) : null;
  }

  /** Null when nothing is to be published. Accounts are many: only holes, and holes that closed, are. */
  #dueView(key: string, one: Stream): StreamCoverage | null {
    if (isAccountStream(one.stream) && !this.#open.has(key)) return null;
    one.checkedSlot = this.#slot;
    const view = this.#view(one);
    const holes = JSON.stringify(view.holes);
    const isUnpublished = this.#unpublished.delete(key);
    if (holes === one.publishedHoles && !isUnpublished) return null;
    one.publishedHoles = holes;
    if (holes === '[]' && !one.isOpen) this.#open.delete(key);
    this.#changed.add(key);
    return view;
  }

  #totalsOf(stream: string): AccountsCoverage {
    const views = [...this.#open].flatMap((key) => {
      const one = this.#streams.get(key);
      return one?.stream === stream && one.publishedHoles !== '[]' ? [this.#view(one)] : [];
    });
    const holes = views.flatMap((view) => view.holes).filter(({ isLost }) => isLost);
    return {
      stream,
      slot: this.#slot,
      accounts: this.#streams.count(stream),
      withHoles: views.filter(({ missing }) => missing > 0).length,
      missing: views.reduce((sum, view) => sum + view.missing, 0),
      lost: holes.reduce((sum, { fromId, toId }) => sum + toId - fromId + 1, 0),
      forgotten: this.#forgottenCounts[stream] ?? 0,
    };
  }

  #forgetQuiet(): void {
    for (const key of this.#streams.forgetQuiet()) {
      const stream = key.slice(key.lastIndexOf('/') + 1);
      this.#forgottenCounts = { ...this.#forgottenCounts, [stream]: (this.#forgottenCounts[stream] ?? 0) + 1 };
      this.#forgotten.push(key);
      this.#changed.delete(key);
      this.#open.delete(key);
    }
  }

  /** Pieces of state changed since the last call. Call it after `takeViews`. */
  takeChanges(): StatePiece[] {
    const pieces: StatePiece[] = [];
    for (const key of this.#changed) {
      const one = this.#streams.get(key);
      if (one) pieces.push({ name: STREAM + key, bytes: jsonOf(one.save()) });
    }
    this.#changed.clear();
    for (const key of this.#forgotten) pieces.push({ name: STREAM + key, bytes: null });
    if (this.#forgotten.length > 0) pieces.push({ name: FORGOTTEN, bytes: jsonOf(this.#forgottenCounts) });
    this.#forgotten = [];
    if (this.#areBackfillsChanged) pieces.push({ name: BACKFILLS, bytes: jsonOf(this.#backfills) });
    this.#areBackfillsChanged = false;
    pieces.push(...this.#fills.takeChanges(), ...this.#unrecorded.takeChanges());
    if (this.#firstSlot !== this.#savedFirstSlot) pieces.push({ name: FIRST_SLOT, bytes: jsonOf(this.#firstSlot) });
    this.#savedFirstSlot = this.#firstSlot;
    if (this.#slot !== this.#savedSlot) pieces.push({ name: SLOT, bytes: Buffer.from(String(this.#slot)) });
    this.#savedSlot = this.#slot;
    return pieces;
  }

  /** Restores pieces of `takeChanges`, in any order. */
  restore(pieces: Iterable<StatePiece>): void {
    for (const { name, bytes } of pieces) {
      if (bytes === null) continue;
      const text = Buffer.from(bytes).toString('utf8');
      if (name === SLOT) this.#slot = this.#savedSlot = Number(text);
      else if (name === FORGOTTEN) this.#forgottenCounts = JSON.parse(text) as Record<string, number>;
      else if (name === BACKFILLS) this.#backfills = JSON.parse(text) as readonly SlotRange[];
      else if (name.startsWith(STREAM)) this.#restoreStream(name.slice(STREAM.length), JSON.parse(text) as SavedStream);
      else if (name === FIRST_SLOT) this.#firstSlot = this.#savedFirstSlot = Number(text);
      else if (!this.#fills.restore(name, text)) this.#unrecorded.restore(name, text);
    }
  }

  #restoreStream(key: string, saved: SavedStream): void {
    const one = this.#streams.restore(key, saved);
    if (one.isOpen || saved.published !== '[]') this.#open.add(key);
    // The saved state does not say which change is published.
    if (!isAccountStream(one.stream)) this.#unpublished.add(key);
  }

  #touch(key: string, one: Stream): void {
    this.#changed.add(key);
    if (!isAccountStream(one.stream)) this.#unpublished.add(key);
    if (one.isOpen) this.#open.add(key);
    else if (one.publishedHoles === '[]') this.#open.delete(key);
  }

  #view(one: Stream): StreamCoverage {
    const { subject, stream, slot, chainId, ranges } = one;
    const all = one.holes(this.#isLost);
    const settled = all.filter(({ toSlot }) => this.#slot >= toSlot + SETTLE_SLOTS);
    const holes = settled.map((hole) => (hole.isLost ? this.#reconstructed(one, hole, all) : hole));
    return {
      subject,
      stream,
      slot,
      firstId: ranges[0]?.fromId ?? null,
      lastId: ranges.at(-1)?.toId ?? null,
      chainId,
      missing: holes.reduce((sum, { fromId, toId }) => sum + toId - fromId + 1, 0),
      holes: holes.slice(0, COVERAGE_HOLES_MAX),
    };
  }

  /** A lost hole with what is known of its records. */
  #reconstructed(
    { subject, stream, knownFromId }: Stream,
    hole: CoverageHole,
    all: readonly CoverageHole[],
  ): CoverageHole {
    if (stream === 'orders')
      return { ...hole, reconstructedOrders: this.#unrecorded.of(subject, hole.fromId, hole.toId) };
    if (stream !== 'fills' || knownFromId === null) return hole;
    return { ...hole, reconstructed: this.#fills.of(subject, hole, all, knownFromId) };
  }

  /** A backfill has read these slots. */
  readonly #isLost = (fromSlot: number, toSlot: number): boolean =>
    this.#backfills.some(([from, to]) => from <= fromSlot && to >= toSlot);
}

const jsonOf = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value));
