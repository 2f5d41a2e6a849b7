import bs58 from 'bs58';
import { describe, expect, it } from 'vitest';
import { type Pack, PackedAccounts, Packing } from './packed-accounts.ts';

const KEYS = [1, 2, 3].map((fill) => new Uint8Array(32).fill(fill));
const [OWNER, OTHER] = [7, 8].map((fill) => new Uint8Array(32).fill(fill));

function packed(data: readonly Uint8Array[]): Pack[] {
  const packs: Pack[] = [];
  const packing = new Packing((pack) => packs.push(pack));
  for (const [index, one] of data.entries()) {
    const owner = index === 1 ? OTHER : OWNER;
    packing.add(bs58.encode(KEYS[index % KEYS.length] ?? []), bs58.encode(owner ?? []), one);
  }
  packing.flush();
  return packs;
}

describe('packed accounts', () => {
  const data = [Buffer.alloc(300, 1), Buffer.alloc(0), Buffer.from([0, 0, 5, 0, 0, 0, 0])];

  it('come back in their order, with their owners and the slot of their answer', () => {
    const accounts = new PackedAccounts();
    accounts.add(packed(data), 11);
    accounts.add(packed(data.slice(0, 1)), 12);
    expect([accounts.count, accounts.newestSlot]).toEqual([4, 12]);
    const updates = [...accounts.updates()];
    expect(updates.map(({ slot }) => slot)).toEqual([11, 11, 11, 12]);
    expect(updates.map(({ pubkey }) => pubkey)).toEqual([...KEYS, KEYS[0]]);
    expect(updates.map(({ owner }) => owner)).toEqual([OWNER, OTHER, OWNER, OWNER]);
    expect(updates.map((one) => Buffer.from(one.data))).toEqual([...data, data[0]]);
    // One object for all accounts of an owner in a row.
    expect(updates[2]?.owner).not.toBe(updates[0]?.owner);
  });

  it('are taken once', () => {
    const accounts = new PackedAccounts();
    accounts.add(packed(data), 11);
    accounts.add(packed(data.slice(2)), 12);
    expect([...accounts.updates()]).toEqual([...accounts.taken()]);
    expect([...accounts.taken()]).toEqual([]);
    expect(accounts.count).toBe(4);
  });

  it('move in packs of half a megabyte, and a larger account in one of its own', () => {
    const ofBytes = (bytes: number) => Buffer.alloc(bytes, 3);
    const packs = packed([ofBytes(400_000), ofBytes(300_000), ofBytes(2_000_000), ofBytes(10)]);
    expect(packs.map(({ count }) => count)).toEqual([1, 1, 1, 1]);
    const accounts = new PackedAccounts();
    accounts.add(packs, 1);
    expect([...accounts.taken()].map((one) => one.data.length)).toEqual([400_000, 300_000, 2_000_000, 10]);
  });

  it('have addresses of 32 bytes', () => {
    const packing = new Packing(() => {});
    expect(() => packing.add(bs58.encode(Uint8Array.of(1)), bs58.encode(OWNER ?? []), Buffer.alloc(1))).toThrow(
      '1 bytes',
    );
  });
});
