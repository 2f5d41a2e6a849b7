// The database that contains the history. A rebuild switches running readers and writers to another one. The log stores the
// choice as state, so all processes see the same.

import type { Logger } from 'pino';
import type { EventLog } from '../log/port.ts';

const CURRENT_GROUP = 'history-current';
/** How often running processes check. */
const POLL_MS = 500;

export interface CurrentDatabases {
  /** Source of queries. */
  readonly read: string;
  /** Target of the sinks. Ahead of `read` for a moment when a rebuilt database takes over. */
  readonly write: string;
  /** Target of a running or unfinished rebuild. */
  readonly rebuilding: string | null;
}

/** `fallback`: the configured database, in use until the first rebuild. */
export async function readCurrent(log: EventLog, fallback: string): Promise<CurrentDatabases> {
  const { state } = await log.load(CURRENT_GROUP, 'reader');
  const name = (key: keyof CurrentDatabases) => {
    const bytes = state.get(key);
    return bytes === undefined ? null : Buffer.from(bytes).toString('utf8');
  };
  const read = name('read') ?? fallback;
  return { read, write: name('write') ?? read, rebuilding: name('rebuilding') };
}

export async function setCurrent(log: EventLog, change: Partial<CurrentDatabases>): Promise<void> {
  const state = Object.entries(change).map(([key, name]) => {
    return { key, value: name === null ? null : Buffer.from(name, 'utf8') };
  });
  await log.commit(CURRENT_GROUP, { state });
}

export interface CurrentFollower {
  stop(): Promise<void>;
}

/** Checks every half second and calls `changed` with each new answer. Continues after failures. */
export function followCurrent(
  log: EventLog,
  logger: Logger,
  known: CurrentDatabases,
  changed: (now: CurrentDatabases) => void,
): CurrentFollower {
  let last = known;
  let looking: Promise<void> | null = null;
  const look = async () => {
    try {
      const now = await readCurrent(log, known.read);
      if (now.read === last.read && now.write === last.write && now.rebuilding === last.rebuilding) return;
      last = now;
      changed(now);
    } catch (error) {
      logger.warn({ err: error }, 'cannot read the current database from the log');
    }
  };
  const timer = setInterval(() => {
    looking ??= look().finally(() => {
      looking = null;
    });
  }, POLL_MS);
  return {
    stop: async () => {
      clearInterval(timer);
      await looking;
    },
  };
}
