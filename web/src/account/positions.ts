// Loads the records that open positions follow from.

import { allRows } from './lists.ts';
import { type OpenPosition, openPositions } from './open-positions.ts';

const PAGES_MAX = 10;

export async function loadPositions(account: string, signal: AbortSignal): Promise<readonly OpenPosition[]> {
  const [fundings, fills] = await Promise.all([
    allRows(account, { path: '/user/{accountId}/fundingPayments' }, PAGES_MAX, signal),
    allRows(account, { path: '/user/{accountId}/trades' }, PAGES_MAX, signal),
  ]);
  return openPositions(account, fundings.rows, fills.rows, fills.isWhole);
}
