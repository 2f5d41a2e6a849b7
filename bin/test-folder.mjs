// The folder for temporary files of a test run, in memory where there is room: stores make and remove tens of thousands of small
// files, and on a disk that takes a third of their time.

import { mkdirSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { freemem, tmpdir } from 'node:os';
import path from 'node:path';

/** A file system in memory, on Linux. */
const MEMORY = '/dev/shm';
/** Room that a run must find, bytes: several times what it takes. */
const ROOM_BYTES = 8 * 1024 ** 3;
const PREFIX = 'slotbook-tests-';
/** A process that is just ending may still write. */
const REMOVAL = { recursive: true, force: true, maxRetries: 20, retryDelay: 250 };

/** Calls `run` with the environment that names the folder, and removes the folder when that is done. A TMPDIR that is set stays. */
export async function inTestFolder(run) {
  if (process.env.TMPDIR !== undefined) return run({});
  const parent = hasRoom() ? MEMORY : tmpdir();
  removeForsaken(parent);
  const folder = path.join(parent, `${PREFIX}${process.pid}`);
  mkdirSync(folder);
  process.stdout.write(`temporary files of the tests: ${folder}${parent === MEMORY ? ' (in memory)' : ''}\n`);
  try {
    return await run({ TMPDIR: folder });
  } finally {
    rmSync(folder, REMOVAL);
  }
}

function hasRoom() {
  if (process.platform !== 'linux' || freemem() < ROOM_BYTES) return false;
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= ROOM_BYTES;
  } catch {
    return false;
  }
}

/** Removes folders of runs that were killed. */
function removeForsaken(parent) {
  for (const name of readdirSync(parent)) {
    const pid = name.startsWith(PREFIX) ? Number(name.slice(PREFIX.length)) : Number.NaN;
    // This process may have the number of one that was killed.
    if (Number.isSafeInteger(pid) && (pid === process.pid || !isAlive(pid))) rmSync(path.join(parent, name), REMOVAL);
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
