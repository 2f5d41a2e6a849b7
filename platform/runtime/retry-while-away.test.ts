import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { freePorts } from '../../test/support/platform/ports.ts';
import { readConfig } from '../config.ts';
import { openEventLog } from '../log/open.ts';
import { LogAwayError } from '../log/port.ts';
import { silentLogger } from './logger.ts';
import { retryWhileAway } from './retry-while-away.ts';

const isAway = (error: unknown) => error instanceof LogAwayError;

describe('a start that needs an unreachable server', () => {
  it('waits until the server answers, and says so at both ends', async () => {
    const lines: string[] = [];
    const logger = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line).msg) });
    let attempts = 0;
    const work = async () => {
      attempts += 1;
      if (attempts < 3) throw new LogAwayError('no broker');
      return 'open';
    };
    expect(await retryWhileAway(work, { server: 'The log', isAway, logger })).toBe('open');
    expect([attempts, lines]).toEqual([3, ['The log does not answer; waiting', 'The log answers']]);
  });

  it('ends at once with any other error', async () => {
    const work = () => Promise.reject(new Error('wrong password'));
    const waiting = retryWhileAway(work, { server: 'The log', isAway, logger: silentLogger() });
    await expect(waiting).rejects.toThrow('wrong password');
  });

  it('counts a Kafka without brokers as unreachable, so that a process started too early waits', async () => {
    const settings = {
      log: 'kafka',
      kafkaBrokers: `127.0.0.1:${(await freePorts(1))[0]}`,
      kafkaPatienceMs: 1000,
    } as const;
    await expect(openEventLog(readConfig({}, settings), silentLogger())).rejects.toBeInstanceOf(LogAwayError);
  });
});
