import bs58 from 'bs58';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ChainEvent, ReconstructedFills, UserOrders } from '../../schemas/index.ts';
import { follow, isTrue, lostHoles, provenOf } from '../../test/support/processors/lost-records.ts';
import {
  fillRecord,
  type LifeInput,
  lifeOf,
  orderState,
  placeRecord,
  type Turn,
  userOf,
} from '../../test/support/processors/order-lives.ts';
import { Coverage } from './reducer.ts';

/** Slots after which a backfill brings a record. */
const FOUND_SLOTS = 400;
/** One of so many records is lost. */
const LOST_OF = 6;

const turn: fc.Arbitrary<Turn> = fc.record({
  does: fc.constantFrom('place', 'place', 'fill', 'fill', 'fill', 'fill', 'cancel', 'wait'),
  account: fc.nat({ max: 3 }),
  maker: fc.nat({ max: 3 }),
  order: fc.nat({ max: 5 }),
  base: fc.integer({ min: 50, max: 450 }),
});

/** Fate of an input: lost or found late when the dice say so, else late by some slots. */
interface Fate {
  readonly dice: number;
  readonly lag: number;
}

const fates = fc.array(fc.record({ dice: fc.nat({ max: 4 * LOST_OF - 1 }), lag: fc.nat({ max: 3 }) }), {
  minLength: 1,
  maxLength: 97,
});

interface Story {
  readonly inputs: readonly LifeInput[];
  readonly lost: readonly ChainEvent[];
  readonly lostOrders: readonly ChainEvent[];
}

/** The inputs in the order in which they arrive, and the lost fills. */
function storyOf(turns: readonly Turn[], dice: readonly Fate[], hasStates: boolean): Story {
  const lost: ChainEvent[] = [];
  const lostOrders: ChainEvent[] = [];
  const arrivals = lifeOf(turns).flatMap((input, at): { readonly at: number; readonly input: LifeInput }[] => {
    const fate = dice[at % dice.length] ?? { dice: 1, lag: 0 };
    if (input.is === 'state') return hasStates ? [{ at: input.slot + fate.lag, input }] : [];
    if (input.is === 'count' || fate.dice > 4) return [{ at: input.slot + fate.lag, input }];
    if (fate.dice === 4) return [{ at: input.slot + FOUND_SLOTS, input }];
    if (input.event.data.action === 'fill') lost.push(input.event);
    if (input.event.name === 'OrderRecord') lostOrders.push(input.event);
    return [];
  });
  return { inputs: arrivals.sort((a, b) => a.at - b.at).map(({ input }) => input), lost, lostOrders };
}

/** The order of a lost record, as a hole names it. */
function namedOrder({ slot, data }: ChainEvent) {
  const order = { orderId: data.order_order_id, market: 'perp-0', direction: 'long', orderType: 'limit' };
  return { ...order, price: '7', baseAssetAmount: '1000', placedSlot: slot };
}

