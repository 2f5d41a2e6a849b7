import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  AUDITED_SLOTS,
  Comparison,
  FAULTS_MAX,
  type Findings,
  SETTLE_SLOTS,
  TRANSACTION_SETTLE_SLOTS,
} from './comparison.ts';

const SOURCES = 3;
const SLOTS = 40;

interface Fault {
  readonly source: number;
  readonly kind: 'omits' | 'alters';
}

/** Sources that name every change of a chain, but for the faults of one; an arbiter that answers at once or later. */
function run(writes: readonly (readonly number[])[], fault: Fault | null, waitSlots: number): Comparison {
  const comparison = new Comparison(SOURCES);
  const truth = new Map<string, string>();
  const waiting: { at: number; findings: () => Findings }[] = [];
  const followed = ({ questions }: Findings, slot: number): void => {
    for (const question of questions) {
      if (question.kind !== 'account') continue;
      const found = { key: question.key, slot, hash: truth.get(question.key) ?? '' };
      const answer = () => comparison.answered(question, found);
      waiting.push({ at: slot + waitSlots, findings: answer });
    }
  };
  for (let source = 0; source < SOURCES; source++) comparison.covers(source, 0);
  for (const [index, keys] of writes.entries()) {
    const slot = index + 1;
    // The arbiter reads the state at the end of the slot before.
    for (const due of waiting.splice(0)) {
      if (due.at <= slot) followed(due.findings(), slot - 1);
      else waiting.push(due);
    }
    for (const key of new Set(keys)) truth.set(String(key), `${key} at ${slot}`);
    for (let source = 0; source < SOURCES; source++) {
      for (const key of new Set(keys)) {
        if (fault?.source === source && fault.kind === 'omits' && key === 0) continue;
        const isAltered = fault?.source === source && fault.kind === 'alters' && key === 0;
        comparison.account(source, String(key), slot, null, isAltered ? 'other' : `${key} at ${slot}`);
      }
    }
    for (let source = 0; source < SOURCES; source++) followed(comparison.completed(source, slot), slot);
  }
  return comparison;
}

const writes = fc.array(fc.array(fc.nat({ max: 3 }), { maxLength: 3 }), { minLength: SLOTS, maxLength: SLOTS });

