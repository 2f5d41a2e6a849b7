// Ends a process when its launcher or npm has ended. Plain JavaScript: the launcher runs it before anything is installed.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Socket } from 'node:net';

const CHECK_MS = 300;
/** Descriptor of the pipe between the launcher and its child. */
const LAUNCHER_FD = 3;
/** Environment variable with the launcher's pid. A process with another parent ignores it. */
export const LAUNCHER_VARIABLE = 'LAUNCHER_PID';

/** At the start: npm may end while nothing watches. */
const PARENT = process.ppid;
const NPM = process.env.npm_lifecycle_event === undefined ? null : npmBehind(PARENT);

/**
 * Calls `ended` once when npm, or the shell that npm starts, has ended. npm does not forward every signal, and cannot forward
 * SIGKILL. Does nothing for a process outside npm: its parent may end, as with nohup. Call the result to end the watch.
 */
export function watchNpm(ended) {
  if (process.env.npm_lifecycle_event === undefined) return () => {};
  const timer = setInterval(() => {
    if (process.ppid === PARENT && (NPM === null || parentOf(PARENT) === NPM)) return;
    clearInterval(timer);
    ended();
  }, CHECK_MS);
  timer.unref();
  return () => clearInterval(timer);
}

/** The parent of the shell that runs npm's script; null when there is no shell in between, or when it is unknown. */
function npmBehind(pid) {
  const isScript = /^\S*sh -c /.test(commandOf(pid));
  return isScript ? parentOf(pid) : null;
}

function commandOf(pid) {
  if (process.platform !== 'linux') return psField(pid, 'command');
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}

/** Null when the process has ended. */
function parentOf(pid) {
  if (process.platform !== 'linux') return Number(psField(pid, 'ppid')) || null;
  try {
    // The name in brackets may contain spaces; state and parent follow it.
    return Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[1]) || null;
  } catch {
    return null;
  }
}

function psField(pid, field) {
  try {
    return execFileSync('ps', ['-o', `${field}=`, '-p', String(pid)], { encoding: 'utf8' }).trim();
  } catch {
    return '';
  }
}

/** Sends this process SIGTERM when its launcher ends for any reason. */
export function exitWithLauncher() {
  const launcher = process.env[LAUNCHER_VARIABLE];
  delete process.env[LAUNCHER_VARIABLE];
  if (launcher === undefined || Number(launcher) !== process.ppid) return;
  // The terminal may have closed with the launcher; later output is lost.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  const pipe = new Socket({ fd: LAUNCHER_FD, readable: true, writable: false });
  const end = () => process.kill(process.pid, 'SIGTERM');
  pipe.once('error', end);
  pipe.once('end', end);
  pipe.resume();
  pipe.unref();
}
