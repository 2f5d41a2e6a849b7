// Builds the page (web/) into web/dist when a source file, the client or a package has changed since the last build.

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ROOT, runPinned } from './install.mjs';

const WEB = path.join(ROOT, 'web');
const OUTPUT = path.join(WEB, 'dist');
const HASH_FILE = path.join(OUTPUT, '.sources');
const LOCK = path.join(WEB, '.building');
const LOCK_STALE_MS = 60_000;
const LOCK_WAIT_MS = 100;
/** Folders whose files the page consists of, and the file that names the versions of its packages. */
const SOURCES = ['web', 'client', 'schemas/messages', 'package-lock.json'];
/** Files that builds leave in these folders, and the Python client, which is no part of the page. */
const NOT_SOURCES = new Set([
  OUTPUT,
  LOCK,
  ...['dist', 'LICENSE', 'python'].map((name) => path.join(ROOT, 'client', name)),
]);

/** Resolves to the exit code. Prints a line when it builds. */
export async function buildPage({ force = false } = {}) {
  const wanted = sourcesHash();
  if (!force && builtHash() === wanted) return 0;
  await lock();
  try {
    if (!force && builtHash() === wanted) return 0;
    const started = Date.now();
    const vite = path.join(ROOT, 'node_modules', 'vite', 'bin', 'vite.js');
    const args = [vite, 'build', '--config', path.join(WEB, 'vite.config.ts'), '--logLevel', 'warn'];
    // For every caller: with another value the libraries come with their checks, a fifth larger.
    const code = await runPinned(args, { NODE_ENV: 'production' });
    if (code !== 0) return code;
    writeFileSync(HASH_FILE, wanted);
    process.stderr.write(`slotbook: built the page in ${((Date.now() - started) / 1000).toFixed(1)} s\n`);
    return 0;
  } finally {
    rmSync(LOCK, { recursive: true, force: true });
  }
}

function builtHash() {
  return existsSync(HASH_FILE) ? readFileSync(HASH_FILE, 'utf8') : '';
}

function sourcesHash() {
  const hash = createHash('sha256');
  for (const file of SOURCES.flatMap((source) => filesOf(path.join(ROOT, source))).sort()) {
    hash
      .update(`${path.relative(ROOT, file)}\0`)
      .update(readFileSync(file))
      .update('\0');
  }
  return hash.digest('hex');
}

function filesOf(place) {
  if (!statSync(place).isDirectory()) return [place];
  return readdirSync(place, { withFileTypes: true }).flatMap((entry) => {
    const full = path.join(place, entry.name);
    if (NOT_SOURCES.has(full) || entry.name === 'node_modules' || entry.name.endsWith('.test.ts')) return [];
    return entry.isDirectory() ? filesOf(full) : [full];
  });
}

/** One build at a time, also among processes. */
async function lock() {
  for (;;) {
    try {
      mkdirSync(LOCK);
      return;
    } catch {
      const ageMs = existsSync(LOCK) ? Date.now() - statSync(LOCK).mtimeMs : 0;
      if (ageMs > LOCK_STALE_MS) rmSync(LOCK, { recursive: true, force: true });
      else await sleep(LOCK_WAIT_MS);
    }
  }
}