describe('comparison of sources', () => {
  it('never accuses an honest source, whatever another one leaves out or alters', () => {
    const fault = fc.option(
      fc.record({ source: fc.nat({ max: SOURCES - 1 }), kind: fc.constantFrom('omits' as const, 'alters' as const) }),
    );
    fc.assert(
      fc.property(writes, fault, fc.nat({ max: 12 }), (chain, given, wait) => {
        const comparison = run(chain, given, wait);
        for (let source = 0; source < SOURCES; source++) {
          if (source !== given?.source)
            expect(comparison.counts(source)).toMatchObject({ faults: 0, missingAccounts: 0 });
        }
      }),
      { numRuns: 100 },
    );
  });

  it.each([
    ['omits', 'left out account updates'],
    ['alters', 'other account data than the chain'],
  ] as const)('names the source that %s an account', (kind, reason) => {
    const chain = Array.from({ length: 80 }, () => [0]);
    const comparison = run(chain, { source: 1, kind }, 2);
    expect([0, 1, 2].map((source) => comparison.isLying(source))).toEqual([false, true, false]);
    expect(comparison.counts(1).reason).toBe(reason);
  });

  it.each([
    ['first state of the slot', 'left out account updates'],
    ['a third one', 'other account data than the chain'],
  ])('names a source that ends a slot of two changes with %s', (state, reason) => {
    const comparison = new Comparison(2);
    for (const source of [0, 1]) comparison.covers(source, 0);
    comparison.account(0, 'key', 5, 1n, 'first state of the slot');
    comparison.account(0, 'key', 5, 2n, 'last state of the slot');
    comparison.account(1, 'key', 5, 1n, state);
    for (const source of [0, 1]) comparison.completed(source, 5 + SETTLE_SLOTS);
    comparison.answered(
      { kind: 'account', key: 'key', slot: 5 },
      { key: 'key', slot: 5, hash: 'last state of the slot' },
    );
    expect([0, 1].map((source) => comparison.counts(source))).toMatchObject([{ faults: 0 }, { faults: 1, reason }]);
  });

  it('counts a contradiction for both until the arbiter has answered', () => {
    const comparison = new Comparison(2);
    for (const source of [0, 1]) comparison.covers(source, 0);
    for (const source of [0, 1]) comparison.account(source, 'key', 5, null, `hash of ${source}`);
    const findings = [0, 1].map((source) => comparison.completed(source, 5 + SETTLE_SLOTS));
    expect(findings.flatMap(({ questions }) => questions)).toEqual([{ kind: 'account', key: 'key', slot: 5 }]);
    expect([0, 1].map((source) => comparison.counts(source).contradictions)).toEqual([1, 1]);
    expect([0, 1].map((source) => comparison.counts(source).faults)).toEqual([0, 0]);
    const answer = { key: 'key', slot: 5, hash: 'hash of 1' };
    const { wrong } = comparison.answered({ kind: 'account', key: 'key', slot: 5 }, answer);
    expect(wrong).toEqual(['key']);
    expect([0, 1].map((source) => comparison.counts(source).faults)).toEqual([1, 0]);
  });

  it('accuses nobody when the arbiter agrees with nobody', () => {
    const comparison = new Comparison(2);
    for (const source of [0, 1]) comparison.covers(source, 0);
    for (const source of [0, 1]) comparison.account(source, 'key', 5, null, `hash of ${source}`);
    for (const source of [0, 1]) comparison.completed(source, 5 + SETTLE_SLOTS);
    comparison.answered({ kind: 'account', key: 'key', slot: 5 }, { key: 'key', slot: 5, hash: 'a third one' });
    expect([0, 1].map((source) => comparison.counts(source).faults)).toEqual([0, 0]);
  });

  /** Slots until the newest transaction is compared. */
  const JUDGED_SLOTS = SETTLE_SLOTS + AUDITED_SLOTS;
  const TRANSACTIONS = 2 * FAULTS_MAX;

  /** Source 0 has a transaction in each of some slots, and source 1 the same ones so many slots later, or never. */
  function transactions(lateSlots: number | null): Comparison {
    const comparison = new Comparison(2);
    for (const source of [0, 1]) comparison.covers(source, 0);
    const first = TRANSACTION_SETTLE_SLOTS + 1;
    const last = first + TRANSACTIONS - 1;
    for (let slot = first; slot <= last + JUDGED_SLOTS; slot++) {
      if (slot <= last) comparison.transaction(0, `signature ${slot}`, slot);
      const late = slot - (lateSlots ?? Number.POSITIVE_INFINITY);
      if (late >= first && late <= last) comparison.transaction(1, `signature ${late}`, late);
      for (const source of [0, 1]) {
        for (const question of comparison.completed(source, slot).questions) comparison.answered(question, true);
      }
    }
    return comparison;
  }

  it('names a source that leaves out transactions which the chain has', () => {
    const comparison = transactions(null);
    expect(comparison.counts(1)).toMatchObject({
      faults: TRANSACTIONS,
      missingTransactions: TRANSACTIONS,
      reason: 'left out transactions',
    });
    expect([0, 1].map((source) => comparison.isLying(source))).toEqual([false, true]);
  });

  it('accuses no source whose audit brings what its notifications left out', () => {
    expect(transactions(SETTLE_SLOTS + 1).counts(1)).toMatchObject({ faults: 0, missingTransactions: 0 });
    expect(transactions(JUDGED_SLOTS - 1).counts(1)).toMatchObject({ faults: 0, missingTransactions: 0 });
  });

  it.each([
    ['it names the source with other blocks than the arbiter', 'right', [false, true]],
    ['it accuses nobody of blocks that the arbiter has not', 'third', [false, false]],
    ['it accuses nobody while no node has the block', null, [false, false]],
  ] as const)('judges two blocks of one slot: %s', (_, blockhash, lying) => {
    const comparison = new Comparison(2);
    for (const source of [0, 1]) comparison.covers(source, 0);
    let asked = 0;
    for (let slot = 1; slot <= 40; slot++) {
      for (const source of [0, 1]) comparison.block(source, slot, source === 0 ? 'right' : 'wrong');
      for (const source of [0, 1]) {
        for (const question of comparison.completed(source, slot).questions) {
          expect(question).toMatchObject({ kind: 'block', named: ['right', 'wrong'] });
          comparison.answered(question, blockhash);
          asked += 1;
        }
      }
    }
    expect([0, 1].map((source) => comparison.isLying(source))).toEqual(lying);
    expect(comparison.counts(1).reason).toBe(lying[1] ? 'other blocks than the chain' : '');
    expect(asked).toBe(lying[1] ? FAULTS_MAX : 40 - SETTLE_SLOTS);
  });

  it('counts two blocks of one slot', () => {
    const comparison = new Comparison(2);
    for (const source of [0, 1]) {
      comparison.covers(source, 0);
      comparison.block(source, 5, `block of ${source}`);
      comparison.block(source, 6, 'block');
    }
    for (const source of [0, 1]) comparison.completed(source, 6 + SETTLE_SLOTS);
    expect([0, 1].map((source) => comparison.counts(source).contradictions)).toEqual([1, 1]);
  });

  it('compares nothing of a source before its complete read', () => {
    const comparison = new Comparison(2);
    comparison.covers(0, 0);
    for (const slot of [5, 6, 7]) comparison.account(0, 'key', slot, null, `hash ${slot}`);
    comparison.covers(1, 7);
    for (const source of [0, 1]) comparison.completed(source, 7 + SETTLE_SLOTS);
    expect(comparison.counts(1)).toMatchObject({ missingAccounts: 0 });
  });
});
