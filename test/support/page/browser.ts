// A Chromium of the machine for tests of the page. Where none is, root on Debian installs one.

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { type Browser, chromium } from 'playwright-core';

/** Names a browser that is not among the usual ones. */
const VARIABLE = 'PAGE_TEST_BROWSER';
/** The first has no window to draw and no process for it: tests of the page take a quarter less of the processor. */
const NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
/** Debian's package, with the smallest of them. */
const PACKAGE = 'chromium-headless-shell';
const INSTALL_MS = 300_000;
/** Waits while another process installs packages. */
const LOCK_WAIT = ['-o', 'DPkg::Lock::Timeout=240'];
const say = (line: string) => process.stderr.write(`page tests: ${line}\n`);

function installed(): string | undefined {
  const named = process.env[VARIABLE];
  if (named !== undefined && named !== '') return named;
  const folders = (process.env.PATH ?? '').split(path.delimiter);
  return NAMES.flatMap((name) => folders.map((folder) => path.join(folder, name))).find((file) => existsSync(file));
}

function install(): void {
  if (process.getuid?.() !== 0 || spawnSync('apt-get', ['--version']).status !== 0) return;
  say(`installing ${PACKAGE} with apt-get`);
  const run = (...args: string[]) =>
    spawnSync('apt-get', args, {
      timeout: INSTALL_MS,
      stdio: 'ignore',
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
  run('update');
  run('install', '-y', '--no-install-recommends', ...LOCK_WAIT, PACKAGE);
}

/** The path of a browser; undefined, with a line that says so, where there is none and none can be installed. */
export function browserPath(): string | undefined {
  if (installed() === undefined) install();
  const found = installed();
  if (found === undefined) say(`NOT RUN: no Chromium here. Install one, or name it with ${VARIABLE}.`);
  return found;
}

/** Starts the browser, and says which one runs. */
export async function startBrowser(executablePath: string): Promise<Browser> {
  // Chromium refuses its sandbox to root, and containers have a small /dev/shm.
  const args = [...(process.getuid?.() === 0 ? ['--no-sandbox'] : []), '--disable-dev-shm-usage'];
  const browser = await chromium.launch({ executablePath, args });
  say(`Chromium ${browser.version()} (${executablePath})`);
  return browser;
}
