import { describe, expect, it } from 'vitest';
import { TOPICS } from '../../schemas/index.ts';
import { silentLogger } from '../runtime/logger.ts';
import { retryWhileAway } from '../runtime/retry-while-away.ts';
import { ForwardingLog } from './forwarding.ts';
import { PatientStartLog } from './patient-start.ts';
import { type EventLog, LogAwayError } from './port.ts';

const BOUNDS = { earliest: 3n, next: 9n };

/** Fails with `errors` in turn, then answers. */
class Failing extends ForwardingLog {
  readonly errors: Error[];
  appends = 0;

  constructor(errors: Error[]) {
    super({ kind: 'embedded' } as EventLog);
    this.errors = errors;
  }

  override async bounds(): ReturnType<EventLog['bounds']> {
    const error = this.errors.shift();
    if (error) throw error;
    return BOUNDS;
  }

  override async append(): ReturnType<EventLog['append']> {
    this.appends += 1;
    throw new LogAwayError('no broker');
  }
}

function patient(errors: Error[]): { log: PatientStartLog; under: Failing } {
  const under = new Failing(errors);
  const isAway = (error: unknown) => error instanceof LogAwayError;
  const wait = <T>(work: () => Promise<T>) =>
    retryWhileAway(work, { server: 'The log', isAway, logger: silentLogger() });
  return { log: new PatientStartLog(under, wait), under };
}

describe('the log of a starting role', () => {
  it('waits in a read until the log answers', async () => {
    const { log, under } = patient([new LogAwayError('no broker'), new LogAwayError('no broker')]);
    expect(await log.bounds(TOPICS.bookViews, 0)).toEqual(BOUNDS);
    expect(under.errors).toEqual([]);
  });

  it('passes any other error on', async () => {
    const { log } = patient([new Error('wrong password')]);
    await expect(log.bounds(TOPICS.bookViews, 0)).rejects.toThrow('wrong password');
  });

  it('never repeats an append, which may be stored already', async () => {
    const { log, under } = patient([]);
    await expect(log.append(TOPICS.bookViews, [])).rejects.toBeInstanceOf(LogAwayError);
    expect(under.appends).toBe(1);
  });

  it('passes on that the log is away once the role has started', async () => {
    const { log } = patient([new LogAwayError('no broker')]);
    log.started();
    await expect(log.bounds(TOPICS.bookViews, 0)).rejects.toBeInstanceOf(LogAwayError);
  });
});
