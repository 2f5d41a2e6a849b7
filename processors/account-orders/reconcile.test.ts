// Orders of accounts whose records are lost, late or repeated. The states of the accounts put some right, and leave others
// alone.

import bs58 from 'bs58';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type AccountOrder,
  type ChainEvent,
  type OrderChange,
  openOrdersChecksum,
  orderKey,
  type UserOrders,
} from '../../schemas/index.ts';
import { keepPieces } from '../../test/support/processors/keep-pieces.ts';
import { action, options, placing, USERS } from '../../test/support/processors/order-records.ts';
import { AccountOrders } from './account-orders.ts';
import { PATIENCE_SLOTS, QUIET_SLOTS } from './discrepancies.ts';

type Input =
  | { readonly is: 'event'; readonly event: ChainEvent }
  | { readonly is: 'state'; readonly state: UserOrders }
  | { readonly is: 'begin' | 'end'; readonly market: number; readonly slot: number }
  | { readonly is: 'slot'; readonly slot: number };

const MARKETS = [0, 1];
const [USER, OTHER] = USERS as [Uint8Array, Uint8Array];

function order(orderId: number, marketIndex = 0, filled = 0n, placedSlot = 10): AccountOrder {
  return {
    marketType: 'perp',
    marketIndex,
    orderId,
    userOrderId: 0,
    orderType: 'limit',
    direction: 'long',
    price: 5_000_000n,
    baseAssetAmount: 10n,
    baseAssetAmountFilled: filled,
    triggerPrice: 0n,
    triggerCondition: 'above',
    oraclePriceOffset: 0n,
    postOnly: true,
    reduceOnly: false,
    placedSlot,
    maxTs: 0n,
  };
}

function state(slot: number, orders: readonly AccountOrder[], marketIndex = 0, user = USER): UserOrders {
  const held = orders.map((one) => ({ ...one, quoteAssetAmountFilled: null }));
  return { marketType: 'perp', marketIndex, slot, user, orders: held };
}

function give(orders: AccountOrders, input: Input): OrderChange[] {
  if (input.is === 'event') return orders.take(input.event);
  if (input.is === 'slot') return orders.reached(input.slot);
  if (input.is === 'state') orders.takeState(input.state);
  else orders.bracket(input.is, { marketType: 'perp', marketIndex: input.market }, input.slot);
  return [];
}

/** Events and states both reach each slot. */
function pass(orders: AccountOrders, from: number, to: number): OrderChange[] {
  const changes: OrderChange[] = [];
  for (let slot = from; slot <= to; slot += 1) {
    // An action on an unknown order changes nothing but the newest slot.
    orders.take(action('trigger', 1, { maker: { user: OTHER, id: 9_999_999, filled: 0n } }, slot));
    changes.push(...orders.reached(slot));
  }
  return changes;
}

function summary(changes: readonly OrderChange[]) {
  return changes.map(({ cause, isOpen, order: { orderId, baseAssetAmountFilled } }) => [
    cause,
    isOpen,
    orderId,
    baseAssetAmountFilled,
  ]);
}

function begun(...placed: readonly number[]): AccountOrders {
  const orders = new AccountOrders(options());
  orders.takeState(state(9, []));
  for (const id of placed) orders.take(placing(USER, id, 0, 10n));
  orders.takeState(
    state(
      10,
      placed.map((id) => order(id)),
    ),
  );
  return orders;
}

