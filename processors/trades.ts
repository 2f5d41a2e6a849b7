// The trades role: fills, the orders of accounts, and fills at processed where they run.

import { hasProcessedBooks, type RoleContext, type RunningRole } from '../platform/index.ts';
import { startAccountOrders } from './account-orders/role.ts';
import { startProcessedFills } from './processed-trades/role.ts';
import { startFills } from './trades/role.ts';

/** Starts the parts of the role. Rejects when the log cannot be read; `done` when the log fails. */
export async function startTrades(context: RoleContext): Promise<RunningRole> {
  const parts = [startFills, startAccountOrders, ...(hasProcessedBooks(context.config) ? [startProcessedFills] : [])];
  const running: RunningRole[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(running.map((part) => part.stop()));
  };
  try {
    for (const start of parts) running.push(await start(context));
  } catch (error) {
    await stop();
    throw error;
  }
  const done = Promise.all(running.map((part) => part.done)).then(() => undefined);
  return { name: 'trades', endpoints: {}, done, stop };
}
