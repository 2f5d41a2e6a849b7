// Packages to compare with: installed on demand into the folder of the peer, from the lock file there. The product does not
// depend on them.

import { spawnSync } from 'node:child_process';
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const RETRY_MS = 200;

/** Installs what `folder` names unless it is there. One process installs at a time. Throws an Error when npm fails. */
export function installPeer(folder: URL, packageName: string): void {
  // npm writes its own list last, so an install that was cut short is made again.
  const isInstalled = () =>
    ['.package-lock.json', `${packageName}/package.json`].every((file) =>
      existsSync(new URL(`node_modules/${file}`, folder)),
    );
  const release = isInstalled() ? null : lock(new URL('.installing', folder), isInstalled);
  if (release === null) return;
  try {
    process.stderr.write(`installing ${packageName} to compare with\n`);
    const npm = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    const cwd = fileURLToPath(folder);
    const { status, error } = spawnSync('npm', npm, { cwd, stdio: ['ignore', 'inherit', 'inherit'] });
    if (status !== 0) throw new Error(`npm ci in ${cwd} ended with ${error?.message ?? status}`);
  } finally {
    release();
  }
}

/** Waits for the lock, a file with the pid of its holder, and returns its release. Null when `isDone` while waiting. */
function lock(file: URL, isDone: () => boolean): (() => void) | null {
  const own = new URL(`${file.href}.${process.pid}`);
  writeFileSync(own, String(process.pid));
  try {
    for (;;) {
      try {
        // A link appears with its content, so nobody reads a lock without a pid.
        linkSync(own, file);
        if (!isDone()) return () => rmSync(file, { force: true });
        rmSync(file, { force: true });
        return null;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      }
      if (!isHeld(file)) rmSync(file, { force: true });
      else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS);
    }
  } finally {
    rmSync(own, { force: true });
  }
}

/** False when its holder has ended without releasing it. */
function isHeld(file: URL): boolean {
  try {
    process.kill(Number(readFileSync(file, 'utf8')), 0);
    return true;
  } catch (error) {
    // A released lock is gone; a holder of another user cannot be asked.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
