// Structured logs: pino, to standard error or to a file.

import { type Logger, pino } from 'pino';

export interface LoggerOptions {
  readonly level: string;
  /** Appended to when given; standard error otherwise. */
  readonly file?: string;
  readonly roles: readonly string[];
}

const STDERR = 2;

export function createLogger({ level, file, roles }: LoggerOptions): Logger {
  const destination = pino.destination({ dest: file ?? STDERR, mkdir: true, sync: file === undefined });
  return pino({ level, base: { pid: process.pid, roles: roles.join(',') } }, destination);
}

/** For checks that print their findings elsewhere. */
export function silentLogger(): Logger {
  return pino({ level: 'silent' });
}
