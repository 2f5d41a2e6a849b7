import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { csvOfJob, exportJob, parseCsv } from '../../../test/support/api/export-files.ts';
import { address, event, key } from '../../../test/support/api/history-requests.ts';
import { DAY, fill, fundingRate, HistoryStage, NOW, registry } from '../../../test/support/api/history-stage.ts';
import { MARKETS, marketView } from '../../../test/support/api/market-views.ts';
import { MarketRegistry } from '../../views/registry.ts';
import { HistoryStore } from '../store.ts';
import { FILE_TYPES } from './file-types.ts';
import type { ExportJob } from './jobs.ts';
import { ACCOUNTS_MAX } from './limits.ts';
import { ExportFailure, type StatementSources } from './statement.ts';

const [T, M, OTHER] = [key('t'), key('m'), key('x')];
const TAKER = address(T);
const MAKER = address(M);
const WALLET = address(key('w'));

let stage: HistoryStage;
let sources: StatementSources;

beforeAll(async () => {
  stage = await HistoryStage.open();
  const { client, database } = stage.clickhouse;
  const store = new HistoryStore(client, database);
  sources = {
    store,
    markets: registry(),
    builtParts: { require: async () => {} },
    isLive: false,
    finality: () => null,
  };
});
afterAll(() => stage.close());

const csv = (job: Partial<ExportJob> & Pick<ExportJob, 'fileType'>, bounds: StatementSources['bounds'] = {}) =>
  csvOfJob({ ...sources, bounds }, exportJob({ users: [TAKER], ...job }));
const rows = async (...parameters: Parameters<typeof csv>) => parseCsv((await csv(...parameters)) ?? '');

/** Rows of every table, for the account T or the wallet of `user_authority`. */
async function storeOneOfEach(): Promise<void> {
  const own = { user: T, user_authority: key('w') };
  await stage.store('order_action', [fill({ maker: M, maker_order_id: 4 })]);
  await stage.store('funding_rate', [fundingRate()]);
  await stage.store('funding_payment', [{ ...event(1, NOW - 90), ...own, market_index: 0, funding_payment: '-78750' }]);
  const deposit = { ...own, market_index: 1, amount: '5', direction: 'deposit', user_token_amount_after: '-7' };
  await stage.store('deposit', [
    { ...event(2, NOW - 80), ...deposit, explanation: 'none' },
    { ...event(3, NOW - 70), ...deposit, explanation: 'reward' },
  ]);
  await stage.store('settle_pnl', [{ ...event(4, NOW - 60), ...own, market_index: 1, pnl: '-9', explanation: 'none' }]);
  const swap = { in_market_index: 0, out_market_index: 1, amount_in: '3', amount_out: '4', fee: '1' };
  await stage.store('swap', [{ ...event(5, NOW - 50), ...own, ...swap }]);
  await stage.store('liquidation', [
    {
      ...event(6, NOW - 40),
      ...own,
      liquidator: M,
      liquidation_type: 'liquidateSpot',
      canceled_order_ids: [7, 8],
      liquidate_spot_asset_market_index: 0,
      liquidate_spot_liability_market_index: 1,
    },
  ]);
  await stage.store('insurance_fund_stake', [
    { ...event(7, NOW - 30), ...own, action: 'stake', amount: '11', market_index: 0 },
  ]);
}

describe('the newest rows', () => {
  beforeEach(() => stage.reset());

  it('are not in a statement while the chain can take them back', async () => {
    await stage.store('order_action', [fill({ ts: NOW - 40 }), fill({ ts: NOW - 20 }), fill({ ts: NOW - 19 })]);
    const rowsAt = async (ts: number, from = NOW - DAY) => {
      const final = { ...sources, finality: () => ({ ts }) };
      return parseCsv((await csvOfJob(final, exportJob({ users: [TAKER], fileType: 'trades', from }))) ?? '');
    };
    expect((await rowsAt(NOW - 19)).map(({ ts }) => ts)).toEqual([String(NOW - 40), String(NOW - 20)]);
    expect(await rowsAt(NOW - 19, NOW - 19)).toEqual([]);
    expect(await rowsAt(NOW)).toHaveLength(3);
  });

  it('are not in the balances of a statement either', async () => {
    const deposit = { user: T, user_authority: key('w'), market_index: 0, direction: 'deposit', explanation: 'none' };
    await stage.store('deposit', [
      { ...event(2, NOW - 80), ...deposit, amount: '5', user_token_amount_after: '5' },
      { ...event(3, NOW - 10), ...deposit, amount: '6', user_token_amount_after: '11' },
    ]);
    const final = { ...sources, finality: () => ({ ts: NOW - 20 }) };
    const text = await csvOfJob(final, exportJob({ users: [TAKER], fileType: 'balances' }));
    expect(parseCsv(text ?? '')).toMatchObject([{ deposits: '5', closingBalance: '5', to: String(NOW - 21) }]);
  });
});

