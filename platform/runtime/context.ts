// The interface between a process and its roles.

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
  /**
   * Rejects once another process is the writer of the role. Roles call it before a write outside `log`. Absent for roles
   * without a lease.
   */
  readonly mayWrite?: () => Promise<void>;
}

export interface RunningRole {
  readonly name: string;
  /** Addresses of its servers by endpoint name (`orderbook`, `gateway`, `history`, ...). */
  readonly endpoints: Readonly<Record<string, string>>;
  /** Settles when the role ends by itself; rejects when it fails and the process must end. */
  readonly done: Promise<void>;
  /** Finishes running work and releases everything. Safe to call twice. */
  stop(): Promise<void>;
}
