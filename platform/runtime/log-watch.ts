// Watches whether the log answers. While it is away: one log line a minute, a metric, and `health_status` 2, because no slot
// arrives.

import { Gauge } from 'prom-client';
import type { MarkWatch } from '../log/lease.ts';
import type { Logger, Registry } from './context.ts';
import { HEALTH, judgeHealth } from './health-status.ts';

const TICK_MS = 1_000;
/** Ticks without an answer. Counting ticks keeps a busy event loop from looking like an absent log. */
const AWAY_TICKS = 5;
const REPEAT_MS = 60_000;

export interface LogWatchOptions {
  readonly watch: Pick<MarkWatch, 'onLook'>;
  readonly logger: Logger;
  readonly metrics: Registry;
  /** For tests. */
  readonly tickMs?: number;
  readonly repeatMs?: number;
}

/** Returns a function that ends the watch. */
export function watchLog({
  watch,
  logger,
  metrics,
  tickMs = TICK_MS,
  repeatMs = REPEAT_MS,
}: LogWatchOptions): () => void {
  let silentTicks = 0;
  let awaySinceMs: number | null = null;
  let loggedMs = 0;
  const seconds = () => (awaySinceMs === null ? 0 : Math.round((performance.now() - awaySinceMs) / 1_000));
  new Gauge({
    name: 'slotbook_log_away_seconds',
    help: 'how long the event log has not answered this process; 0 while it answers',
    registers: [metrics],
    collect() {
      this.set(seconds());
    },
  });
  judgeHealth(metrics, () => (awaySinceMs === null ? HEALTH.ok : HEALTH.slotsStalled));
  const unsubscribe = watch.onLook(() => {
    silentTicks = 0;
    if (awaySinceMs === null) return;
    logger.info({ seconds: seconds() }, 'the log answers again');
    awaySinceMs = null;
  });
  const timer = setInterval(() => {
    silentTicks += 1;
    if (silentTicks < AWAY_TICKS) return;
    const nowMs = performance.now();
    if (awaySinceMs !== null && nowMs - loggedMs < repeatMs) return;
    awaySinceMs ??= nowMs - silentTicks * tickMs;
    loggedMs = nowMs;
    logger.warn({ seconds: seconds() }, 'the log is away: waiting');
  }, tickMs).unref();
  return () => {
    clearInterval(timer);
    unsubscribe();
  };
}
