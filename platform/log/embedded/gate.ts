// A lock across processes for opening and closing a store, and for each commit to it.
//
// lmdb 3.5.6 (mdb_env_open2) copies the newest transaction number from the file into shared memory when a process opens the
// store. A commit in between is forgotten: the next one reuses its number and its pages, so data is lost or the file damaged.
// The last process to close also removes the locks that an opening process relies on. The gate prevents both. It is the write
// lock of a second, always empty store.

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
