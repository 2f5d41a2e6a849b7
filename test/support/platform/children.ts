// Child processes of tests that end with the process that started them, also after SIGKILL.

import { spawn } from 'node:child_process';

/**
 * V8 optimises a function after more calls than it would by itself. A process of a test lives for seconds, and takes an eighth less of the
 * processor so (docs/benchmarks/2026-11-29.md).
 */
export const LATE_OPTIMISATION = '--invocation-count-for-turbofan=20000';

/** Flags of Node for a child whose standard input is a pipe. */
export const NODE_FLAGS = [
  LATE_OPTIMISATION,
  '--disable-warning=ExperimentalWarning',
  '--import',
  new URL('./lifeline.mjs', import.meta.url).href,
];

/**
 * Kills a process when this process is gone: for programs that cannot import `lifeline.mjs`. `group`: the process leads a
 * process group, and the whole group is killed. Call the result when the process has ended.
 */
export function killWithUs(pid: number, group = false): () => void {
  // A session of its own: a ctrl-C in the terminal must not end the watcher.
  const script = `read line; kill -s KILL -- ${group ? '-' : ''}${pid}`;
  const watcher = spawn('sh', ['-c', script], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
  watcher.unref();
  return () => {
    watcher.kill('SIGKILL');
  };
}

/** Keeps one core busy. Call the result to end it. */
export function busyLoop(): () => void {
  const loop = spawn('sh', ['-c', 'while :; do :; done'], { stdio: 'ignore' });
  const release = killWithUs(loop.pid ?? 0);
  return () => {
    loop.kill('SIGKILL');
    release();
  };
}
