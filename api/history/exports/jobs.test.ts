import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Message } from '../../../schemas/index.ts';
import { ExportJobs, statusOf } from './jobs.ts';
import { ALL_JOBS_MAX, JOBS_MAX, WAITING_MAX } from './limits.ts';

const WALLETS = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)] as const;
const WALLET = '4vJ9JU1bJJE96FWSJKvHsmmFADCg4gpZQff4P3bkLKi';

const requested = (requestId: string, wallet = WALLETS[0], atMs = 1_000): Message => ({
  name: 'ExportRequested',
  value: { requestId, authority: wallet, fileType: 'trades', fromTs: 1, toTs: 9, users: [wallet], market: null, atMs },
});
const claimed = (requestId: string, claim: string, atMs: number, untilMs: number): Message => ({
  name: 'ExportClaimed',
  value: { requestId, claim, host: 'box', pid: 1, atMs, untilMs },
});
const finished = (requestId: string, claim: string, outcome = 'ready'): Message => ({
  name: 'ExportFinished',
  value: { requestId, claim, outcome, reason: null, rows: 3, bytes: 70, file: `${requestId}.${claim}.csv.gz`, atMs: 9 },
});
const expired = (requestId: string): Message => ({ name: 'ExportExpired', value: { requestId, atMs: 99 } });

function jobsAfter(...messages: readonly Message[]): ExportJobs {
  const jobs = new ExportJobs();
  messages.forEach((message, at) => {
    jobs.apply(message, BigInt(at));
  });
  return jobs;
}

