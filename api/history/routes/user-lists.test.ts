import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  deposit,
  fundingPayment,
  keyText,
  liquidation,
  OTHER,
  OTHER_ID,
  orderAction,
  orderFill,
  settlement,
  swap,
  USER,
  USER_ID,
} from '../../../test/support/api/history-rows.ts';
import { DAY, FINAL, fill, HistoryStage, type Listed, NOW } from '../../../test/support/api/history-stage.ts';

// Many requests and inserts, possibly on a busy machine.
let stage: HistoryStage;

beforeAll(async () => {
  stage = await HistoryStage.open();
});

afterAll(() => stage?.close());

beforeEach(() => stage.reset());

const NOBODY = keyText('n');
const LISTS = [
  'trades',
  'trades/SOL-PERP',
  'positions',
  'fundingPayments',
  'liquidations',
  'settlePnl',
  'swaps',
  'deposits',
  'rewards',
];
const ARCHIVES = LISTS.filter((name) => !name.includes('/') && name !== 'positions');

describe('/user/{accountId}/...', () => {
  it.each(LISTS)('%s of a key without history is empty', async (name) => {
    expect(await stage.list(`/user/${NOBODY}/${name}`)).toEqual({
      success: true,
      records: [],
      meta: { nextPage: null, finalBefore: FINAL.ts },
    });
  });

  it.each(LISTS)('%s refuses an invalid key', async (name) => {
    for (const id of ['nonsense', '0OIl', NOBODY.slice(4), `${NOBODY}${NOBODY}${NOBODY}`]) {
      const answer = await stage.app.inject(`/user/${id}/${name}`);
      expect([answer.statusCode, answer.json()]).toEqual([
        400,
        { error: 'ValidationError', message: `Invalid account ID format: ${id}` },
      ]);
    }
  });

  it.each(ARCHIVES)('%s has monthly archives, JSON and CSV, empty ones too', async (name) => {
    const empty = await stage.list(`/user/${NOBODY}/${name}/2026/5`);
    expect(empty.meta).toEqual({
      records: 0,
      totalRecords: 0,
      totalPages: 0,
      currentPage: 1,
      nextPage: null,
      isFinal: true,
    });
    expect((await stage.list(`/user/${NOBODY}/${name}/2026/6`)).meta.includesLatest).toBe(true);
    const csv = await stage.app.inject(`/user/${NOBODY}/${name}/2026/05?format=csv`);
    expect(csv.headers['content-disposition']).toBe(`attachment; filename=user-${NOBODY}-${name}-2026-5.csv`);
    expect(csv.body).toMatch(/^"ts","txSig","txSigIndex","slot",[^\n]*\n$/);
  });

  it('has no archive of closed positions', async () => {
    expect((await stage.app.inject(`/user/${NOBODY}/positions/2026/6`)).statusCode).toBe(404);
  });

  it.each([['2021/1'], ['2026/13'], ['2026/0'], ['2026/x'], ['2026/1?format=xml']])('refuses %s', async (month) => {
    const answer = await stage.app.inject(`/user/${NOBODY}/deposits/${month}`);
    expect([answer.statusCode, answer.json().error]).toEqual([400, 'ValidationError']);
  });
});

