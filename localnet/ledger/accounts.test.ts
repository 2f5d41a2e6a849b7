import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AccountStore } from './accounts.ts';

const KEYS = ['a', 'b', 'c'];
const OWNERS = ['x', 'y'];

interface Write {
  readonly pubkey: string;
  readonly owner: string;
  readonly data: number[];
}

const write: fc.Arbitrary<Write> = fc.record({
  pubkey: fc.constantFrom(...KEYS),
  owner: fc.constantFrom(...OWNERS),
  data: fc.array(fc.nat(255), { maxLength: 1 }),
});

/** The chain as a list of all writes: the expected state of every slot. */
function naive(slots: readonly (readonly Write[])[], slot: number): Map<string, Write> {
  const seen = new Map<string, Write>();
  for (const writes of slots.slice(0, slot + 1)) for (const one of writes) seen.set(one.pubkey, one);
  for (const [pubkey, one] of seen) if (one.data.length === 0) seen.delete(pubkey);
  return seen;
}

describe('AccountStore', () => {
  it('reads every unsettled slot like a list of all writes', () => {
    const slots = fc.array(fc.array(write, { maxLength: 4 }), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(slots, fc.nat(6), (written, lag) => {
        const store = new AccountStore();
        for (const [slot, writes] of written.entries()) {
          for (const one of writes) store.write({ ...one, lamports: 1, data: Uint8Array.from(one.data) }, slot);
          const settled = Math.max(0, slot - lag);
          store.settle(settled);
          for (let at = settled; at <= slot; at++) {
            const expected = naive(written, at);
            for (const pubkey of KEYS) {
              expect(store.at(pubkey, at)?.data[0]).toBe(expected.get(pubkey)?.data[0]);
            }
            for (const owner of OWNERS) {
              const owned = [...expected.values()].filter((one) => one.owner === owner).map(({ pubkey }) => pubkey);
              expect(
                store
                  .ownedAt(owner, at)
                  .map(({ pubkey }) => pubkey)
                  .sort(),
              ).toEqual(owned.sort());
            }
          }
        }
        // Once all slots are settled, only existing accounts are left.
        store.settle(written.length);
        expect(store.versions()).toHaveLength(naive(written, written.length).size);
      }),
    );
  });
});
