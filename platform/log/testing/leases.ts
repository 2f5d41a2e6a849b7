// The part of the contract about processes of a role that only one may write for: who comes last writes.

import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TOPICS, type Topic } from '../../../schemas/index.ts';
import { silentLogger } from '../../runtime/logger.ts';
import { eventually } from '../../testing/eventually.ts';
import { type LeaseTimes, TakenOverError, WriterLease } from '../lease.ts';
import { PassingLog } from '../passing.ts';
import type { Appended, EventLog, NewRecord } from '../port.ts';
import { createTopic, type LogUnderTest, numbered, openLog, readAll, text } from './harness.ts';

/** Longer than any test: whoever begins has heard that the one before ended. */
const NEVER_MS = 600_000;
const TIMES: LeaseTimes = { lookMs: 10, leaseMs: 50, handoverMs: NEVER_MS, releaseMs: NEVER_MS };
const CONTENDERS = 6;

/** Appends are not answered while it is away. */
class AwayLog extends PassingLog {
  isAway = false;

  override append(topic: Topic, records: readonly NewRecord[]): Promise<readonly Appended[]> {
    return this.isAway ? new Promise(() => {}) : super.append(topic, records);
  }
}

export function describeLeases(subject: () => LogUnderTest, log: () => EventLog): void {
  describe('one writer at a time', () => {
    // Another process, as far as the log can tell.
    let other: EventLog;
    beforeAll(async () => {
      other = await openLog(subject());
    });
    afterAll(() => other?.close());

    const someRole = () => `role-${randomBytes(6).toString('hex')}`;
    const lease = (on: EventLog, role: string, times: Partial<LeaseTimes> = {}) =>
      WriterLease.take(on, role, silentLogger(), { ...TIMES, ...times });

    it('begins at once, with a later epoch, when there was nobody or the one before has ended', async () => {
      const role = someRole();
      const topic = await createTopic(log());
      let epoch = -1n;
      for (const on of [log(), other, log()]) {
        const writer = await lease(on, role);
        expect(writer.epoch).toBeGreaterThan(epoch);
        ({ epoch } = writer);
        await writer.log.append(topic, numbered(1));
        await writer.release();
        await expect(writer.log.append(topic, numbered(1))).rejects.toThrow(/given up/);
      }
      expect(await readAll(log(), topic)).toHaveLength(3);
    });

    it('ends the older process, which writes nothing more, and begins when that has ended', async () => {
      const role = someRole();
      const topic = await createTopic(log());
      const older = await lease(log(), role);
      await older.log.append(topic, numbered(1, 1));
      let hasBegun = false;
      const taking = lease(other, role).then((newer) => {
        hasBegun = true;
        return newer;
      });
      await eventually(() => expect(older.signal.aborted).toBe(true));
      expect(older.signal.reason).toBeInstanceOf(TakenOverError);
      expect(String(older.signal.reason)).toMatch(
        new RegExp(
          `another ${role} process has taken over \\(pid ${process.pid} on .+, epoch \\d+; this one had epoch`,
        ),
      );
      await expect(older.log.append(topic, numbered(1, 2))).rejects.toThrow(TakenOverError);
      await expect(older.log.commit(role, { state: [] })).rejects.toThrow(TakenOverError);
      expect(hasBegun).toBe(false);
      await older.release();
      const newer = await taking;
      await newer.log.append(topic, numbered(1, 3));
      expect(newer.epoch).toBeGreaterThan(older.epoch);
      expect(newer.signal.aborted).toBe(false);
      expect((await readAll(log(), topic)).map(text)).toEqual(['1', '3']);
      await newer.release();
    });

    it('ends for a later process whose mark it cannot read', async () => {
      const role = someRole();
      const older = await lease(log(), role);
      await other.append(TOPICS.writers, [{ key: `${role}/began`, value: Buffer.from('of a later version') }]);
      await eventually(() => expect(older.signal.reason).toBeInstanceOf(TakenOverError));
      await older.release();
    });

    it('ends while the log is away, which the next process waits for', async () => {
      const role = someRole();
      const away = new AwayLog(log());
      const older = await lease(away, role, { releaseMs: 50 });
      away.isAway = true;
      await older.release();
      const beganMs = performance.now();
      const newer = await lease(other, role, { handoverMs: 200 });
      expect(performance.now() - beganMs).toBeGreaterThan(200);
      await newer.release();
    });

    it('waits for one that was killed as long as that could have gone on writing', async () => {
      const role = someRole();
      await lease(log(), role, { lookMs: NEVER_MS });
      const beganMs = performance.now();
      const newer = await lease(other, role, { handoverMs: 300 });
      expect(performance.now() - beganMs).toBeGreaterThan(300);
      await newer.release();
    });

    it('looks before a write when it has not looked for a while, as after a stopped process goes on', async () => {
      const role = someRole();
      const topic = await createTopic(log());
      const older = await lease(log(), role, { lookMs: NEVER_MS });
      const newer = await lease(other, role, { handoverMs: 0 });
      await sleep(TIMES.leaseMs);
      await expect(older.log.append(topic, numbered(1))).rejects.toThrow(TakenOverError);
      expect(await readAll(log(), topic)).toEqual([]);
      await newer.release();
    });

    it('leaves exactly one of many that begin at the same time', async () => {
      const role = someRole();
      const topic = await createTopic(log());
      const taken = await Promise.allSettled(
        Array.from({ length: CONTENDERS }, (_, at) => lease(at % 2 === 0 ? log() : other, role, { handoverMs: 200 })),
      );
      const leases = taken.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
      await sleep(TIMES.leaseMs);
      const written = await Promise.allSettled(leases.map((one) => one.log.append(topic, numbered(1))));
      expect(written.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      expect(await readAll(log(), topic)).toHaveLength(1);
      await Promise.all(leases.map((one) => one.release()));
    });
  });
}
