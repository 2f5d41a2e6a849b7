// The book role at each commitment that the configuration asks for: the same work on topics of its own.

import { hasProcessedBooks, logAt, ProcessedMetrics, type RoleContext, type RunningRole } from '../platform/index.ts';
import { startBooks } from './book/role.ts';

/**
 * Starts the role. Resolves when saved state is restored and following has begun; rejects when the log cannot be read, or
 * with a ConfigError for a malformed list. `done` rejects when the log fails.
 */
export async function startBook(context: RoleContext): Promise<RunningRole> {
  const confirmed = await startBooks(context);
  if (!hasProcessedBooks(context.config)) return confirmed;
  try {
    const metrics = new ProcessedMetrics(context.metrics);
    const processed = await startBooks({ ...context, log: logAt(context.log, 'processed'), metrics });
    return both(confirmed, processed);
  } catch (error) {
    await confirmed.stop();
    throw error;
  }
}

function both(one: RunningRole, other: RunningRole): RunningRole {
  const done = Promise.race([one.done, other.done]);
  done.catch(() => {}); // The waiter of `done` gets the failure; alone it must not end the process.
  return {
    ...one,
    done,
    stop: async () => {
      await Promise.all([one.stop(), other.stop()]);
    },
  };
}
