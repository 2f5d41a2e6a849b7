// Which full reads are believed, and what partial reads ask for.

import { describe, expect, it } from 'vitest';
import { AccountReader, UnbelievableRead } from './account-reader.ts';
import type { JsonRpc } from './json-rpc.ts';
import { KeyCache } from './notifications.ts';
import { PackedAccounts, Packing } from './packed-accounts.ts';

const KEY = '11111111111111111111111111111111';

/** Accounts with these data. */
function packed(data: readonly Buffer[], slot: number): PackedAccounts {
  const accounts = new PackedAccounts();
  const packing = new Packing((pack) => accounts.add([pack], slot));
  for (const one of data) packing.add(KEY, KEY, one);
  packing.flush();
  return accounts;
}

/** A node that returns so many accounts of one kind, answer by answer. */
function readerOf(name: string, counts: readonly number[]) {
  const filters = [
    { program: 'exchange', name, discriminator: new Uint8Array(8), snapshotFilters: [], liveFilters: [] },
  ];
  const reader = new AccountReader({ filters, commitment: 'confirmed', keys: new KeyCache() });
  const left = [...counts];
  const rpc = {
    programAccounts: async () => {
      const accounts = Array.from({ length: left.shift() ?? 0 }, () => Buffer.alloc(0));
      return { slot: 1, accounts: packed(accounts, 1) };
    },
  } as unknown as JsonRpc;
  return { read: () => reader.read(rpc, 0), left };
}

/** More answers than a suspect read asks for. */
const always = (count: number) => Array.from({ length: 10 }, () => count);

describe('a full read', () => {
  it.each([
    ['User', 20, 13],
    ['User', 4, 0],
    ['PerpMarket', 3, 2],
    ['State', 1, 0],
  ])('of %s accounts, of which %i are known, is not believed with %i', async (name, known, count) => {
    const { read, left } = readerOf(name, [known, ...always(count)]);
    await read();
    await expect(read()).rejects.toBeInstanceOf(UnbelievableRead);
    left.splice(0, left.length, known);
    expect([...(await read()).updates]).toHaveLength(known);
  });

  it.each([
    ['User', 20, 14],
    ['User', 4, 1],
    ['Vault', 0, 0],
  ])('of %s accounts, of which %i are known, is believed with %i', async (name, known, count) => {
    const { read } = readerOf(name, [known, ...always(count)]);
    await read();
    expect([...(await read()).updates]).toHaveLength(count);
  });

  it.each([
    ['User', 20, [14, 0, 20]],
    ['User', 4, [1, 3, 4]],
    ['PerpMarket', 3, [2, 0, 0, 3]],
  ])('of %s accounts, of which %i are known, takes the best of the answers %j', async (name, known, answers) => {
    const { read, left } = readerOf(name, [known, ...answers]);
    await read();
    expect([...(await read()).updates]).toHaveLength(known);
    expect(left).toEqual([]);
  });

  it('of nearly as many accounts as are known is not repeated', async () => {
    const { read, left } = readerOf('User', [20, 18, 20]);
    await read();
    expect([...(await read()).updates]).toHaveLength(18);
    expect(left).toEqual([20]);
  });
});

describe('a partial read', () => {
  const filters = [
    { program: 'exchange', name: 'User', discriminator: new Uint8Array(8), snapshotFilters: [], liveFilters: [] },
  ];
  const reader = new AccountReader({ filters, commitment: 'confirmed', keys: new KeyCache() });
  const wanted = (keys: readonly Uint8Array[]) => ({ changedSince: 90, keys: () => keys });
  const changed = { pubkey: KEY, owner: KEY, data: Buffer.from([7]) };

  it('asks for what changed, and for no keys, where a node lists changes', async () => {
    const asked: number[] = [];
    const rpc = {
      changedAccounts: async (_program: string, _filters: unknown, since: number) => {
        asked.push(since);
        return { slot: 100, accounts: packed([changed.data], 101) };
      },
    } as unknown as JsonRpc;
    const read = await reader.readSome(rpc, 0, wanted([new Uint8Array(32)]));
    expect(asked).toEqual([90]);
    expect(read.slots).toEqual([100]);
    expect(read.newestSlot).toBe(101);
    expect([...read.updates].map(({ slot, data }) => [slot, [...data]])).toEqual([[101, [7]]]);
  });

  it('reads the given keys in calls of a hundred where no node lists changes; an account that is gone has no data', async () => {
    const keys = Array.from({ length: 101 }, (_, index) => new Uint8Array(32).fill(index));
    const calls: number[] = [];
    const rpc = {
      changedAccounts: async () => null,
      accounts: async (names: readonly string[]) => {
        calls.push(names.length);
        return {
          slot: 100 + calls.length,
          accounts: names.map((pubkey, at) => (at === 0 ? null : { ...changed, pubkey })),
        };
      },
    } as unknown as JsonRpc;
    const read = await reader.readSome(rpc, 0, wanted(keys));
    expect(calls).toEqual([100, 1]);
    expect(read.slots).toEqual([101, 102]);
    const updates = [...read.updates];
    expect(updates.map(({ pubkey }) => pubkey[0])).toEqual(keys.map(([first]) => first));
    expect(updates.flatMap(({ pubkey, data }) => (data.length === 0 ? [pubkey[0]] : []))).toEqual([0, 100]);
  });

  it('without keys is a read of no account at the newest slot', async () => {
    const rpc = { changedAccounts: async () => null } as unknown as JsonRpc;
    expect(await reader.readSome(rpc, 55, wanted([]))).toEqual({ slots: [55], newestSlot: 55, updates: [] });
  });
});
