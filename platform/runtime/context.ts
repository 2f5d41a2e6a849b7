// What every role of a process is given, and what it gives back.

import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { Config } from '../config.ts';
import type { EventLog } from '../log/port.ts';

export type { Logger, Registry };

export interface RoleContext {
  readonly config: Config;
  readonly log: EventLog;
  readonly logger: Logger;
  /** prom-client registry of this process; roles register their metrics here. */
  readonly metrics: Registry;
}

export interface RunningRole {
  readonly name: string;
  /** Where it listens, by endpoint name (`orderbook`, `gateway`, `history`, ...). */
  readonly endpoints: Readonly<Record<string, string>>;
  /** Settles when the role ended by itself; rejects when it failed and the process must go down. */
  readonly done: Promise<void>;
  /** Finishes what is under way and releases everything. Safe to call twice. */
  stop(): Promise<void>;
}