describe('lost fills of random orders', () => {
  it('are reconstructed as they were or not at all, whatever is lost, late or out of order', () => {
    const proven = { records: 0, states: 0, lost: 0 };
    fc.assert(
      fc.property(fc.array(turn, { minLength: 30, maxLength: 150 }), fates, (turns, dice) => {
        for (const hasStates of [false, true]) {
          const { inputs, lost } = storyOf(turns, dice, hasStates);
          const holes = lostHoles(follow(inputs));
          for (const hole of holes) {
            for (const one of hole.reconstructed)
              expect([hole, one, isTrue(lost, hole, one)]).toEqual([hole, one, true]);
          }
          proven[hasStates ? 'states' : 'records'] += provenOf(holes);
          if (hasStates) proven.lost += holes.length;
        }
      }),
      { numRuns: 300 },
    );
    process.stdout.write(`holes ${proven.lost}, proven by records ${proven.records}, with states ${proven.states}\n`);
    expect(proven.states).toBeGreaterThan(proven.records);
  });

  it('are never reconstructed otherwise when orders are forgotten, over restarts', () => {
    let proven = 0;
    const sizes = fc.record({
      orders: fc.integer({ min: 1, max: 6 }),
      ended: fc.nat({ max: 4 }),
      states: fc.nat({ max: 3 }),
    });
    const turns = fc.array(turn, { minLength: 30, maxLength: 150 });
    fc.assert(
      fc.property(turns, fates, sizes, fc.nat({ max: 20 }), (lives, dice, limits, saveEvery) => {
        const { inputs, lost } = storyOf(lives, dice, true);
        const holes = lostHoles(follow(inputs, saveEvery, limits));
        for (const hole of holes) {
          for (const one of hole.reconstructed) expect([hole, one, isTrue(lost, hole, one)]).toEqual([hole, one, true]);
        }
        proven += provenOf(holes);
      }),
      { numRuns: 200 },
    );
    expect(proven).toBeGreaterThan(10);
  });

  it('leave exactly the lost orders that their accounts showed named, over restarts', () => {
    let named = 0;
    fc.assert(
      fc.property(
        fc.array(turn, { minLength: 30, maxLength: 150 }),
        fates,
        fc.integer({ min: 0, max: 20 }),
        (turns, dice, saveEvery) => {
          const { inputs, lostOrders } = storyOf(turns, dice, true);
          const coverage = follow(inputs, saveEvery);
          for (const account of [0, 1, 2, 3]) {
            const holes = lostHoles(coverage, bs58.encode(userOf(account)), 'orders');
            const names = holes.flatMap(({ reconstructedOrders }) => reconstructedOrders);
            const isIn = ({ data }: ChainEvent) =>
              data.user?.toString() === userOf(account).toString() &&
              holes.some(
                ({ fromId, toId }) => Number(data.order_order_id) >= fromId && Number(data.order_order_id) <= toId,
              );
            expect(names).toEqual(lostOrders.filter(isIn).map(namedOrder));
            named += names.length;
          }
        },
      ),
      { numRuns: 100 },
    );
    expect(named).toBeGreaterThan(20);
  });

  it('come out the same over restarts after any input', () => {
    fc.assert(
      fc.property(
        fc.array(turn, { minLength: 30, maxLength: 100 }),
        fates,
        fc.integer({ min: 1, max: 20 }),
        (turns, dice, saveEvery) => {
          const { inputs } = storyOf(turns, dice, true);
          expect(lostHoles(follow(inputs, saveEvery))).toEqual(lostHoles(follow(inputs)));
        },
      ),
      { numRuns: 60 },
    );
  });
});

/** A fill of an order of account 0, by its number, with what the order has filled after it. */
const fill = (id: number, slot: number, base: bigint, filled: bigint, orderId = 1): ChainEvent =>
  fillRecord(id, slot, base, orderState(orderId, filled));
/** A fill of others, which bounds numbers. */
const other = (id: number, slot: number): ChainEvent => fillRecord(id, slot, 5n, null);
const state = (slot: number, filled: bigint, quote: bigint | null = filled * 7n): UserOrders => {
  const orders = [{ ...orderState(1, filled), quoteAssetAmountFilled: quote }];
  return { marketType: 'perp', marketIndex: 0, slot, user: userOf(0), orders };
};
const claim = (base: bigint, quoteAssetAmount: string | null = String(base * 7n)): ReconstructedFills => {
  const order = { user: bs58.encode(userOf(0)), orderId: 1, direction: 'long' };
  return { ...order, baseAssetAmount: String(base), quoteAssetAmount };
};
const claims = (coverage: Coverage) =>
  lostHoles(coverage).map(({ fromId, toId, reconstructed }) => [fromId, toId, reconstructed]);
/** Applies events and states in the order of the list. */
function having(...inputs: readonly (ChainEvent | UserOrders)[]): Coverage {
  const coverage = new Coverage();
  for (const input of inputs) {
    if ('user' in input) coverage.state(input);
    else coverage.event(input);
  }
  return coverage;
}

