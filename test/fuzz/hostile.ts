// Clients that mean harm, or behave as if they did, by the thousand in a process of their own.

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
  /** Messages each flooding or replaying client sends at most. */
  readonly messages: number;
  /** What slow clients ask for and never read; flooding and replaying ones repeat the first, `depths` asks for its market. */
  readonly asks: readonly string[];
  /** They come one after the other over this time, milliseconds; 0 or absent: all at once. */
  readonly arriveOverMs?: number;
  /** Flooding and replaying clients that were ended come back after `afterMs`, until `forMs` since the attack began; absent: not at all. */
  readonly comesBack?: { readonly afterMs: number; readonly forMs: number };
  readonly seed: number;
}

export interface HostileState {
  /** How connections ended so far, by close code (`null`: without one). */
  readonly closes: Readonly<Record<string, number>>;
  /** Connections that the server refused or reset. */
  readonly refused: number;
  /** Connections that were made by those who came back. */
  readonly returns: number;
}

/** `idle`: only the time that nobody else wants. `other`: as any process, for when this one has a real-time policy. */
export type SchedulingPolicy = 'idle' | 'other';

export type HostileCommand =
  | { readonly do: 'attack'; readonly options: HostileOptions }
  | { readonly do: 'read' | 'state' };

/** One process of hostile clients of one kind. */
export class Hostile {
  readonly #child: ChildProcess;

  /** `policy`: how the attackers are scheduled beside a server on the same machine (Linux); absent: as this process. */
  constructor(policy?: SchedulingPolicy) {
    const execArgv = ['--disable-warning=ExperimentalWarning'];
    this.#child = policy
      ? fork(PROGRAM, { execPath: 'chrt', execArgv: [`--${policy}`, '0', process.execPath, ...execArgv] })
      : fork(PROGRAM, { execArgv });
  }

  /** Resolves when every client has done its worst. */
  attack(options: HostileOptions): Promise<HostileState> {
    return this.#ask({ do: 'attack', options });
  }

  /** Slow clients read at last, so that they learn how the server ended them. */
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
