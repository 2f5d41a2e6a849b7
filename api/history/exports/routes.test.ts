import { randomUUID } from 'node:crypto';
import bs58 from 'bs58';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { encodeMessage, TOPICS } from '../../../schemas/index.ts';
import {
  download,
  downloadText,
  ExportStage,
  listExports,
  requestExport,
} from '../../../test/support/api/export-stage.ts';
import { FakeLog } from '../../../test/support/api/fake-log.ts';
import { HistoryContract } from '../../../test/support/api/history-contract.ts';
import { address, event, key } from '../../../test/support/api/history-requests.ts';
import { fill, HistoryStage, NOW } from '../../../test/support/api/history-stage.ts';
import { TestKey } from '../../../test/support/api/quote-maker.ts';
import { signedHeaders, startTestWallets, type TestWallets } from '../../../test/support/api/wallet-requests.ts';
import { eventually } from '../../../test/support/platform/eventually.ts';
import { WAITING_MAX } from './limits.ts';

const [TAKER, MAKER, STRANGER] = [address(key('t')), address(key('m')), address(key('x'))];
const WALLET_BYTES = 'w'.repeat(32);
const WALLET = address(WALLET_BYTES);
const nowS = () => Math.floor(Date.now() / 1000);

let stage: HistoryStage;
let exports: ExportStage;
let app: FastifyInstance;

const body = (members: Record<string, unknown> = {}) => ({
  fileType: 'trades',
  from: NOW - 1_000,
  to: NOW,
  userPublicKeys: [TAKER],
  ...members,
});
const ask = (members: Record<string, unknown> = {}, to = app) => requestExport(to, WALLET, body(members));

beforeAll(async () => {
  stage = await HistoryStage.open();
  const user = (letter: string, wallet = WALLET_BYTES) => ({
    user: key(letter),
    user_authority: wallet,
    sub_account_id: 0,
  });
  await stage.store('new_user', [
    { ...event(1, NOW - 9_000), ...user('t') },
    { ...event(2, NOW - 9_000), ...user('x', 'o'.repeat(32)) },
  ]);
  // Older than the stored history: only a deposit names its owner.
  await stage.store('deposit', [{ ...event(3, NOW - 8_000), ...user('m'), amount: '1', direction: 'deposit' }]);
  await stage.store('order_action', [fill({ ts: NOW - 50, maker: key('m') }), fill({ ts: NOW - 40 })]);
});
afterAll(() => stage.close());
beforeEach(async () => {
  exports = await ExportStage.open(stage);
  app = await exports.service();
  return () => exports.close();
});

