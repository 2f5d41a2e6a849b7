import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { watchLog } from './log-watch.ts';
import { metricTotal } from './metrics.ts';

describe('a log that does not answer', () => {
  const lines: string[] = [];
  const metrics = new Registry();
  let answered = () => {};
  let stop = () => {};
  beforeEach(() => {
    vi.useFakeTimers();
    lines.length = 0;
    metrics.clear();
    const logger = pino({}, { write: (line: string) => lines.push(JSON.parse(line).msg) });
    const onLook = (listener: (beganMs: number) => void) => {
      answered = () => listener(performance.now());
      return () => {};
    };
    stop = watchLog({ watch: { onLook }, logger, metrics });
  });
  afterEach(() => {
    stop();
    vi.useRealTimers();
  });

  const seconds = () => metricTotal(metrics, 'slotbook_log_away_seconds');
  const health = () => metricTotal(metrics, 'health_status');

  it('is logged at the beginning, once a minute and at the end, and shows in metric and health', async () => {
    for (let second = 0; second < 10; second += 1) {
      vi.advanceTimersByTime(1_000);
      answered();
    }
    expect([lines, await seconds(), await health()]).toEqual([[], 0, 0]);
    vi.advanceTimersByTime(30_000);
    expect([lines, await seconds(), await health()]).toEqual([['the log is away: waiting'], 30, 2]);
    vi.advanceTimersByTime(100_000);
    expect(lines).toHaveLength(3);
    answered();
    expect(lines.at(-1)).toBe('the log answers again');
    expect([await seconds(), await health()]).toEqual([0, 0]);
  });
});