describe('an order that events and account states see differently', () => {
  it('is closed after the margin when the state has closed it, without fill and transaction', () => {
    const orders = begun(4);
    orders.takeState(state(20, []));
    expect(pass(orders, 11, 20 + PATIENCE_SLOTS - 1)).toEqual([]);
    const changes = pass(orders, 20 + PATIENCE_SLOTS, 20 + PATIENCE_SLOTS + 5);
    expect(summary(changes)).toEqual([['reconstructed', false, 4, 0n]]);
    expect(changes).toMatchObject([{ seq: 2, slot: 20, txSig: '', txSigIndex: 0, fill: null, checksum: 0 }]);
    expect(changes[0]?.ts).toBe(1_700_000_000n);
  });

  it('is opened after the margin when the state has it and no event placed it', () => {
    const orders = begun();
    orders.takeState(state(20, [order(4, 0, 3n)]));
    expect(summary(pass(orders, 20, 20 + PATIENCE_SLOTS))).toEqual([['reconstructed', true, 4, 3n]]);
    expect(orders.take(placing(USER, 4, 0, 10n))).toEqual([]);
  });

  it('gets the filled size and the trigger of the state after the margin', () => {
    const orders = begun(4);
    orders.takeState(state(20, [{ ...order(4, 0, 7n), triggerCondition: 'triggeredAbove' }]));
    const changes = pass(orders, 20, 20 + PATIENCE_SLOTS);
    expect(summary(changes)).toEqual([['reconstructed', true, 4, 7n]]);
    expect(changes[0]?.order.triggerCondition).toBe('triggeredAbove');
    const late = orders.take(action('fill', 0, { maker: { user: USER, id: 4, filled: 5n } }));
    expect(summary(late)).toEqual([['filled', true, 4, 7n]]);
  });

  it('stays as it is when the record comes within the margin', () => {
    const orders = begun(4);
    orders.takeState(state(20, [order(5)]));
    orders.take(action('cancel', 0, { taker: { user: USER, id: 4, filled: 0n } }, 20));
    orders.take(placing(USER, 5, 0, 10n, 20));
    expect(pass(orders, 20, 20 + 2 * QUIET_SLOTS)).toEqual([]);
  });

  it('is closed once: its late records open, close and count nothing again', () => {
    const orders = begun(4);
    orders.takeState(state(20, []));
    expect(pass(orders, 20, 20 + PATIENCE_SLOTS)).toHaveLength(1);
    expect(orders.take(action('cancel', 0, { taker: { user: USER, id: 4, filled: 0n } }, 20))).toEqual([]);
    expect(orders.take(placing(USER, 4, 0, 10n))).toEqual([]);
    expect(orders.take(placing(USER, 5, 0, 10n))).toMatchObject([{ seq: 3 }]);
  });

  it('is not opened by a state from before its end', () => {
    const orders = begun(4);
    orders.take(action('cancel', 0, { taker: { user: USER, id: 4, filled: 0n } }, 30));
    orders.takeState(state(20, [order(4)]));
    expect(pass(orders, 30, 30 + 2 * QUIET_SLOTS)).toEqual([]);
  });

  it('is not closed by a state from before its placing', () => {
    const orders = begun();
    orders.take(placing(USER, 4, 0, 10n, 30));
    orders.takeState(state(20, []));
    expect(pass(orders, 30, 30 + PATIENCE_SLOTS)).toEqual([]);
    orders.takeState(state(30, [order(4)]));
    expect(pass(orders, 30 + PATIENCE_SLOTS, 30 + 2 * QUIET_SLOTS)).toEqual([]);
  });

  it('is closed after ten minutes when no state ever has it, and in a part without events', () => {
    const orders = begun();
    orders.take(placing(USER, 4, 0, 10n, 30));
    expect(summary(pass(orders, 30, 30 + QUIET_SLOTS))).toEqual([['reconstructed', false, 4, 0n]]);
    const quiet = begun(4);
    quiet.takeState(state(20, []));
    expect(quiet.reached(20 + QUIET_SLOTS - 1)).toEqual([]);
    expect(quiet.reached(20 + QUIET_SLOTS)).toHaveLength(1);
  });

  it('is closed by a whole read that lacks it, also when a restart comes inside the read', () => {
    let orders = begun(4);
    const read = { marketType: 'perp', marketIndex: 0 } as const;
    orders.bracket('begin', read, 20);
    orders.takeState(state(20, [order(6)], 0, OTHER));
    const saved = orders
      .takePieces(orders.takeChanges())
      .flatMap(({ name, bytes }) => (bytes ? [{ name, bytes }] : []));
    orders = new AccountOrders(options(99));
    orders.restore(saved);
    orders.bracket('end', read, 20);
    const changes = pass(orders, 20, 20 + PATIENCE_SLOTS);
    expect(summary(changes)).toEqual([
      ['reconstructed', false, 4, 0n],
      ['reconstructed', true, 6, 0n],
    ]);
    expect(changes[0]).toMatchObject({ epoch: 5, seq: 2 });
  });

  it('settles a bounded number of differences in a slot', () => {
    const orders = new AccountOrders(options());
    const many = Array.from({ length: 250 }, (_, index) => order(index + 1));
    orders.takeState(state(20, many));
    pass(orders, 20, 20 + PATIENCE_SLOTS - 1);
    const slots = [0, 1, 2, 3].map((later) => pass(orders, 20 + PATIENCE_SLOTS + later, 20 + PATIENCE_SLOTS + later));
    expect(slots.map(({ length }) => length)).toEqual([100, 100, 50, 0]);
  });
});

