// Notices when the process has no file descriptor left. Servers then drop or postpone connections without an error.
import { closeSync, openSync, readFileSync } from 'node:fs';
import { Counter } from 'prom-client';
import type { Logger, Registry } from './context.ts';

/** A probe opens and closes a file: some microseconds. */
const LOOK_MS = 500;
/** An episode ends after descriptors were free for this long, so that reconnecting clients do not start a second one. */
const FREE_MS = 10_000;
const PROBE = '/dev/null';
/** Codes for: no descriptor left in the process, none in the system. */
const EXHAUSTED: ReadonlySet<unknown> = new Set(['EMFILE', 'ENFILE']);

export interface DescriptorWatch {
  stop(): void;
}

export interface DescriptorWatchOptions {
  readonly logger: Logger;
  readonly metrics: Registry;
  readonly everyMs?: number;
  readonly freeMs?: number;
}

/** Logs and counts each episode without free descriptors once. */
export function watchDescriptors({
  logger,
  metrics,
  everyMs = LOOK_MS,
  freeMs = FREE_MS,
}: DescriptorWatchOptions): DescriptorWatch {
  const episodes = new Counter({
    name: 'slotbook_descriptor_limit_total',
    help: 'Times at which the process had no file descriptor left, so that servers take no connections',
    registers: [metrics],
  });
  const limit = softLimit();
  let exhaustedAtMs: number | null = null;
  const look = (): void => {
    const nowMs = performance.now();
    const code = probe();
    if (code !== null) {
      if (exhaustedAtMs === null) {
        episodes.inc();
        logger.error(
          { code, limit },
          'no file descriptor left: new connections are not taken; raise the limit (ulimit -n)',
        );
      }
      exhaustedAtMs = nowMs;
    } else if (exhaustedAtMs !== null && nowMs - exhaustedAtMs >= freeMs) {
      exhaustedAtMs = null;
      logger.info({ limit }, 'file descriptors are free again');
    }
  };
  const timer = setInterval(look, everyMs).unref();
  return { stop: () => clearInterval(timer) };
}

/** The error code when no descriptor is free; else null. */
function probe(): string | null {
  try {
    closeSync(openSync(PROBE, 'r'));
    return null;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return EXHAUSTED.has(code) ? String(code) : null;
  }
}

/** Descriptor limit of this process; null where the system does not report it. */
function softLimit(): number | null {
  try {
    const found = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'));
    return found ? Number(found[1]) : null;
  } catch {
    return null;
  }
}
