import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { text as textOf } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it, type TestContext } from 'vitest';
import { openDownload } from '../../../test/support/api/download.ts';
import { HistoryContract } from '../../../test/support/api/history-contract.ts';
import { USER, USER_ID } from '../../../test/support/api/history-rows.ts';
import { fill, HistoryStage, MINUTE, makeApp, NOW } from '../../../test/support/api/history-stage.ts';
import { until } from '../../../test/support/platform/eventually.ts';
import { CSV_PATIENCE_MS, DOWNLOADS_AT_ONCE, Downloads, WAITING_MAX } from '../downloads.ts';

const FILLS = 200;
const U64_MAX = 2n ** 64n - 1n;
const I64_MAX = 2n ** 63n - 1n;

let stage: HistoryStage;

beforeAll(async () => {
  stage = await HistoryStage.open();
});

afterAll(() => stage?.close());

const text = (value: bigint | null) => (value === null ? null : String(value));
const amounts = fc.option(fc.oneof(fc.bigInt(0n, 9n), fc.bigInt(0n, U64_MAX)), { freq: 8 }).map(text);
const fees = fc.option(fc.oneof(fc.bigInt(-9n, 9n), fc.bigInt(-I64_MAX - 1n, I64_MAX)), { freq: 8 }).map(text);

const members = fc.record({
  base_asset_amount_filled: amounts,
  quote_asset_amount_filled: amounts,
  taker_fee: amounts,
  maker_fee: fees,
  referrer_reward: fc.option(fc.nat(2 ** 31 - 1)),
  maker: fc.constantFrom(null, 'm'.repeat(32), USER),
  maker_existing_base_asset_amount: amounts,
});

/** Cells of a CSV line without quotes inside; an empty cell is null. */
const cells = (line: string) => line.split(',').map((cell) => (cell === '' ? null : cell.replace(/^"|"$/g, '')));

describe('trades as CSV', () => {
  beforeEach(() => stage.reset());

  it.each([
    ['perp', '/market/SOL-PERP/trades/2026/6/15'],
    ['spot', '/market/SOL/trades/2026/6/15'],
    ['perp', `/user/${USER_ID}/trades/2026/6`],
  ])('of %s %s are the rows of the pages for any amounts', async (marketType, path) => {
    const index = marketType === 'spot' ? 1 : 0;
    await stage.store(
      'order_action',
      fc
        .sample(members, { numRuns: FILLS, seed: 5 })
        .map((drawn) => fill({ ts: NOW - 50, taker: USER, market_type: marketType, market_index: index, ...drawn })),
    );
    const { records } = await stage.list(path);
    expect(records).toHaveLength(FILLS);
    // The engine compiles an expression after a few uses, which could change its result.
    for (let run = 0; run < 4; run += 1) await stage.app.inject(`${path}?format=csv`);
    const [head = '', ...lines] = (await stage.app.inject(`${path}?format=csv`)).body.trimEnd().split('\n');
    expect(cells(head)).toEqual(Object.keys(records[0] ?? {}));
    const jsonCells = records.map((row) => Object.values(row).map((cell) => (cell === null ? null : String(cell))));
    expect(lines.map(cells)).toEqual(jsonCells);
  });
});

// One of them waits half a minute, beside the others. Each has a server of its own, with its own bound of downloads.
describe.concurrent('a dated CSV over a socket', () => {
  /** About 24 MB: more than all buffers between test and store. */
  const MANY = 60_000;
  const QUERY_TIMEOUT_MS = 3_000;
  /** By default the store waits 30 s for a reader. */
  const LONG_PAUSE_MS = 35_000;
  const CSV = '/market/SOL-PERP/trades/2026/6/15?format=csv';
  const CANDLES = `/market/SOL-PERP/candles/1/bulk?from=${MINUTE}`;

  beforeAll(async () => {
    await stage.reset();
    await stage.store('order_action', [fill({ fill_record_id: '0', ts: NOW - 50 })]);
    await stage.clickhouse.client.command({
      query: `INSERT INTO ${stage.clickhouse.database}.order_action
        SELECT stored.* REPLACE (leftPad(toString(number + 1), 64, 'm') AS signature, number + 1 AS fill_record_id,
          rand64() AS quote_asset_amount_filled)
        FROM ${stage.clickhouse.database}.order_action AS stored CROSS JOIN numbers(${MANY - 1}) AS copies`,
    });
  });

  async function listen({ onTestFinished }: TestContext): Promise<number> {
    const app = await makeApp(stage.clickhouse, undefined, { queryTimeoutMs: QUERY_TIMEOUT_MS });
    onTestFinished(() => app.close());
    await app.listen({ host: '127.0.0.1', port: 0 });
    return (app.server.address() as AddressInfo).port;
  }

  const open = (port: number, path: string) => openDownload({ port, path, agent: false });

  const openAll = (port: number) => Promise.all(Array.from({ length: DOWNLOADS_AT_ONCE }, () => open(port, CSV)));
  const lines = (csv: string) => csv.trimEnd().split('\n').length;

  it('is whole for a slow client, whose reading takes longer than a query may', async (context) => {
    const { response } = await open(await listen(context), CSV);
    await sleep(LONG_PAUSE_MS);
    expect(lines(await textOf(response))).toBe(MANY + 1);
  });

  it('shares the bound of bulk candles: these are refused, and a CSV waits for the next place', async (context) => {
    const port = await listen(context);
    const slow = await openAll(port);
    expect((await fetch(`http://127.0.0.1:${port}${CANDLES}`)).status).toBe(503);
    let answered = 0;
    const paths = [CSV, '/hosted/market/SOL-PERP/trades/2026/6/15?format=csv'];
    const waiting = paths.map(async (path) => {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`);
      answered += 1;
      return [answer.status, lines(await answer.text())];
    });
    await sleep(500);
    expect(answered).toBe(0);
    slow[0]?.download.destroy();
    expect(await Promise.all(waiting)).toEqual(paths.map(() => [200, MANY + 1]));
    for (const { download } of slow) download.destroy();
    await until(async () => (await fetch(`http://127.0.0.1:${port}${CANDLES}`)).status === 200);
  });

  it('gives up its wait when its client goes away', async (context) => {
    const port = await listen(context);
    const slow = await openAll(port);
    const gone = request({ host: '127.0.0.1', port, path: CSV, agent: false });
    gone.on('error', () => {}); // the hang-up's error
    gone.end();
    await sleep(500);
    gone.destroy();
    await sleep(100);
    slow[0]?.download.destroy();
    await until(async () => (await fetch(`http://127.0.0.1:${port}${CANDLES}`)).status === 200);
    for (const { download } of slow) download.destroy();
  });

  it('is refused with the time to come back when too many wait', async () => {
    const downloads = new Downloads();
    const taken = () => downloads.take(async () => new PassThrough(), CSV_PATIENCE_MS).catch(() => {});
    for (let n = 0; n < DOWNLOADS_AT_ONCE + WAITING_MAX; n++) void taken();
    const busy = await makeApp(stage.clickhouse, undefined, { downloads });
    const answer = await busy.inject(CSV);
    expect([answer.statusCode, answer.headers['retry-after'], answer.json()]).toEqual([
      503,
      '10',
      { error: 'ServiceUnavailable', message: 'Too many bulk downloads at once' },
    ]);
    const contract = await HistoryContract.of(busy);
    expect(contract.problems(CSV, { status: 503, body: answer.json() })).toBe('');
    await busy.close();
  });
});
