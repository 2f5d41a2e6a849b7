// Switches a store to a rebuilt database as soon as the log marks it as current.

import { type ClickHouse, type ClickHouseClient, followCurrent, type RoleContext } from '../../platform/index.ts';
import type { HistoryStore } from './store.ts';

/** Follows until stopped. */
export function followRebuilt(
  { log, logger }: RoleContext,
  { database, connect }: Pick<ClickHouse, 'database' | 'connect'>,
  store: HistoryStore,
): { stop(): Promise<void> } {
  const clients: ClickHouseClient[] = [];
  let used = database;
  const follower = followCurrent(log, logger, { read: database, write: database, rebuilding: null }, ({ read }) => {
    if (read === used) return;
    logger.info({ from: used, to: read }, 'answering from another database');
    used = read;
    const client = connect(read);
    clients.push(client);
    store.use(client, read);
  });
  return {
    stop: async () => {
      await follower.stop();
      await Promise.all(clients.map((client) => client.close()));
    },
  };
}
