// The order-book role: REST and gateway in one process, sharing one reader of the views.

import {
  hasProcessedBooks,
  logAt,
  ProcessedMetrics,
  type RoleContext,
  type RunningRole,
} from '../../platform/index.ts';
import { startGateway } from '../gateway/server.ts';
import { BookReader } from '../views/book-reader.ts';
import { startOrderBookServer } from './server.ts';

/** Rejects when a port is taken or the log cannot be read, after stopping everything it started. */
export async function startOrderBook(ctx: RoleContext): Promise<RunningRole> {
  const reader = new BookReader(ctx);
  await reader.start();
  const processed = await startProcessedReader(ctx);
  const started: RunningRole[] = [];
  const stopAll = async (): Promise<void> => {
    // The gateway first: its close notice reaches clients of the REST port only while that port is open.
    for (const role of started) await role.stop();
    await Promise.all([reader.stop(), processed?.stop()]);
  };
  try {
    const gateway = await startGateway(ctx, { reader, processed });
    started.push(gateway);
    const address = { host: gateway.host, port: gateway.port };
    const rest = await startOrderBookServer(ctx, { reader, processed, gateway: address });
    started.push(rest);
    let stopping: Promise<void> | null = null;
    return {
      name: 'orderbook',
      endpoints: { ...rest.endpoints, ...gateway.endpoints },
      done: Promise.race([reader.done, gateway.done, ...(processed ? [processed.done] : [])]),
      stop: () => {
        stopping ??= stopAll();
        return stopping;
      },
    };
  } catch (error) {
    await stopAll();
    throw error;
  }
}

/** The books at commitment processed, where they run. */
async function startProcessedReader(ctx: RoleContext): Promise<BookReader | undefined> {
  if (!hasProcessedBooks(ctx.config)) return undefined;
  const metrics = new ProcessedMetrics(ctx.metrics);
  const reader = new BookReader({ ...ctx, log: logAt(ctx.log, 'processed'), metrics });
  await reader.start();
  return reader;
}
