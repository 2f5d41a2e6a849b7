import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chainTo } from '../../test/support/ingest/fork-news.ts';
import { ForkChain } from './chain.ts';
import { ForkFills, type ForkTransaction } from './fills.ts';

/** Signatures are few, so that one transaction stands in blocks of several forks. */
const SIGNATURES = 6;

interface Block {
  readonly slot: number;
  readonly parent: number;
  readonly signatures: readonly string[];
}

/** Blocks of slots 1, 2, ...: each stands on one of the blocks before it, or on the genesis (0). */
const blocks = fc
  .array(
    fc.record({
      back: fc.integer({ min: 1, max: 4 }),
      signatures: fc.uniqueArray(fc.nat(SIGNATURES - 1).map(String), { maxLength: 3 }),
    }),
    { minLength: 2, maxLength: 24 },
  )
  .map((drawn) =>
    drawn.map(({ back, signatures }, at): Block => ({ slot: at + 1, parent: Math.max(0, at + 1 - back), signatures })),
  );

function namesOf(path: readonly Block[]): string[] {
  return path.flatMap(({ slot, signatures }) => signatures.map((signature) => `${slot}:${signature}`)).sort();
}

/** State of a reader of the published and withdrawn transactions. */
class Reader {
  readonly chain = new ForkChain();
  readonly fills = new ForkFills();
  readonly #standing = new Set<string>();

  constructor() {
    this.chain.restart(0);
    this.chain.confirm(0);
  }

  take({ slot, signatures }: Block): void {
    for (const signature of signatures) this.fills.take({ slot, signature, fills: [] });
  }

  settle(): void {
    const { withdrawn, published } = this.fills.settle((slot) => this.chain.placeOf(slot));
    for (const one of withdrawn) expect(this.#standing.delete(nameOf(one))).toBe(true);
    for (const one of published) {
      expect(this.#standing.has(nameOf(one))).toBe(false);
      this.#standing.add(nameOf(one));
    }
  }

  get standing(): string[] {
    return [...this.#standing].sort();
  }
}

function nameOf({ slot, signature }: ForkTransaction): string {
  return `${slot}:${signature}`;
}

describe('fills of processed slots', () => {
  it('published and not withdrawn are those of the followed fork after each news', () => {
    fc.assert(
      fc.property(blocks, fc.array(fc.boolean(), { minLength: 24, maxLength: 24 }), (all, follows) => {
        const reader = new Reader();
        let tip = 0;
        for (const block of all) {
          reader.chain.link(block.slot, block.parent);
          reader.take(block);
          reader.chain.delivered(block.slot);
          if (follows[block.slot - 1]) tip = block.slot;
          if (follows[block.slot - 1]) reader.chain.follow(block.slot);
          reader.settle();
          expect(reader.standing).toEqual(namesOf(chainTo(all, tip)));
        }
      }),
    );
  });

  it('leave with their slot when it dies, with all slots on it', () => {
    fc.assert(
      fc.property(blocks, fc.nat(23), (all, which) => {
        const reader = new Reader();
        for (const block of all) {
          reader.chain.link(block.slot, block.parent);
          reader.chain.delivered(block.slot);
          reader.take(block);
          reader.chain.follow(block.slot);
          reader.settle();
        }
        const dead = all[which % all.length] as Block;
        const path = chainTo(all, all.length);
        reader.chain.dead(dead.slot);
        reader.settle();
        const left = path.includes(dead) ? path.slice(0, path.indexOf(dead)) : path;
        expect(reader.standing).toEqual(namesOf(left));
      }),
    );
  });

  it('leave when the chain confirms another block before the node has changed its fork', () => {
    fc.assert(
      fc.property(blocks, fc.nat(23), (all, which) => {
        const reader = new Reader();
        for (const block of all) {
          reader.chain.link(block.slot, block.parent);
          reader.chain.delivered(block.slot);
          reader.take(block);
        }
        reader.chain.follow(all.length);
        reader.settle();
        const { slot: confirmed } = all[which % all.length] as Block;
        reader.chain.confirm(confirmed);
        reader.settle();
        const winning = new Set(namesOf(chainTo(all, confirmed)));
        const until = reader.standing.filter((name) => Number(name.split(':')[0]) <= confirmed);
        expect(until.filter((name) => !winning.has(name))).toEqual([]);
        const followed = new Set(namesOf(chainTo(all, all.length)));
        expect(until).toEqual([...winning].filter((name) => followed.has(name)).sort());
      }),
    );
  });

  it('leave as soon as late news links the confirmed block, in whatever order it comes', () => {
    const drawn = blocks.chain((all) =>
      fc.record({
        all: fc.constant(all),
        which: fc.nat(23),
        order: fc.shuffledSubarray([...all], { minLength: all.length, maxLength: all.length }),
      }),
    );
    fc.assert(
      fc.property(drawn, ({ all, which, order }) => {
        const reader = new Reader();
        const followed = new Set(chainTo(all, all.length));
        for (const block of all) {
          if (followed.has(block)) reader.chain.link(block.slot, block.parent);
          reader.chain.delivered(block.slot);
          reader.take(block);
        }
        reader.chain.follow(all.length);
        reader.settle();
        const { slot: confirmed } = all[which % all.length] as Block;
        reader.chain.confirm(confirmed);
        reader.settle();
        const isWinning = new Set(namesOf(chainTo(all, confirmed)));
        const before = reader.standing.filter((name) => Number(name.split(':')[0]) <= confirmed);
        for (const { slot, parent } of order) reader.chain.link(slot, parent);
        reader.settle();
        const left = reader.standing.filter((name) => Number(name.split(':')[0]) <= confirmed);
        expect(left).toEqual(before.filter((name) => isWinning.has(name)));
      }),
    );
  });

  it('are kept over a lost connection, and never withdrawn for lack of news', () => {
    const reader = new Reader();
    const block = (slot: number, parent: number) => {
      reader.chain.link(slot, parent);
      reader.take({ slot, parent, signatures: ['a'] });
      reader.chain.follow(slot);
      reader.settle();
    };
    block(1, 0);
    reader.chain.restart(Number.POSITIVE_INFINITY);
    reader.settle();
    reader.chain.restart(3);
    block(3, 2);
    expect(reader.standing).toEqual(['1:a']);
    reader.chain.confirm(3);
    reader.settle();
    expect(reader.standing).toEqual(['1:a']);
    block(4, 3);
    expect(reader.standing).toEqual(['1:a', '4:a']);
  });

  it('stand behind blocks whose data a node did not send', () => {
    const reader = new Reader();
    reader.chain.link(1, 0);
    reader.chain.link(2, 0);
    reader.chain.link(3, 2);
    reader.take({ slot: 1, parent: 0, signatures: ['a'] });
    reader.chain.delivered(1);
    reader.chain.follow(1);
    reader.settle();
    reader.take({ slot: 3, parent: 2, signatures: ['a'] });
    reader.chain.follow(3);
    reader.settle();
    expect(reader.standing).toEqual(['3:a']);
  });

  it('of resolved slots and beyond the bound are forgotten', () => {
    const fills = new ForkFills(2);
    const place = (placeOf: 'followed' | 'left') => fills.settle(() => placeOf);
    for (const slot of [1, 2, 3]) fills.take({ slot, signature: 'a', fills: [] });
    expect(place('followed').published.map(({ slot }) => slot)).toEqual([2, 3]);
    fills.resolve(2);
    fills.take({ slot: 2, signature: 'b', fills: [] });
    expect(place('left').withdrawn.map(({ slot }) => slot)).toEqual([3]);
  });
});