describe('/user/{accountId}/trades', () => {
  it('lists a fill under its taker and under its maker, naming the account', async () => {
    const twice = fill({ taker: USER, maker: OTHER });
    await stage.store('order_action', [twice, fill({ taker: OTHER }), orderAction(1, 'place')]);
    await stage.store('order_action', [twice]);
    const [taken, made] = [await stage.list(`/user/${USER_ID}/trades`), await stage.list(`/user/${OTHER_ID}/trades`)];
    expect(taken.records.map(({ fillRecordId, user }) => [fillRecordId, user])).toEqual([['1', USER_ID]]);
    expect(made.records.map(({ fillRecordId, user }) => [fillRecordId, user])).toEqual([
      ['2', OTHER_ID],
      ['1', OTHER_ID],
    ]);
    const [inMarket] = (await stage.list('/market/SOL-PERP/trades')).records.slice(-1);
    expect(taken.records[0]).toEqual({ ...inMarket, user: USER_ID });
  });

  it('lists one market, with its symbol in any letter case', async () => {
    await stage.store('order_action', [fill({ taker: USER }), fill({ taker: USER, market_index: 1 })]);
    const { records } = await stage.list(`/user/${USER_ID}/trades/btc-perp`);
    expect(records.map(({ fillRecordId, symbol }) => [fillRecordId, symbol])).toEqual([['2', 'BTC-PERP']]);
    const answer = await stage.app.inject(`/user/${USER_ID}/trades/NOPE`);
    expect([answer.statusCode, answer.json().message]).toEqual([400, 'Unknown symbol: NOPE']);
  });

  it('lists fills of unknown markets, with a price where decimals are known', async () => {
    await stage.store('order_action', [
      fill({ taker: USER, market_index: 9 }),
      fill({ taker: USER, market_index: 9, market_type: 'spot' }),
    ]);
    const { records } = await stage.list(`/user/${USER_ID}/trades`);
    expect(records.map(({ symbol, marketIndex, price }) => [symbol, marketIndex, price])).toEqual([
      ['', 9, null],
      ['', 9, '150200000'],
    ]);
  });

  it('pages by cursor while newer and older fills arrive', async () => {
    await stage.store(
      'order_action',
      Array.from({ length: 7 }, (_, index) => fill({ taker: USER, ts: NOW - 50, slot: String(7 - (index % 2)) })),
    );
    const seen: unknown[] = [];
    let page = '';
    for (let pages = 0; pages < 20; pages++) {
      const next: Listed = await stage.list(`/user/${USER_ID}/trades?limit=3${page}`);
      seen.push(...next.records.map(({ fillRecordId }) => Number(fillRecordId)));
      if (next.meta.nextPage === null) break;
      page = `&page=${next.meta.nextPage}`;
      await stage.store('order_action', [
        fill({ maker: USER, ts: NOW }),
        ...(pages === 0 ? [fill({ maker: USER, ts: NOW - 60, fill_record_id: '100' })] : []),
      ]);
    }
    expect(seen).toEqual([7, 5, 3, 1, 6, 4, 2, 100]);
  });

  it('finds the fills of a dense span in the event table, the same as through the lookup table', async () => {
    const sides = [{ taker: USER }, { maker: USER, taker: OTHER }, { taker: USER, maker: USER }, { taker: OTHER }];
    const fills = Array.from({ length: 24 }, (_, index) =>
      fill({ ...sides[index % 4], market_index: index % 3 === 0 ? 1 : 0, ts: NOW - 2 * index }),
    );
    await stage.store('order_action', fills);
    await stage.store('order_action', fills.slice(0, 12));
    for (const name of ['trades', 'trades/SOL-PERP']) {
      const url = `/user/${USER_ID}/${name}?limit=6`;
      const byLookup = await stage.list(url);
      expect(byLookup.records).toHaveLength(6);
      // The store has learned the span of the account's pages.
      expect(await stage.list(url)).toEqual(byLookup);
      const { client, database } = stage.clickhouse;
      await client.command({ query: `TRUNCATE TABLE ${database}.account_fill` });
      expect(await stage.list(url)).toEqual(byLookup);
      await stage.store('order_action', fills);
    }
  });

  it('answers a month, the same rows as CSV', async () => {
    const first = Date.UTC(2026, 4, 1) / 1000;
    await stage.store('order_action', [
      fill({ taker: USER, ts: first - 1 }),
      fill({ taker: USER, ts: first }),
      fill({ maker: USER, ts: first + 31 * DAY - 1 }),
      fill({ taker: USER, ts: first + 31 * DAY }),
    ]);
    const path = `/user/${USER_ID}/trades/2026/5`;
    const { records, meta } = await stage.list(path);
    expect(records.map(({ fillRecordId }) => fillRecordId)).toEqual(['3', '2']);
    expect(meta).toEqual({ records: 2, totalRecords: 2, totalPages: 1, currentPage: 1, nextPage: null, isFinal: true });
    const { body } = await stage.app.inject(`${path}?format=csv`);
    expect(body).toBe(csvText(records));
  });
});

