// Finds the sum of lost fills. Each record or account state gives an order's filled total. Two totals minus the stored fills
// give the sum (docs/internals/ingest.md, "Lost fills").

import bs58 from 'bs58';
import {
  type ChainEvent,
  marketKey,
  type ReconstructedFills,
  type StreamCounter,
  type UserOrders,
} from '../../schemas/index.ts';
import type { StatePiece } from '../follow/pieces.ts';
import { type FillMark, FillMarks } from './fill-marks.ts';
import { difference, type Fill, type FillSpan, FillSpans, type Point } from './fill-spans.ts';
import { PieceMap } from './piece-map.ts';

/** Most entries in memory; the oldest is forgotten first. */
export interface OrderFillsLimits {
  /** Open orders, about 300 bytes each. */
  readonly orders: number;
  /** Ended and forgotten orders, about 150 bytes each: a late record must not begin them again. */
  readonly ended: number;
  /** Accounts with orders in a market, of which the newest state is remembered, about 150 bytes each. */
  readonly states: number;
}

const LIMITS: OrderFillsLimits = { orders: 100_000, ended: 20_000, states: 100_000 };
/** Slots between two states of an account that are remembered: each one is a write. */
const STATE_SLOTS = 25;

/** Knowledge of an open order, up to its newest record or state. */
interface Known extends Point {
  /** Later fills have larger numbers. */
  readonly afterId: number;
  /** Newest slot; null in the state of older versions. */
  readonly slot: number | null;
  /** Slot of the remembered state of the account when the order was first seen: that state says nothing of the order. */
  readonly since: number;
}

/** A remembered state of an account: a fill that it does not show is of this slot or later. */
interface StateMark {
  readonly slot: number;
  readonly afterId: number;
}

interface Observation extends Fill {
  readonly market: string;
  /** See `orderKey`. */
  readonly key: string;
  readonly account: string;
  readonly orderId: number;
  readonly direction: string;
  readonly isPlacing: boolean;
  /** The order is no longer open. */
  readonly isOver: boolean;
}

/** Missing numbers. */
interface Range {
  readonly fromId: number;
  readonly toId: number;
}

type SavedKnown = readonly [base: string, quote: string | null, afterId: number, slot?: number | null, since?: number];
type SavedFinding = readonly [string, string, number, string, string, string, number, number];
type Data = ChainEvent['data'];

const HORIZON = 'horizon';
/** Sums of an older version, all in one piece. */
const FINDINGS = 'findings';

export class OrderFills {
  readonly #orders: PieceMap<Known>;
  /** Slot of the newest record of each order that has ended or was forgotten. */
  readonly #ended: PieceMap<number>;
  readonly #states: PieceMap<StateMark>;
  readonly #spans = new FillSpans();
  readonly #marks = new FillMarks();
  /** Records up to this slot begin no order: they may belong to one that has ended. */
  #horizon = 0;
  #isHorizonChanged = false;
  #hasFindings = false;

