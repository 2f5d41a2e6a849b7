// A lock across processes for opening and closing a store, and for each commit: the write lock of a second, always empty store.
// Without it lmdb 3.5.6 (mdb_env_open2) can reuse the number and pages of a commit made while another process opens the store.
// And the last process to close removes locks that an opening one relies on.

import { join } from 'node:path';
import { open, type RootDatabase } from 'lmdb';

const FOLDER = 'gate';

/** Never closed: the gate cannot protect its own closing. */
const gates = new Map<string, Gate>();

/** The gate of a store's existing folder. */
export function gateOf(folder: string): Gate {
  const gate = gates.get(folder) ?? new Gate(folder);
  gates.set(folder, gate);
  return gate;
}

export class Gate {
  readonly #lock: RootDatabase;

  constructor(folder: string) {
    this.#lock = open({ path: join(folder, FOLDER), noSync: true, overlappingSync: false });
  }

  /** Runs `action` while no other process runs one. It must not await, nor enter the gate again. */
  pass<T>(action: () => T): T {
    return this.#lock.transactionSync(action);
  }
}