const LAG_SLOTS_MAX = 100;
const LIFE_SLOTS = 400;

interface Truth extends AccountOrder {
  readonly user: Uint8Array;
}

const step = fc.record({
  what: fc.constantFrom('place', 'place', 'fill', 'cancel', 'trigger', 'move', 'repair'),
  /** Slots after the step before. */
  after: fc.nat(6),
  user: fc.nat(2),
  market: fc.nat(1),
  pick: fc.nat(),
  /** Slots by which the record and the state come late. */
  eventLag: fc.nat(LAG_SLOTS_MAX),
  stateLag: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(LAG_SLOTS_MAX) }),
  isLost: fc.integer({ min: 0, max: 3 }).map((value) => value === 0),
  /** A backfill brings a lost record after all. */
  isFound: fc.boolean(),
  isRepeated: fc.boolean(),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

interface Life {
  readonly inputs: readonly Input[];
  readonly truth: readonly Truth[];
}

/** Inputs in the order of their arrival. States keep their order; records come in any. */
function live(steps: readonly Step[], areRecordsLost: boolean): Life {
  const arrivals: { readonly at: number; readonly input: Input }[] = [];
  let truth: Truth[] = areRecordsLost ? [{ ...order(1), user: USER }] : [];
  let slot = 20;
  let nextId = 2;
  let statesAt = 0;
  const recordsAt = new Map<number, number>();
  const arrive = (input: Input, lag: number): void => {
    statesAt = Math.max(statesAt, slot + lag);
    arrivals.push({ at: statesAt, input });
  };
  const list = (user: Uint8Array, market: number, lag: number): void => {
    const own = truth.filter((one) => one.user === user && one.marketIndex === market);
    const orders = own.map(({ user: _, ...plain }) => plain);
    arrive({ is: 'state', state: state(slot, orders, market, user) }, lag);
  };
  const read = (market: number): void => {
    arrive({ is: 'begin', market, slot }, 0);
    for (const user of USERS) if (truth.some((one) => one.user === user)) list(user, market, 0);
    arrive({ is: 'end', market, slot }, 0);
  };
  for (const market of MARKETS) read(market);
  for (const one of steps) {
    slot += one.after;
    const user = USERS[one.user] as Uint8Array;
    const known = truth[one.pick % Math.max(1, truth.length)];
    const side = known && { user: known.user, id: known.orderId, filled: known.baseAssetAmountFilled, base: 10n };
    let event: ChainEvent | null = null;
    let changed = known;
    if (one.what === 'place') {
      changed = { ...order(nextId, one.market, 0n, slot), user };
      truth = [...truth, changed];
      event = placing(user, nextId, one.market, 10n, slot);
      nextId += 1;
    } else if (one.what === 'repair') read(one.market);
    else if (known && side && one.what === 'cancel') {
      truth = truth.filter((other) => other !== known);
      event = action('cancel', known.marketIndex, { taker: side }, slot);
    } else if (known && side && one.what === 'fill') {
      const filled = known.baseAssetAmountFilled + 5n;
      const after = { ...known, baseAssetAmountFilled: filled };
      truth = truth.flatMap((other) => (other !== known ? [other] : filled < 10n ? [after] : []));
      event = action('fill', known.marketIndex, { maker: { ...side, filled } }, slot);
    } else if (known && side && one.what === 'trigger') {
      const after = { ...known, triggerCondition: 'triggeredAbove' };
      truth = truth.map((other) => (other === known ? after : other));
      event = action('trigger', known.marketIndex, { maker: side }, slot);
    }
    // A move between account and market-level book changes bytes of the account, and nothing that the owner sees.
    if (changed && one.what !== 'repair') list(changed.user, changed.marketIndex, one.stateLag);
    if (!event) continue;
    const input: Input = { is: 'event', event };
    const isLost = areRecordsLost && one.isLost;
    // Without losses the records of an order keep their order, as in the log of a live chain.
    const earliest = areRecordsLost ? 0 : (recordsAt.get(changed?.orderId ?? 0) ?? 0);
    const at = Math.max(earliest, slot + one.eventLag);
    recordsAt.set(changed?.orderId ?? 0, at);
    if (!isLost) arrivals.push({ at, input });
    else if (one.isFound) arrivals.push({ at: slot + LIFE_SLOTS, input });
    if (one.isRepeated && !isLost) arrivals.push({ at: at + 50, input });
  }
  const end = Math.max(slot, ...arrivals.map(({ at }) => at)) + QUIET_SLOTS + PATIENCE_SLOTS;
  for (let at = 1; at <= end; at += 1) arrivals.push({ at, input: { is: 'slot', slot: at } });
  const inputs = arrivals.sort((a, b) => a.at - b.at).map(({ input }) => input);
  return { inputs, truth };
}

