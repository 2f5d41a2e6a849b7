import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Notification, NotificationDevice } from '../../schemas/index.ts';
import { PushJobs, type Send } from './jobs.ts';
import {
  ATTEMPTS_MAX,
  FIRST_WAIT_MS,
  JOBS_OF_WALLET_MAX,
  SENDS_MAX,
  SENDS_OF_WALLET_MAX,
  WAIT_FACTOR,
} from './limits.ts';

const notification = { id: 'n' } as Notification;
const device = (deviceId: string) => ({ deviceId }) as NotificationDevice;
const job = (n: number, authority = 'wallet') => ({ key: `${n}:${authority}`, authority, notification });
const withoutJitter = () => new PushJobs(() => 0);

describe('push jobs', () => {
  it('are sent when one device has it, and end with the last one', () => {
    const jobs = withoutJitter();
    jobs.add(job(1), [device('a'), device('b')]);
    const [first, second] = jobs.take(0) as [Send, Send];
    expect(jobs.failed(first, false, 0)).toBeNull();
    expect(jobs.sent(second)).toMatchObject({ isSent: true });
    expect([jobs.size, jobs.running]).toEqual([0, 0]);
  });

  it('are tried again after growing waits, a bounded number of times', () => {
    const jobs = withoutJitter();
    jobs.add(job(1), [device('a')]);
    let nowMs = 0;
    for (let attempt = 1; attempt < ATTEMPTS_MAX; attempt++) {
      const [send] = jobs.take(nowMs);
      if (!send) throw new Error('nothing to send');
      expect(jobs.failed(send, true, nowMs)).toBeNull();
      const wait = FIRST_WAIT_MS * WAIT_FACTOR ** (attempt - 1);
      expect(jobs.take(nowMs + wait - 1)).toEqual([]);
      nowMs += wait;
    }
    const [last] = jobs.take(nowMs);
    expect(last && jobs.failed(last, true, nowMs)).toMatchObject({ isSent: false });
    expect(jobs.size).toBe(0);
  });

  it.each([
    [0, 1],
    [0.5, 0.75],
    [1, 0.5],
  ])('shorten each wait by up to half at random (%d)', (chance, part) => {
    const jobs = new PushJobs(() => chance);
    jobs.add(job(1), [device('a')]);
    let nowMs = 0;
    for (const usual of [FIRST_WAIT_MS, FIRST_WAIT_MS * WAIT_FACTOR]) {
      const [send] = jobs.take(nowMs);
      if (send) jobs.failed(send, true, nowMs);
      nowMs += usual * part;
      expect(jobs.take(nowMs - 1)).toEqual([]);
    }
    expect(jobs.take(nowMs)).toHaveLength(1);
  });

  it('of one wallet do not keep those of others waiting', () => {
    const jobs = withoutJitter();
    for (let n = 0; n < 100; n++) jobs.add(job(n, 'busy'), [device('a')]);
    jobs.add(job(1, 'other'), [device('a')]);
    const taken = jobs.take(0);
    expect(taken.filter(({ job: { authority } }) => authority === 'busy')).toHaveLength(SENDS_OF_WALLET_MAX);
    expect(taken.filter(({ job: { authority } }) => authority === 'other')).toHaveLength(1);
  });

  it('are bounded at once, and by wallet', () => {
    const jobs = withoutJitter();
    for (let n = 0; n < SENDS_MAX * 2; n++) jobs.add(job(n, `w${n}`), [device('a')]);
    expect(jobs.take(0)).toHaveLength(SENDS_MAX);
    expect(jobs.take(0)).toEqual([]);
    for (let n = 0; n < JOBS_OF_WALLET_MAX; n++) jobs.add(job(n), [device('a')]);
    expect(jobs.isFullFor('wallet')).toBe(true);
    expect(jobs.isFullFor('w1')).toBe(false);
  });

  it('end exactly once, whatever fails', () => {
    const step = fc.record({ isSent: fc.boolean(), isTransient: fc.boolean() });
    fc.assert(
      fc.property(fc.array(fc.nat(3), { minLength: 1, maxLength: 20 }), fc.infiniteStream(step), (devices, steps) => {
        const jobs = withoutJitter();
        for (const [n, count] of devices.entries()) {
          jobs.add(
            job(n, `w${n % 3}`),
            Array.from({ length: count + 1 }, (_, at) => device(String(at))),
          );
        }
        const ended: string[] = [];
        for (let nowMs = 0; jobs.size > 0; nowMs += 1e6) {
          for (const send of jobs.take(nowMs)) {
            const { isSent, isTransient } = steps.next().value ?? { isSent: true, isTransient: false };
            const outcome = isSent ? jobs.sent(send) : jobs.failed(send, isTransient, nowMs);
            if (outcome) ended.push(outcome.job.key);
          }
        }
        expect(ended.sort()).toEqual(devices.map((_, n) => `${n}:w${n % 3}`).sort());
        expect(jobs.running).toBe(0);
      }),
    );
  });
});
