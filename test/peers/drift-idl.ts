// IDLs from the npm package of Drift's client library, fetched once and cached between runs: Drift's own, and those of its oracles.

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const PACKAGE = '@drift-labs/sdk';
/** The release whose layouts the recorded data follows. */
const VERSION = '2.156.0';
const FOLDER = 'package/src/idl';
const CACHE = fileURLToPath(new URL('../../node_modules/.cache/slotbook/', import.meta.url));
const TIMEOUT_MS = 120_000;

const run = promisify(execFile);

/** Path of an IDL file of the package. Fetches it by `npm pack` when it is not cached; rejects when npm cannot. */
export async function driftIdlPath(
  name: 'drift' | 'switchboard' | 'switchboard_on_demand_30' = 'drift',
): Promise<string> {
  const target = path.join(CACHE, `${name}-${VERSION}.json`);
  const member = `${FOLDER}/${name}.json`;
  if (existsSync(target)) return target;
  await mkdir(CACHE, { recursive: true });
  const work = await mkdtemp(path.join(CACHE, 'drift-'));
  try {
    const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
    const packed = await run(npm, ['pack', `${PACKAGE}@${VERSION}`, '--silent', '--pack-destination', work], {
      cwd: work,
      timeout: TIMEOUT_MS,
    });
    const archive = packed.stdout.trim().split('\n').at(-1) ?? '';
    await run('tar', ['-xzf', path.join(work, path.basename(archive)), '-C', work, member], { timeout: TIMEOUT_MS });
    // Several test processes may do this at once; the last rename wins with the same content.
    await rename(path.join(work, member), target);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  return target;
}
