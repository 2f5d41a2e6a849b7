import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { keyText } from '../../schemas/index.ts';
import { chainTo } from '../../test/support/ingest/fork-news.ts';
import type { AccountUpdate } from '../source.ts';
import { type ConfirmedState, ForkStates } from './states.ts';

const ACCOUNTS = 4;
const keyOf = (account: number) => new Uint8Array(32).fill(account + 1);
const state = (account: number, slot: number, bytes = 1): AccountUpdate => ({
  kind: 'account',
  slot,
  writeVersion: null,
  pubkey: keyOf(account),
  owner: keyOf(99),
  data: Buffer.alloc(bytes, slot),
});

/** A reader of the emitted states: the slot of each account's state, 0 for none. */
class Reader {
  readonly confirmed = new Map<string, ConfirmedState>();
  readonly slots = new Map<string, number>();
  /** Slots of the brackets. */
  readonly reverts: number[] = [];
  readonly #open: number[] = [];
  readonly forks: ForkStates;

  constructor(bytesMax?: number) {
    this.forks = new ForkStates(
      {
        confirmed: (key) => this.confirmed.get(key) ?? null,
        emit: (update) => this.slots.set(keyText(update.pubkey), update.data[0] ?? 0),
        reverted: (slot) => {
          if (slot === null) expect(this.#open.pop()).toBeDefined();
          else {
            this.#open.push(slot);
            this.reverts.push(slot);
          }
        },
      },
      bytesMax,
    );
  }

  confirm(slot: number, accounts: readonly number[]): void {
    for (const account of accounts) this.confirmOne(account, slot);
    this.forks.confirm(slot);
  }

  confirmOne(account: number, slot: number): void {
    this.confirmed.set(keyText(keyOf(account)), { slot, update: state(account, slot) });
    this.forks.confirmed(keyOf(account));
  }

  get states(): number[] {
    return Array.from({ length: ACCOUNTS }, (_, account) => this.slots.get(keyText(keyOf(account))) ?? 0);
  }
}

interface Block {
  readonly slot: number;
  readonly parent: number;
  readonly writes: readonly number[];
}

/** Blocks of slots 1, 2, ...: each stands on one of the blocks before it, or on the genesis (0). */
const blocks = fc
  .array(fc.record({ back: fc.integer({ min: 1, max: 4 }), writes: fc.uniqueArray(fc.nat(ACCOUNTS - 1)) }), {
    minLength: 2,
    maxLength: 24,
  })
  .map((drawn) =>
    drawn.map(({ back, writes }, at): Block => ({ slot: at + 1, parent: Math.max(0, at + 1 - back), writes })),
  );

function truthAt(all: readonly Block[], tip: number): number[] {
  const states = Array.from({ length: ACCOUNTS }, () => 0);
  for (const { slot, writes } of chainTo(all, tip)) for (const account of writes) states[account] = slot;
  return states;
}

function started(bytesMax?: number): Reader {
  const reader = new Reader(bytesMax);
  reader.forks.restart(0);
  reader.forks.confirm(0);
  return reader;
}

describe('states at the tip of a fork', () => {
  it('equal the truth of the followed fork after each news', () => {
    fc.assert(
      fc.property(blocks, fc.array(fc.boolean(), { minLength: 24, maxLength: 24 }), (all, follows) => {
        const reader = started();
        let tip = 0;
        for (const { slot, parent, writes } of all) {
          reader.forks.link(slot, parent);
          for (const account of writes) reader.forks.account(state(account, slot));
          // A fork that the node does not follow is known, and shows in nothing.
          reader.forks.delivered(slot);
          if (follows[slot - 1]) tip = slot;
          if (follows[slot - 1]) reader.forks.follow(slot);
          expect(reader.states).toEqual(truthAt(all, tip));
        }
      }),
    );
  });

  it('equal the surviving ancestor after a slot has died, with all slots on it', () => {
    fc.assert(
      fc.property(blocks, fc.nat(23), (all, which) => {
        const reader = started();
        for (const { slot, parent, writes } of all) {
          reader.forks.link(slot, parent);
          reader.forks.delivered(slot);
          for (const account of writes) reader.forks.account(state(account, slot));
          reader.forks.follow(slot);
        }
        const dead = all[which % all.length] as Block;
        const path = chainTo(all, all.length);
        reader.forks.dead(dead.slot);
        expect(reader.states).toEqual(truthAt(all, path.includes(dead) ? dead.parent : all.length));
      }),
    );
  });

  it('equal the confirmed chain when it catches up, whatever slot news was lost, repeated or out of order', () => {
    type News = readonly ['link' | 'dead' | 'follow' | 'states', Block];
    const newsOf = (block: Block): News[] => [
      ['link', block],
      ['states', block],
      ['follow', block],
      ['dead', block],
    ];
    const scenario = blocks.chain((all) =>
      fc.tuple(
        fc.constant(all),
        // `subarray` loses news, and a dead slot is one of many.
        fc
          .shuffledSubarray(all.flatMap(newsOf))
          .map((news) => news.filter(([kind], at) => kind !== 'dead' || at % 5 === 0)),
        fc.nat(8),
      ),
    );
    fc.assert(
      fc.property(scenario, ([all, news, repeats]) => {
        const reader = started();
        const { forks } = reader;
        for (const [kind, { slot, parent, writes }] of [...news, ...news.slice(0, repeats)]) {
          if (kind === 'link') forks.link(slot, parent);
          else if (kind === 'dead') forks.dead(slot);
          else if (kind === 'follow') forks.follow(slot);
          else for (const account of writes) forks.account(state(account, slot));
        }
        for (const { slot, writes } of chainTo(all, all.length)) reader.confirm(slot, writes);
        expect(reader.states).toEqual(truthAt(all, all.length));
        expect(forks.bytes).toBe(0);
      }),
    );
  });

  it('name the first slot that an undo takes back, and nothing when a slot is confirmed', () => {
    const reader = started();
    const { forks } = reader;
    for (const [slot, parent] of [
      [1, 0],
      [2, 1],
      [3, 2],
    ] as const) {
      forks.link(slot, parent);
      forks.account(state(0, slot));
      forks.follow(slot);
    }
    reader.confirm(1, [0]);
    expect([reader.states[0], reader.reverts]).toEqual([3, []]);
    forks.link(4, 1);
    forks.account(state(1, 4));
    forks.follow(4);
    // The state of slot 1, not the one before or after slot 2 or 3 alone.
    expect([reader.states.slice(0, 2), reader.reverts]).toEqual([[1, 4], [2]]);
    reader.confirm(4, [1]);
    expect([reader.states.slice(0, 2), reader.reverts]).toEqual([[1, 4], [2]]);
  });

  it('keep to the ancestor while a node does not send what lies between it and its new tip', () => {
    const reader = started();
    const { forks } = reader;
    for (const [slot, parent] of [
      [1, 0],
      [2, 1],
      [3, 1],
      [4, 3],
    ] as const)
      forks.link(slot, parent);
    forks.account(state(0, 2));
    forks.follow(2);
    forks.account(state(1, 4));
    forks.follow(4);
    expect(reader.states.slice(0, 3)).toEqual([0, 0, 0]);
    reader.confirm(3, [2]);
    expect(reader.states.slice(0, 3)).toEqual([0, 4, 3]);
  });

  it('name an undo also when the confirmed state comes before the news of its fork', () => {
    const reader = started();
    const { forks } = reader;
    for (const [slot, parent, account] of [
      [1, 0, 1],
      [2, 1, 0],
      [4, 2, 2],
    ] as const) {
      forks.link(slot, parent);
      forks.account(state(account, slot));
      forks.follow(slot);
    }
    forks.link(3, 1);
    reader.confirmOne(0, 3);
    expect([reader.states[0], reader.reverts]).toEqual([3, [2]]);
    // The confirmed block stands on that of slot 1, so this state is not undone.
    reader.confirmOne(1, 3);
    expect([reader.states[1], reader.reverts]).toEqual([3, [2]]);
    reader.confirm(3, []);
    expect([reader.states[2], reader.reverts]).toEqual([0, [2, 4]]);
  });

  it('stay at the common ancestor while the node has sent no state of its new fork', () => {
    const reader = started();
    const { forks } = reader;
    forks.link(1, 0);
    forks.follow(1);
    for (const [slot, parent] of [
      [2, 1],
      [3, 1],
      [4, 3],
    ] as const)
      forks.link(slot, parent);
    forks.account(state(1, 4));
    forks.follow(4);
    expect(reader.states.slice(0, 3)).toEqual([0, 0, 0]);
    reader.confirm(3, [2]);
    expect(reader.states.slice(0, 3)).toEqual([0, 4, 3]);
  });

  it('keep to the ancestor also when the chain confirms the new fork before the node sends its tip', () => {
    const reader = started();
    const { forks } = reader;
    for (const [slot, parent] of [
      [1, 0],
      [2, 1],
      [3, 1],
      [4, 3],
      [5, 4],
    ] as const)
      forks.link(slot, parent);
    forks.account(state(0, 2));
    forks.follow(2);
    reader.confirm(3, [2]);
    forks.account(state(1, 5));
    forks.follow(5);
    expect(reader.states.slice(0, 3)).toEqual([0, 0, 3]);
    reader.confirm(4, [3]);
    expect(reader.states).toEqual([0, 5, 3, 4]);
  });

  it('fall back to the confirmed states beyond the bound, until these have passed every dropped one', () => {
    const reader = started(10_000);
    const { forks } = reader;
    const write = (slot: number, bytes: number) => {
      forks.link(slot, slot - 1);
      forks.account(state(0, slot, bytes));
      forks.follow(slot);
    };
    write(1, 100);
    expect(reader.states[0]).toBe(1);
    write(2, 10_000);
    expect([reader.states[0], forks.bytes]).toEqual([0, 0]);
    write(3, 100);
    expect(reader.states[0]).toBe(0);
    reader.confirm(1, [0]);
    expect(reader.states[0]).toBe(1);
    reader.confirm(2, [0]);
    expect(reader.states[0]).toBe(3);
  });

  it('are the confirmed ones where these are newer, also before their news', () => {
    const reader = started();
    const { forks } = reader;
    reader.confirmed.set(keyText(keyOf(0)), { slot: 3, update: state(0, 3) });
    for (const slot of [1, 2]) {
      forks.link(slot, slot - 1);
      forks.account(state(0, slot));
      forks.follow(slot);
      expect(reader.states[0]).toBe(3);
    }
  });
});
