import { describe, expect, it } from 'vitest';
import { changed, PackedUpdate, packed, unpacked } from './packed-update.ts';
import { UpdateQueue } from './queue.ts';
import type { AccountUpdate } from './source.ts';
import { StoredAccount } from './stored-account.ts';

const WAITING = 5_000;

function update(slot: number, size: number): AccountUpdate {
  const data = new Uint8Array(size);
  data[size - 1] = slot % 251;
  const [pubkey, owner, signature] = [32, 32, 64].map((length) => new Uint8Array(length).fill(slot % 250)) as [
    Uint8Array,
    Uint8Array,
    Uint8Array,
  ];
  return { kind: 'account', slot, writeVersion: BigInt(slot), pubkey, owner, data, signature, blockIndex: slot % 7 };
}

describe('updates that wait', () => {
  it('come out as they came, though those beyond some thousands waited packed', async () => {
    const given = Array.from({ length: WAITING }, (_, slot) => update(slot, 4_376));
    const queue = new UpdateQueue(WAITING * 2);
    for (const one of given) queue.push(one);
    queue.end();
    const taken = [];
    for await (const batch of queue.batches()) taken.push(...(batch as AccountUpdate[]));
    expect(taken[0]).toBe(given[0]);
    const waited = taken.at(-1) as PackedUpdate;
    expect(waited).toBeInstanceOf(PackedUpdate);
    expect(changed(unpacked(waited), {})).toMatchObject({ ...given.at(-1), data: expect.anything() });
    expect(new Uint8Array(waited.data)).toEqual(given.at(-1)?.data);
    expect(taken.map(({ slot, data }) => [slot, data.at(-1)])).toEqual(
      given.map(({ slot, data }) => [slot, data.at(-1)]),
    );
  });
});

describe('a packed update', () => {
  it('keeps its data when other members change, and no cause that it never had', () => {
    const { signature: _, blockIndex: __, ...bare } = update(9, 4_376);
    const waiting = packed(bare);
    expect(Object.keys(waiting)).not.toContain('signature');
    const moved = changed(waiting, { slot: 10, writeVersion: null, blockIndex: 3 });
    expect(moved).toMatchObject({ slot: 10, writeVersion: null, blockIndex: 3 });
    expect(new Uint8Array(moved.data)).toEqual(bare.data);
  });

  it('keeps nothing of the message that brought it in memory, and neither does a stored account once it is packed', () => {
    const message = new Uint8Array(5_000).fill(7);
    const [pubkey, owner, signature] = [message.subarray(0, 32), message.subarray(32, 64), message.subarray(64, 128)];
    const given: AccountUpdate = { ...update(1, 1), pubkey, owner, signature, data: message.subarray(200, 4_576) };
    const waiting = packed(given);
    const stored = new StoredAccount(given, 'user').pack();
    for (const bytes of [waiting.pubkey, waiting.owner, waiting.signature, stored.owner])
      expect(bytes?.buffer.byteLength).toBeLessThan(100);
    expect(waiting).toMatchObject({ pubkey: new Uint8Array(pubkey), owner: new Uint8Array(owner) });
    expect(new StoredAccount({ ...given, slot: 2 }, 'user', false, stored).owner).toBe(stored.owner);
  });

  it('is not made of small data', () => {
    const small = update(1, 100);
    expect(packed(small)).toBe(small);
  });
});
