import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AccountUpdate, SourceUpdate } from '../source.ts';
import { BEHIND_SLOTS_MAX, BETTER_SLOTS } from './leadership.ts';
import { Merge } from './merge.ts';

const KEYS = 4;
const SLOTS = 60;
const SOURCES = 3;

const account = (slot: number, key: number, value: number, version: bigint | null): AccountUpdate => {
  const pubkey = new Uint8Array(32).fill(key);
  return { kind: 'account', slot, writeVersion: version, pubkey, owner: pubkey, data: Buffer.from(String(value)) };
};
const transaction = (slot: number, number: number, isIndexed = false): SourceUpdate => ({
  kind: 'transaction',
  slot,
  signature: `${slot}/${number}`,
  failed: false,
  logs: [],
  blockIndex: isIndexed ? number : null,
  blockTime: null,
});
const slotOf = (slot: number): SourceUpdate => ({ kind: 'slot', slot });
const lost: SourceUpdate = { kind: 'reconnect', reason: 'test' };

/** Writes of each slot in order: `slot` to accounts and values. */
class Chain {
  readonly writes: (readonly (readonly [key: number, value: number])[])[] = [];
  constructor(shape: readonly (readonly number[])[]) {
    let value = 0;
    for (const keys of shape) this.writes.push(keys.map((key) => [key, ++value]));
  }
  /** State of each account at the end of a slot. */
  at(slot: number): Map<number, number> {
    return new Map(this.writes.slice(0, slot + 1).flat());
  }
}

