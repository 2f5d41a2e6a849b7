// Following topics over a real log: failures of a batch, failures of the log, and stopping.

import { beforeEach, describe, expect, it } from 'vitest';
import { TOPICS } from '../../schemas/index.ts';
import { temporaryLog } from '../../test/support/log/temporary-log.ts';
import { eventually } from '../../test/support/platform/eventually.ts';
import type { EventLog, FollowOptions, LogBatch } from './port.ts';
import { TopicFollower } from './topic-follower.ts';

const FROM_START = new Map([[0, 0n]]);

let log: EventLog;
beforeEach(async () => {
  ({ log } = await temporaryLog(TOPICS.samples, TOPICS.events));
});

const put = (...texts: string[]) =>
  log.append(
    TOPICS.samples,
    texts.map((text) => ({ key: text, value: Buffer.from(text), partition: 0 })),
  );
const textsOf = ({ records }: LogBatch) => records.map(({ value }) => Buffer.from(value).toString());

/** The log, which fails each time it has given one batch. */
const failing = (): EventLog =>
  Object.assign(Object.create(log) as EventLog, {
    append: log.append.bind(log),
    async *follow(options: FollowOptions) {
      for await (const batch of log.follow(options)) {
        yield batch;
        throw new Error('log is away');
      }
    },
  });

describe('a topic follower', () => {
  it('takes batches one at a time and ends with stop', async () => {
    const taken: string[] = [];
    const follower = new TopicFollower();
    const take = async (batch: LogBatch) => {
      await Promise.resolve();
      taken.push(...textsOf(batch));
    };
    follower.follow({ log, topic: TOPICS.samples, from: FROM_START, maxRecords: 1, take });
    await put('a', 'b');
    await eventually(() => expect(taken).toEqual(['a', 'b']));
    await follower.stop();
    await follower.done;
    await put('c');
    expect(taken).toEqual(['a', 'b']);
  });

  it('ends every topic when a batch of one fails, and reports that failure', async () => {
    const follower = new TopicFollower();
    follower.follow({ log, topic: TOPICS.events, from: FROM_START, take: () => {} });
    follower.follow({
      log,
      topic: TOPICS.samples,
      from: FROM_START,
      take: () => {
        throw new Error('bad batch');
      },
      onLogFailure: () => expect.unreachable('the log did not fail'),
    });
    await put('a');
    await expect(follower.done).rejects.toThrow('bad batch');
    expect(follower.signal.aborted).toBe(true);
  });

  it('ends with a failing log, or continues behind the last batch when it may retry', async () => {
    await put('a', 'b', 'c');
    const strict = new TopicFollower();
    strict.follow({ log: failing(), topic: TOPICS.samples, from: FROM_START, maxRecords: 1, take: () => {} });
    await expect(strict.done).rejects.toThrow('log is away');
    const taken: string[] = [];
    const failures: string[] = [];
    const patient = new TopicFollower();
    patient.follow({
      log: failing(),
      topic: TOPICS.samples,
      from: FROM_START,
      maxRecords: 2,
      take: (batch) => void taken.push(...textsOf(batch)),
      onLogFailure: (error) => failures.push(String(error)),
    });
    await eventually(() => expect(taken).toEqual(['a', 'b', 'c']));
    await patient.stop();
    expect(failures[0]).toContain('log is away');
  });
});
