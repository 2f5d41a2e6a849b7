// A full read reaches the log in parts, between which the event loop runs. Turns and parts are counted, never time.

import bs58 from 'bs58';
import { describe, expect, it } from 'vitest';
import { createMetrics, type NewRecord, readConfig, silentLogger } from '../platform/index.ts';
import { decodeMessage, keyText, loadDefinition, TOPICS, type Topic } from '../schemas/index.ts';
import {
  key,
  marketBytes,
  marketKeyOf,
  newDiffer,
  PERP,
  USER,
  update,
  userBytes,
} from '../test/support/ingest/accounts.ts';
import { MemoryLog } from '../test/support/ingest/memory-log.ts';
import type { Output } from './diff/output.ts';
import { startIngest } from './role.ts';
import { PackedAccounts, Packing } from './rpc/packed-accounts.ts';
import type { AccountUpdate, Source, SourceUpdate } from './source.ts';

const USERS = 1_500;
/** Records that one part may have: those that wait at most, and those of the account after. */
const PART_MAX = 1_050;
/** Records between two turns of the loop. */
const TURN_MAX = 250;

const addressOf = (n: number): Uint8Array => key(n & 0xff, n >> 8, 9);
const user = (n: number, slot: number, market = n % 3): AccountUpdate => {
  const orders = [
    { slot: 0, orderId: 1, marketIndex: market, price: 5n, size: 7n, filled: 0n, reduceOnly: false },
    { slot: 1, orderId: 2, marketIndex: market, price: 6n, size: 7n, filled: 0n, reduceOnly: false },
  ];
  const positions = [{ marketIndex: market, base: 1n, openOrders: 2 }];
  return update(addressOf(n), USER.owner, userBytes({ user: n, orders, positions }), slot);
};
const market = (index: number, slot: number): AccountUpdate =>
  update(marketKeyOf(index), PERP.owner, marketBytes(index, null), slot);

/** A log that notes the turn and the size of each append. */
class CountingLog extends MemoryLog {
  readonly parts: { readonly topic: string; readonly records: number; readonly turn: number }[] = [];
  turn = 0;

  override append(topic: Topic, records: readonly NewRecord[]) {
    this.parts.push({ topic: topic.name, records: records.length, turn: this.turn });
    return super.append(topic, records);
  }
}