describe('a lost fill that no later record of its order shows', () => {
  it('is what the state of the account shows, once a later number bounds it', () => {
    const coverage = having(other(1, 100), fill(2, 101, 10n, 10n), state(105, 40n));
    coverage.counter({ subject: 'perp-0', stream: 'fills', slot: 105, lastId: 3, fromId: 2, fromSlot: null });
    expect(claims(coverage)).toEqual([[3, 3, []]]);
    coverage.event(other(4, 106));
    expect(claims(coverage)).toEqual([[3, 3, [claim(30n)]]]);
  });

  it('is bounded by a later count of the chain too', () => {
    const coverage = having(fill(1, 101, 10n, 10n), state(105, 40n));
    coverage.counter({ subject: 'perp-0', stream: 'fills', slot: 106, lastId: 2, fromId: 1, fromSlot: null });
    expect(claims(coverage)).toEqual([[2, 2, [claim(30n)]]]);
  });

  it('is not lost when its record comes after the state, and only the rest is when one of two comes', () => {
    const before = [fill(1, 100, 10n, 10n), state(105, 40n), other(5, 107)] as const;
    expect(claims(having(...before, fill(3, 104, 30n, 40n)))).toMatchObject([
      [2, 2, []],
      [4, 4, []],
    ]);
    expect(claims(having(...before, fill(3, 104, 20n, 30n)))).toEqual([
      [2, 2, []],
      [4, 4, [claim(10n)]],
    ]);
  });

  it('belongs to no hole while two may have it, unless a state between the two parts them', () => {
    const lost = [fill(1, 100, 10n, 10n), other(3, 110), other(5, 120)] as const;
    expect(claims(having(...lost, state(119, 40n), other(6, 121)))).toEqual([
      [2, 2, []],
      [4, 4, []],
    ]);
    expect(claims(having(...lost, state(109, 40n), other(6, 121)))).toEqual([
      [2, 2, [claim(30n)]],
      [4, 4, []],
    ]);
    expect(claims(having(...lost, state(114, 10n), state(119, 40n), other(6, 121)))).toEqual([
      [2, 2, []],
      [4, 4, [claim(30n)]],
    ]);
  });

  it('has no quote where the state of an older version says none', () => {
    expect(claims(having(fill(1, 100, 10n, 10n), state(105, 40n, null), other(3, 107)))).toEqual([
      [2, 2, [claim(30n, null)]],
    ]);
  });

  it('is not claimed for an order that is older than the log, ended, or had its first record after the state', () => {
    expect(claims(having(other(1, 100), state(105, 40n), other(3, 107)))).toEqual([[2, 2, []]]);
    const ended = fill(1, 100, 1_000n, 1_000n);
    expect(claims(having(ended, state(99, 10n), fill(1, 100, 10n, 500n), other(3, 107)))).toEqual([[2, 2, []]]);
    const late = [other(1, 90), other(3, 102), state(103, 30n), placeRecord(1, 100), state(140, 30n)] as const;
    expect(claims(having(...late, other(6, 150)))).toEqual([
      [2, 2, []],
      [4, 5, []],
    ]);
  });

  it('keeps the sums of an older version, and takes late records out of them', () => {
    const coverage = having(other(1, 100), other(5, 104));
    const key = `${Buffer.from(userOf(0)).toString('hex')}/1`;
    const findings = JSON.stringify([['perp-0', key, 1, 'long', '30', '210', 1, 5]]);
    coverage.restore([
      { name: 'findings', bytes: Buffer.from(findings) },
      { name: `order:${key}`, bytes: Buffer.from(JSON.stringify(['40', '280', 1])) },
    ]);
    expect(claims(coverage)).toEqual([[2, 4, [claim(30n)]]]);
    const pieces = coverage.takeChanges().map(({ name, bytes }) => [name, bytes === null]);
    expect(pieces).toContainEqual(['findings', true]);
    expect(pieces).toContainEqual([`spans:${key}`, false]);
    coverage.event(fill(3, 102, 20n, 30n));
    expect(claims(coverage)).toEqual([
      [2, 2, []],
      [4, 4, []],
    ]);
    coverage.event(fill(4, 103, 10n, 40n));
    expect(claims(coverage)).toEqual([[2, 2, []]]);
  });
});
