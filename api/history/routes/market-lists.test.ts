import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  deposit,
  insuranceFund,
  insuranceFundStake,
  keyText,
  OTHER,
  OTHER_ID,
  swap,
  USER_ID,
} from '../../../test/support/api/history-rows.ts';
import { DAY, HistoryStage, makeApp, NOW, registry } from '../../../test/support/api/history-stage.ts';
import { marketView } from '../../../test/support/api/market-views.ts';

let stage: HistoryStage;

beforeAll(async () => {
  stage = await HistoryStage.open();
});

afterAll(() => stage?.close());

beforeEach(() => stage.reset());

const SPOT_LISTS = ['deposits', 'rewards', 'swaps', 'insuranceFund', 'insuranceFundStake'];

describe('lists of spot markets', () => {
  it.each(SPOT_LISTS)('%s refuses a perp market, naming it', async (name) => {
    const answer = await stage.app.inject(`/market/sol-perp/${name}`);
    expect([answer.statusCode, answer.json()]).toEqual([
      400,
      { error: 'ValidationError', message: 'Symbol sol-perp is not a spot market' },
    ]);
  });

  it.each(SPOT_LISTS.filter((name) => name !== 'rewards'))('the archive of %s refuses it too', async (name) => {
    const answer = await stage.app.inject(`/market/SOL-PERP/${name}/2026/6/15`);
    expect([answer.statusCode, answer.json().error]).toEqual([400, 'ValidationError']);
  });

  it('the archive of rewards answers for any market', async () => {
    await stage.store('deposit', [deposit({ explanation: 'reward' })]);
    expect((await stage.list('/market/SOL-PERP/rewards/2026/6/15')).meta.totalRecords).toBe(0);
    expect((await stage.list('/market/USDT/rewards/2026/6/15')).meta.totalRecords).toBe(1);
  });

  it.each(SPOT_LISTS)('%s accepts the symbol in any letter case', async (name) => {
    expect((await stage.list(`/market/uSdT/${name}`)).records).toEqual([]);
  });
});

describe('/market/{symbol}/deposits and rewards', () => {
  it('lists deposits, withdrawals and transfers with integers of any size, and rewards separately', async () => {
    const twice = deposit({ explanation: 'transfer', transfer_user: OTHER, signer: 's'.repeat(32) });
    await stage.store('deposit', [
      twice,
      deposit({ explanation: 'reward', amount: '9' }),
      deposit({ market_index: 1 }),
    ]);
    await stage.store('deposit', [twice]);
    const { records } = await stage.list('/market/USDT/deposits');
    expect(records).toEqual([
      {
        ts: NOW - 100,
        txSig: expect.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{80,90}$/),
        txSigIndex: 1,
        txIndex: null,
        slot: expect.any(Number),
        userAuthority: keyText('a'),
        user: USER_ID,
        direction: 'deposit',
        depositRecordId: '18446744073709551615',
        amount: '2500000',
        marketIndex: 0,
        symbol: 'USDT',
        oraclePrice: '1000000',
        marketDepositBalance: '340282366920938463463374607431768211455',
        marketWithdrawBalance: '7',
        marketCumulativeDepositInterest: '10000000001',
        marketCumulativeBorrowInterest: '10000000002',
        totalDepositsAfter: '2500000',
        totalWithdrawsAfter: '0',
        explanation: 'transfer',
        transferUser: OTHER_ID,
        signer: keyText('s'),
        userTokenAmountAfter: '-170141183460469231731687303715884105728',
      },
    ]);
    const rewards = await stage.list('/market/USDT/rewards');
    expect(rewards.records.map(({ amount }) => amount)).toEqual(['9']);
  });
});

describe('/market/{symbol}/swaps', () => {
  it('lists a swap in both of its markets, once in each', async () => {
    const twice = swap();
    await stage.store('swap', [twice, swap({ in_market_index: 1, out_market_index: 1, fee: '4' })]);
    await stage.store('swap', [twice]);
    const [inUsdt, inSol] = [await stage.list('/market/USDT/swaps'), await stage.list('/market/SOL/swaps')];
    expect(inUsdt.records).toEqual([
      {
        ts: NOW - 100,
        txSig: expect.any(String),
        txSigIndex: 1,
        txIndex: null,
        slot: expect.any(Number),
        user: USER_ID,
        amountOut: '1000000000',
        amountIn: '150000000',
        outMarketIndex: 1,
        inMarketIndex: 0,
        outSymbol: 'SOL',
        inSymbol: 'USDT',
        outOraclePrice: '149900000',
        inOraclePrice: '1000000',
        fee: '3',
      },
    ]);
    expect(inSol.records.map(({ fee }) => fee)).toEqual(['4', '3']);
  });
});

