import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HistoryCompleteness } from '../../../platform/index.ts';
import { Contract } from '../../../test/support/api/contracts.ts';
import { HistoryStage, makeApp, NOW, registry } from '../../../test/support/api/history-stage.ts';

interface Stream {
  readonly stream: string;
  readonly lastSlot: number | null;
  readonly lastTs: number | null;
  readonly lagSlots: number | null;
  readonly lagSeconds: number | null;
}

interface Freshness {
  readonly newest: { readonly slot: number; readonly ts: number; readonly behindClock: number } | null;
  readonly eventsNotStored: number | null;
  readonly streams: readonly Stream[];
  readonly gaps: readonly Record<string, unknown>[] | null;
}

const STATE: HistoryCompleteness = {
  coverage: [
    { subject: 'perp-0', stream: 'fills', slot: 9, firstId: 1, lastId: 9, chainId: 9, missing: 0, holes: [] },
    {
      ...{ subject: 'perp-1', stream: 'fills', slot: 9, firstId: 1, lastId: 9, chainId: 9, missing: 2 },
      holes: [{ fromId: 4, toId: 5, fromSlot: 7, toSlot: 8, isLost: true, reconstructed: [], reconstructedOrders: [] }],
    },
  ],
  accounts: [{ stream: 'orders', slot: 9, accounts: 40, withHoles: 1, missing: 3, lost: 2, forgotten: 0 }],
  eventsNotStored: 3,
  gaps: [
    { fromSlot: 10, toSlot: 20, reason: 'not connected', foundAtMs: 5_000, filledAtMs: 9_900, isLasting: false },
    { fromSlot: 40, toSlot: 45, reason: 'blocks are gone', foundAtMs: 6_500, filledAtMs: null, isLasting: true },
  ],
};

describe('GET /freshness', () => {
  let stage: HistoryStage;
  beforeAll(async () => {
    stage = await HistoryStage.open();
  });
  afterAll(() => stage.close());

  /** A fresh service per request, because requests share an answer for a second. */
  async function ask(completeness: () => Promise<HistoryCompleteness> = async () => STATE) {
    const app = await makeApp(stage.clickhouse, registry(), { completeness });
    const response = await app.inject('/freshness');
    const contract = (await app.inject('/openapi.json')).json();
    await app.close();
    return { status: response.statusCode, body: response.json() as Freshness, contract };
  }

  const streamOf = ({ streams }: Freshness, name: string) => streams.find(({ stream }) => stream === name);

  it('reports an empty history', async () => {
    const { status, body } = await ask(async () => ({ gaps: null, coverage: [], accounts: [], eventsNotStored: null }));
    expect(status).toBe(200);
    expect(body).toMatchObject({ newest: null, eventsNotStored: null, gaps: null });
    expect(streamOf(body, 'trades')).toMatchObject({ lastSlot: null, lastTs: null, lagSlots: null, lagSeconds: null });
  });

  it('gives last slot, time and lag of each stream, long silent ones too', async () => {
    const event = (index: number) => ({ signature: String(index).padStart(64, '0'), event_index: 0 });
    await stage.clickhouse.client.insert({
      table: 'order_action',
      values: [
        { ...event(1), slot: 500, ts: NOW - 20, action: 'fill', market_index: 0, market_type: 'perp' },
        { ...event(2), slot: 512, ts: NOW - 15, action: 'cancel', market_index: 0, market_type: 'perp' },
      ],
      format: 'JSONEachRow',
    });
    await stage.clickhouse.client.insert({
      table: 'funding_rate',
      values: [{ ...event(3), slot: 7, ts: NOW - 40 * 86_400, market_index: 0 }],
      format: 'JSONEachRow',
    });
    const { body, contract } = await ask();
    expect(body.newest).toEqual({ slot: 512, ts: NOW - 15, behindClock: 15 });
    expect(streamOf(body, 'trades')).toMatchObject({ lastSlot: 500, lastTs: NOW - 20, lagSlots: 12, lagSeconds: 5 });
    expect(streamOf(body, 'orderActions')).toMatchObject({ lastSlot: 512, lagSlots: 0, lagSeconds: 0 });
    expect(streamOf(body, 'fundingRates')).toMatchObject({ lastSlot: 7, lagSlots: 505 });
    expect((body as unknown as { coverage: unknown[] }).coverage).toMatchObject([
      { subject: 'perp-1', missing: 2, holes: [{ fromId: 4, toId: 5, fromSlot: 7, toSlot: 8, lost: true }] },
      { subject: 'perp-0', firstId: 1, lastId: 9, chainId: 9, missing: 0, holes: [] },
    ]);
    const totals = { stream: 'orders', accounts: 40, withHoles: 1, missing: 3, lost: 2, forgotten: 0 };
    expect((body as unknown as { accounts: unknown[] }).accounts).toEqual([totals]);
    const schema = ['paths', '/freshness', 'get', 'responses', '200', 'content', 'application/json', 'schema'];
    const validate = new Contract(contract).validator(...schema);
    expect([validate(body), validate.errors]).toEqual([true, null]);
  });

  it('lists gaps newest first, filled or open, and counts events not stored yet', async () => {
    const { body } = await ask();
    expect(body.eventsNotStored).toBe(3);
    expect(body.gaps).toEqual([
      { fromSlot: 40, toSlot: 45, reason: 'blocks are gone', filled: false, lasting: true, foundTs: 6, filledTs: null },
      { fromSlot: 10, toSlot: 20, reason: 'not connected', filled: true, lasting: false, foundTs: 5, filledTs: 9 },
    ]);
  });

  it('names an old open gap before filled ones and before data that is lost for good', async () => {
    const gap = (fromSlot: number, filledAtMs: number | null, isLasting: boolean) => {
      return { fromSlot, toSlot: fromSlot, reason: 'not connected', foundAtMs: 5_000, filledAtMs, isLasting };
    };
    const later = Array.from({ length: 150 }, (_, n) => [gap(100 + 2 * n, 9_900, false), gap(101 + 2 * n, null, true)]);
    const { body } = await ask(async () => ({ ...STATE, gaps: [gap(3, null, false), ...later.flat()] }));
    expect(body.gaps).toHaveLength(200);
    expect(body.gaps?.at(-1)).toMatchObject({ fromSlot: 3, filled: false, lasting: false });
    expect(body.gaps?.filter(({ lasting }) => lasting)).toHaveLength(150);
    expect(body.gaps?.slice(0, 2)).toMatchObject([{ fromSlot: 399 }, { fromSlot: 398 }]);
  });

  it('answers 503 when the log cannot be read, and when there are no tables', async () => {
    const away = await ask(() => Promise.reject(new Error('broker away')));
    expect([away.status, away.body]).toEqual([
      503,
      { error: 'ServiceUnavailable', message: 'The history store cannot be reached' },
    ]);
    const bare = await makeApp({ client: stage.clickhouse.client, database: 'never_made' });
    expect((await bare.inject('/freshness')).statusCode).toBe(503);
    await bare.close();
  });
});
