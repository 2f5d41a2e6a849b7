// The history service over one running chain: transactions of a wallet, then its contract, held against what they and the
// chain have stored.

import { afterAll, beforeAll, describe } from 'vitest';
import { describeHistoryContract } from './harness/history/contract.ts';
import { type HistoryRun, startHistoryRun } from './harness/history/run.ts';
import { describeTransactions } from './harness/history/transactions.ts';

const START_MS = 240_000;

describe('the history service', () => {
  let run: HistoryRun;
  beforeAll(async () => {
    run = await startHistoryRun();
  }, START_MS);
  afterAll(() => run?.stop());

  describeTransactions(() => run);
  describeHistoryContract(() => run);
});
