import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createFakeExchange, PROGRAM } from '../../test/support/localnet/fake-exchange.ts';
import { expectEqual } from '../../test/support/platform/equal.ts';
import { BehindView } from '../ledger/behind.ts';
import { type Commitment, Ledger, type StoredBlock } from '../ledger.ts';
import { Production } from './production.ts';
import { type Profile, profileOf } from './profile.ts';
import { Schedule } from './schedule.ts';

const LEVELS: readonly Commitment[] = ['processed', 'confirmed', 'finalized'];

interface Chain {
  readonly ledger: Ledger;
  readonly production: Production;
  /** Every block of every fork. */
  readonly blocks: Map<string, StoredBlock>;
  /** Account data at the genesis. */
  readonly genesis: ReadonlyMap<string, Buffer>;
}

function chainOf(seed: number, profile: Profile): Chain {
  const exchange = createFakeExchange({ seed, genesisTime: 1_700_000_000 });
  const accounts = exchange.genesis();
  const ledger = new Ledger({
    genesisHash: 'genesis',
    genesisSlot: 1_000_000,
    genesisTime: 1_700_000_000,
    lags: profile.lags,
    behindBlocks: 8,
  });
  ledger.begin(accounts);
  const production = new Production({ exchange, ledger, profile, seed });
  const genesis = new Map(accounts.map(({ pubkey, data }) => [pubkey, Buffer.from(data)]));
  return { ledger, production, blocks: new Map(), genesis };
}

function next({ production, blocks }: Chain): string {
  const happened = production.next([]);
  if ('block' in happened) blocks.set(happened.block.blockhash, happened.block);
  return happened.kind;
}

/** From a tip down to the genesis, by the parents' hashes. */
function ancestry({ blocks }: Chain, tip: StoredBlock | null): StoredBlock[] {
  const found: StoredBlock[] = [];
  for (let at = tip ?? undefined; at !== undefined; at = blocks.get(at.previousBlockhash)) found.push(at);
  return found;
}

/** The accounts of the program at a tip, from nothing but the blocks below it. */
function naiveAccounts(chain: Chain, tip: StoredBlock | null): Map<string, string> {
  const states = new Map([...chain.genesis].map(([key, data]) => [key, data.toString('base64')]));
  for (const block of ancestry(chain, tip).reverse()) {
    for (const { writes } of block.transactions) {
      for (const { pubkey, data } of writes) {
        if (data.length === 0) states.delete(pubkey);
        else states.set(pubkey, data.toString('base64'));
      }
    }
  }
  return states;
}