describe('POST /authority/{authorityId}/exports', () => {
  it('answers with a job, which the list shows as pending', async () => {
    const answer = await ask({ market: 'sol-perp' });
    expect([answer.statusCode, answer.json()]).toEqual([
      200,
      { success: true, requestId: expect.stringMatching(/^[0-9a-f-]{36}$/), status: 'pending' },
    ]);
    const { records, meta } = await listExports(app, WALLET);
    expect([records, meta]).toEqual([
      [
        {
          requestId: answer.json().requestId,
          status: 'pending',
          fileType: 'trades',
          from: NOW - 1_000,
          to: NOW,
          userPublicKeys: [TAKER],
          market: 'sol-perp',
          createdAt: expect.any(Number),
          completedAt: null,
          recordCount: null,
          errorReason: null,
          downloadUrl: null,
        },
      ],
      { nextPage: null },
    ]);
    expect((await listExports(app, STRANGER)).records).toEqual([]);
  });

  it('is a 400 for a body that breaks a rule', async () => {
    const broken: [string, Record<string, unknown>][] = [
      ['another member', { colour: 'red' }],
      ['an unknown file type', { fileType: 'everything' }],
      ['no sub-account', { userPublicKeys: [] }],
      ['a sub-account twice', { userPublicKeys: [TAKER, TAKER] }],
      ['a sub-account that is no key', { userPublicKeys: ['abc'] }],
      ['a text in place of the list', { userPublicKeys: TAKER }],
      ['a sub-account of another wallet', { userPublicKeys: [TAKER, STRANGER] }],
      ['a text as time', { from: String(NOW - 1_000) }],
      ['a fraction as time', { from: NOW - 1_000.5 }],
      ['milliseconds', { from: NOW * 1000 - 1, to: NOW * 1000 }],
      ['an empty range', { from: NOW }],
      ['a range backwards', { from: NOW + 1 }],
      ['a range of more than 366 days', { from: NOW - 366 * 86_400 - 1 }],
      ['an unknown market', { market: 'DOGE-PERP' }],
      ['a market of the wrong type', { fileType: 'deposits', market: 'SOL-PERP' }],
      ['market trades without a market', { fileType: 'marketTrades' }],
      ['funding rates without a market', { fileType: 'fundingRates' }],
      ['funding rates of a spot market', { fileType: 'fundingRates', market: 'SOL' }],
      ['no market name', { market: null }],
    ];
    for (const [name, members] of broken) {
      const answer = await ask(members);
      expect([name, answer.statusCode, answer.json().error]).toEqual([name, 400, 'ValidationError']);
    }
    for (const name of ['fileType', 'from', 'to', 'userPublicKeys']) {
      const { [name]: _, ...rest } = body() as Record<string, unknown>;
      expect([name, (await requestExport(app, WALLET, rest)).statusCode]).toEqual([name, 400]);
    }
    expect((await listExports(app, WALLET)).records).toEqual([]);
  });

  it('refuses a long text in place of a key without decoding it', async () => {
    const long = '2'.repeat(16_000);
    const decoders = [vi.spyOn(bs58, 'decode'), vi.spyOn(bs58, 'decodeUnsafe')];
    const answer = await ask({ userPublicKeys: [long] });
    const decoded = decoders.flatMap(({ mock }) => mock.calls.map(([text]) => text));
    for (const decoder of decoders) decoder.mockRestore();
    expect([answer.statusCode, answer.json()]).toEqual([
      400,
      { error: 'ValidationError', message: `Invalid account ID format: ${long}` },
    ]);
    expect(decoded).toContain(WALLET);
    expect(decoded).not.toContain(long);
  });

  it('accepts 366 days, several accounts, and the stakes of a wallet without accounts', async () => {
    expect((await ask({ from: NOW - 366 * 86_400, userPublicKeys: [TAKER, MAKER] })).statusCode).toBe(200);
    expect((await ask({ fileType: 'insuranceFundStake', userPublicKeys: [STRANGER] })).statusCode).toBe(200);
    expect((await requestExport(app, 'not-a-key', body())).json().message).toMatch('Invalid account ID format');
  });

  it('is a 409 for more unfinished jobs than a wallet may have, also at two services at once', async () => {
    const other = await exports.service();
    const answers = await Promise.all(
      Array.from({ length: 2 * WAITING_MAX }, (_, at) => ask({}, at % 2 === 0 ? app : other)),
    );
    const counts = [200, 409].map((status) => answers.filter(({ statusCode }) => statusCode === status).length);
    expect(counts).toEqual([WAITING_MAX, WAITING_MAX]);
    expect((await listExports(other, WALLET)).records).toHaveLength(WAITING_MAX);
  });

  it('is a 503 while the log does not answer', async () => {
    class SilentLog extends FakeLog {
      override read(): Promise<never> {
        return new Promise(() => {});
      }
    }
    const silent = await exports.service({ log: new SilentLog(), timeoutMs: 50 });
    expect((await ask({}, silent)).statusCode).toBe(503);
    expect((await silent.inject(`/authority/${WALLET}/exports`)).statusCode).toBe(503);
  });
});

