// The contract for roles with a single writer: the process that begins last writes.

import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ForwardingLog } from '../../../platform/log/forwarding.ts';
import { THIS_PROCESS } from '../../../platform/log/lease/marks.ts';
import type { LeaseTimes } from '../../../platform/log/lease/times.ts';
import { type Candidate, MarkWatch, TakenOverError, WriterLease } from '../../../platform/log/lease.ts';
import type { Appended, Commit, EventLog, NewRecord } from '../../../platform/log/port.ts';
import { silentLogger } from '../../../platform/runtime/logger.ts';
import { TOPICS, type Topic } from '../../../schemas/index.ts';
import { eventually } from '../platform/eventually.ts';
import { createTopic, type LogUnderTest, numbered, openLog, readAll, testTopic, text } from './harness.ts';

/** Longer than any test: a process begins only after it reads that the earlier one ended. */
const NEVER_MS = 600_000;
const TIMES: LeaseTimes = {
  lookMs: 10,
  leaseMs: 50,
  handoverMs: NEVER_MS,
  silentMs: NEVER_MS,
  askMs: 30,
  releaseMs: NEVER_MS,
};
/** This process with a version of its own, newer for each number. */
const version = (minor: number): Candidate => ({
  host: 'box',
  pid: minor,
  version: `1.${minor}.0`,
  startedMs: minor,
  machine: null,
});
const CONTENDERS = 6;

/** Its appends get no answer while it is away. */
class AwayLog extends ForwardingLog {
  isAway = false;

  override append(topic: Topic, records: readonly NewRecord[]): Promise<readonly Appended[]> {
    return this.isAway ? new Promise(() => {}) : super.append(topic, records);
  }
}

