// One at a time over all processes: opening and closing a store, and each commit to it.
//
// lmdb (3.5.6, mdb_env_open2) puts the number of the newest transaction that an opening process has read from the file into the
// memory that all processes share. A commit that ends in between is forgotten by that: the next one takes its number and its
// pages, and what it had stored is lost or the file damaged. And a process that closes as the last one takes the locks with it
// that another, just opening, counts on. Neither happens while everybody goes through this gate: the write lock of a second
// store, in which nothing is ever stored.

import { join } from 'node:path';
import { open, type RootDatabase } from 'lmdb';

const FOLDER = 'gate';

/** Never closed: closing is what the gate cannot protect itself from. */
const gates = new Map<string, Gate>();

/** The gate of a store's folder, which is there. */
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

  /** Runs `action` while nobody else, in any process, runs one. It must not await, nor pass the gate again. */
  pass<T>(action: () => T): T {
    return this.#lock.transactionSync(action);
  }
}
