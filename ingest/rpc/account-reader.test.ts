// Which full reads are believed.

import { describe, expect, it } from 'vitest';
import { AccountReader, UnbelievableRead } from './account-reader.ts';
import type { JsonRpc } from './json-rpc.ts';
import { KeyCache } from './notifications.ts';

const KEY = '11111111111111111111111111111111';

/** Reads that return so many accounts of one kind, one after the other. */
function readerOf(name: string, counts: readonly number[]) {
  const filters = [
    { program: 'exchange', name, discriminator: new Uint8Array(8), snapshotFilters: [], liveFilters: [] },
  ];
  const reader = new AccountReader({ filters, commitment: 'confirmed', keys: new KeyCache() });
  const left = [...counts];
  const rpc = {
    programAccounts: async () => {
      const account = { pubkey: KEY, owner: KEY, data: Buffer.alloc(0) };
      return { slot: 1, accounts: Array.from({ length: left.shift() ?? 0 }, () => account) };
    },
  } as unknown as JsonRpc;
  return () => reader.read(rpc, 0);
}

describe('a full read', () => {
  it.each([
    ['User', 20, 13],
    ['User', 4, 0],
    ['PerpMarket', 3, 2],
    ['State', 1, 0],
  ])('of %s accounts, of which %i are known, is not believed with %i', async (name, known, count) => {
    const read = readerOf(name, [known, count, known]);
    await read();
    await expect(read()).rejects.toBeInstanceOf(UnbelievableRead);
    expect((await read()).updates).toHaveLength(known);
  });

  it.each([
    ['User', 20, 14],
    ['User', 4, 1],
    ['Vault', 0, 0],
  ])('of %s accounts, of which %i are known, is believed with %i', async (name, known, count) => {
    const read = readerOf(name, [known, count]);
    await read();
    expect((await read()).updates).toHaveLength(count);
  });
});
