import { randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import bs58 from 'bs58';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { decodeMessage, encodeMessage, type Message, type MessageTypes, TOPICS } from '../../../schemas/index.ts';
import { ExportStage } from '../../../test/support/api/export-stage.ts';
import { address, key } from '../../../test/support/api/history-requests.ts';
import { fill, HistoryStage, NOW } from '../../../test/support/api/history-stage.ts';
import { eventually, until } from '../../../test/support/platform/eventually.ts';
import { HistoryError } from '../../http/errors.ts';
import { HistoryStore } from '../store.ts';
import { JobLog } from './job-log.ts';
import type { ExportJob } from './jobs.ts';
import { CLAIMS_MAX } from './limits.ts';
import type { FileStore } from './stores/port.ts';

const TAKER = address(key('t'));
const ROWS = 30;
const KEPT_MS = 10_000;

let stage: HistoryStage;
let exports: ExportStage;
let jobs: JobLog;

beforeAll(async () => {
  stage = await HistoryStage.open();
  await stage.store(
    'order_action',
    Array.from({ length: ROWS }, (_, at) => fill({ ts: NOW - 200 + at })),
  );
});
afterAll(() => stage.close());
beforeEach(async () => {
  exports = await ExportStage.open(stage);
  jobs = new JobLog({ log: exports.log, logger: pino({ level: 'silent' }) });
  await jobs.start();
  return () => exports.close();
});

async function request(members: Partial<MessageTypes['ExportRequested']> = {}): Promise<string> {
  const requestId = randomUUID();
  const user = bs58.decode(TAKER);
  const range = { fromTs: NOW - 9_000, toTs: NOW };
  const job = {
    requestId,
    authority: Buffer.from(requestId.slice(0, 32)),
    users: [user],
    fileType: 'trades',
    market: null,
  };
  await jobs.append('ExportRequested', { ...job, ...range, atMs: Date.now(), ...members });
  return requestId;
}

const claim = (requestId: string, name: string, untilMs: number) =>
  jobs.append('ExportClaimed', { requestId, claim: name, host: 'gone', pid: 1, atMs: Date.now(), untilMs });

const finished = (requestId: string) =>
  eventually(async () => {
    await jobs.readToEnd();
    return jobs.jobs.get(requestId)?.end ?? expect.fail('not finished');
  });

const records = async (): Promise<Message[]> =>
  (await exports.log.read(TOPICS.exports, 0, 0n, 100_000)).map(({ value }) => decodeMessage(value));
const filesOf = async (requestId: string) => (await readdir(exports.folder)).filter((name) => name.includes(requestId));

/** A file store whose uploads wait for `go`, or fail. */
function slowStore(before: (body: Readable, signal: AbortSignal) => Promise<void>): FileStore {
  const { files } = exports;
  return {
    kind: 'folder',
    put: async (name, body, signal) => {
      await before(body, signal);
      await files.put(name, body, signal);
    },
    url: (name, request) => files.url(name, request),
    remove: (requestId) => files.remove(requestId),
    close: () => files.close(),
  };
}

it('several workers finish every job once', async () => {
  for (let at = 0; at < 4; at++) await exports.worker();
  const ids = await Promise.all(Array.from({ length: 24 }, () => request()));
  for (const id of ids) expect(await finished(id)).toMatchObject({ outcome: 'ready', rows: ROWS });
  const outcomes = (await records()).filter(({ name }) => name === 'ExportFinished');
  expect(outcomes).toHaveLength(ids.length);
  for (const id of ids) expect(await filesOf(id)).toEqual([jobs.jobs.get(id)?.end?.file]);
});

it('a job waits while a live source has not said what is final', async () => {
  let final: { readonly ts: number } | null = null;
  let looks = 0;
  const finality = () => {
    looks += 1;
    return final;
  };
  await exports.worker({ sources: { isLive: true, finality } });
  const id = await request();
  await until(async () => {
    await jobs.readToEnd();
    return looks > 2 || (jobs.jobs.get(id)?.end ?? null) !== null;
  });
  expect(jobs.jobs.get(id)).toMatchObject({ claims: 0, end: null });
  final = { ts: NOW - 190 };
  expect(await finished(id)).toMatchObject({ outcome: 'ready', rows: 10 });
});

it('a job of a killed worker goes on when its claim has lapsed, not before', async () => {
  const id = await request();
  const lapsesMs = Date.now() + 1_500;
  await claim(id, 'of a killed worker', lapsesMs);
  await exports.worker();
  expect((await finished(id)).atMs).toBeGreaterThanOrEqual(lapsesMs);
  expect(jobs.jobs.get(id)?.claims).toBe(2);
});

it('a worker that is stopped gives its job back at once', async () => {
  const files = slowStore((_, signal) => sleep(60_000, undefined, { signal }));
  const stop = await exports.worker({ files, leaseMs: 600_000 });
  const id = await request();
  await eventually(async () => {
    await jobs.readToEnd();
    expect(jobs.jobs.get(id)?.claims).toBe(1);
  });
  await stop();
  await exports.worker();
  expect(await finished(id)).toMatchObject({ outcome: 'ready' });
});

it('a worker renews its claim for as long as its job takes', async () => {
  // Long enough that a stall of the machine does not end the claim, which the other worker would then take.
  const files = slowStore((_, signal) => sleep(7_000, undefined, { signal }));
  await exports.worker({ files, leaseMs: 6_000 });
  const id = await request();
  await sleep(500);
  await exports.worker();
  await finished(id);
  const claims = (await records()).filter(({ name }) => name === 'ExportClaimed');
  expect(claims.length).toBeGreaterThan(2);
  expect(jobs.jobs.get(id)?.claims).toBe(1);
});

it('a worker that lost its job leaves it alone, and the file of the other one counts', async () => {
  let release = () => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const stuck = slowStore(() => gate);
  await exports.worker({ files: stuck, leaseMs: KEPT_MS });
  const id = await request();
  const taken = await eventually(async () => {
    await jobs.readToEnd();
    return jobs.jobs.get(id)?.claim ?? expect.fail('not taken');
  });
  // As after a pause of the process beyond its lease: another worker claims the job.
  await exports.log.append(TOPICS.exports, [
    { key: id, value: claimed(id, taken.id, 0) },
    { key: id, value: claimed(id, 'other', Date.now() + KEPT_MS) },
    { key: id, value: ended(id, 'other') },
  ]);
  release();
  expect(await finished(id)).toMatchObject({ outcome: 'empty' });
  await sleep(500);
  await jobs.readToEnd();
  expect(jobs.jobs.get(id)?.end).toMatchObject({ outcome: 'empty' });
});

const claimed = (requestId: string, name: string, untilMs: number) =>
  encodeMessage('ExportClaimed', { requestId, claim: name, host: '', pid: 1, atMs: Date.now(), untilMs });
const ended = (requestId: string, name: string) =>
  encodeMessage('ExportFinished', {
    requestId,
    claim: name,
    outcome: 'empty',
    reason: null,
    rows: 0,
    bytes: 0,
    file: null,
    atMs: Date.now(),
  });

it('a job that ends its workers again and again fails', async () => {
  const id = await request();
  for (let at = 0; at < CLAIMS_MAX; at++) await claim(id, `claim ${at}`, 0);
  await exports.worker();
  expect(await finished(id)).toMatchObject({ outcome: 'failed', reason: 'Its workers ended too often' });
});

it('a store that is away for a moment delays a job, and leaves no half file', async () => {
  let failures = 0;
  const flaky = slowStore(async () => {
    failures += 1;
    if (failures <= 2) throw new Error('connection refused');
  });
  await exports.worker({ files: flaky });
  const id = await request();
  expect(await finished(id)).toMatchObject({ outcome: 'ready', rows: ROWS });
  const [file = ''] = await filesOf(id);
  const { body } = (await exports.files.read(file, 9e9, signatureOf(await urlOf(file)), NOW)) as { body: Readable };
  const chunks: Buffer[] = [];
  for await (const chunk of body as AsyncIterable<Buffer>) chunks.push(chunk);
  expect(gunzipSync(Buffer.concat(chunks)).toString().split('\n')).toHaveLength(ROWS + 2);
});

const urlOf = (file: string) => exports.files.url(file, { saveAs: 'x', nowS: 0, validS: 9e9, origin: 'http://a.test' });
const signatureOf = (url: string) => new URL(url).searchParams.get('signature') ?? '';

it('a history that is away for a moment delays a job; rows are never missing', async () => {
  let failures = 0;
  class FlakyStore extends HistoryStore {
    override pinned(): HistoryStore {
      return this;
    }
    override async stream(...request: Parameters<HistoryStore['stream']>) {
      failures += 1;
      if (failures === 2) throw new HistoryError('storeAway');
      return super.stream(...request);
    }
  }
  const { client, database } = stage.clickhouse;
  const sources = { store: new FlakyStore(client, database), bounds: { slice: 7 } };
  await exports.worker({ sources });
  const id = await request();
  expect(await finished(id)).toMatchObject({ outcome: 'ready', rows: ROWS });
  expect(failures).toBeGreaterThan(2 + ROWS / 7);
});

it('old jobs expire with all their files', async () => {
  const stop = await exports.worker();
  const [old, young] = [await request({ atMs: Date.now() - 3_600_000 }), await request()];
  for (const id of [old, young]) await finished(id);
  await stop();
  await exports.worker({ keepHours: 1 });
  await eventually(async () => {
    await jobs.readToEnd();
    expect(jobs.jobs.get(old)).toBe(undefined);
  });
  const present = (job: ExportJob | undefined) => job?.requestId;
  expect([present(jobs.jobs.get(young)), await filesOf(old), (await filesOf(young)).length]).toEqual([young, [], 1]);
});
