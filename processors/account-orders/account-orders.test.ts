// The orders of accounts from their records: random lives of orders, repeats, restarts, and records that come late.

import bs58 from 'bs58';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ChainEvent, type OrderChange, openOrdersChecksum } from '../../schemas/index.ts';
import { keepPieces } from '../../test/support/processors/keep-pieces.ts';
import { action, options, placing, USERS } from '../../test/support/processors/order-records.ts';
import { AccountOrders } from './account-orders.ts';
import { OrderActionError } from './actions.ts';

/** Naive truth: what an account has open, as a list that every record changes. */
class Truth {
  readonly open: { user: Uint8Array; id: number; market: number; base: bigint; filled: bigint }[] = [];

  find(user: Uint8Array, id: number) {
    return this.open.find((order) => order.user === user && order.id === id);
  }
  end(user: Uint8Array, id: number): void {
    this.open.splice(0, this.open.length, ...this.open.filter((order) => order.user !== user || order.id !== id));
  }
}

const step = fc.record({
  what: fc.constantFrom('place', 'place', 'fill', 'fill', 'cancel', 'expire', 'trigger', 'repeat', 'restart', 'save'),
  taker: fc.nat(2),
  maker: fc.nat(2),
  market: fc.nat(1),
  pick: fc.nat(),
  size: fc.integer({ min: 1, max: 4 }),
});

describe('the orders of accounts', () => {
  it('equal the naive truth, numbered without a hole, through repeats and restarts at any batch', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        let orders = new AccountOrders(options());
        const truth = new Truth();
        const saved = new Map<string, Uint8Array>();
        const seqs = new Map<string, number>();
        let unsaved: ChainEvent[] = [];
        let last: ChainEvent | null = null;
        let nextId = 1;
        const changes = new Map<string, OrderChange>();
        const take = (one: ChainEvent, isAgain: boolean): void => {
          for (const change of orders.take(one)) {
            const name = bs58.encode(change.user);
            const id = `${name}/${change.seq}`;
            // A record that is taken again after a restart gives the same change with the same number.
            if (isAgain) expect(change).toEqual(changes.get(id));
            else {
              expect(change).toMatchObject({ part: 2, epoch: 5, seq: (seqs.get(name) ?? 0) + 1 });
              seqs.set(name, change.seq);
              changes.set(id, change);
            }
          }
        };
        const apply = (one: ChainEvent): void => {
          last = one;
          unsaved.push(one);
          take(one, false);
        };
        const save = (): void => {
          keepPieces(saved, orders.takePieces(orders.takeChanges()));
          unsaved = [];
        };
        save();
        for (const { what, taker, maker, market, pick, size } of steps) {
          const [one, other] = [USERS[taker] as Uint8Array, USERS[maker] as Uint8Array];
          const known = truth.open.length > 0 ? truth.open[pick % truth.open.length] : undefined;
          if (what === 'place') {
            truth.open.push({ user: one, id: nextId, market, base: BigInt(size), filled: 0n });
            apply(placing(one, nextId, market, BigInt(size)));
            nextId += 1;
          } else if (what === 'fill' && known) {
            known.filled += 1n;
            const side = { user: known.user, id: known.id, filled: known.filled };
            // The other side is an order that was placed before the log began.
            apply(action('fill', known.market, { maker: side, taker: { user: other, id: 9_000_000, filled: 1n } }));
            if (known.filled === known.base) truth.end(known.user, known.id);
          } else if ((what === 'cancel' || what === 'expire') && known) {
            apply(action(what, known.market, { taker: { user: known.user, id: known.id, filled: known.filled } }));
            truth.end(known.user, known.id);
          } else if (what === 'trigger' && known) {
            apply(action('trigger', known.market, { taker: { user: known.user, id: known.id, filled: known.filled } }));
          } else if (what === 'repeat' && last) expect(orders.take(last)).toEqual([]);
          else if (what === 'save') save();
          else if (what === 'restart') {
            orders = new AccountOrders(options(99));
            orders.restore([...saved].map(([name, bytes]) => ({ name, bytes })));
            for (const record of unsaved) take(record, true);
          }
          for (const user of USERS) {
            const own = truth.open.filter((order) => order.user === user);
            const newest = changes.get(`${bs58.encode(user)}/${seqs.get(bs58.encode(user)) ?? 0}`);
            const expected = own.map(({ id, market: marketIndex, base, filled }) => ({
              marketType: 'perp' as const,
              marketIndex,
              orderId: id,
              direction: 'long' as const,
              price: 5_000_000n,
              baseAssetAmount: base,
              baseAssetAmountFilled: filled,
            }));
            if (newest) expect(newest.checksum).toBe(openOrdersChecksum(expected));
          }
        }
      }),
      { numRuns: 150 },
    );
  });

  it('say what happened, with the fill and the state after it', () => {
    const orders = new AccountOrders(options());
    const [user] = USERS as [Uint8Array];
    const taken = [
      placing(user, 4, 0, 10n),
      action('trigger', 0, { maker: { user, id: 4, filled: 0n } }),
      action('fill', 0, { maker: { user, id: 4, filled: 3n } }),
      action('fill', 0, { maker: { user, id: 4, filled: 10n } }),
    ].flatMap((one) => orders.take(one));
    expect(
      taken.map(({ cause, isOpen, fill, order }) => [cause, isOpen, fill?.fillRecordId, order.baseAssetAmountFilled]),
    ).toEqual([
      ['placed', true, undefined, 0n],
      ['triggered', true, undefined, 0n],
      ['filled', true, 77n, 3n],
      ['filled', false, 77n, 10n],
    ]);
    expect(taken[1]?.order.triggerCondition).toBe('triggeredAbove');
  });

  it('name a cancel because of time an expiry', () => {
    const orders = new AccountOrders(options());
    const [user] = USERS as [Uint8Array];
    orders.take(placing(user, 4, 0, 10n));
    const cancel = action('cancel', 0, { taker: { user, id: 4, filled: 0n } });
    const expired = { ...cancel, data: { ...cancel.data, action_explanation: 'orderExpired' } };
    expect(orders.take(expired)).toMatchObject([{ cause: 'expired', isOpen: false }]);
  });

  it('do not open an order whose end came before its placing', () => {
    const orders = new AccountOrders(options());
    const [user] = USERS as [Uint8Array];
    expect(orders.take(action('cancel', 0, { taker: { user, id: 4, filled: 0n } }))).toEqual([]);
    expect(orders.take(placing(user, 4, 0, 10n))).toEqual([]);
    const whole = { user, id: 5, filled: 10n, base: 10n };
    expect(orders.take(action('fill', 0, { maker: whole }))).toEqual([]);
    expect(orders.take(placing(user, 5, 0, 10n))).toEqual([]);
    expect(orders.unknown).toBe(2);
  });

  it('leave out events that are long past', () => {
    const orders = new AccountOrders(options());
    const [user] = USERS as [Uint8Array];
    orders.take(placing(user, 4, 0, 10n, 50_000));
    expect(orders.take(placing(user, 5, 0, 10n, 40_000))).toEqual([]);
  });

  it('refuse a malformed record and go on', () => {
    const orders = new AccountOrders(options());
    const [user] = USERS as [Uint8Array];
    const broken = placing(user, 4, 0, 10n);
    expect(() => orders.take({ ...broken, data: { ...broken.data, order_price: 'much' } })).toThrow(OrderActionError);
    expect(orders.take(placing(user, 5, 0, 10n))).toMatchObject([{ seq: 1 }]);
  });
});