describe('the fork tree', () => {
  it('reads every level as the blocks below its tip say, and never takes back what is confirmed', () => {
    fc.assert(
      fc.property(fc.nat(1_000_000), fc.constantFrom('mainnet', 'hostile'), (seed, name) => {
        const chain = chainOf(seed, profileOf(name));
        const { ledger } = chain;
        const last: Record<string, StoredBlock | null> = { confirmed: null, finalized: null };
        const wrong: string[] = [];
        for (let slot = 0; slot < 150; slot++) {
          next(chain);
          const followed = ancestry(chain, ledger.blockAt('processed'));
          for (const level of ['confirmed', 'finalized'] as const) {
            const tip = ledger.blockAt(level);
            const before = last[level];
            if (tip && !followed.includes(tip)) wrong.push(`${level} tip ${tip.slot} is on another fork`);
            if (before && !ancestry(chain, tip).includes(before)) wrong.push(`${level} ${before.slot} taken back`);
            last[level] = tip;
          }
        }
        expect(wrong).toEqual([]);
      }),
      { numRuns: 30 },
    );
  });

  it('gives accounts back what they were when a fork loses', () => {
    fc.assert(
      fc.property(fc.nat(1_000_000), fc.constantFrom('mainnet', 'hostile'), (seed, name) => {
        const chain = chainOf(seed, profileOf(name));
        const { ledger } = chain;
        // Until the deepest level drops account states from blocks.
        for (let slot = 0; slot < 38; slot++) {
          next(chain);
          for (const level of LEVELS) {
            const expected = naiveAccounts(chain, ledger.blockAt(level));
            const owned = ledger.owned(PROGRAM, level).map(({ pubkey, data }) => [pubkey, data.toString('base64')]);
            expectEqual(new Map(owned as [string, string][]), expected);
            const dataOf = (pubkey: string) => ledger.account(pubkey, level)?.data.toString('base64');
            expectEqual(new Map(Array.from(expected.keys(), (pubkey) => [pubkey, dataOf(pubkey)])), expected);
          }
          const other = new BehindView(ledger, 3);
          const owned = other.owned(PROGRAM, 'processed').map(({ pubkey, data }) => [pubkey, data.toString('base64')]);
          expectEqual(new Map(owned as [string, string][]), naiveAccounts(chain, other.blockAt('processed')));
        }
      }),
      { numRuns: 40 },
    );
  });

  it('makes the same slots, blocks and forks from the same seed', () => {
    const trace = (seed: number): string[] => {
      const chain = chainOf(seed, profileOf('hostile'));
      return Array.from({ length: 400 }, () => {
        const kind = next(chain);
        return `${kind} ${chain.ledger.tipSlot} ${chain.ledger.blockhashAt('processed')}`;
      });
    };
    expect(trace(3)).toEqual(trace(3));
    expect(trace(3)).not.toEqual(trace(4));
  });

  it('goes on after a restart with the same winning chain', () => {
    const whole = chainOf(9, profileOf('hostile'));
    for (let slot = 0; slot < 300; slot++) next(whole);
    const parts = chainOf(9, profileOf('hostile'));
    const middle = whole.ledger.history.fromTip(100)?.slot ?? 0;
    parts.production.replay(middle);
    expect(parts.ledger.tipSlot).toBe(middle);
    const rest = [...whole.ledger.history.range(middle + 1, Infinity)];
    for (const block of rest) while ((parts.ledger.history.fromTip(0)?.slot ?? 0) < block.slot) next(parts);
    expect(parts.ledger.history.fromTip(0)?.blockhash).toBe(whole.ledger.history.fromTip(0)?.blockhash);
  });

  it('skips and forks as often as its profile says', () => {
    const kinds = (name: string): Record<string, number> => {
      const schedule = new Schedule(1, profileOf(name));
      const counts: Record<string, number> = {};
      for (let slot = 0; slot < 64_000; slot++) {
        const kind = schedule.at(slot);
        counts[kind] = (counts[kind] ?? 0) + 1;
      }
      return counts;
    };
    expect(kinds('calm')).toEqual({ block: 64_000 });
    const mainnet = kinds('mainnet');
    expect((mainnet.skipped ?? 0) / 64_000).toBeCloseTo(0.03, 2);
    expect(mainnet.branch).toBeGreaterThan(600);
    expect(mainnet.hidden).toBeUndefined();
    expect(kinds('hostile').hidden).toBeGreaterThan(500);
  });

  it('keeps the blocks of lost forks apart from the chain', () => {
    const chain = chainOf(2, profileOf('mainnet'));
    for (let slot = 0; slot < 400; slot++) next(chain);
    const { abandoned, history } = chain.ledger;
    expect(abandoned.length).toBeGreaterThan(3);
    for (const block of abandoned) expect(history.block(block.slot)).toBeNull();
  });

  it('shows two nodes different forks while one is open', () => {
    const chain = chainOf(5, profileOf('hostile'));
    const { ledger } = chain;
    const other = new BehindView(ledger, 0);
    let differing = 0;
    for (let slot = 0; slot < 600; slot++) {
      next(chain);
      if (ledger.branchBlocks.length === 0) {
        expect(other.slotAt('processed')).toBe(ledger.slotAt('processed'));
        continue;
      }
      if (other.blockhashAt('processed') !== ledger.blockhashAt('processed')) differing += 1;
      for (const level of ['confirmed', 'finalized'] as const) {
        expect(other.blockhashAt(level)).toBe(ledger.blockhashAt(level));
      }
    }
    expect(differing).toBeGreaterThan(10);
  });
});