describe('export jobs', () => {
  it('of a wallet are listed newest first, and no job of another wallet', () => {
    const jobs = jobsAfter(requested('a'), requested('x', WALLETS[1]), requested('b'));
    expect(jobs.of(WALLET).map(({ requestId }) => requestId)).toEqual(['b', 'a']);
    expect([...jobs.waiting()].map(({ requestId }) => requestId)).toEqual(['a', 'x', 'b']);
  });

  it('belong to the first claim in the log until it ends', () => {
    const held = jobsAfter(requested('a'), claimed('a', 'one', 10, 50), claimed('a', 'two', 49, 90));
    expect(held.get('a')).toMatchObject({ claim: { id: 'one', untilMs: 50 }, claims: 1 });
    const next = jobsAfter(requested('a'), claimed('a', 'one', 10, 50), claimed('a', 'two', 50, 90));
    expect(next.get('a')).toMatchObject({ claim: { id: 'two', untilMs: 90 }, claims: 2 });
  });

  it('stay with a worker that renews, and go on at once when it gives them back', () => {
    const renewed = jobsAfter(requested('a'), claimed('a', 'one', 10, 50), claimed('a', 'one', 40, 80));
    expect(renewed.get('a')).toMatchObject({ claim: { id: 'one', untilMs: 80 }, claims: 1 });
    const back = jobsAfter(requested('a'), claimed('a', 'one', 10, 50), claimed('a', 'one', 20, 20));
    expect(statusOf(back.get('a') ?? expect.fail(), 20)).toBe('pending');
    back.apply(claimed('a', 'two', 20, 60), 9n);
    expect(back.get('a')).toMatchObject({ claim: { id: 'two' } });
  });

  it('end once: with the outcome of the worker that has the claim', () => {
    const jobs = jobsAfter(
      requested('a'),
      claimed('a', 'one', 10, 50),
      claimed('a', 'two', 60, 90),
      finished('a', 'one', 'failed'),
      finished('a', 'two'),
      finished('a', 'two', 'failed'),
      claimed('a', 'three', 100, 200),
    );
    expect(jobs.get('a')).toMatchObject({ claim: { id: 'two' }, end: { outcome: 'ready', file: 'a.two.csv.gz' } });
    expect(jobs.waitingCount).toBe(0);
  });

  it('show their status at a time', () => {
    const jobs = jobsAfter(requested('a'), claimed('a', 'one', 10, 50));
    const job = jobs.get('a') ?? expect.fail();
    expect([statusOf(job, 49), statusOf(job, 50)]).toEqual(['processing', 'pending']);
    jobs.apply(finished('a', 'one', 'empty'), 9n);
    expect(statusOf(jobs.get('a') ?? expect.fail(), 50)).toBe('empty');
  });

  it('are gone when they expire, and never come back', () => {
    const jobs = jobsAfter(requested('a'), expired('a'), claimed('a', 'one', 1, 2), finished('a', 'one'), expired('a'));
    expect([jobs.get('a'), jobs.of(WALLET), jobs.waitingCount]).toEqual([undefined, [], 0]);
  });

  it(`of a wallet are at most ${WAITING_MAX} unfinished ones; another wallet may go on`, () => {
    const ids = Array.from({ length: WAITING_MAX + 1 }, (_, at) => `job-${at}`);
    const jobs = jobsAfter(...ids.map((id) => requested(id)), requested('x', WALLETS[1]));
    expect(jobs.isFull(WALLET)).toBe(true);
    expect([jobs.of(WALLET).length, jobs.get(ids.at(-1) ?? ''), jobs.get('x')?.requestId]).toEqual([
      WAITING_MAX,
      undefined,
      'x',
    ]);
    jobs.apply(claimed('job-0', 'one', 1, 2), 20n);
    jobs.apply(finished('job-0', 'one'), 21n);
    jobs.apply(requested('later'), 22n);
    expect(jobs.get('later')?.requestId).toBe('later');
  });

  it(`of a wallet are at most ${JOBS_MAX} until they expire`, () => {
    const jobs = new ExportJobs();
    for (let at = 0; at <= JOBS_MAX; at++) {
      for (const message of [requested(`${at}`), claimed(`${at}`, 'c', 1, 2), finished(`${at}`, 'c')]) {
        jobs.apply(message, BigInt(at));
      }
    }
    expect([jobs.of(WALLET).length, jobs.get(String(JOBS_MAX))]).toEqual([JOBS_MAX, undefined]);
  });

  it(`of all wallets are at most ${ALL_JOBS_MAX}`, () => {
    const jobs = new ExportJobs();
    const wallet = new Uint8Array(32);
    for (let at = 0; at <= ALL_JOBS_MAX; at++) {
      new DataView(wallet.buffer).setUint32(0, at);
      jobs.apply(requested(`${at}`, wallet.slice()), BigInt(at));
    }
    expect([jobs.waitingCount, jobs.get(String(ALL_JOBS_MAX))]).toEqual([ALL_JOBS_MAX, undefined]);
    jobs.apply(expired('7'), 1n);
    jobs.apply(requested('another', wallet), 2n);
    expect(jobs.get('another')?.requestId).toBe('another');
  });

  it('are the same when every record is repeated, and have one outcome whatever workers write', () => {
    const id = fc.constantFrom('a', 'b', 'c');
    const claim = fc.constantFrom('one', 'two', 'three');
    const atMs = fc.integer({ min: 0, max: 100 });
    const message = fc.oneof(
      id.map((requestId) => requested(requestId)),
      fc.tuple(id, claim, atMs, fc.nat(60)).map(([job, name, at, length]) => claimed(job, name, at, at + length)),
      fc.tuple(id, claim, fc.constantFrom('ready', 'empty', 'failed')).map((parts) => finished(...parts)),
    );
    fc.assert(
      fc.property(fc.array(message, { maxLength: 40 }), (messages) => {
        const jobs = new ExportJobs();
        const ends = new Map<string, unknown>();
        messages.forEach((one, at) => {
          jobs.apply(one, BigInt(at));
          for (const { requestId, end, claim: held } of jobs.all()) {
            if (ends.has(requestId)) expect(end).toEqual(ends.get(requestId));
            if (end) ends.set(requestId, end);
            if (end) expect(end.file).toBe(`${requestId}.${held?.id}.csv.gz`);
          }
        });
        const twice = jobsAfter(...messages.flatMap((one) => [one, one]));
        const plain = (all: ExportJobs) => [...all.all()].map(({ offset: _, ...job }) => job);
        expect(plain(twice)).toEqual(plain(jobs));
        expect(jobs.waitingCount).toBe([...jobs.all()].filter(({ end }) => end === null).length);
      }),
    );
  });
});
