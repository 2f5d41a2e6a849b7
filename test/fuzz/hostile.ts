// Hostile clients by the thousand, in a process of their own.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('./hostile-process.ts', import.meta.url));

export const HOSTILE_KINDS = ['slow', 'silent', 'flooding', 'replaying', 'depths', 'malformed'] as const;
export type HostileKind = (typeof HOSTILE_KINDS)[number];

export interface HostileOptions {
  readonly url: string;
  readonly kind: HostileKind;
  readonly clients: number;
  /** Most messages of each flooding or replaying client. */
  readonly messages: number;
  /** Requests of slow clients, which never read. Flooding and replaying ones repeat the first, `depths` uses its market. */
  readonly asks: readonly string[];
  /** They arrive one after another over this time, milliseconds; 0 or absent: all at once. */
  readonly arriveOverMs?: number;
  /** Closed flooding and replaying clients return after `afterMs`, until `forMs` since the attack began; absent: never. */
  readonly comesBack?: { readonly afterMs: number; readonly forMs: number };
  readonly seed: number;
}

export interface HostileState {
  /** How connections ended so far, by close code (`null`: without one). */
  readonly closes: Readonly<Record<string, number>>;
  /** Connections that the server refused or reset. */
  readonly refused: number;
  /** Connections made by returning clients. */
  readonly returns: number;
}

/** `idle`: only otherwise unused time. `other`: normal priority, for when this process has a real-time policy. */
export type SchedulingPolicy = 'idle' | 'other';

export type HostileCommand =
  | { readonly do: 'attack'; readonly options: HostileOptions }
  | { readonly do: 'read' | 'state' };

/** One process of hostile clients of one kind. */
export class Hostile {
  readonly #child: ChildProcess;

  /** `policy`: scheduling of the attackers beside a server on the same machine (Linux); absent: as this process. */
  constructor(policy?: SchedulingPolicy) {
    const execArgv = ['--disable-warning=ExperimentalWarning'];
    this.#child = policy
      ? fork(PROGRAM, { execPath: 'chrt', execArgv: [`--${policy}`, '0', process.execPath, ...execArgv] })
      : fork(PROGRAM, { execArgv });
  }

  /** Resolves when every client has finished its attack. */
  attack(options: HostileOptions): Promise<HostileState> {
    return this.#ask({ do: 'attack', options });
  }

  /** Slow clients read at last, so that they learn how the server closed them. */
  read(): Promise<HostileState> {
    return this.#ask({ do: 'read' });
  }

  state(): Promise<HostileState> {
    return this.#ask({ do: 'state' });
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const exited = once(this.#child, 'exit');
    this.#child.disconnect();
    await exited;
  }

  async #ask(command: HostileCommand): Promise<HostileState> {
    const answer = once(this.#child, 'message');
    this.#child.send(command);
    return ((await answer) as [HostileState])[0];
  }
}
