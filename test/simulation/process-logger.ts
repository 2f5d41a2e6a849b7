// The logger of the process under test: its lines go into the trace of a verbose run.

import { type Logger, silentLogger } from '../../platform/index.ts';
import type { Trace } from './trace.ts';
import type { VirtualTime } from './virtual-time.ts';

export function tracing(trace: Trace, time: VirtualTime): Logger {
  const logger = silentLogger();
  const write = (level: string) => (fields: unknown, text?: string) => {
    const given = typeof fields === 'string' ? fields : `${text} ${JSON.stringify(fields, plain)}`;
    trace.add(`${Math.round(time.nowMs)} ${level} ${given.slice(0, 400)}`);
  };
  for (const level of ['info', 'warn', 'error'] as const) {
    Object.defineProperty(logger, level, { value: write(level), configurable: true });
  }
  return logger;
}

function plain(_: string, value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  return value instanceof Error ? `${value.name}: ${value.message}` : value;
}
