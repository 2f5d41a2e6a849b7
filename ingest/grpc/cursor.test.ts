import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AccountUpdate } from '../source.ts';
import { BlockChain, type BlockRef, Cursor } from './cursor.ts';
import { Replay } from './replay.ts';

const ref = (slot: number, fork = 'a'): BlockRef => ({ slot, blockhash: `${fork}${slot}` });
const block = (slot: number, parent: BlockRef, fork = 'a') => ({ ...ref(slot, fork), parent });
/** Blocks of these slots, each with the one before as parent. */
const chainOf = (slots: readonly number[]) =>
  slots.map((slot, index) => block(slot, ref(slots[index - 1] ?? slot - 1)));

function account(slot: number, writeVersion: bigint, key = 1): AccountUpdate {
  const pubkey = new Uint8Array(32).fill(key);
  return { kind: 'account', slot, writeVersion, pubkey, owner: pubkey, data: Buffer.from([Number(writeVersion)]) };
}

describe('blocks of a stream', () => {
  it('follow each other by slot and hash of the parent, over skipped slots', () => {
    const chain = new BlockChain(ref(10));
    expect(chain.add(block(11, ref(10)))).toBe('next');
    expect(chain.add(block(14, ref(11)))).toBe('next');
    expect(chain.last).toEqual(ref(14));
  });

  it('are missing, repeated, or of another fork', () => {
    const chain = new BlockChain(ref(10));
    expect(chain.add(block(12, ref(11)))).toBe('missing');
    expect(chain.add(block(11, ref(10, 'b')))).toBe('fork');
    expect(chain.add(block(11, ref(9)))).toBe('fork');
    expect(chain.add(block(10, ref(9)))).toBe('repeated');
    expect(chain.add(block(10, ref(9), 'b'))).toBe('fork');
    expect(chain.last).toEqual(ref(10));
  });

  it('never lose one unnoticed', () => {
    const slots = fc.uniqueArray(fc.integer({ min: 1, max: 60 }), { minLength: 3, maxLength: 30 });
    fc.assert(
      fc.property(slots, fc.nat(), (given, lost) => {
        const blocks = chainOf([...given].sort((a, b) => a - b));
        const at = 1 + (lost % (blocks.length - 2));
        const chain = new BlockChain(null);
        const links = blocks.filter((_, index) => index !== at).map((one) => chain.add(one));
        expect(links.indexOf('missing')).toBe(at);
      }),
    );
  });
});

describe('cursor', () => {
  it('stands at the block before the newest, whose updates may be on their way', () => {
    const cursor = new Cursor();
    expect(cursor.from).toBeNull();
    cursor.delivered(ref(5));
    expect(cursor.from).toBeNull();
    cursor.delivered(ref(7));
    expect(cursor.from).toEqual(ref(5));
    cursor.seen(9);
    expect([cursor.from, cursor.seenSlot]).toEqual([ref(5), 9]);
  });

  it('does not move by updates of slots, nor back by repeated blocks', () => {
    const cursor = new Cursor();
    for (const slot of [5, 6, 5, 6]) cursor.delivered(ref(slot));
    cursor.seen(5_000);
    expect(cursor.from).toEqual(ref(5));
    cursor.forget();
    expect(cursor.from).toBeNull();
  });
});

describe('replay', () => {
  it('is reached when its blocks have led to the newest slot delivered before', () => {
    const replay = new Replay(ref(10), 12);
    expect(replay.block(block(10, ref(9)))).toBe('waiting');
    expect(replay.block(block(11, ref(10)))).toBe('waiting');
    expect(replay.block(block(13, ref(11)))).toBe('reached');
  });

  it('refuses another block at the cursor, and a beginning after it', () => {
    expect(new Replay(ref(10), 10).block(block(10, ref(9), 'b'))).toBe('fork');
    expect(new Replay(ref(10), 10).block(block(11, ref(10, 'b')))).toBe('fork');
    expect(new Replay(ref(10), 10).block(block(12, ref(11)))).toBe('missing');
  });

  it('gives of each slot the last state of an account, whatever the order of arrival, and nothing up to the cursor', () => {
    const replay = new Replay(ref(10), 12);
    for (const update of [account(10, 9n), account(12, 8n), account(11, 5n), account(11, 7n), account(11, 6n)]) {
      replay.account(update, 0);
    }
    const states = replay.updates.accounts.map(({ update }) => [update.slot, update.writeVersion]);
    expect(states).toEqual([
      [11, 7n],
      [12, 8n],
    ]);
  });
});
