// The shadow check with a stream that delivers only a part of the chain's changes.

import bs58 from 'bs58';
import { describe, expect, it } from 'vitest';
import { type BookOrders, decodeMessage, loadDefinition } from '../../schemas/index.ts';
import { accountOf, USER } from '../../test/support/ingest/accounts.ts';
import { blankAccount, setField } from '../../test/support/ingest/bytes.ts';
import type { Output } from '../diff/output.ts';
import { Differ } from '../differ.ts';
import { compileReaders } from '../readers.ts';
import type { AccountUpdate } from '../source.ts';
import { REPAIR_INTERVAL_SLOTS, ROUNDS_MAX, SETTLE_SLOTS, ShadowCheck, type ShadowMessage } from './check.ts';

const definition = loadDefinition('velocity');
const readers = compileReaders(definition);
const newDiffer = () => new Differ(readers, (authority) => authority);

/** A user with one open limit order in a market. */
function user(id: number, slot: number, price: number, market = 0): AccountUpdate {
  const data = blankAccount(USER);
  setField(data, USER.layout, 'authority', new Uint8Array(32).fill(id));
  const order: Readonly<Record<string, number | string | bigint>> = {
    status: 'open',
    order_type: 'limit',
    market_type: 'perp',
    order_id: id,
    market_index: market,
    price: BigInt(price),
    base_asset_amount: 7n,
  };
  for (const [name, value] of Object.entries(order)) setField(data, USER.layout, `orders.0.${name}`, value);
  const pubkey = new Uint8Array(32).fill(id + 100);
  return { kind: 'account', slot, writeVersion: null, pubkey, owner: USER.owner, data };
}

type Fields = Readonly<Record<string, Parameters<typeof setField>[3]>>;

/** An account of the exchange with some fields set. */
function account(name: string, key: number, slot: number, fields: Fields): AccountUpdate {
  const found = accountOf(name);
  const data = blankAccount(found);
  for (const [path, value] of Object.entries(fields)) setField(data, found.layout, path, value);
  return { kind: 'account', slot, writeVersion: null, pubkey: new Uint8Array(32).fill(key), owner: USER.owner, data };
}

const ORACLE_KEY = 250;
const market = (slot: number, peg: bigint) =>
  account('PerpMarket', 251, slot, {
    oracle: new Uint8Array(32).fill(ORACLE_KEY),
    oracle_source: 'pythLazer',
    'amm.peg_multiplier': peg,
  });
const oracle = (slot: number, price: bigint) =>
  account('PythLazerOracle', ORACLE_KEY, slot, { price, exponent: -8, posted_slot: BigInt(slot) });

/** A chain, a differ with the delivered part of its changes, and the check between the two. */
class Scene {
  readonly chain = new Map<string, AccountUpdate>();
  readonly differ = newDiffer();
  readonly check = new ShadowCheck(this.differ, newDiffer, 100);

  constructor(...accounts: readonly AccountUpdate[]) {
    this.differ.snapshotBegin();
    for (const account of accounts) {
      this.write(account);
      this.differ.account(account, () => {});
    }
    this.differ.snapshotEnd(1, () => {});
  }

  write(account: AccountUpdate): void {
    this.chain.set(bs58.encode(account.pubkey), account);
  }

  deliver(account: AccountUpdate): Output[] {
    const outputs: Output[] = [];
    this.differ.account(account, (output) => outputs.push(output));
    return outputs;
  }

  read(slot: number): void {
    const updates = [...this.chain.values()].map((account) => ({ ...account, slot }));
    this.check.take({ slot, newestSlot: slot, updates, isWhole: true });
  }

  /** Takes a read of some accounts and compares it. */
  compareSome(slot: number, some: readonly AccountUpdate[]) {
    const updates = some.map((account) => ({ ...account, slot }));
    this.check.take({ slot, newestSlot: slot, updates, isWhole: false });
    return this.advance(slot + SETTLE_SLOTS);
  }

  /** Takes a read at a slot and compares it once the stream has passed that slot. */
  compare(slot: number) {
    this.read(slot);
    return this.advance(slot + SETTLE_SLOTS);
  }

  /** Completes the comparison under way and returns what is due at a slot. */
  advance(slot: number) {
    const begun = this.check.advance(slot);
    while (this.check.step());
    return begun ?? this.check.advance(slot);
  }
}

const named = (messages: readonly ShadowMessage[] = []) =>
  messages.map(({ name, value }) => `${name} ${value.marketIndex}`);
const ordersIn = (outputs: readonly { name: string; value: unknown }[] = []) =>
  outputs.flatMap(({ name, value }) => (name === 'BookOrders' ? [value as BookOrders] : []));