describe('wallet signatures', () => {
  const owner = new TestKey();
  const delegate = new TestKey();
  let wallets: TestWallets;
  let signed: FastifyInstance;

  beforeAll(async () => {
    const own = { user_authority: Buffer.from(owner.bytes).toString('latin1') };
    expect(own.user_authority).toHaveLength(32);
    // Bytes that are no text cannot be inserted as JSON; SQL can.
    await stage.clickhouse.client.command({
      query: `INSERT INTO new_user (signature, event_index, slot, ts, user_authority, user, sub_account_id)
        SELECT signature, event_index, slot, ts, base58Decode({owner:String}), user, 0 FROM new_user WHERE user = {user:String}`,
      query_params: { owner: owner.name, user: key('t') },
    });
  });
  beforeEach(async () => {
    wallets = await startTestWallets({ now: nowS });
    wallets.accounts.set(TAKER, { authority: owner.name, delegate: delegate.name });
    signed = await exports.service({ wallets: wallets.auth });
    return () => wallets.stop();
  });

  const askSigned = (signer: TestKey, members: Record<string, unknown> = {}, to = signed) =>
    requestExport(to, owner.name, body(), signedHeaders(signer, nowS(), { action: 'requestExport', ...members }));

  it('of the owner and of a delegate are accepted', async () => {
    expect((await askSigned(owner)).statusCode).toBe(200);
    const asDelegate = { isDelegate: true, velocityUserAccount: TAKER };
    expect((await askSigned(delegate, asDelegate)).statusCode).toBe(200);
    const list = await signed.inject({
      url: `/authority/${owner.name}/exports`,
      headers: signedHeaders(owner, nowS(), { action: 'anything' }),
    });
    expect([list.statusCode, list.json().records.length]).toEqual([200, 2]);
  });

  it('for another action are a 401', async () => {
    const answer = await askSigned(owner, { action: 'getNotifications' });
    expect([answer.statusCode, answer.json().success]).toEqual([401, false]);
  });

  it('of anyone else are a 403, which says so, for both methods', async () => {
    const answer = await askSigned(new TestKey());
    expect([answer.statusCode, answer.json()]).toEqual([
      403,
      { success: false, error: 'Signer is not authorized for this authority' },
    ]);
    const headers = signedHeaders(delegate, nowS(), { action: 'requestExport' });
    expect((await signed.inject({ url: `/authority/${owner.name}/exports`, headers })).statusCode).toBe(403);
  });

  it('count once', async () => {
    const headers = signedHeaders(owner, nowS(), { action: 'requestExport' });
    const statuses = [];
    for (let at = 0; at < 2; at++) statuses.push((await requestExport(signed, owner.name, body(), headers)).statusCode);
    expect(statuses).toEqual([200, 401]);
  });

  it('may be left out, unless the deployment requires them', async () => {
    expect((await requestExport(signed, owner.name, body())).statusCode).toBe(200);
    const strict = await exports.service({ wallets: wallets.auth, settings: { exportSignatures: 'required' } });
    expect((await requestExport(strict, owner.name, body())).statusCode).toBe(401);
    expect((await strict.inject(`/authority/${owner.name}/exports`)).statusCode).toBe(401);
    expect((await askSigned(owner, {}, strict)).statusCode).toBe(200);
  });
});