  constructor({ orders, ended, states }: OrderFillsLimits = LIMITS) {
    this.#orders = new PieceMap<Known>({
      prefix: 'order:',
      max: orders,
      save: ({ base, quote, afterId, slot, since }): SavedKnown => {
        return [String(base), quote === null ? null : String(quote), afterId, slot, since];
      },
      load: (saved) => knownOf(saved as SavedKnown),
      forgotten: (key, { slot }) => this.#end(key, slot ?? 0),
    });
    this.#ended = new PieceMap<number>({
      prefix: 'ended:',
      max: ended,
      save: (slot) => slot,
      load: (saved) => saved as number,
      forgotten: (_, slot) => this.#raiseHorizon(slot),
    });
    this.#states = new PieceMap<StateMark>({
      prefix: 'state:',
      max: states,
      save: ({ slot, afterId }) => [slot, afterId],
      load: (saved) => {
        const [slot, afterId] = saved as [number, number];
        return { slot, afterId };
      },
    });
  }

  event(event: ChainEvent): void {
    const { name, data, slot } = event;
    if (name === 'OrderRecord') this.#placed(data, slot);
    if (name === 'OrderActionRecord') this.#action(data, slot);
  }

  /** A count of the fills of a market. */
  counter({ subject, slot, lastId }: StreamCounter): void {
    this.#mark(subject, [slot, lastId, lastId + 1]);
  }

  /** The open orders of an account. Orders without any stored record are not followed. */
  state({ user, slot, orders, ...ref }: UserOrders): void {
    const market = marketKey(ref);
    const owner = Buffer.from(user).toString('hex');
    const account = `${owner}/${market}`;
    for (const { orderId, direction, baseAssetAmountFilled: base, quoteAssetAmountFilled: quote } of orders) {
      const key = `${owner}/${orderId}`;
      const known = this.#orders.get(key);
      if (!known || base === known.base || (base < known.base && !this.#spans.has(key))) continue;
      const flags = { isPlacing: false, isOver: false };
      const point = { base, quote };
      const order = { market, key, account, orderId, direction, slot, from: point, to: point, ...flags };
      this.#observe({ ...order, ...this.#numbersAround(market, slot) });
    }
    const before = this.#states.get(account);
    if (before && slot < before.slot + STATE_SLOTS) return;
    this.#states.set(account, { slot, afterId: this.#marks.afterId(market, slot) });
  }

  /**
   * Sums of the fills of a hole, by order: the spans that meet no other hole. `holes` has all missing numbers of the market from
   * `fromId` on; earlier ones are unknown.
   */
  of(market: string, hole: Range, holes: readonly Range[], fromId: number): readonly ReconstructedFills[] {
    const sums = new Map<string, { readonly span: FillSpan; readonly base: bigint; readonly quote: bigint | null }>();
    for (const [key, span] of this.#spans.of(market)) {
      if (span.afterId < fromId - 1 || !meets(span, hole)) continue;
      if (holes.some((other) => other !== hole && meets(span, other))) continue;
      const [base, quote] = [span.to.base - span.from.base, difference(span.to.quote, span.from.quote)];
      const sum = sums.get(key);
      const both = sum === undefined || sum.quote === null || quote === null ? quote : sum.quote + quote;
      sums.set(key, { span, base: base + (sum?.base ?? 0n), quote: sum?.quote === null ? null : both });
    }
    // A restart restores the orders in another order.
    const sorted = [...sums].sort(([one], [other]) => (one < other ? -1 : 1));
    return sorted.map(([key, { span, base, quote }]) => {
      const user = bs58.encode(Buffer.from(key.slice(0, key.indexOf('/')), 'hex'));
      const quoteAssetAmount = quote === null ? null : String(quote);
      return {
        user,
        orderId: span.orderId,
        direction: span.direction,
        baseAssetAmount: String(base),
        quoteAssetAmount,
      };
    });
  }

  #placed(data: Data, slot: number): void {
    const market = `${String(data.order_market_type)}-${String(data.order_market_index)}`;
    const [base, quote] = [data.order_base_asset_amount_filled, data.order_quote_asset_amount_filled];
    const order = orderOf(data.user, data.order_order_id, market);
    if (order === null || typeof base !== 'bigint' || typeof quote !== 'bigint') return;
    const point = { base, quote };
    const flags = { direction: String(data.order_direction), isPlacing: true, isOver: false };
    this.#observe({ ...order, ...flags, slot, from: point, to: point, ...this.#numbersAround(market, slot) });
  }

  #action(data: Data, slot: number): void {
    const market = `${String(data.market_type)}-${String(data.market_index)}`;
    const fillId = data.action === 'fill' ? Number(data.fill_record_id ?? 0) : 0;
    if (fillId > 0) this.#mark(market, [slot, fillId, fillId]);
    const numbers = fillId > 0 ? { afterId: fillId, beforeId: fillId } : this.#numbersAround(market, slot);
    for (const side of ['taker', 'maker'] as const) this.#side(side, data, { market, slot, ...numbers });
  }

  #side(
    side: 'taker' | 'maker',
    data: Data,
    place: Pick<Observation, 'market' | 'slot' | 'afterId' | 'beforeId'>,
  ): void {
    const order = orderOf(data[side], data[`${side}_order_id`], place.market);
    const base = data[`${side}_order_cumulative_base_asset_amount_filled`];
    const quote = data[`${side}_order_cumulative_quote_asset_amount_filled`];
    if (order === null || typeof base !== 'bigint' || typeof quote !== 'bigint') return;
    const isFill = data.action === 'fill';
    const [ownBase, ownQuote] = isFill ? [amountOf(data, 'base'), amountOf(data, 'quote')] : [0n, 0n];
    const [from, to] = [
      { base: base - ownBase, quote: quote - ownQuote },
      { base, quote },
    ];
    const size = data[`${side}_order_base_asset_amount`];
    const isOver = data.action === 'cancel' || data.action === 'expire' || (typeof size === 'bigint' && base >= size);
    const direction = String(data[`${side}_order_direction`]);
    this.#observe({ ...place, ...order, from, to, direction, isPlacing: false, isOver });
  }

  #observe(seen: Observation): void {
    const known = this.#orders.get(seen.key);
    if (!known) this.#first(seen);
    else if (seen.isPlacing && known.slot !== null && seen.slot > known.slot && seen.to.base < known.base) {
      // The account was deleted and opened again: its order ids begin anew.
      this.#begin(seen);
    } else if (seen.from.base < known.base) this.#late(seen, known);
    else this.#advance(seen, known);
  }

  /** An order that is not followed: it is new, or a late record of one that has ended. */
  #first(seen: Observation): void {
    this.#spans.split(seen.key, seen);
    const ended = this.#ended.get(seen.key) ?? this.#horizon;
    if (seen.slot <= Math.max(ended, this.#horizon)) return;
    this.#ended.delete(seen.key);
    if (seen.isOver) this.#end(seen.key, seen.slot);
    else this.#follow(seen);
  }

  #begin(seen: Observation): void {
    this.#spans.delete(seen.key);
    this.#orders.delete(seen.key);
    this.#follow(seen);
  }

  #follow({ key, account, to, afterId, slot }: Observation): void {
    this.#orders.set(key, { ...to, afterId, slot, since: this.#states.get(account)?.slot ?? 0 });
  }

  #late(seen: Observation, known: Known): void {
    const { key, to, slot } = seen;
    if (to.base > known.base) {
      // Fills do not overlap: this is another order with the same id.
      this.#begin(seen);
      return;
    }
    this.#spans.split(key, seen);
    if (to.base < known.base) return;
    const newest = Math.max(known.slot ?? 0, slot);
    if (seen.isOver) this.#over(key, newest);
    else this.#orders.set(key, { ...known, ...to, afterId: Math.max(known.afterId, seen.afterId), slot: newest });
  }

  #advance(seen: Observation, known: Known): void {
    const { market, key, orderId, direction, from, to, beforeId } = seen;
    if (from.base > known.base) {
      const span = { market, orderId, direction, from: { base: known.base, quote: known.quote }, to: from };
      const afterId = this.#afterIdOf(seen, known);
      this.#spans.add(key, { ...span, afterId, beforeId, slot: seen.slot, isSum: false });
    }
    const slot = Math.max(known.slot ?? 0, seen.slot);
    if (seen.isOver) this.#over(key, slot);
    else this.#orders.set(key, { ...known, ...to, afterId: Math.max(known.afterId, seen.afterId), slot });
  }

  /** A state of the account after the order's newest record bounds its later fills too. */
  #afterIdOf({ account, slot }: Observation, { afterId, since }: Known): number {
    const state = this.#states.get(account);
    return state && state.slot > since && state.slot < slot ? Math.max(afterId, state.afterId) : afterId;
  }

  #over(key: string, slot: number): void {
    this.#orders.delete(key);
    this.#end(key, slot);
  }

  #end(key: string, slot: number): void {
    this.#ended.set(key, slot);
  }

  #raiseHorizon(slot: number): void {
    if (slot <= this.#horizon) return;
    this.#horizon = slot;
    this.#isHorizonChanged = true;
  }

  #mark(market: string, mark: FillMark): void {
    this.#marks.note(market, mark);
    this.#spans.bound(market, mark[0], mark[2]);
  }

  #numbersAround(market: string, slot: number): Pick<Fill, 'afterId' | 'beforeId'> {
    return { afterId: this.#marks.afterId(market, slot), beforeId: this.#marks.beforeId(market, slot) };
  }

  /** Pieces of state changed since the last call. */
  takeChanges(): StatePiece[] {
    const pieces = [this.#orders, this.#ended, this.#states, this.#spans, this.#marks].flatMap((one) =>
      one.takeChanges(),
    );
    if (this.#isHorizonChanged) pieces.push({ name: HORIZON, bytes: Buffer.from(String(this.#horizon)) });
    if (this.#hasFindings) pieces.push({ name: FINDINGS, bytes: null });
    this.#isHorizonChanged = false;
    this.#hasFindings = false;
    return pieces;
  }

  /** Restores a piece; false when it is none of these. */
  restore(name: string, text: string): boolean {
    if (name === HORIZON) this.#horizon = Number(text);
    else if (name === FINDINGS) this.#restoreFindings(JSON.parse(text) as SavedFinding[]);
    else {
      const isOwn = [this.#orders, this.#ended, this.#states].some((one) => one.restore(name, text) !== null);
      return isOwn || this.#spans.restore(name, text) || this.#marks.restore(name, text);
    }
    return true;
  }

  #restoreFindings(findings: readonly SavedFinding[]): void {
    this.#hasFindings = true;
    for (const [market, key, orderId, direction, base, quote, afterId, beforeId] of findings) {
      const to = { base: BigInt(base), quote: BigInt(quote) };
      const bounds = { afterId, beforeId, slot: 0, isSum: true };
      this.#spans.add(key, { market, orderId, direction, from: { base: 0n, quote: 0n }, to, ...bounds });
    }
  }
}

const meets = ({ afterId, beforeId }: FillSpan, { fromId, toId }: Range): boolean =>
  beforeId !== null && toId > afterId && fromId < beforeId;

function knownOf([base, quote, afterId, slot = null, since = 0]: SavedKnown): Known {
  return { base: BigInt(base), quote: quote === null ? null : BigInt(quote), afterId, slot, since };
}

/** Null for a side without an order. */
function orderOf(
  user: unknown,
  orderId: unknown,
  market: string,
): Pick<Observation, 'market' | 'key' | 'account' | 'orderId'> | null {
  if (!(user instanceof Uint8Array) || typeof orderId !== 'number') return null;
  const owner = Buffer.from(user).toString('hex');
  return { market, key: `${owner}/${orderId}`, account: `${owner}/${market}`, orderId };
}

function amountOf(data: Data, kind: 'base' | 'quote'): bigint {
  const amount = data[`${kind}_asset_amount_filled`];
  return typeof amount === 'bigint' ? amount : 0n;
}