async function ingested(batches: readonly (readonly SourceUpdate[])[]): Promise<CountingLog> {
  const log = new CountingLog();
  let isOver = false;
  const count = (): void => {
    log.turn += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const source: Source = {
    async *updates() {
      yield* batches;
    },
    transaction: async () => null,
  };
  const running = { config: readConfig({}), log, logger: silentLogger(), metrics: createMetrics(['ingest']) };
  const role = await startIngest(running, { definition: loadDefinition('velocity'), source });
  await role.done;
  await role.stop();
  isOver = true;
  return log;
}

/** The updates as a node's answer at a slot brings them. */
function packed(updates: readonly AccountUpdate[], slot: number): Iterable<AccountUpdate> {
  const accounts = new PackedAccounts();
  const packing = new Packing((pack) => accounts.add([pack], slot));
  for (const { pubkey, owner, data } of updates) packing.add(bs58.encode(pubkey), bs58.encode(owner), data);
  packing.flush();
  return accounts.taken();
}

describe('a full read', () => {
  const users = Array.from({ length: USERS }, (_, n) => user(n, 10));
  const changed = Array.from({ length: USERS }, (_, n) => user(n, 20, (n + 1) % 3));
  const markets = [0, 1, 2].map((index) => market(index, 10));
  const first: SourceUpdate[] = [
    { kind: 'snapshotBegin', slot: 10 },
    ...users,
    ...markets,
    { kind: 'snapshotEnd', slot: 10 },
    { kind: 'slot', slot: 10 },
    { kind: 'time', slot: 10, ts: 100 },
  ];
  const second: SourceUpdate[] = [
    { kind: 'snapshotBegin', slot: 20 },
    ...changed,
    { kind: 'snapshotEnd', slot: 20 },
    { kind: 'slot', slot: 20 },
  ];

  it.each([
    ['first', [first]],
    ['later', [first, second]],
  ])('of one batch is written in parts, with turns of the loop in between (%s)', async (_, batches) => {
    const log = await ingested(batches);
    const written = log.parts.reduce((sum, { records }) => sum + records, 0);
    expect(written).toBeGreaterThan(USERS * 3);
    expect(Math.max(...log.parts.map(({ records }) => records))).toBeLessThanOrEqual(PART_MAX);
    expect(log.turn).toBeGreaterThanOrEqual(Math.floor(written / TURN_MAX));
    const turns = new Set(log.parts.map(({ turn }) => turn));
    expect(turns.size).toBeGreaterThanOrEqual(Math.floor(written / (PART_MAX + TURN_MAX)));
  });

  it('has its label after all its records, and its orders between the brackets of their market', async () => {
    const log = await ingested([first]);
    for (let partition = 0; partition < TOPICS.book.partitions; partition++) {
      const names = log
        .all(TOPICS.book)
        .filter((record) => record.partition === partition)
        .map(({ value }) => decodeMessage(value).name);
      if (!names.includes('BookOrders')) continue;
      expect(names.indexOf('BookSnapshotBegin')).toBeLessThan(names.indexOf('BookOrders'));
      expect(names.lastIndexOf('BookSnapshotEnd')).toBeGreaterThan(names.lastIndexOf('BookOrders'));
      expect(names.indexOf('BookSlot')).toBeGreaterThan(names.lastIndexOf('BookSnapshotEnd'));
    }
  });

  it('of packed accounts comes to the same as one of plain accounts', () => {
    const reads = [
      [...users.slice(0, 60), ...markets],
      // Some have changed, some have closed, and one is new.
      [...changed.slice(0, 20), ...users.slice(25, 60), ...markets, user(70, 20)],
    ];
    const outputsOf = (form: (updates: readonly AccountUpdate[], slot: number) => Iterable<AccountUpdate>) => {
      const differ = newDiffer();
      const outputs: Output[] = [];
      const take = (output: Output): void => void outputs.push(output);
      for (const [index, read] of reads.entries()) {
        const slot = 10 * (index + 1);
        differ.snapshotBegin();
        for (const one of form(read, slot)) differ.account(one, take);
        differ.snapshotEnd(slot, take);
        // A change between two reads is compared with a packed state.
        differ.account(user(30, slot + 5, 0), take);
        differ.margins(slot + 6, take);
      }
      return outputs;
    };
    const plain = outputsOf((updates, slot) => updates.map((one) => ({ ...one, slot })));
    expect(plain.length).toBeGreaterThan(200);
    expect(outputsOf(packed)).toEqual(plain);
  });

  it('that repeats all accounts for a new market keeps their stored states at every step', () => {
    const differ = newDiffer();
    const outputs: Output[] = [];
    const take = (output: Output): void => void outputs.push(output);
    const few = users.slice(0, 40);
    differ.snapshotBegin();
    for (const one of [...few, ...markets]) differ.account(one, take);
    differ.snapshotEnd(10, take);
    const inFull = outputs.filter(({ name }) => name === 'BookOrders').length;
    outputs.length = 0;
    differ.snapshotBegin();
    for (const one of [...few, ...markets, market(7, 20)]) differ.account({ ...one, slot: 20 }, take);
    let steps = 0;
    for (const _ of differ.snapshotEnding(20, take)) {
      steps += 1;
      expect(few.every((one) => differ.stored(keyText(one.pubkey))?.holds(one))).toBe(true);
    }
    expect(steps).toBeGreaterThan(few.length);
    expect(outputs.filter(({ name }) => name === 'BookOrders')).toHaveLength(inFull);
    expect(outputs.filter(({ name }) => name === 'BookSnapshotBegin')).toHaveLength(1);
  });
});