describe('/user/{accountId}/positions', () => {
  it('lists the fills that reduced or flipped a position, with the closed amounts', async () => {
    await stage.store('order_action', [
      fill({ taker: USER }),
      fill({ taker: USER, taker_existing_quote_entry_amount: '220000000' }),
      fill({
        taker: OTHER,
        maker: USER,
        taker_existing_quote_entry_amount: '1',
        maker_existing_quote_entry_amount: '150000000',
        maker_existing_base_asset_amount: '1000000000',
      }),
    ]);
    const { records } = await stage.list(`/user/${USER_ID}/positions`);
    expect(records).toHaveLength(2);
    expect(records[0]).toMatchObject({
      fillRecordId: '3',
      user: USER_ID,
      userFee: '-5632',
      baseClosedForPnl: '1000000000',
      userExistingQuoteEntryAmount: '150000000',
      userExistingBaseAssetAmount: '1000000000',
    });
    expect(records[1]).toMatchObject({
      fillRecordId: '2',
      userFee: '78855',
      baseClosedForPnl: '1500000000',
      userExistingQuoteEntryAmount: '220000000',
      userExistingBaseAssetAmount: null,
    });
  });
});

describe('other lists of an account', () => {
  it('answers funding payments with symbol and sign', async () => {
    await stage.store('funding_payment', [fundingPayment(), fundingPayment({ user: OTHER })]);
    const { records } = await stage.list(`/user/${USER_ID}/fundingPayments`);
    expect(records).toEqual([
      {
        ts: NOW - 100,
        txSig: expect.any(String),
        txSigIndex: 1,
        txIndex: null,
        slot: expect.any(Number),
        userAuthority: keyText('a'),
        user: USER_ID,
        marketIndex: 0,
        symbol: 'SOL-PERP',
        fundingPayment: '-78750',
        baseAssetAmount: '2500000000',
        userLastCumulativeFunding: '1',
        ammCumulativeFundingLong: '31500001',
        ammCumulativeFundingShort: '31500000',
      },
    ]);
  });

  it('answers settlements of profit and loss', async () => {
    await stage.store('settle_pnl', [settlement()]);
    const { records } = await stage.list(`/user/${USER_ID}/settlePnl`);
    expect(records[0]).toMatchObject({
      user: USER_ID,
      marketIndex: 1,
      symbol: 'BTC-PERP',
      pnl: '-5000000',
      baseAssetAmount: '-10',
      quoteAssetAmountAfter: '-20',
      quoteEntryAmount: '30',
      settlePrice: '150000000',
      explanation: 'none',
    });
  });

  it('lists deposits, rewards and swaps separately', async () => {
    await stage.store('deposit', [
      deposit({ amount: '1' }),
      deposit({ amount: '2', explanation: 'reward' }),
      deposit({ amount: '3', direction: 'withdraw', market_index: 1 }),
      deposit({ user: OTHER }),
    ]);
    await stage.store('swap', [swap(), swap({ user: OTHER })]);
    const amounts = async (name: string) =>
      (await stage.list(`/user/${USER_ID}/${name}`)).records.map(({ amount, symbol }) => [amount, symbol]);
    expect(await amounts('deposits')).toEqual([
      ['3', 'SOL'],
      ['1', 'USDT'],
    ]);
    expect(await amounts('rewards')).toEqual([['2', 'USDT']]);
    const { records } = await stage.list(`/user/${USER_ID}/swaps`);
    expect(records.map(({ fee, inSymbol, outSymbol }) => [fee, inSymbol, outSymbol])).toEqual([['3', 'USDT', 'SOL']]);
  });

  const NESTED = {
    liquidatePerp: { liquidatePerp_marketIndex: 1, liquidatePerp_baseAssetAmount: '-1000000000' },
    liquidateSpot: { liquidateSpot_assetMarketIndex: 0, liquidateSpot_assetTransfer: '0' },
    liquidateBorrowForPerpPnl: { liquidateBorrowForPerpPnl_pnlTransfer: '0' },
    liquidatePerpPnlForDeposit: { liquidatePerpPnlForDeposit_assetTransfer: '0' },
    perpBankruptcy: { perpBankruptcy_pnl: '0', perpBankruptcy_clawbackUser: null },
    spotBankruptcy: { spotBankruptcy_borrowAmount: '0', spotBankruptcy_cumulativeDepositInterestDelta: '0' },
  };

  /** A liquidation as the program writes it, with zeros for other types. */
  const zeroFilled = (type: string) =>
    liquidation({
      liquidation_type: type,
      liquidate_perp_protocol_fee: '0',
      liquidate_spot_protocol_fee: '0',
      ...(type === 'liquidatePerp'
        ? { liquidate_perp_protocol_fee: '12' }
        : {
            liquidate_perp_market_index: 0,
            liquidate_perp_base_asset_amount: '0',
            liquidate_perp_fill_record_id: '0',
          }),
    });

  it.each(Object.entries(NESTED))(
    'answers a liquidation of type %s with zeros for the members of other types',
    async (...[type, members]) => {
      await stage.store('liquidation', [zeroFilled(type)]);
      const [record = {}] = (await stage.list(`/user/${USER_ID}/liquidations`)).records;
      expect(record).toMatchObject({
        user: USER_ID,
        liquidator: OTHER_ID,
        liquidationType: type,
        liquidationId: 65_535,
        bankrupt: false,
        marginRequirement: '1000000',
        totalCollateral: '-1',
        marginFreed: '5',
        canceledOrderIds: [4, 5],
        bitFlags: 1,
        ...members,
      });
      const nested = Object.entries(record).filter(([name]) => name.includes('_'));
      expect(nested).toHaveLength(40);
      for (const [name, value] of nested) {
        if (name.startsWith(`${type}_`)) continue;
        // Clawback members are options of the program, so they are absent instead of zero.
        if (name.startsWith('perpBankruptcy_clawback')) expect([name, value]).toEqual([name, null]);
        else expect([name, value]).toEqual([name, /Index$|OrderId$/.test(name) ? 0 : '0']);
      }
      const csv = await stage.app.inject(`/user/${USER_ID}/liquidations/2026/6?format=csv`);
      expect(csv.body).toBe(csvText([record]));
    },
  );

  it('answers a liquidation older than the protocol fee without that fee', async () => {
    await stage.store('liquidation', [liquidation({ liquidate_perp_protocol_fee: null })]);
    const [record] = (await stage.list(`/user/${USER_ID}/liquidations`)).records;
    expect(record).toMatchObject({ liquidatePerp_marketIndex: 1, liquidatePerp_protocolFee: null });
  });

  it('shows nothing twice', async () => {
    const rows = {
      funding_payment: fundingPayment(),
      settle_pnl: settlement(),
      swap: swap(),
      liquidation: liquidation(),
    };
    for (const [table, row] of Object.entries(rows)) {
      await stage.store(table, [row]);
      await stage.store(table, [row, row]);
    }
    await stage.store('order_action', [orderFill(1, 1, 1)]);
    for (const name of ['fundingPayments', 'settlePnl', 'swaps', 'liquidations', 'trades']) {
      expect([name, (await stage.list(`/user/${USER_ID}/${name}`)).records.length]).toEqual([name, 1]);
      expect([name, (await stage.list(`/user/${USER_ID}/${name}/2026/6`)).meta.totalRecords]).toEqual([name, 1]);
    }
  });
});

/** Rows in the form of archives: quoted texts, bare numbers and booleans, lists as JSON text. */
function csvText(rows: readonly Record<string, unknown>[]): string {
  const cell = (value: unknown) => {
    if (value === null) return '';
    return Array.isArray(value) ? `"${JSON.stringify(value)}"` : JSON.stringify(value);
  };
  const lines = [Object.keys(rows[0] ?? {}), ...rows.map((row) => Object.values(row))];
  return lines.map((cells) => `${cells.map(cell).join(',')}\n`).join('');
}
