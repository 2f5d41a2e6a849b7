// `meta.finalBefore` of rolling lists: before which time the chain takes no row back.

import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ChainFinality } from '../../../schemas/index.ts';
import { USER_ID } from '../../../test/support/api/history-rows.ts';
import { FINAL, fill, HistoryStage, makeApp, NOW } from '../../../test/support/api/history-stage.ts';

let stage: HistoryStage;
let app: FastifyInstance;
let final: ChainFinality | null;

beforeAll(async () => {
  stage = await HistoryStage.open();
  app = await makeApp(stage.clickhouse, undefined, { finality: () => final });
});

afterAll(async () => {
  await app?.close();
  await stage?.close();
});

beforeEach(async () => {
  await stage.reset();
  final = FINAL;
  await stage.store(
    'order_action',
    [NOW - 100, NOW - 10].map((ts) => fill({ ts })),
  );
});

const bodyOf = async (url: string): Promise<string> => {
  const answer = await app.inject(url);
  expect(answer.statusCode, answer.body).toBe(200);
  return answer.body;
};
const finalBefore = async (url: string): Promise<unknown> => JSON.parse(await bodyOf(url)).meta.finalBefore;

const LISTS = [
  '/market/SOL-PERP/trades',
  '/market/SOL-PERP/fundingRates',
  `/user/${USER_ID}/deposits`,
  `/user/${USER_ID}/orders/perp`,
  '/stats/liquidations',
  '/stats/bankruptcies',
  '/hosted/market/SOL-PERP/trades',
];

interface Path {
  readonly get?: {
    readonly responses: { readonly 200?: { readonly content?: Readonly<Record<string, { readonly schema: Schema }>> } };
  };
}

interface Schema {
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
}

describe('meta.finalBefore', () => {
  it.each(LISTS)('of %s is the newest final time, and at most the end of the range', async (list) => {
    expect(await finalBefore(list)).toBe(FINAL.ts);
    expect(await finalBefore(`${list}?startTs=${NOW - 200}`)).toBe(FINAL.ts);
    expect(await finalBefore(`${list}?endTs=${FINAL.ts}`)).toBe(FINAL.ts);
    expect(await finalBefore(`${list}?endTs=${FINAL.ts - 1}`)).toBe(FINAL.ts);
    expect(await finalBefore(`${list}?endTs=${FINAL.ts - 2}`)).toBe(FINAL.ts - 1);
    expect(await finalBefore(`${list}?startTs=${NOW - 50}&endTs=${NOW - 200}`)).toBe(NOW - 49);
  });

  it('of /trades, which has no range, is the newest final time', async () => {
    expect(await finalBefore('/trades?symbol=SOL-PERP')).toBe(FINAL.ts);
  });

  it('parts the rows that stay from those that the chain can take back', async () => {
    const { records, meta } = JSON.parse(await bodyOf('/market/SOL-PERP/trades'));
    expect(records.map(({ ts }: { ts: number }) => ts < meta.finalBefore)).toEqual([false, true]);
  });

  it('leaves an answer for a final range the same, byte by byte, while the chain goes on', async () => {
    const pages = async () => {
      const url = `/market/SOL-PERP/trades?limit=1&endTs=${FINAL.ts - 1}`;
      const first = await bodyOf(url);
      return [first, await bodyOf(`${url}&page=${JSON.parse(first).meta.nextPage ?? ''}`.replace(/&page=$/, ''))];
    };
    await stage.store('order_action', [fill({ ts: NOW - 90 })]);
    const before = await pages();
    expect(before[0]).not.toBe(before[1]);
    final = { slot: 2, ts: FINAL.ts + 600 };
    expect(await pages()).toEqual(before);
  });

  it('is null while the source has not said what is final', async () => {
    final = null;
    for (const list of [...LISTS, '/trades?symbol=SOL-PERP']) expect(await finalBefore(list)).toBeNull();
    expect(await finalBefore(`/market/SOL-PERP/trades?endTs=${NOW - 200}`)).toBeNull();
  });

  it('is in every list of rows with pages but archives, rankings, notifications and exports', async () => {
    const { paths } = (await app.inject('/openapi.json')).json();
    const metas = Object.entries<Path>(paths).flatMap(([path, { get }]) => {
      const meta = get?.responses[200]?.content?.['application/json']?.schema.properties?.meta;
      return meta?.properties?.nextPage ? [{ path, meta }] : [];
    });
    const isRolling = ({ path, meta }: (typeof metas)[number]) =>
      !meta.properties?.totalPages && !/leaderboard|\/pnl|notifications|exports/.test(path);
    const rolling = metas.filter(isRolling);
    expect(rolling.length).toBeGreaterThan(20);
    expect(metas.filter(({ meta }) => meta.required?.includes('finalBefore'))).toEqual(rolling);
  });
});
