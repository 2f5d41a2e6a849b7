// endpoints.json in the data directory: addresses of all servers, for scripts. Several processes may share the file.

import { mkdirSync, readFileSync, renameSync, rmdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export type Endpoints = Record<string, string>;

const FILE = 'endpoints.json';
const LOCK_WAIT_MS = 5;
/** An older lock is left over from a killed process: a living one holds it for milliseconds, and for seconds where it gets no turn. */
const LOCK_STALE_MS = 10_000;

export function readEndpoints(dataDir: string): Endpoints {
  try {
    return JSON.parse(readFileSync(path.join(dataDir, FILE), 'utf8')) as Endpoints;
  } catch {
    return {};
  }
}

/** Adds endpoints. With `remove`: removes those that still have the given value. */
export async function updateEndpoints(dataDir: string, endpoints: Endpoints, remove = false): Promise<void> {
  mkdirSync(dataDir, { recursive: true });
  const lock = path.join(dataDir, `${FILE}.lock`);
  await acquire(lock);
  try {
    const current = readEndpoints(dataDir);
    for (const [name, url] of Object.entries(endpoints)) {
      if (!remove) current[name] = url;
      else if (current[name] === url) delete current[name];
    }
    const draft = path.join(dataDir, `${FILE}.${process.pid}`);
    writeFileSync(draft, `${JSON.stringify(current, null, 2)}\n`);
    renameSync(draft, path.join(dataDir, FILE));
  } finally {
    release(lock);
  }
}

async function acquire(lock: string): Promise<void> {
  for (;;) {
    try {
      mkdirSync(lock);
      return;
    } catch {
      if (ageMs(lock) > LOCK_STALE_MS) {
        release(lock);
      } else {
        await sleep(LOCK_WAIT_MS);
      }
    }
  }
}

/** Without an error when another process has removed it: one that found it stale. */
function release(lock: string): void {
  try {
    rmdirSync(lock);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

function ageMs(file: string): number {
  try {
    return Date.now() - statSync(file).mtimeMs;
  } catch {
    return 0;
  }
}
