// The shadow check against a chain that the stream told only in part.

import bs58 from 'bs58';
import { describe, expect, it } from 'vitest';
import { type BookOrders, loadDefinition } from '../../schemas/index.ts';
import type { Output } from '../diff/output.ts';
import { compileReaders, Differ } from '../differ.ts';
import type { AccountUpdate } from '../source.ts';
import { blankAccount, setField } from '../testing/bytes.ts';
import { REPAIR_AGAIN_SLOTS, ROUNDS_MAX, SETTLE_SLOTS, ShadowCheck, type ShadowMessage } from './check.ts';

const definition = loadDefinition('velocity');
const readers = compileReaders(definition);
const newDiffer = () => new Differ(readers, (authority) => authority);
const exchange = definition.programs.find((program) => program.accounts.has('User'));
const USER = exchange?.accounts.get('User');
if (!exchange || !USER) throw new Error('no User');
const OWNER = bs58.decode(exchange.programId);

/** A user with one open limit order of a market. */
function user(id: number, slot: number, price: number, market = 0): AccountUpdate {
  if (!USER) throw new Error('no User');
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
  return { kind: 'account', slot, writeVersion: null, pubkey, owner: OWNER, data };
}

/** The chain, what the stream told of it, and the check between the two. */
class Scene {
  readonly chain = new Map<string, AccountUpdate>();
  readonly differ = newDiffer();
  readonly check = new ShadowCheck(this.differ, newDiffer);
  slot = 0;

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

  tell(account: AccountUpdate): Output[] {
    const outputs: Output[] = [];
    this.differ.account(account, (output) => outputs.push(output));
    return outputs;
  }

  read(slot: number): void {
    this.check.take({ slot, updates: [...this.chain.values()].map((account) => ({ ...account, slot })) });
  }

  /** A read at a slot, compared when the stream has passed it. */
  compare(slot: number) {
    this.read(slot);
    return this.check.turn(slot + SETTLE_SLOTS);
  }
}

const named = (messages: readonly ShadowMessage[] = []) =>
  messages.map(({ name, value }) => `${name} ${value.marketIndex}`);
const ordersIn = (outputs: readonly { name: string; value: unknown }[] = []) =>
  outputs.flatMap(({ name, value }) => (name === 'BookOrders' ? [value as BookOrders] : []));

describe('shadow check', () => {
  it('says of every market what its orders must be, and repairs nothing while all is as on the chain', () => {
    const scene = new Scene(user(1, 1, 100), user(2, 1, 101, 3));
    const turn = scene.compare(10);
    expect(named(turn?.messages)).toEqual(['BookCheck 0', 'BookCheck 3']);
    expect(turn?.outputs).toEqual([]);
    expect(turn?.report?.repaired.size).toBe(0);
    expect(turn?.report?.markets.map(({ marketIndex }) => marketIndex)).toEqual([0, 3]);
    expect(scene.compare(20)?.messages.map(({ value }) => 'digest' in value && value.digest)).toEqual(
      turn?.messages.map(({ value }) => 'digest' in value && value.digest),
    );
  });

  it('waits until the stream has passed the read, and never compares in the middle of a complete read', () => {
    const scene = new Scene(user(1, 1, 100));
    scene.read(10);
    expect(scene.check.turn(10 + SETTLE_SLOTS - 1)).toBeNull();
    scene.differ.snapshotBegin();
    expect(scene.check.turn(10 + SETTLE_SLOTS)).toBeNull();
    scene.differ.snapshotEnd(9, () => {});
    expect(scene.check.turn(10 + SETTLE_SLOTS)).not.toBeNull();
    expect(scene.check.turn(99)).toBeNull();
  });

  it('puts right an update that was never told, once a second read confirms it, with the account as evidence', () => {
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
    expect(second?.report?.differences).toEqual([
      { account, heldSlot: 1, readSlot: 20, changes: ['BookOrders perp-0'] },
    ]);
    expect(scene.compare(30)?.report?.repaired.size).toBe(0);
  });

  it('finds an account of which nothing was ever told, and one whose end was never told', () => {
    const scene = new Scene(user(1, 1, 100));
    scene.write(user(2, 5, 101));
    scene.chain.delete(bs58.encode(user(1, 1, 100).pubkey));
    scene.compare(10);
    const orders = ordersIn(scene.compare(20)?.outputs);
    expect(orders.flatMap(({ upserts }) => upserts.map(({ orderId }) => orderId))).toEqual([2]);
    expect(orders.flatMap(({ removals }) => removals.map(({ orderId }) => orderId))).toEqual([1]);
  });

  it('waits with what is confirmed while more turns up, so that one fault begins one epoch; but not for ever', () => {
    const scene = new Scene(...[1, 2, 3, 4, 5, 6].map((id) => user(id, 1, 100)));
    const repairs: number[] = [];
    for (const id of [1, 2, 3, 4, 5, 6]) {
      scene.write(user(id, 5, 120));
      const turn = scene.compare(id * 10);
      if ((turn?.report?.repaired.size ?? 0) > 0) repairs.push(ordersIn(turn?.outputs).length);
    }
    expect(repairs).toEqual([ROUNDS_MAX - 1]);
    const quiet = new Scene(user(1, 1, 100), user(2, 1, 100));
    quiet.write(user(1, 5, 120));
    quiet.compare(10);
    quiet.write(user(2, 15, 120));
    expect(quiet.compare(20)?.report).toBeNull();
    expect(ordersIn(quiet.compare(30)?.outputs)).toHaveLength(2);
  });

  it('takes a late update for what it is', () => {
    const scene = new Scene(user(1, 1, 100));
    scene.write(user(1, 8, 120));
    expect(scene.compare(10)?.readAgain).toBe(true);
    expect(scene.tell(user(1, 8, 120))).toHaveLength(1);
    const second = scene.compare(20);
    expect(second).toMatchObject({ outputs: [], readAgain: false });
    expect(second?.report?.repaired.size).toBe(0);
  });

  it('leaves alone what the stream knows better than the read', () => {
    const scene = new Scene(user(1, 1, 100));
    scene.tell(user(1, 15, 130));
    expect(scene.compare(10)).toMatchObject({ outputs: [], readAgain: false });
  });

  it('tells an account that cannot be read once', () => {
    const scene = new Scene(user(1, 1, 100));
    const broken = user(2, 5, 101);
    scene.write({ ...broken, data: broken.data.subarray(0, 90) });
    scene.compare(10);
    expect(scene.compare(20)?.outputs.map(({ name }) => name)).toEqual(['DeadLetter']);
    const third = scene.compare(30);
    expect(third).toMatchObject({ outputs: [], readAgain: false });
    expect(third?.report?.repaired.size).toBe(0);
  });

  it('gives a book that did not stand its comparison the whole of its orders, and not again for a while', () => {
    const scene = new Scene(user(1, 1, 100));
    scene.check.wish('perp-0', 40);
    const turn = scene.check.turn(50);
    expect(named(turn?.messages).slice(-2)).toEqual(['BookRepair 0', 'BookCheck 0']);
    expect(turn?.report?.repaired).toEqual(new Map([['perp-0', 'book']]));
    // Said of the book before it was put right.
    scene.check.wish('perp-0', 45);
    expect(scene.check.turn(60)).toBeNull();
    scene.check.wish('perp-0', 55);
    expect(scene.check.turn(61)).toBeNull();
    expect(named(scene.check.turn(50 + REPAIR_AGAIN_SLOTS)?.messages)).toContain('BookRepair 0');
  });
});