const MARKET: Readonly<Record<string, string>> = { marketTrades: 'sol-perp', fundingRates: 'SOL-PERP' };

describe('a statement', () => {
  describe('over one row of each kind', () => {
    beforeAll(async () => {
      await stage.reset();
      await storeOneOfEach();
    });

    it.each(Object.keys(FILE_TYPES).filter((name) => name !== 'balances'))('of %s has its row', async (fileType) => {
      const found = await rows({ fileType, authority: WALLET, market: MARKET[fileType] ?? null });
      expect(found).toHaveLength(1);
      expect(found[0]).toMatchObject({ ts: expect.stringMatching(/^\d+$/), txSig: expect.any(String) });
    });

    it.each([
      ['trades', `/user/${TAKER}/trades`],
      ['fundingPayments', `/user/${TAKER}/fundingPayments`],
      ['deposits', `/user/${TAKER}/deposits`],
      ['liquidations', `/user/${TAKER}/liquidations`],
      ['settlePnl', `/user/${TAKER}/settlePnl`],
      ['swaps', `/user/${TAKER}/swaps`],
      ['rewards', `/user/${TAKER}/rewards`],
      ['insuranceFundStake', `/authority/${WALLET}/insuranceFundStake`],
    ])('of %s equals the dated CSV of the same rows', async (fileType, path) => {
      const dated = await stage.app.inject(`${path}/2026/6?format=csv`);
      expect(await csv({ fileType, authority: WALLET })).toBe(dated.body);
    });

    it('has quoted texts, bare numbers, empty nulls and lists as JSON text', async () => {
      const text = (await csv({ fileType: 'liquidations' })) ?? '';
      expect(text.startsWith('"ts","txSig","txSigIndex","slot","user","liquidator","liquidationType",')).toBe(true);
      expect(text).toContain(`\n${NOW - 40},"`);
      expect(text).toContain(',"[7,8]",');
      expect((await csv({ fileType: 'deposits' })) ?? '').toMatch(/,"none",,,"-7",0\n$/);
    });

    it('is null without rows', async () => {
      expect(await csv({ fileType: 'trades', users: [address(OTHER)] })).toBe(null);
      expect(await csv({ fileType: 'balances', users: [address(OTHER)] })).toBe(null);
    });

    it.each(['trades', 'liquidations'])(
      'of %s has the rows of one of as many accounts as a job may have',
      async (fileType) => {
        const others = Array.from({ length: ACCOUNTS_MAX - 1 }, (_, at) => address(String(at).padStart(32, 'z')));
        const alone = await csv({ fileType });
        expect(await csv({ fileType, users: [...others, TAKER] })).toBe(alone);
        expect(parseCsv(alone ?? '')).toHaveLength(1);
      },
    );

    it.each([
      ['trades', 'BTC-PERP', 0],
      ['trades', 'SOL-PERP', 1],
      ['fundingPayments', 'BTC-PERP', 0],
      ['settlePnl', 'BTC-PERP', 1],
      ['deposits', 'SOL', 1],
      ['deposits', 'USDT', 0],
      ['swaps', 'SOL', 1],
      ['swaps', 'USDT', 1],
      ['liquidations', 'SOL', 1],
      ['liquidations', 'SOL-PERP', 0],
      ['insuranceFundStake', 'SOL', 0],
    ])('of %s with market %s has %i rows', async (fileType, market, count) => {
      const found = await csv({ fileType, market, authority: WALLET });
      expect(parseCsv(found ?? '')).toHaveLength(count);
    });
  });

  describe('over its own rows', () => {
    beforeEach(() => stage.reset());

    it('has both ends of its range', async () => {
      await stage.store(
        'order_action',
        [-1, 0, 1, 2, 3].map((at) => fill({ ts: NOW - 500 + at })),
      );
      const found = await rows({ fileType: 'trades', from: NOW - 500, to: NOW - 498 });
      expect(found.map(({ ts }) => Number(ts) - NOW)).toEqual([-500, -499, -498]);
    });

    it('is sorted by time, slot, record counter, event index', async () => {
      const at = (ts: number, slot: number, id: number, index = 0) =>
        fill({ ts: NOW - ts, slot: String(slot), fill_record_id: String(id), event_index: index });
      await stage.store('order_action', [at(5, 9, 12), at(5, 9, 4, 8), at(9, 7, 3), at(5, 8, 11), at(5, 9, 4, 3)]);
      const found = await rows({ fileType: 'trades' });
      expect(found.map(({ slot, fillRecordId, txSigIndex }) => [slot, fillRecordId, txSigIndex].join(' '))).toEqual([
        '7 3 0',
        '8 11 0',
        '9 4 3',
        '9 4 8',
        '9 12 0',
      ]);
      const payment = { user: T, market_index: 0, funding_payment: '1' };
      await stage.store('funding_payment', [
        { ...event(3, NOW - 5), ...payment, slot: '9', event_index: 1 },
        { ...event(2, NOW - 5), ...payment, slot: '9', event_index: 4 },
        { ...event(1, NOW - 5), ...payment, slot: '9', event_index: 2 },
      ]);
      const paid = await rows({ fileType: 'fundingPayments' });
      expect(paid.map(({ txSigIndex }) => txSigIndex)).toEqual(['1', '2', '4']);
    });

    it('of several accounts is one file; a fill between two of them appears once for each', async () => {
      const [between, copy] = [fill({ ts: NOW - 9, maker: M }), {}];
      await stage.store('order_action', [fill({ ts: NOW - 8, taker: M, maker: T }), between, fill({ ts: NOW - 20 })]);
      await stage.store('order_action', [{ ...between, ...copy }]);
      const found = await rows({ fileType: 'trades', users: [TAKER, MAKER] });
      expect(found.map(({ ts, user }) => [Number(ts) - NOW, user])).toEqual([
        [-20, TAKER],
        [-9, TAKER],
        [-9, MAKER],
        [-8, TAKER],
        [-8, MAKER],
      ]);
    });

    it('is the same in slices of any size, and has no copy twice', async () => {
      const fills = Array.from({ length: 200 }, (_, at) => fill({ ts: NOW - 9_000 + (at % 3) * 1_000 + (at % 7) }));
      await stage.store('order_action', fills);
      await stage.store('order_action', fills.slice(50, 80));
      const whole = await csv({ fileType: 'trades' });
      expect(parseCsv(whole ?? '')).toHaveLength(200);
      for (const slice of [1, 13, 60]) expect(await csv({ fileType: 'trades' }, { slice })).toBe(whole);
    });

    it('with too many rows fails', async () => {
      await stage.store('order_action', [fill(), fill(), fill()]);
      expect(await rows({ fileType: 'trades' }, { rows: 3 })).toHaveLength(3);
      await expect(csv({ fileType: 'trades' }, { rows: 2 })).rejects.toThrow(ExportFailure);
    });

    it('shows a symbol that begins a formula as text, on one line', async () => {
      await stage.store('order_action', [fill()]);
      const markets = new MarketRegistry();
      for (const view of MARKETS) markets.put(view);
      markets.put(marketView({ symbol: '=HYPERLINK("http://x","\n")' }));
      const text = await csvOfJob({ ...sources, markets }, exportJob({ fileType: 'trades', users: [TAKER] }));
      expect(parseCsv(text ?? '')[0]?.symbol).toBe(`'=HYPERLINK("http://x"," ")`);
      expect(text?.split('\n')).toHaveLength(3);
      expect(DAY).toBe(86_400);
    });
  });
});
