// The history service's contract held against a real one: requests generated from `/openapi.json`, by fast-check and by
// schemathesis, meet no status and no body that is not documented, and the socket sends what its contract says.

import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import {
  type ContractDocument,
  historyRequests,
  type KnownValues,
  soundRequests,
} from '../../../fuzz/history-requests.ts';
import { Contract } from '../../../support/api/contracts.ts';
import { TestKey } from '../../../support/api/quote-maker.ts';
import { signedHeaders } from '../../../support/api/wallet-requests.ts';
import { isSoak, times } from '../../../support/platform/times.ts';
import { type Cluster, eventually, plainRequest } from '../../../support/processes/processes.ts';
import { expectSchemathesisPasses, type SchemathesisOptions } from '../checks/schemathesis.ts';
import type { HistoryRun } from './run.ts';

const REQUESTS_PER_PATH = times(3, 10);
/** Markets and accounts do not suit every path, so a path is tried with others. */
const SOUND_TRIES = 30;
const AT_ONCE = 8;
const SEED = 5;
/** The edges of each parameter take longest: some 4,000 requests, each a query. A soak tries them. */
const SCHEMATHESIS: SchemathesisOptions = {
  phases: isSoak ? ['coverage', 'fuzzing'] : ['fuzzing'],
  ...{ examples: times(3, 100), seconds: times(5, 300), seed: SEED },
};
/** Beside those seconds: the installation of the tool, and its last phase. */
const SCHEMATHESIS_WITHIN_MS = 600_000;
const PATIENCE_MS = 60_000;
/** The chain stands still while requests are answered. Then it runs faster, so that the socket has something of everything. */
const LIVE_SPEED = 4;
/** Perp fills of accounts whose creation is stored, which names their wallets: the leaderboard has no others. */
const RANKED = `SELECT count() FROM slotbook.order_action WHERE action = 'fill' AND market_type = 'perp'
  AND (taker IN (SELECT user FROM slotbook.account) OR maker IN (SELECT user FROM slotbook.account))`;
/** A plain request gets no 200 there: a file has a signed URL, and the socket needs an upgrade. */
const NEEDS_MORE = new Set(['/exports/files/{name}', '/ws']);

export function describeHistoryContract(run: () => HistoryRun): void {
  describe('the contract of the history service', () => contractTests(run));
}