/** A source as a node behind its own connection: it dies, comes back with a complete read, and lags at will. */
class Node {
  readonly #chain: Chain;
  readonly #versions: boolean;
  readonly #offset: bigint;
  #ready: SourceUpdate[] = [];
  #next = -1;
  #sent = 0;
  isUp = false;
  constructor(chain: Chain, number: number) {
    this.#chain = chain;
    this.#versions = number > 0;
    this.#offset = BigInt((SOURCES - number) * 1_000);
  }
  /** Two kinds of accounts are read at different slots. */
  start(slot: number): SourceUpdate[] {
    this.isUp = true;
    const older = Math.max(0, slot - 2);
    const read = [...this.#chain.at(slot)].map(([key, value]) =>
      key % 2 === 0
        ? account(slot, key, value, null)
        : account(older, key, this.#chain.at(older).get(key) ?? value, null),
    );
    const states = read.filter((one) => one.slot === slot || this.#chain.at(older).has(Number(one.pubkey[0])));
    this.#next = older + 1;
    this.#ready = [];
    const missed = this.#chain.writes
      .slice(this.#sent, slot + 1)
      .flatMap((writes, index) => writes.map((_, number) => transaction(this.#sent + index, number)));
    this.#sent = slot + 1;
    return [{ kind: 'snapshotBegin', slot: older }, ...states, { kind: 'snapshotEnd', slot: older }, ...missed];
  }
  die(): SourceUpdate[] {
    if (!this.isUp) return [];
    this.isUp = false;
    return [lost];
  }
  /** Some of the updates up to a slot. */
  give(count: number, tip: number): SourceUpdate[] {
    if (!this.isUp) return [];
    while (this.#ready.length < count && this.#next <= tip) this.#produce();
    return this.#ready.splice(0, count);
  }
  #produce(): void {
    const slot = this.#next;
    this.#next += 1;
    for (const [number, [key, value]] of (this.#chain.writes[slot] ?? []).entries()) {
      const version = this.#versions ? this.#offset + BigInt(value) : null;
      this.#ready.push(account(slot, key, value, version), transaction(slot, number, this.#versions));
    }
    this.#ready.push(slotOf(slot));
  }
}

/** What the differ keeps. */
class Reader {
  readonly accounts = new Map<number, { slot: number; version: bigint | null; value: number }>();
  readonly transactions: string[] = [];
  readonly labels: number[] = [];
  isReading = false;
  take(update: SourceUpdate): void {
    if (update.kind === 'account') this.#account(update);
    else if (update.kind === 'transaction') this.transactions.push(update.signature);
    else if (update.kind === 'slot') this.labels.push(update.slot);
    else if (update.kind === 'snapshotBegin') this.isReading = true;
    else if (update.kind === 'snapshotEnd') this.isReading = false;
  }
  #account({ slot, writeVersion: version, pubkey, data }: AccountUpdate): void {
    const key = Number(pubkey[0]);
    const stored = this.accounts.get(key);
    if (stored && stored.slot > slot) return;
    const isOld = stored?.slot === slot && stored.version !== null && version !== null && version < stored.version;
    if (!isOld) this.accounts.set(key, { slot, version, value: Number(data.toString()) });
  }
}

const step = fc.record({
  source: fc.nat({ max: SOURCES - 1 }),
  give: fc.integer({ min: 1, max: 12 }),
  act: fc.constantFrom('give', 'give', 'give', 'give', 'give', 'die', 'start', 'lie'),
  advance: fc.nat({ max: 2 }),
});
const shape = fc.array(fc.array(fc.nat({ max: KEYS - 1 }), { maxLength: 4 }), { minLength: SLOTS, maxLength: SLOTS });

describe('merge of sources', () => {
  it('applies each transaction once and each state in order, and labels no slot before its data, over deaths and delays', () => {
    fc.assert(
      fc.property(shape, fc.array(step, { maxLength: 150 }), (writes, steps) => {
        const chain = new Chain([[0, 1, 2, 3], ...writes]);
        const merge = new Merge(SOURCES);
        const nodes = Array.from({ length: SOURCES }, (_, number) => new Node(chain, number));
        const reader = new Reader();
        let tip = 3;
        const take = (source: number, updates: readonly SourceUpdate[]): void => {
          for (const update of updates) passed(merge.take(source, update));
        };
        const passed = ({ updates, restarts }: ReturnType<Merge['take']>): void => {
          for (const update of updates) {
            reader.take(update);
            if (update.kind === 'slot') expectLabel(update.slot);
          }
          for (const source of restarts) restart(source);
        };
        const restart = (source: number): void => {
          take(source, nodes[source]?.die() ?? []);
          take(source, nodes[source]?.start(tip) ?? []);
        };
        const expectLabel = (label: number): void => {
          expect(label).toBeGreaterThan(reader.labels.at(-2) ?? -1);
          expect(label).toBeLessThanOrEqual(tip);
          for (const [key, value] of chain.at(label)) {
            const known = reader.accounts.get(key);
            // A state of a later slot is no error: its label follows.
            if ((known?.slot ?? -1) <= label) expect([key, known?.value]).toEqual([key, value]);
          }
        };
        for (const { source, give, act, advance } of steps) {
          tip = Math.min(SLOTS, tip + advance);
          const node = nodes[source];
          if (act === 'give') take(source, node?.give(give, tip) ?? []);
          else if (act === 'die') take(source, node?.die() ?? []);
          else if (act === 'lie') passed(merge.exclude(source));
          else if (!node?.isUp) restart(source);
        }
        for (const [source, node] of nodes.entries()) if (!node.isUp) restart(source);
        for (let more = 0; more < 2; more++) {
          for (const [source, node] of nodes.entries()) take(source, node.give(10_000, tip));
        }
        for (const [key, value] of chain.at(tip)) expect([key, reader.accounts.get(key)?.value]).toEqual([key, value]);
        expect(reader.labels.at(-1)).toBe(tip);
        expect(reader.isReading).toBe(false);
        const all = chain.writes
          .slice(0, tip + 1)
          .flatMap((list, slot) => list.map((_, number) => `${slot}/${number}`));
        expect([...reader.transactions].sort()).toEqual(all.sort());
      }),
      { numRuns: 200 },
    );
  });

  const started = (): Merge => {
    const merge = new Merge(2);
    for (const source of [0, 1]) {
      merge.take(source, { kind: 'snapshotBegin', slot: 1 });
      merge.take(source, { kind: 'snapshotEnd', slot: 1 });
    }
    merge.take(0, slotOf(2));
    return merge;
  };
  const kinds = (merged: ReturnType<Merge['take']>) =>
    merged.updates.map(({ kind, ...rest }) => [kind, 'slot' in rest ? rest.slot : 0]);

  it('replaces a lost leader without a reconnect, by what the follower has beyond the last complete slot', () => {
    const merge = started();
    for (const update of [account(2, 1, 5, 1n), slotOf(2), account(3, 1, 6, 2n), slotOf(3), account(4, 1, 7, 3n)]) {
      expect(kinds(merge.take(1, update))).toEqual([]);
    }
    expect(kinds(merge.take(0, lost))).toEqual([
      ['account', 3],
      ['slot', 3],
      ['account', 4],
    ]);
    expect([merge.role(0), merge.role(1)]).toEqual(['down', 'leader']);
  });

  it('labels no slot of which the lost leader has sent later changes', () => {
    const merge = started();
    for (const update of [account(3, 1, 6, 2n), slotOf(3), account(4, 1, 7, 3n)]) merge.take(1, update);
    expect(kinds(merge.take(0, account(4, 2, 8, null)))).toEqual([['account', 4]]);
    expect(kinds(merge.take(0, lost))).toEqual([
      ['account', 3],
      ['account', 4],
    ]);
    expect(kinds(merge.take(1, slotOf(4)))).toEqual([['slot', 4]]);
  });

  it('lets a follower read anew when it cannot continue a lost leader', () => {
    const merge = started();
    merge.take(1, lost);
    merge.take(1, { kind: 'snapshotBegin', slot: 9 });
    merge.take(1, { kind: 'snapshotEnd', slot: 9 });
    const { updates, restarts } = merge.take(0, lost);
    expect([updates, restarts]).toEqual([[lost], [1]]);
    merge.take(1, lost);
    expect(kinds(merge.take(1, { kind: 'snapshotBegin', slot: 10 }))).toEqual([['snapshotBegin', 10]]);
  });

  it('is led by a follower that continues while the leader is lost, if it has every change since the last complete slot', () => {
    const merge = started();
    for (const source of [1, 0]) merge.take(source, lost);
    for (const update of [account(2, 1, 5, 1n), account(3, 1, 6, 2n)]) merge.take(1, update);
    expect(kinds(merge.take(1, { kind: 'continued', slot: 2 }))).toEqual([
      ['account', 3],
      ['continued', 2],
    ]);
    expect([merge.role(0), merge.role(1)]).toEqual(['down', 'leader']);
  });

  it('lets a follower read anew that continues later than the last complete slot while the leader is lost', () => {
    const merge = started();
    for (const source of [1, 0]) merge.take(source, lost);
    expect(merge.take(1, { kind: 'continued', slot: 5 }).restarts).toEqual([1]);
    merge.take(1, lost);
    expect(kinds(merge.take(1, { kind: 'snapshotBegin', slot: 6 }))).toEqual([['snapshotBegin', 6]]);
    expect(merge.leader).toBe(1);
  });

  it('replaces no leader in the middle of its complete read', () => {
    const merge = started();
    merge.take(0, { kind: 'snapshotBegin', slot: 2 });
    merge.take(1, slotOf(2 + BEHIND_SLOTS_MAX));
    expect(merge.leader).toBe(0);
    expect(merge.take(0, lost)).toEqual({ updates: [lost], restarts: [1] });
  });

  it('never moves the resume point back when the lead changes', () => {
    const merge = started();
    const progress = (slot: number): SourceUpdate => {
      return { kind: 'progress', resume: { slot, signatures: {}, chain: 'chain' } };
    };
    expect(kinds(merge.take(0, progress(5)))).toHaveLength(1);
    merge.take(0, lost);
    expect(merge.leader).toBe(1);
    expect([4, 6].map((slot) => merge.take(1, progress(slot)).updates.length)).toEqual([0, 1]);
  });

  it('passes waiting copies of transactions when the leader is lost and nobody can replace it', () => {
    const merge = started();
    merge.take(0, transaction(3, 0, true));
    expect(kinds(merge.take(1, transaction(4, 0)))).toEqual([]);
    merge.take(1, lost);
    expect(kinds(merge.take(0, lost))[0]).toEqual(['transaction', 4]);
  });

  it('lets no copy of a transaction wait for the index that a lost leader knew', () => {
    const merge = started();
    merge.take(0, transaction(3, 0, true));
    merge.take(1, lost);
    merge.take(0, lost);
    expect(kinds(merge.take(1, transaction(4, 0)))).toEqual([['transaction', 4]]);
  });

  it('never moves the resume point past a copy of a transaction that waits for a better one', () => {
    const merge = started();
    const of = (slot: number): SourceUpdate => ({
      kind: 'progress',
      resume: { slot, signatures: {}, chain: 'one' },
    });
    merge.take(0, transaction(3, 0, true));
    expect(kinds(merge.take(1, transaction(4, 0)))).toEqual([]);
    expect(kinds(merge.take(0, of(4)))).toEqual([
      ['transaction', 4],
      ['progress', 0],
    ]);
    expect(kinds(merge.take(1, transaction(4, 1)))).toEqual([['transaction', 4]]);
  });

  it('replaces a leader that falls behind, and one that is second for long, but not one that is second at times', () => {
    const merge = started();
    for (let slot = 3; slot < 2 + BEHIND_SLOTS_MAX; slot++) merge.take(1, slotOf(slot));
    expect(merge.leader).toBe(0);
    merge.take(1, slotOf(2 + BEHIND_SLOTS_MAX));
    expect(merge.leader).toBe(1);
    let slot = 2 + BEHIND_SLOTS_MAX;
    for (let turn = 1; turn < 4 * BETTER_SLOTS; turn++) {
      slot += 1;
      const first = turn % BETTER_SLOTS === 0 ? 1 : 0;
      merge.take(first, slotOf(slot));
      merge.take(1 - first, slotOf(slot));
    }
    expect(merge.leader).toBe(1);
    for (let turn = 0; turn < BETTER_SLOTS; turn++) {
      slot += 1;
      merge.take(0, slotOf(slot));
      merge.take(1, slotOf(slot));
    }
    expect(merge.leader).toBe(0);
  });

  it('never lets a lying source lead while another source can', () => {
    const merge = started();
    merge.exclude(0);
    expect(merge.leader).toBe(1);
    for (let slot = 3; slot < 100; slot++) merge.take(0, slotOf(slot));
    expect(merge.leader).toBe(1);
  });
});