/** Gives the inputs with restarts, and follows the changes. Throws for a wrong number or checksum. */
function follow(inputs: readonly Input[], saveEvery: number) {
  let orders = new AccountOrders(options());
  const saved = new Map<string, Uint8Array>();
  const accounts = new Map<string, Map<string, AccountOrder>>();
  const seqs = new Map<string, number>();
  const changes: OrderChange[] = [];
  let unsaved: { readonly input: Input; readonly made: readonly OrderChange[] }[] = [];
  const take = (change: OrderChange): void => {
    const name = bs58.encode(change.user);
    expect(change).toMatchObject({ epoch: 5, seq: (seqs.get(name) ?? 0) + 1 });
    seqs.set(name, change.seq);
    const held = accounts.get(name) ?? new Map<string, AccountOrder>();
    accounts.set(name, held);
    if (change.isOpen) held.set(orderKey(change.order), change.order);
    else held.delete(orderKey(change.order));
    expect(openOrdersChecksum(held.values())).toBe(change.checksum);
    changes.push(change);
  };
  const save = (): void => {
    keepPieces(saved, orders.takePieces(orders.takeChanges()));
    unsaved = [];
  };
  save();
  for (const [index, input] of inputs.entries()) {
    const made = give(orders, input);
    for (const change of made) take(change);
    unsaved.push({ input, made });
    if (index % saveEvery === 0) save();
    else if (index % (saveEvery * 3) === saveEvery * 2 + 1) {
      orders = new AccountOrders(options(99));
      orders.restore([...saved].map(([name, bytes]) => ({ name, bytes })));
      // Inputs read again after a restart give the same changes with the same numbers.
      for (const one of unsaved) expect(give(orders, one.input)).toEqual(one.made);
    }
  }
  const open = [...accounts].flatMap(([name, held]) => [...held.values()].map((one) => textOf(name, one)));
  return { open: open.sort(), changes };
}

function textOf(name: string, one: AccountOrder): string {
  return `${name} ${orderKey(one)} ${one.baseAssetAmountFilled} ${one.triggerCondition}`;
}

describe('the orders of accounts, with states', () => {
  it('equal the truth after the margin, whatever records are lost, late or repeated, over restarts', () => {
    let reconstructed = 0;
    fc.assert(
      fc.property(
        fc.array(step, { minLength: 20, maxLength: 60 }),
        fc.integer({ min: 3, max: 40 }),
        (steps, saveEvery) => {
          const { inputs, truth } = live(steps, true);
          const { open, changes } = follow(inputs, saveEvery);
          expect(open).toEqual(truth.map((one) => textOf(bs58.encode(one.user), one)).sort());
          reconstructed += changes.filter(({ cause }) => cause === 'reconstructed').length;
        },
      ),
      { numRuns: 40 },
    );
    expect(reconstructed).toBeGreaterThan(10);
  });

  it('have no reconstructed change while no record is lost', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.integer({ min: 3, max: 40 }), (steps, saveEvery) => {
        const { inputs, truth } = live(steps, false);
        const { open, changes } = follow(inputs, saveEvery);
        expect(open).toEqual(truth.map((one) => textOf(bs58.encode(one.user), one)).sort());
        expect(changes.filter(({ cause }) => cause === 'reconstructed')).toEqual([]);
      }),
      { numRuns: 40 },
    );
  });
});