describe('/market/{symbol}/insuranceFund and insuranceFundStake', () => {
  it('answers movements of the insurance vault', async () => {
    await stage.store('insurance_fund', [insuranceFund(), insuranceFund({ spot_market_index: 1 })]);
    const { records } = await stage.list('/market/USDT/insuranceFund');
    expect(records).toHaveLength(1);
    expect(records[0]).toMatchObject({
      spotMarketIndex: 0,
      perpMarketIndex: 1,
      symbol: 'USDT',
      userIfFactor: 500_000,
      totalIfFactor: 1_000_000,
      vaultAmountBefore: '100',
      insuranceVaultAmountBefore: '200',
      totalIfSharesBefore: '300',
      totalIfSharesAfter: '400',
      amount: '-50',
    });
  });

  it('answers stakes', async () => {
    await stage.store('insurance_fund_stake', [insuranceFundStake(), insuranceFundStake({ market_index: 1 })]);
    const { records } = await stage.list('/market/USDT/insuranceFundStake');
    expect(records).toHaveLength(1);
    expect(records[0]).toMatchObject({
      userAuthority: keyText('a'),
      action: 'unstakeRequest',
      amount: '70',
      symbol: 'USDT',
      insuranceVaultAmountBefore: '1',
      ifSharesBefore: '2',
      ifSharesAfter: '3',
      userIfSharesBefore: '4',
      userIfSharesAfter: '5',
      totalIfSharesBefore: '6',
      totalIfSharesAfter: '7',
    });
  });
});

describe('filters and archives', () => {
  it('filters by an inclusive interval in either order, within 31 days', async () => {
    await stage.store(
      'deposit',
      [0, 10, 20, 30, 32 * DAY].map((age) => deposit({ ts: NOW - age, amount: String(age) })),
    );
    const ages = async (query: string) =>
      (await stage.list(`/market/USDT/deposits?${query}`)).records.map(({ amount }) => Number(amount));
    expect(await ages('')).toEqual([0, 10, 20, 30]);
    expect(await ages(`startTs=${NOW - 20}`)).toEqual([0, 10, 20]);
    expect(await ages(`endTs=${NOW - 10}`)).toEqual([10, 20, 30]);
    expect(await ages(`startTs=${NOW - 20}&endTs=${NOW - 10}`)).toEqual([10, 20]);
    expect(await ages(`startTs=${NOW - 10}&endTs=${NOW - 20}`)).toEqual([10, 20]);
    expect(await ages(`endTs=${NOW - 32 * DAY}`)).toEqual([]);
  });

  it('skips and repeats nothing while newer and older rows arrive between pages', async () => {
    await stage.store(
      'deposit',
      Array.from({ length: 9 }, (_, index) => deposit({ ts: NOW - 50, amount: `${index}`, slot: '7' })),
    );
    const seen: string[] = [];
    let page = '';
    for (let pages = 0; pages < 20; pages++) {
      const { records, meta } = await stage.list(`/market/USDT/deposits?limit=2${page}`);
      seen.push(...records.map(({ amount }) => String(amount)));
      if (meta.nextPage === null) break;
      page = `&page=${meta.nextPage}`;
      await stage.store('deposit', [
        deposit({ ts: NOW, amount: '1000' }),
        ...(pages === 0 ? [deposit({ ts: NOW - 60, amount: '2000' })] : []),
      ]);
    }
    expect(seen).toEqual(['8', '7', '6', '5', '4', '3', '2', '1', '0', '2000']);
  });

  it('accepts a page number on archives only', async () => {
    await stage.store(
      'deposit',
      Array.from({ length: 1_100 }, () => deposit()),
    );
    const path = '/market/USDT/deposits/2026/6/15';
    const [first, second, third] = [
      await stage.list(path),
      await stage.list(`${path}?page=2`),
      await stage.list(`${path}?page=3`),
    ];
    const bySlot = [...first.records, ...second.records].map(({ slot }) => slot);
    expect([first.records.length, second.records.length, new Set(bySlot).size]).toEqual([1_000, 100, 1_100]);
    expect(second.meta).toEqual({
      records: 100,
      totalRecords: 1_100,
      totalPages: 2,
      currentPage: 2,
      nextPage: null,
      isFinal: false,
      includesLatest: true,
    });
    expect(third.records).toEqual([]);
    expect((await stage.list(`${path}?page=${first.meta.nextPage}`)).records).toEqual(second.records);
    for (const page of ['0', '-1', '1.5']) {
      expect((await stage.app.inject(`${path}?page=${page}`)).statusCode).toBe(400);
    }
    expect((await stage.app.inject('/market/USDT/deposits?page=2')).statusCode).toBe(400);
  });

  it('answers the same rows as CSV, with empty cells for absent values and exact 128-bit numbers', async () => {
    await stage.store('deposit', [deposit(), deposit({ transfer_user: OTHER, user_token_amount_after: null })]);
    const path = '/market/USDT/deposits/2026/6/15';
    const { records } = await stage.list(path);
    const answer = await stage.app.inject(`${path}?format=csv`);
    expect(answer.headers['content-disposition']).toBe('attachment; filename=market-USDT-deposits-2026-6-15.csv');
    const expected = [Object.keys(records[0] ?? {}), ...records.map((row) => Object.values(row))]
      .map((cells) => cells.map((cell) => (cell === null ? '' : JSON.stringify(cell))).join(','))
      .join('\n');
    expect(answer.body).toBe(`${expected}\n`);
  });

  it('is CSV for a market with any name, in a file whose name has plain characters only', async () => {
    const markets = registry();
    markets.put(marketView({ marketType: 'spot', marketIndex: 7, symbol: '索拉 "1.5"\n; x' }));
    const app = await makeApp(stage.clickhouse, markets);
    const answer = await app.inject(`/market/${encodeURIComponent('索拉 "1.5"\n; x')}/deposits/2026/6/15?format=csv`);
    expect([answer.statusCode, answer.headers['content-disposition']]).toEqual([
      200,
      'attachment; filename=market-____1.5____x-deposits-2026-6-15.csv',
    ]);
  });
});