function contractTests(run: () => HistoryRun): void {
  let base: string;
  let document: ContractDocument;
  let cluster: Cluster;

  const json = async <T>(path: string): Promise<T> => {
    const answer = await fetch(base + path);
    if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
    return (await answer.json()) as T;
  };

  beforeAll(async () => {
    ({ cluster } = run());
    base = run().url('history');
    await eventually('trades', async () => (await tradesOf('SOL-PERP')).length === 50, PATIENCE_MS);
    await eventually('candles', async () => (await fetch(`${base}/market/SOL-PERP/candles/1`)).ok, PATIENCE_MS);
    const { url, headers } = plainRequest(run().url('clickhouse'));
    const isRanked = async () => {
      const answer = await fetch(url, { method: 'POST', headers, body: RANKED });
      return Number(await answer.text()) > 0;
    };
    // The leaderboard itself would remember for a minute that it was empty.
    await eventually('fills of an account with a known wallet', isRanked, PATIENCE_MS);
    document = await json<ContractDocument>('/openapi.json');
    await cluster.rpc('localnet_pause');
  });

  type Trade = Readonly<Record<'taker' | 'maker' | 'takerOrderId', string | null>>;

  async function tradesOf(symbol: string): Promise<readonly Trade[]> {
    const answer = await fetch(`${base}/market/${symbol}/trades?limit=50`);
    return answer.ok ? ((await answer.json()) as { records: Trade[] }).records : [];
  }

  /** Names and ids that the chain really has. */
  async function known(): Promise<KnownValues> {
    const markets = await json<{ symbol: string; marketType: string }[]>('/stats/markets');
    const trades = await tradesOf('SOL-PERP');
    const accounts = trades.flatMap(({ taker, maker }) => [taker, maker]).filter((key) => key !== null);
    const { data } = await json<{ data: { leaderboard: { authority: string }[] } }>('/stats/leaderboard?sort=volume');
    const { meta } = await json<{ meta: { nextPage: string | null } }>('/market/SOL-PERP/trades');
    const [year, month, day] = new Date().toISOString().slice(0, 10).split('-').map(Number);
    const now = Math.floor(Date.now() / 1000);
    const symbols = markets.map(({ symbol }) => symbol);
    return {
      symbol: symbols,
      marketName: symbols,
      accountId: accounts,
      authorityId: data.leaderboard.map(({ authority }) => authority),
      orderId: trades.flatMap(({ takerOrderId }) => (takerOrderId === null ? [] : [String(takerOrderId)])),
      page: ['1', '2', meta.nextPage ?? '1'],
      year: [String(year)],
      month: [String(month)],
      day: [String(day)],
      startTs: [String(now - 3600)],
      endTs: [String(now)],
      start: [String(now - 3600)],
      end: [String(now)],
      from: [String(now - 3600)],
      to: [String(now)],
    };
  }

  it('holds for every path, on requests generated from it', async () => {
    const contract = new Contract(document, 'open');
    const ofPaths = historyRequests(document, await known());
    const requests = ofPaths.flatMap((one, index) =>
      fc.sample(one, { numRuns: REQUESTS_PER_PATH, seed: SEED + index }),
    );
    const faults: string[] = [];
    const statuses: Record<string, number> = {};
    const ask = async ({ path, url }: (typeof requests)[number]): Promise<void> => {
      const answer = await fetch(base + url);
      const body = await answer.text();
      statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
      const fault = faultOf(contract, path, answer, body);
      if (fault) faults.push(`${url.slice(0, 300)} -> ${answer.status} ${fault}: ${body.slice(0, 300)}`);
    };
    const queue = [...requests];
    const worker = async (): Promise<void> => {
      for (let next = queue.pop(); next; next = queue.pop()) await ask(next);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    process.stdout.write(
      `history contract: ${requests.length} requests on ${ofPaths.length} paths, ${JSON.stringify(statuses)}\n`,
    );
    expect(faults.slice(0, 5)).toEqual([]);
  });

  it('is answered with 200 on every path that is asked for something that exists', async () => {
    const values = await known();
    const failing: string[] = [];
    for (const [path, { get }] of Object.entries(document.paths)) {
      if (!get || NEEDS_MORE.has(path)) continue;
      const urls = fc.sample(soundRequests(path, get, values), { numRuns: SOUND_TRIES, seed: SEED });
      let last = '';
      for (const url of urls) {
        const needsWallet = get.security?.every((schemes) => 'walletSignature' in schemes) ?? false;
        const headers = needsWallet ? signedHeaders(new TestKey(), Math.floor(Date.now() / 1000)) : {};
        const { status } = await fetch(base + url, { headers });
        last = status === 200 ? '' : `${url} -> ${status}`;
        if (last === '') break;
      }
      if (last !== '') failing.push(last);
    }
    expect(failing).toEqual([]);
  });

  /** An answer that comes from outside of a path's own contract (a broken URL, another route) is the service's common one. */
  function faultOf(contract: Contract, path: string, answer: Response, body: string): string | null {
    const { status } = answer;
    const responses = document.paths[path]?.get?.responses ?? {};
    if (responses[status] === undefined) return 'undocumented status';
    const type = String(answer.headers.get('content-type')).split(';', 1)[0] ?? '';
    if (responses[status].content?.[type] === undefined) return `undocumented content type ${type}`;
    if (type !== 'application/json') return null;
    const validate = contract.validator('paths', path, 'get', 'responses', String(status), 'content', type, 'schema');
    return validate(JSON.parse(body)) ? null : JSON.stringify(validate.errors?.slice(0, 2));
  }

  it(
    'holds for what schemathesis makes of it',
    async () => {
      await expectSchemathesisPasses(`${base}/openapi.json`, SCHEMATHESIS);
    },
    SCHEMATHESIS_WITHIN_MS,
  );

  it('holds for the messages of the socket', async () => {
    await cluster.rpc('localnet_resume');
    await cluster.rpc('localnet_setSpeed', [{ speed: LIVE_SPEED }]);
    const asyncDocument = await json<{ channels: { history: { messages: Record<string, unknown> } } }>(
      '/asyncapi.json',
    );
    const contract = new Contract(asyncDocument);
    const names = Object.keys(asyncDocument.channels.history.messages);
    const received = new Set<string>();
    const faults: string[] = [];
    const socket = new WebSocket(`${base.replace('http', 'ws')}/ws`);
    socket.on('message', (bytes) => {
      const message = JSON.parse(bytes.toString()) as object;
      const found = names.filter((name) =>
        contract.validator('channels', 'history', 'messages', name, 'payload')(message),
      );
      if (found.length === 1) received.add(found[0] ?? '');
      else faults.push(`${found}: ${bytes.toString().slice(0, 300)}`);
    });
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
    const subscribe = (fields: object) => socket.send(JSON.stringify({ type: 'subscribe', ...fields }));
    subscribe({ channelType: 'markets' });
    subscribe({ channelType: 'pricing' });
    for (const resolution of ['1', '5', 'M']) subscribe({ channelType: 'candle', symbol: 'SOL-PERP', resolution });
    for (const authority of (await known()).authorityId ?? []) subscribe({ channelType: 'notifications', authority });
    subscribe({ channelType: 'orderbook', symbol: 'SOL-PERP' });
    const expected = ['acknowledgement', 'candleAcknowledgement', 'candleInit', 'candleUpdate', 'error', 'marketsInit'];
    const streamed = ['marketsUpdate', 'pricingInit', 'pricingUpdate', 'notificationsInit', 'notification'];
    const wanted = [...expected, ...streamed];
    await eventually(
      'messages',
      async () => wanted.every((name) => received.has(name)) || faults.length > 0,
      PATIENCE_MS,
    );
    socket.close();
    expect(faults.slice(0, 3)).toEqual([]);
  });
}
