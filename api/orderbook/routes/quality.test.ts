import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { encodeMessage, type FeedQuality, marketKey, TOPICS } from '../../../schemas/index.ts';
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
  const services = { reader, accounts: { read: async () => [] } as never, slotStallMs: 5_000, quality };
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

async function tell(...rows: readonly Partial<FeedQuality>[]): Promise<void> {
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
    await tell({}, { source: 'shadow', ...checked, checkResult: 'equal' });
    await tell(
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
        },
      ],
    });
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
