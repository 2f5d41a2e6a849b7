// Reads what the log has of the numbered streams of one account, from the saved state of the role.

import type { EventLog } from '../../platform/index.ts';
import type { StreamCoverage } from '../../schemas/index.ts';
import { piecesOf } from '../follow/pieces.ts';
import { wholeState } from '../follow/step-commit.ts';
import { ACCOUNT_STREAMS, Coverage } from './reducer.ts';

export const COVERAGE_GROUP = 'coverage';
export const COVERAGE_PREFIX = 'coverage:';

/** `account` in base58. Empty for an account without records and counts. */
export async function coverageOfAccount(log: EventLog, account: string): Promise<readonly StreamCoverage[]> {
  const coverage = new Coverage();
  const { state } = await log.load(COVERAGE_GROUP, 'reader');
  coverage.restore(piecesOf(wholeState(state), COVERAGE_PREFIX));
  return ACCOUNT_STREAMS.flatMap((stream) => coverage.viewOf(account, stream) ?? []);
}
