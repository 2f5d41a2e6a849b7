// Stands for an operator's supervisor: starts processes of roles, and starts them again when they exit.

import { setTimeout as sleep } from 'node:timers/promises';
import { errorText } from '../../../../platform/index.ts';
import { type Running, type Settings, startRoles } from '../../../support/processes/processes.ts';

const RESTART_MS = 300;

export interface Exit {
  readonly name: string;
  /** Null for a process that a signal ended. */
  readonly code: number | null;
}

export class ProcessSupervisor {
  readonly exits: Exit[] = [];
  /** Output of processes that did not get ready. */
  readonly complaints: string[] = [];
  readonly #settings: Settings;
  readonly #running = new Map<string, Running>();
  readonly #loops: Promise<void>[] = [];
  #stopping = false;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  keep(name: string, roles: readonly string[]): void {
    this.#loops.push(this.#keep(name, roles));
  }

  /** The process of this name, when one is ready now. */
  running(name: string): Running | undefined {
    return this.#running.get(name);
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    for (const running of [...this.#running.values()].reverse()) await running.stop();
    await Promise.all(this.#loops);
  }

  async #keep(name: string, roles: readonly string[]): Promise<void> {
    while (!this.#stopping) {
      try {
        const running = await startRoles(roles, this.#settings);
        this.#running.set(name, running);
        if (this.#stopping) await running.stop();
        const code = await running.exited;
        if (!this.#stopping) this.exits.push({ name, code });
      } catch (error) {
        const text = errorText(error);
        this.complaints.push(text);
        this.exits.push({ name, code: Number(/ended with (\d+)/.exec(text)?.[1] ?? Number.NaN) });
      }
      this.#running.delete(name);
      await sleep(RESTART_MS);
    }
  }
}
