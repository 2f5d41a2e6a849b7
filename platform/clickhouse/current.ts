// Which database holds the history: readers and writers may be sent to another one while they run. The answer is state
// of the log, so every process sees the same.

import type { Logger } from 'pino';
import type { EventLog } from '../log/port.ts';

export const CURRENT_GROUP = 'history-current';
/** How often running processes look. */
const POLL_MS = 500;

export interface CurrentDatabases {
  /** What queries are answered from. */
  readonly read: string;
  /** What the sinks store into; goes ahead of `read` for a moment when a rebuilt database takes over. */
  readonly write: string;
  /** The database that a rebuild is filling, or began to fill and did not finish. */
  readonly rebuilding: string | null;
}

/** `fallback` is the configured database: where the history is until something was rebuilt. */
export async function readCurrent(log: EventLog, fallback: string): Promise<CurrentDatabases> {
  const { state } = await log.load(CURRENT_GROUP);
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

/** Looks every half second and calls `changed` when the answer is another one than before; failures are waited out. */
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
      logger.warn({ err: error }, 'the log does not say which database is current');
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
