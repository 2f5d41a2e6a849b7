// The folder for temporary files of a test run, in memory where there is room. Stores make and remove tens of thousands of
// small files. On some disks that takes a quarter of ClickHouse's time (docs/benchmarks/2026-11-27.md).

import { mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { freemem, tmpdir } from 'node:os';
import path from 'node:path';

/** A file system in memory, on Linux. */
const MEMORY = '/dev/shm';
/** Room that a run must find, bytes: several times what it takes. */
const ROOM_BYTES = 8 * 1024 ** 3;
const PREFIX = 'slotbook-tests-';
/** The process that made the folder. */
const OWNER = new RegExp(`^${PREFIX}(\\d+)-`);
/** A process that is just ending may still write. */
const REMOVAL = { recursive: true, force: true, maxRetries: 20, retryDelay: 250 };

/** Calls `run` with the environment that names the folder, and removes the folder when that is done. A TMPDIR that is set stays. */
export async function inTestFolder(run) {
  if (process.env.TMPDIR !== undefined) return run({});
  const parent = hasRoom() ? MEMORY : tmpdir();
  removeForsaken(parent);
  const folder = mkdtempSync(path.join(parent, `${PREFIX}${process.pid}-`));
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

/** Removes folders of runs that were killed, but for those of other users. */
function removeForsaken(parent) {
  for (const name of readdirSync(parent)) {
    const owner = OWNER.exec(name)?.[1];
    if (owner === undefined || isAlive(Number(owner))) continue;
    try {
      rmSync(path.join(parent, name), REMOVAL);
    } catch (error) {
      process.stdout.write(`left by another run: ${error.message}\n`);
    }
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
