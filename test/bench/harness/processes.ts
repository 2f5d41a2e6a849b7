// CPU seconds and resident memory of a process, from the kernel, and the core that it may use.

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';

/** Linux reports CPU time in hundredths of a second on every platform Node runs on. */
const TICKS_PER_SECOND = 100;
const UTIME_FIELD = 11;
const KIB = 1024;

/** CPU seconds (user and system, all threads) that a live process has used since its start. */
export function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[UTIME_FIELD]) + Number(fields[UTIME_FIELD + 1])) / TICKS_PER_SECOND;
}

/** Resident memory of a live process, bytes. */
export function residentBytes(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * KIB;
}

/** Memory of a live process that no file stands behind, bytes: without the mapped pages of its log. */
export function anonymousBytes(pid: number): number {
  return Number(/RssAnon:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * KIB;
}

/** The machine of a figure. A load above the number of cores shows that other processes ran too. */
export function machine(): { readonly cores: number; readonly load: number; readonly node: string } {
  return { cores: cpus().length, load: Number((loadavg()[0] ?? 0).toFixed(1)), node: process.version };
}

/** `loop`: only the thread that runs JavaScript; the engine's helpers (collector, compiler) run where there is room. */
export type KeptThreads = 'all' | 'loop';

/**
 * Lets a process, and processes that it starts later, run on one core only (Linux, with `taskset`). False when that is not
 * possible here. A process that is already running counted the cores when it began: its loop would wait for helpers that have
 * no core.
 */
export function keepOn(core: number, pid: number, threads: KeptThreads): boolean {
  if (process.platform !== 'linux' || core >= cpus().length) return false;
  const all = threads === 'all' ? ['--all-tasks'] : [];
  return spawnSync('taskset', [...all, '--cpu-list', '--pid', String(core), String(pid)]).status === 0;
}
