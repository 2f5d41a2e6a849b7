import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CoverageTail } from '../../../platform/index.ts';
import { accountsKey, encodeMessage, type FeedQuality, marketKey, streamKey, TOPICS } from '../../../schemas/index.ts';
import { Stage, snapshot, until } from '../../../test/support/api/stage.ts';
import { BookReader } from '../../views/book-reader.ts';
import { QualityFollower } from '../../views/quality.ts';
import { orderbookApp } from '../app.ts';

const ROW: FeedQuality = {
  marketType: 'perp',
  marketIndex: 0,
  source: 'user',
  slot: 480,
  atMs: 10_000,
  events: 5,
  gapsFound: 2,
  gapsFilled: 1,
  checks: 0,
  differences: 0,
  checkSlot: 0,
  checkResult: 'none',
  epoch: 0,
};

let stage: Stage;
let reader: BookReader;
let quality: QualityFollower;
let get: (url: string) => Promise<{ status: number; body: string }>;
let close: () => Promise<void>;

beforeEach(async () => {
  stage = new Stage();
  await stage.markets();
  const context = stage.context();
  reader = new BookReader({ ...context, clock: () => 10_250 });
  await reader.start();
  quality = new QualityFollower(context);
  await quality.start();
  const coverage = new CoverageTail(stage.log);
  const services = { reader, accounts: { read: async () => [] } as never, slotStallMs: 5_000, quality, coverage };
  const app = await orderbookApp(services, context.logger);
  close = () => app.close();
  get = async (url) => {
    const { statusCode, body } = await app.inject(url);
    return { status: statusCode, body };
  };
});
afterEach(async () => {
  await close();
  await quality.stop();
  await reader.stop();
});

async function publish(...rows: readonly Partial<FeedQuality>[]): Promise<void> {
  const records = rows.map((over) => {
    const row = { ...ROW, ...over };
    return { key: `${marketKey(row)}/${row.source}`, value: encodeMessage('FeedQuality', row) };
  });
  await stage.log.append(TOPICS.qualityViews, records);
}

describe('GET /quality', () => {
  it('reports last slot, age and gaps of each market and source, and the last result of each comparison', async () => {
    await stage.books(snapshot({ epoch: 3, seq: 9 }), snapshot({ epoch: 3, seq: 9, asks: [] }));
    const checked = { checks: 7, differences: 1, checkSlot: 470 };
    await publish({}, { source: 'shadow', ...checked, checkResult: 'equal' });
    await publish(
      { source: 'book', ...checked, checkResult: 'differs', epoch: 3 },
      { slot: 482, atMs: 10_200, events: 6 },
    );
    await until(() => quality.of(ROW).get('user')?.events === 6 && reader.newestSlot === 487);
    const { status, body } = await get('/quality?marketName=sol-perp');
    expect(status).toBe(200);
    const silent = { slot: null, msSinceLastEvent: null, events: 0, gapsFound: 0, gapsFilled: 0 };
    const comparison = { comparisons: 7, differences: 1, lastSlot: 470 };
    expect(JSON.parse(body)).toEqual({
      ts: 10_250,
      slot: 487,
      liveSources: [],
      markets: [
        {
          marketName: 'SOL-PERP',
          marketType: 'perp',
          marketIndex: 0,
          epoch: 3,
          seq: 9,
          slot: 487,
          sources: {
            user: { slot: 482, msSinceLastEvent: 50, events: 6, gapsFound: 2, gapsFilled: 1 },
            clob: silent,
            market: silent,
            oracle: silent,
            trades: silent,
          },
          checks: {
            accounts: { ...comparison, lastResult: 'equal' },
            book: { ...comparison, lastResult: 'differs' },
            view: { comparisons: 1, differences: 1, lastSlot: 487, lastResult: 'differs' },
          },
          records: [],
        },
      ],
      accountRecords: [],
    });
  });

  it('shows which numbered records of a market are missing or lost, and the totals of all accounts', async () => {
    const order = { user: '11111111111111111111111111111111', orderId: 7, direction: 'long' };
    const reconstructed = [
      { ...order, baseAssetAmount: '5000000000', quoteAssetAmount: '6000000' },
      { ...order, orderId: 8, baseAssetAmount: '5000000000', quoteAssetAmount: null },
    ];
    const hole = { fromId: 4, toId: 5, fromSlot: 40, toSlot: 50, isLost: true, reconstructed, reconstructedOrders: [] };
    const open = { ...hole, fromId: 8, toId: 8, isLost: false, reconstructed: [], reconstructedOrders: [] };
    const fills = { subject: 'perp-0', stream: 'fills', slot: 99, firstId: 1, lastId: 9, chainId: 9 };
    const totals = { stream: 'orders', accounts: 40, withHoles: 1, missing: 3, lost: 2, forgotten: 0 };
    const value = encodeMessage('StreamCoverage', { ...fills, missing: 3, holes: [hole, open] });
    await stage.log.append(TOPICS.coverageViews, [
      { key: streamKey(fills), value },
      { key: accountsKey(totals), value: encodeMessage('AccountsCoverage', { ...totals, slot: 99 }) },
    ]);
    const { markets, accountRecords } = JSON.parse((await get('/quality?marketName=sol-perp')).body);
    const [lost, missing] = [hole, open].map(({ isLost, reconstructedOrders: _o, ...rest }) => ({
      ...rest,
      lost: isLost,
    }));
    const { subject: _, slot: __, ...counts } = fills;
    expect(markets[0].records).toEqual([{ ...counts, missing: 3, lost: 2, holes: [lost, missing] }]);
    expect(accountRecords).toEqual([totals]);
  });

  it('names the live sources, and the one that lies', async () => {
    const source = { kind: 'grpc', slot: 481, lagSlots: 0, missingAccounts: 0, missingTransactions: 0 } as const;
    const honest = { ...source, name: 'one:1', role: 'leader', contradictions: 4, faults: 0 } as const;
    const faulty = { ...honest, name: 'two:2', role: 'follower', slot: 0, lagSlots: 481, faults: 3 } as const;
    const value = encodeMessage('LiveSources', {
      atMs: 10_000,
      sources: [
        { ...honest, isLying: false, reason: '' },
        { ...faulty, isLying: true, reason: 'other account data than the chain' },
      ],
    });
    await stage.log.append(TOPICS.qualityViews, [{ key: 'live-sources', value }]);
    await until(() => quality.liveSources.sources.length === 2);
    expect(JSON.parse((await get('/quality')).body).liveSources).toEqual([
      { ...honest, lying: false, reason: null, msSinceReport: 250 },
      { ...faulty, slot: null, lying: true, reason: 'other account data than the chain', msSinceReport: 250 },
    ]);
  });

  it('lists every market without a selection, including markets without data', async () => {
    const { body } = await get('/quality');
    const { markets, slot } = JSON.parse(body);
    expect(slot).toBeNull();
    expect(markets).toHaveLength(reader.markets.size);
    expect(markets[0]).toMatchObject({
      epoch: null,
      checks: { book: { comparisons: 0, lastSlot: null, lastResult: 'none' } },
    });
  });

  it('refuses an unknown market like every route', async () => {
    expect(await get('/quality?marketName=NONE')).toEqual({
      status: 400,
      body: 'Bad Request: unrecognized marketName',
    });
    expect((await get('/quality?marketIndex=0')).status).toBe(400);
  });
});
