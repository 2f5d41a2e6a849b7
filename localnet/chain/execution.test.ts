import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { LedgerTransaction } from '../ledger-types.ts';
import { cutAtLimit, Execution, LOG_TRUNCATED } from './execution.ts';
import { profileOf } from './profile.ts';

function transaction(logMessages: string[], recordLines: number[] = []): LedgerTransaction {
  return { signature: 's', err: null, logMessages, accountKeys: [], writes: [], recordLines };
}

describe('logs cut at execution', () => {
  it('drop what reaches the limit, note the first cut, and let shorter lines in after it', () => {
    const cut = cutAtLimit(transaction(['aaaa', 'long line', 'bb', 'long line', 'c'], [0, 1, 3, 4]), 9);
    expect(cut.logMessages).toEqual(['aaaa', LOG_TRUNCATED, 'bb', 'c']);
    expect(cut.recordLines).toEqual([0]);
    expect(cut.lostRecords).toEqual([1, 2, 3]);
  });

  it('keep a log that stays below the limit as it is', () => {
    const whole = transaction(['aaaa', 'bbb'], [1]);
    expect(cutAtLimit(whole, 8)).toBe(whole);
    expect(cutAtLimit(whole, 7).lostRecords).toEqual([0]);
  });

  it('account for every record: it stands before the cut, or is among the lost ones', () => {
    const lines = fc.array(fc.string({ minLength: 1, maxLength: 30 }), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(lines, fc.integer({ min: 1, max: 400 }), (logMessages, limit) => {
        const named = logMessages.map((line, index) => `${index}:${line}`);
        const recordLines = named.flatMap((_, index) => (index % 3 === 0 ? [index] : []));
        const cut = cutAtLimit(transaction(named, recordLines), limit);
        const kept = cut.logMessages.filter((line) => line !== LOG_TRUNCATED);
        if (cut.lostRecords !== undefined) expect(Buffer.byteLength(kept.join(''))).toBeLessThan(limit);
        expect(cut.logMessages.length - kept.length).toBe(kept.length === named.length ? 0 : 1);
        const lost = new Set(cut.lostRecords);
        const found = (cut.recordLines ?? []).map((line) => cut.logMessages[line]);
        expect((cut.recordLines ?? []).every((line) => !cut.logMessages.slice(0, line).includes(LOG_TRUNCATED))).toBe(
          true,
        );
        expect(found).toEqual(recordLines.flatMap((line, index) => (lost.has(index) ? [] : [named[line]])));
      }),
    );
  });

  it('come from another program that logs first, in the share that the profile says', () => {
    const execution = new Execution(1, profileOf('hostile'));
    const own = ['Program x invoke [1]', `Program data: ${'A'.repeat(400)}`, 'Program x success'];
    const transactions = Array.from({ length: 2000 }, (_, index) => ({
      ...transaction(own, [1]),
      signature: String(index),
    }));
    const block = execution.block({ slot: 1, blockTime: 1, transactions });
    const withMemo = block.transactions.filter(({ logMessages }) => logMessages.length > own.length);
    expect(withMemo.length).toBeGreaterThan(5);
    expect(withMemo.length).toBeLessThan(50);
    expect(withMemo.some(({ lostRecords }) => lostRecords?.length === 1)).toBe(true);
    const again = new Execution(1, profileOf('hostile')).block({ slot: 1, blockTime: 1, transactions });
    expect(again).toEqual(block);
    // A wallet signed the instructions of its transaction: no other program's can stand before them.
    const submitted = transactions.map((one) => ({ ...one, isSubmitted: true }));
    const executed = new Execution(1, profileOf('hostile')).block({ slot: 1, blockTime: 1, transactions: submitted });
    expect(executed.transactions.every(({ logMessages }) => logMessages.length === own.length)).toBe(true);
  });
});