describe('a finished statement', () => {
  const finished = () =>
    eventually(async () => {
      const { records } = await listExports(app, WALLET);
      for (const { status } of records) expect(['pending', 'processing']).not.toContain(status);
      return records;
    });

  it('has a download URL, with a gzip of CSV', async () => {
    await exports.worker();
    await ask({ userPublicKeys: [TAKER, MAKER] });
    const [record] = await finished();
    expect(record).toMatchObject({
      status: 'ready',
      recordCount: 3,
      errorReason: null,
      completedAt: expect.any(Number),
    });
    const url = record?.downloadUrl ?? '';
    expect(url).toMatch(/^http:\/\/localhost:80\/exports\/files\//);
    const answer = await download(app, url);
    expect([answer.statusCode, answer.headers['content-type'], answer.headers['content-disposition']]).toEqual([
      200,
      'application/gzip',
      'attachment; filename=trades-2026-06-15-2026-06-15.csv.gz',
    ]);
    expect(Number(answer.headers['content-length'])).toBe(answer.rawPayload.length);
    expect((await downloadText(app, url)).split('\n')).toHaveLength(5);
  });

  it('without rows is empty, and has no file', async () => {
    await exports.worker();
    await ask({ fileType: 'liquidations' });
    expect(await finished()).toMatchObject([{ status: 'empty', recordCount: 0, downloadUrl: null }]);
  });

  it('with too many rows has failed, and says why', async () => {
    await exports.worker({ sources: { bounds: { rows: 1 } } });
    await ask();
    expect(await finished()).toMatchObject([
      { status: 'failed', recordCount: null, downloadUrl: null, errorReason: expect.stringContaining('More than') },
    ]);
  });

  it('is gone from the list, and its URL leads nowhere, when it has expired', async () => {
    const stop = await exports.worker();
    await ask();
    const [{ downloadUrl }] = (await finished()) as unknown as [{ downloadUrl: string }];
    await stop();
    const later = await exports.service({ now: () => nowS() + 169 * 3_600 });
    expect((await listExports(later, WALLET)).records).toEqual([]);
    expect((await download(later, downloadUrl)).statusCode).toBe(403);
    await exports.worker({ keepHours: 0 });
    await eventually(async () => expect((await listExports(app, WALLET)).records).toEqual([]));
    expect((await download(app, downloadUrl)).statusCode).toBe(404);
  });

  it('has a new URL in each answer, that is valid for the set time', async () => {
    await exports.worker();
    await ask();
    await finished();
    let clock = nowS();
    const at = await exports.service({ now: () => clock });
    const urlNow = async () => (await listExports(at, WALLET)).records[0]?.downloadUrl ?? '';
    const first = await urlNow();
    clock += 60;
    expect(await urlNow()).not.toBe(first);
    clock += 480 * 60 - 61;
    expect((await download(at, first)).statusCode).toBe(200);
    clock += 1;
    expect([(await download(at, first)).statusCode, (await download(at, await urlNow())).statusCode]).toEqual([
      403, 200,
    ]);
  });

  it('cannot be had by a changed URL, a guessed id, or a path that leaves the folder', async () => {
    await exports.worker();
    await ask();
    const [{ downloadUrl, requestId }] = (await finished()) as unknown as [{ downloadUrl: string; requestId: string }];
    const { searchParams, pathname } = new URL(downloadUrl);
    const name = pathname.split('/').at(-1) ?? '';
    const query = searchParams.toString();
    const attacks = [
      `/exports/files/${name}`,
      `/exports/files/${name}?expires=9999999999&signature=${searchParams.get('signature')}`,
      `/exports/files/${name}?expires=${searchParams.get('expires')}&signature=${'0'.repeat(64)}`,
      `/exports/files/${name}?expires=${searchParams.get('expires')}&signature=`,
      `/exports/files/${name}?expires=${searchParams.get('expires')}&signature=a&signature=b`,
      `/exports/files/${name.replace(requestId, randomUUID())}?${query}`,
      `/exports/files/${name.toUpperCase()}?${query}`,
      `/exports/files/${requestId}?${query}`,
      `/exports/files/url.key?${query}`,
      `/exports/files/..%2furl.key?${query}`,
      `/exports/files/%2e%2e%2f%2e%2e%2fetc%2fpasswd?${query}`,
      `/exports/files/..%5c..%5cetc%5cpasswd?${query}`,
      `/exports/files/../../etc/passwd?${query}`,
      `/exports/files/${name}%00.txt?${query}`,
      `/exports/files/.?${query}`,
    ];
    for (const url of attacks) {
      const answer = await app.inject(url);
      expect([url, [400, 403, 404].includes(answer.statusCode)]).toEqual([url, true]);
      expect(answer.headers['content-type']).toMatch('application/json');
    }
    expect((await download(app, downloadUrl)).statusCode).toBe(200);
  });
});

describe('the list', () => {
  it('has 20 jobs a page, newest first; jobs that are added meanwhile shift nothing', async () => {
    const append = async (requestId: string, wallet = WALLET) => {
      const users = [bs58.decode(TAKER)];
      const head = { requestId, atMs: Date.now() };
      const request = {
        ...head,
        authority: bs58.decode(wallet),
        fileType: 'trades',
        fromTs: 1,
        toTs: 2,
        users,
        market: null,
      };
      const end = { ...head, claim: 'c', outcome: 'empty', reason: null, rows: 0, bytes: 0, file: null };
      await exports.log.append(TOPICS.exports, [
        { key: requestId, value: encodeMessage('ExportRequested', request) },
        {
          key: requestId,
          value: encodeMessage('ExportClaimed', { ...head, claim: 'c', host: '', pid: 1, untilMs: 1 }),
        },
        { key: requestId, value: encodeMessage('ExportFinished', end) },
      ]);
    };
    for (let at = 0; at < 45; at++) await append(`job-${at}`, at % 9 === 8 ? STRANGER : WALLET);
    const ids: string[] = [];
    let page: string | undefined;
    do {
      const answer = await listExports(app, WALLET, page);
      expect(answer.records.length).toBeLessThanOrEqual(20);
      ids.push(...answer.records.map(({ requestId }) => requestId));
      page = answer.meta.nextPage ?? undefined;
      await append(`later-${ids.length}`);
    } while (page !== undefined);
    const own = Array.from({ length: 45 }, (_, at) => at).filter((at) => at % 9 !== 8);
    expect(ids).toEqual(own.reverse().map((at) => `job-${at}`));
  });

  it('refuses tokens of other lists', async () => {
    for (const page of ['x', 'W10', Buffer.from(JSON.stringify(['exports-1', 'x', '1'])).toString('base64url')]) {
      expect((await app.inject(`/authority/${WALLET}/exports?page=${page}`)).statusCode).toBe(400);
    }
  });

  it('and the other answers are those of the contract', async () => {
    await exports.worker();
    await ask();
    const contract = await HistoryContract.of(app);
    await eventually(async () => expect((await listExports(app, WALLET)).records[0]?.status).toBe('ready'));
    for (const url of [
      `/authority/${WALLET}/exports`,
      `/authority/x/exports`,
      '/exports/files/a?expires=1&signature=x',
    ]) {
      const answer = await app.inject(url);
      expect(contract.problems(url, { status: answer.statusCode, body: answer.json() })).toBe('');
    }
  });
});