describe('shadow check', () => {
  it('writes a BookCheck for every market and repairs nothing while all accounts match the chain', () => {
    const scene = new Scene(user(1, 1, 100), user(2, 1, 101, 3));
    const step = scene.compare(10);
    expect(named(step?.messages)).toEqual(['BookCheck 0', 'BookCheck 3']);
    expect(step?.outputs).toEqual([]);
    expect(step?.report?.repaired.size).toBe(0);
    expect(step?.report?.markets.map(({ marketIndex }) => marketIndex)).toEqual([0, 3]);
    expect(scene.compare(20)?.messages.map(({ value }) => 'digest' in value && value.digest)).toEqual(
      step?.messages.map(({ value }) => 'digest' in value && value.digest),
    );
  });

  it('waits until the stream has passed the read, and never compares during a complete read', () => {
    const scene = new Scene(user(1, 1, 100));
    scene.read(10);
    expect(scene.advance(10 + SETTLE_SLOTS - 1)).toBeNull();
    scene.differ.snapshotBegin();
    expect(scene.advance(10 + SETTLE_SLOTS)).toBeNull();
    scene.differ.snapshotEnd(9, () => {});
    expect(scene.advance(10 + SETTLE_SLOTS)).not.toBeNull();
    expect(scene.advance(99)).toBeNull();
  });

  it('repairs a missed update once a second read confirms it, with the account as evidence', () => {
    const scene = new Scene(user(1, 1, 100), user(2, 1, 101, 3));
    scene.write(user(1, 8, 120));
    const first = scene.compare(10);
    expect(first).toMatchObject({ outputs: [], readAgain: true, report: null });
    expect(named(first?.messages)).toEqual(['BookCheck 0', 'BookCheck 3']);
    const second = scene.compare(20);
    expect(ordersIn(second?.outputs).map(({ upserts }) => upserts.map(({ price }) => price))).toEqual([[120n]]);
    expect(named(second?.messages)).toEqual([
      'BookSnapshotBegin 0',
      'BookOrders 0',
      'BookSnapshotEnd 0',
      'BookRepair 0',
      'BookCheck 0',
      'BookCheck 3',
    ]);
    expect(second?.report?.repaired).toEqual(new Map([['perp-0', 'accounts']]));
    const account = bs58.encode(user(1, 1, 1).pubkey);
    const order = { maker: account, orderId: 1, side: 'bid', size: '7' };
    const books = [
      {
        market: 'perp-0',
        onlyHere: [{ ...order, price: '100' }],
        onlyThere: [{ ...order, price: '120' }],
        fields: [],
      },
    ];
    expect(second?.report?.differences).toEqual([
      { account, storedSlot: 1, readSlot: 20, changes: ['BookOrders perp-0', 'UserOrders perp-0'], books },
    ]);
    expect(scene.compare(30)?.report?.repaired.size).toBe(0);
  });

  it('finds an account that the stream never delivered, and one whose closing it missed', () => {
    const scene = new Scene(user(1, 1, 100));
    scene.write(user(2, 5, 101));
    scene.chain.delete(bs58.encode(user(1, 1, 100).pubkey));
    scene.compare(10);
    const orders = ordersIn(scene.compare(20)?.outputs);
    expect(orders.flatMap(({ upserts }) => upserts.map(({ orderId }) => orderId))).toEqual([2]);
    expect(orders.flatMap(({ removals }) => removals.map(({ orderId }) => orderId))).toEqual([1]);
  });

  it('takes accounts outside a partial read as they are stored, and repairs those inside it', () => {
    const scene = new Scene(user(1, 1, 100), user(2, 1, 101));
    const missed = user(1, 8, 120);
    scene.compareSome(10, [missed]);
    const step = scene.compareSome(20, [missed]);
    expect(ordersIn(step?.outputs).map(({ upserts }) => upserts.map(({ price }) => price))).toEqual([[120n]]);
    expect(step?.messages.flatMap(({ value }) => ('orders' in value ? [value.orders] : []))).toEqual([2]);
    expect(scene.compare(30)).toMatchObject({ outputs: [], readAgain: true });
  });

  it('closes an account that a read of its key shows to be gone', () => {
    const scene = new Scene(user(1, 1, 100), user(2, 1, 101));
    const gone = { ...user(1, 8, 100), data: new Uint8Array(0) };
    scene.compareSome(10, [gone]);
    const orders = ordersIn(scene.compareSome(20, [gone])?.outputs);
    expect(orders.flatMap(({ removals }) => removals.map(({ orderId }) => orderId))).toEqual([1]);
  });

  it('lists every known account in turn, and first those that a read must confirm', () => {
    const scene = new Scene(...[1, 2, 3].map((id) => user(id, 1, 100)));
    const next = (count: number) => scene.check.nextKeys(count).map(([first = 0]) => first - 100);
    expect([next(2), next(2), next(2)]).toEqual([[1, 2], [3], [1, 2]]);
    scene.compareSome(10, [user(2, 8, 120)]);
    expect([next(2), next(3)]).toEqual([[2, 3], [2]]);
  });

  it('holds confirmed accounts for a few reads while new suspects appear, so that one fault begins one epoch', () => {
    const scene = new Scene(...[1, 2, 3, 4, 5, 6].map((id) => user(id, 1, 100)));
    const repairs: number[] = [];
    for (const id of [1, 2, 3, 4, 5, 6]) {
      scene.write(user(id, 5, 120));
      const step = scene.compare(id * 10);
      if ((step?.report?.repaired.size ?? 0) > 0) repairs.push(ordersIn(step?.outputs).length);
    }
    expect(repairs).toEqual([ROUNDS_MAX - 1]);
    const quiet = new Scene(user(1, 1, 100), user(2, 1, 100));
    quiet.write(user(1, 5, 120));
    quiet.compare(10);
    quiet.write(user(2, 15, 120));
    expect(quiet.compare(20)?.report).toBeNull();
    expect(ordersIn(quiet.compare(30)?.outputs)).toHaveLength(2);
  });

  it('does not treat a late update as a difference', () => {
    const scene = new Scene(user(1, 1, 100));
    scene.write(user(1, 8, 120));
    expect(scene.compare(10)?.readAgain).toBe(true);
    expect(ordersIn(scene.deliver(user(1, 8, 120)))).toHaveLength(1);
    const second = scene.compare(20);
    expect(second).toMatchObject({ outputs: [], readAgain: false });
    expect(second?.report?.repaired.size).toBe(0);
  });

  it('ignores accounts for which the stream is newer than the read', () => {
    const scene = new Scene(user(1, 1, 100));
    scene.deliver(user(1, 15, 130));
    expect(scene.compare(10)).toMatchObject({ outputs: [], readAgain: false });
  });

  it('reports an unreadable account once', () => {
    const scene = new Scene(user(1, 1, 100));
    const broken = user(2, 5, 101);
    scene.write({ ...broken, data: broken.data.subarray(0, 90) });
    scene.compare(10);
    expect(scene.compare(20)?.outputs.map(({ name }) => name)).toEqual(['DeadLetter']);
    const third = scene.compare(30);
    expect(third).toMatchObject({ outputs: [], readAgain: false });
    expect(third?.report?.repaired.size).toBe(0);
  });

  it('repairs a book that differs with all its orders, and not again for a while', () => {
    const scene = new Scene(user(1, 1, 100));
    scene.check.requestRepair('perp-0', 40);
    expect(scene.check.needsRead).toBe(true);
    const step = scene.compare(50);
    expect(named(step?.messages).slice(-2)).toEqual(['BookRepair 0', 'BookCheck 0']);
    expect(step?.report?.repaired).toEqual(new Map([['perp-0', 'book']]));
    // This result is older than the repair.
    scene.check.requestRepair('perp-0', 45);
    expect(scene.check.needsRead).toBe(false);
    scene.check.requestRepair('perp-0', 59);
    expect(named(scene.compare(60)?.messages)).toEqual(['BookCheck 0']);
    expect(scene.check.needsRead).toBe(false);
    expect(named(scene.compare(58 + REPAIR_INTERVAL_SLOTS)?.messages)).toContain('BookRepair 0');
  });

  it('compares an account that changes in every slot with its state at the slot of the read', () => {
    const scene = new Scene(user(1, 1, 100));
    const deliverEach = (from: number, prices: readonly number[]) => {
      for (const [at, price] of prices.entries()) scene.deliver(user(1, from + at, price));
    };
    deliverEach(8, [110, 111, 112]);
    scene.write(user(1, 10, 112));
    scene.read(10);
    deliverEach(11, [113, 114, 115]);
    expect(scene.advance(18)).toMatchObject({ readAgain: false, outputs: [] });
    // From here on the stream skips the slot of each write: 20, then 30.
    scene.write(user(1, 20, 999));
    deliverEach(19, [120]);
    scene.read(20);
    deliverEach(21, [121, 122]);
    expect(scene.advance(28)?.readAgain).toBe(true);
    scene.write(user(1, 30, 998));
    deliverEach(29, [130]);
    scene.read(30);
    deliverEach(31, [131]);
    const step = scene.advance(38);
    expect(step?.outputs).toEqual([]);
    expect(step?.report?.repaired).toEqual(new Map([['perp-0', 'accounts']]));
    expect(step?.report?.differences[0]?.books).toMatchObject([
      { market: 'perp-0', onlyHere: [{ orderId: 1, price: '130' }], onlyThere: [{ orderId: 1, price: '998' }] },
    ]);
    // The book has the stream's last state, which is newer than the read.
    expect(ordersIn(step?.messages).flatMap(({ upserts }) => upserts.map(({ price }) => price))).toEqual([131n]);
    expect(named(step?.messages)).toContain('BookRepair 0');
    const differsAt = (slot: number) => {
      scene.write(user(1, slot, 997));
      deliverEach(slot - 1, [140]);
      scene.read(slot);
      deliverEach(slot + 1, [141]);
      return scene.advance(slot + SETTLE_SLOTS)?.report?.repaired.size;
    };
    expect([40, 50, 38 + REPAIR_INTERVAL_SLOTS, 50 + REPAIR_INTERVAL_SLOTS].map(differsAt)).toEqual([
      undefined,
      0,
      undefined,
      1,
    ]);
  });

  it.each([
    ['a field of a market', () => market(8, 101n), 'amm.pegMultiplier', ['100', '101'], 'BookMarket perp-0'],
    ['an oracle', () => oracle(5, 200_000_000n), 'price', ['1000000', '2000000'], 'BookOracle perp-0'],
  ] as const)('finds a missed change (%s), names it, and repairs it', (_, change, field, [here, there], message) => {
    const scene = new Scene(market(1, 100n), oracle(5, 100_000_000n), user(1, 1, 100));
    scene.write(change());
    expect(scene.compare(10)?.readAgain).toBe(true);
    const step = scene.compare(20);
    expect(step?.report?.differences).toMatchObject([
      { changes: [message], books: [{ market: 'perp-0', onlyHere: [], onlyThere: [] }] },
    ]);
    expect(step?.report?.differences[0]?.books[0]?.fields).toContainEqual({ field, here, there });
    expect(named(step?.messages)).toEqual([
      'BookSnapshotBegin 0',
      'BookMarket 0',
      'BookOracle 0',
      'BookOrders 0',
      'BookSnapshotEnd 0',
      'BookRepair 0',
      'BookCheck 0',
    ]);
    const checked = scene.compare(30)?.messages.flatMap(({ name, value }) => (name === 'BookCheck' ? [value] : []));
    const texts = checked?.flatMap((check) =>
      [check.market, check.oracle].map((bytes) => bytes && decodeMessage(bytes).value),
    );
    expect(texts).toMatchObject([
      { amm: { pegMultiplier: field === 'price' ? 100n : 101n } },
      { price: field === 'price' ? 2_000_000n : 1_000_000n },
    ]);
  });

  it('does not treat a newer state of the same slot as a difference', () => {
    const scene = new Scene(user(1, 1, 100));
    scene.write(user(1, 10, 110));
    scene.read(10);
    for (const price of [110, 111, 112]) scene.deliver(user(1, 10, price));
    expect(scene.advance(18)?.readAgain).toBe(false);
  });

  it('writes the newest state of accounts that changed during the comparison', () => {
    const scene = new Scene(user(1, 1, 100), user(2, 1, 101));
    scene.read(10);
    expect(scene.check.advance(18)).toBeNull();
    while (scene.check.step());
    scene.deliver(user(1, 19, 150));
    const fresh = new Scene(user(1, 1, 150), user(2, 1, 101));
    const digest = (messages: readonly ShadowMessage[] = []) =>
      messages.flatMap(({ value }) => ('digest' in value ? [value.digest] : []));
    expect(digest(scene.check.advance(19)?.messages)).toEqual(digest(fresh.compare(30)?.messages));
  });

  it('spreads the books over batches, each with its newest state', () => {
    const many = [...Array(4).keys()].flatMap((market) =>
      [...Array(50).keys()].map((at) => user(market * 50 + at, 1, 100 + at, market)),
    );
    const scene = new Scene(...many);
    const first = scene.compare(10);
    expect(named(first?.messages)).toEqual(['BookCheck 0', 'BookCheck 1']);
    scene.deliver(user(199, 15, 700, 3));
    const second = scene.check.advance(20);
    expect(named(second?.messages)).toEqual(['BookCheck 2', 'BookCheck 3']);
    expect([second?.report, scene.check.isBusy]).toEqual([null, false]);
  });
});