export function describeLeases(subject: () => LogUnderTest, log: () => EventLog): void {
  describe('one writer at a time', () => {
    // For the log this is another process.
    let other: EventLog;
    beforeAll(async () => {
      other = await openLog(subject());
    });
    const watches: MarkWatch[] = [];
    const stop = new AbortController();
    afterAll(() => {
      stop.abort();
      for (const watch of watches) watch.close();
      return other?.close();
    });

    const someRole = () => `role-${randomBytes(6).toString('hex')}`;
    /** Each lease has its own watch, like a separate process. */
    const lease = async (
      on: EventLog,
      role: string,
      times: Partial<LeaseTimes> = {},
      self = version(1),
      onStandby = () => {},
    ) => {
      const all = { ...TIMES, ...times };
      const watch = await MarkWatch.open(on, all.lookMs);
      watches.push(watch);
      return WriterLease.acquire(watch, role, {
        logger: silentLogger(),
        signal: stop.signal,
        times: all,
        self,
        onStandby,
      });
    };
    /** A pending lease and its result. */
    const candidate = (...args: Parameters<typeof lease>) => {
      const [on, role, times, self] = args;
      const seen: { refusals: number; lease: WriterLease | null } = { refusals: 0, lease: null };
      const taking = lease(on, role, times, self, () => {
        seen.refusals += 1;
      }).then((one) => {
        seen.lease = one;
        return one;
      });
      taking.catch(() => {}); // ended with the tests
      return { seen, taking };
    };

    it('begins at once, with a later epoch, without a writer or after its end', async () => {
      const role = someRole();
      const topic = await createTopic(log());
      let epoch = -1n;
      for (const on of [log(), other, log()]) {
        const writer = await lease(on, role);
        expect(writer.epoch).toBeGreaterThan(epoch);
        ({ epoch } = writer);
        await writer.log.append(topic, numbered(1));
        await writer.release();
        await expect(writer.log.append(topic, numbered(1))).rejects.toThrow(/released its lease/);
      }
      expect(await readAll(log(), topic)).toHaveLength(3);
    });

    it.each([
      ['the same', version(1)],
      ['an older', version(0)],
    ])('stands by when %s version is started beside the writer, and begins when that has ended', async (_, self) => {
      const role = someRole();
      const topic = await createTopic(log());
      const writer = await lease(log(), role);
      const { seen, taking } = candidate(other, role, {}, self);
      await eventually(() => expect(seen.refusals).toBeGreaterThan(1));
      await writer.log.append(topic, numbered(1, 1));
      expect([seen.lease, writer.signal.aborted]).toEqual([null, false]);
      await writer.release();
      const next = await taking;
      await next.log.append(topic, numbered(1, 2));
      expect((await readAll(log(), topic)).map(text)).toEqual(['1', '2']);
      await next.release();
    });

    it('takes over from an older version, which stops writing, and begins when that has ended', async () => {
      const role = someRole();
      const topic = await createTopic(log());
      const older = await lease(log(), role);
      await older.log.append(topic, numbered(1, 1));
      const { seen, taking } = candidate(other, role, {}, version(2));
      await eventually(() => expect(older.signal.aborted).toBe(true));
      expect(older.signal.reason).toBeInstanceOf(TakenOverError);
      expect(String(older.signal.reason)).toMatch(
        new RegExp(
          `another ${role} process has taken over \\(pid 2 on box, version 1.2.0, epoch \\d+; this one had epoch`,
        ),
      );
      await expect(older.log.append(topic, numbered(1, 2))).rejects.toThrow(TakenOverError);
      await expect(older.log.commit(role, { state: [] })).rejects.toThrow(TakenOverError);
      await expect(older.check()).rejects.toThrow(TakenOverError);
      expect(seen.lease).toBe(null);
      await older.release();
      const newer = await taking;
      await newer.log.append(topic, numbered(1, 3));
      expect(newer.epoch).toBeGreaterThan(older.epoch);
      expect(newer.signal.aborted).toBe(false);
      expect((await readAll(log(), topic)).map(text)).toEqual(['1', '3']);
      // The older process stands by after its restart.
      const again = candidate(log(), role);
      await eventually(() => expect(again.seen.refusals).toBeGreaterThan(0));
      expect(newer.signal.aborted).toBe(false);
      await newer.release();
      await (await again.taking).release();
    });

    it('ends for a later process with an unreadable mark', async () => {
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
      const newer = await lease(other, role, { silentMs: 200 });
      expect(performance.now() - beganMs).toBeGreaterThan(200);
      await newer.release();
    });

    it('waits for a killed writer exactly until its silence is long enough', async () => {
      const role = someRole();
      await lease(log(), role, { lookMs: NEVER_MS });
      const beganMs = performance.now();
      const newer = await lease(other, role, { silentMs: 300 });
      expect(performance.now() - beganMs).toBeGreaterThan(300);
      await newer.release();
    });

    it.runIf(process.platform === 'linux')(
      'begins at once when the one before was killed on this machine',
      async () => {
        const role = someRole();
        const gone = spawnSync(process.execPath, ['--version']).pid;
        await lease(log(), role, { lookMs: NEVER_MS }, { ...THIS_PROCESS, pid: gone });
        const newer = await lease(other, role, {}, THIS_PROCESS);
        await newer.release();
      },
    );

    it('goes to the newest standby when the writer is killed', async () => {
      const role = someRole();
      await lease(log(), role, { lookMs: NEVER_MS });
      // A busy broker takes seconds to answer the newer one's ask.
      const times = { silentMs: 12_000, handoverMs: 1_000 };
      const older = candidate(log(), role, times, { ...version(1), startedMs: 1 });
      // The newer one asks within the silence of the older one: two asks at the same moment have no fixed winner.
      await eventually(async () => {
        const marks = await readAll(log(), TOPICS.writers);
        expect(marks.some(({ key }) => key === `${role}/asks`)).toBe(true);
      });
      const newer = candidate(other, role, times, { ...version(1), startedMs: 2 });
      // Either of them, so that a wrong winner is named at once.
      await Promise.race([newer.taking, older.taking]);
      expect(older.seen.lease).toBe(null);
      await eventually(() => expect(older.seen.refusals).toBeGreaterThan(0));
      expect([older.seen.lease, newer.seen.lease?.signal.aborted]).toEqual([null, false]);
      await newer.seen.lease?.release();
      await (await older.taking).release();
    });

    it('writes nothing after a silence in which another process began', async () => {
      const role = someRole();
      const topic = await createTopic(log());
      const stopped = await lease(log(), role, { lookMs: NEVER_MS });
      const newer = await lease(other, role, { silentMs: 100 });
      await sleep(TIMES.leaseMs);
      await expect(stopped.log.append(topic, numbered(1))).rejects.toThrow(TakenOverError);
      expect(await readAll(log(), topic)).toEqual([]);
      await newer.release();
    });

    it('lets no late commit of the earlier writer change what the next one has loaded', async () => {
      const [role, group] = [someRole(), testTopic().name];
      const step = (next: bigint, state: Record<string, string>): Commit => ({
        offsets: [{ topic: 'in', partition: 0, next }],
        state: Object.entries(state).map(([key, value]) => ({ key, value: Buffer.from(value) })),
      });
      // It looks for no marks, like a process whose request was under way.
      const late = await lease(log(), role, { lookMs: NEVER_MS, leaseMs: NEVER_MS });
      await late.log.commit(group, step(1n, { a: '9', b: '1' }));
      const newer = await lease(other, role, { silentMs: 100 });
      await newer.log.load(group);
      await Promise.allSettled([late.log.commit(group, step(2n, { a: '10', b: '2', c: '3' }))]);
      await newer.log.commit(group, { state: [{ key: 'a', value: Buffer.from('12') }] });
      for (const on of [newer.log, log()]) {
        const { offsets, state } = await on.load(group);
        expect([...offsets.values()]).toEqual([1n]);
        const entries = [...state].map(([key, value]) => [key, text({ value })]);
        expect(Object.fromEntries(entries)).toEqual({ a: '12', b: '1' });
      }
      await newer.release();
    });

    it('names the takeover when a first commit comes too late', async () => {
      const [role, group] = [someRole(), testTopic().name];
      const late = await lease(log(), role, { lookMs: NEVER_MS, leaseMs: NEVER_MS });
      const newer = await lease(other, role, { silentMs: 100 });
      await newer.log.load(group);
      await expect(late.log.commit(group, {})).rejects.toThrow(TakenOverError);
      await newer.release();
    });

    it('claims a group that it loads as its writer, and none that it only reads', async () => {
      const [role, group] = [someRole(), testTopic().name];
      // No epoch is below the first one.
      await (await lease(log(), someRole())).release();
      const held = await lease(log(), role);
      const fence = { role, epoch: held.epoch - 1n, check: async () => {} };
      const write = (value: string) => other.commit(group, { state: [{ key: 'a', value: Buffer.from(value) }], fence });
      const read = async (as: 'reader' | 'writer') =>
        text({ value: (await held.log.load(group, as)).state.get('a') ?? Buffer.of() });
      await held.log.load(group, 'reader');
      await write('1');
      expect(await read('reader')).toBe('1');
      expect(await read('writer')).toBe('1');
      await write('2').catch((error: Error) => expect(error.name).toBe('SupersededError'));
      expect(await read('writer')).toBe('1');
      await held.release();
    });

    it('answers every ask before its next write, also after a pause of the process', async () => {
      const role = someRole();
      const topic = await createTopic(log());
      const writer = await lease(log(), role, { lookMs: NEVER_MS });
      const { seen, taking } = candidate(other, role);
      await eventually(async () => {
        const marks = await readAll(log(), TOPICS.writers);
        expect(marks.some(({ key }) => key === `${role}/asks`)).toBe(true);
      });
      await sleep(TIMES.leaseMs);
      await writer.log.append(topic, numbered(1));
      const keeps = (await readAll(log(), TOPICS.writers)).filter(({ key }) => key === `${role}/keeps`);
      expect(keeps.length).toBeGreaterThan(0);
      await eventually(() => expect(seen.refusals).toBeGreaterThan(0));
      await writer.release();
      await (await taking).release();
    });

    it('leaves exactly one of many processes that begin at the same time', async () => {
      const role = someRole();
      const topic = await createTopic(log());
      const times = { handoverMs: 1_000, silentMs: 4_000 };
      const all = Array.from({ length: CONTENDERS }, (_, at) => candidate(at % 2 === 0 ? log() : other, role, times));
      await eventually(() => {
        const held = all.filter(({ seen }) => seen.lease !== null && !seen.lease.signal.aborted);
        // A busy machine may keep a writer silent for so long that it loses the lease again.
        const settled = all.filter(({ seen }) => seen.lease !== null || seen.refusals > 0);
        expect([held.length, settled.length]).toEqual([1, CONTENDERS]);
      });
      const leases = all.flatMap(({ seen }) => seen.lease ?? []);
      const written = await Promise.allSettled(leases.map((one) => one.log.append(topic, numbered(1))));
      expect(written.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      expect(await readAll(log(), topic)).toHaveLength(1);
    });
  });
}
