// A statement adds up, for generated account lives. Per token the `balances` file agrees with the rows of the other files, with
// the account snapshots, and with a naive reader of the events.

import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Life, OLD, YOUNG } from '../../../test/support/api/account-life.ts';
import { type CsvRow, csvOfJob, exportJob, parseCsv } from '../../../test/support/api/export-files.ts';
import { address, event, key } from '../../../test/support/api/history-requests.ts';
import { DAY, HistoryStage, NOW, registry } from '../../../test/support/api/history-stage.ts';
import { seededRandom } from '../../../test/support/platform/chance.ts';
import { HistoryStore } from '../store.ts';
import type { StatementSources } from './statement.ts';

const USERS = [address(YOUNG), address(OLD)];
const NAMES: Readonly<Record<string, string>> = { [address(YOUNG)]: YOUNG, [address(OLD)]: OLD };
const LIFE_DAYS = 4;

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
beforeEach(() => stage.reset());

async function rows(fileType: string, range: { from: number; to: number }, users = USERS): Promise<readonly CsvRow[]> {
  const text = await csvOfJob(sources, exportJob({ fileType, users, ...range }));
  return text === null ? [] : parseCsv(text);
}

const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((total, amount) => total + amount, 0n);
const big = (row: CsvRow, name: string): bigint => BigInt(row[name] ?? expect.fail(`no column ${name}`));

/** Tokens that the rows of the other files move, by account and market. */
async function movedIn(range: { from: number; to: number }): Promise<(user: string, market: string) => bigint> {
  const deposits = [...(await rows('deposits', range)), ...(await rows('rewards', range))].map((row) => ({
    user: row.user,
    market: row.marketIndex,
    delta: row.direction === 'deposit' ? big(row, 'amount') : -big(row, 'amount'),
  }));
  const swaps = (await rows('swaps', range)).flatMap((row) => [
    { user: row.user, market: row.inMarketIndex, delta: -big(row, 'amountIn') },
    { user: row.user, market: row.outMarketIndex, delta: big(row, 'amountOut') },
  ]);
  const settled = (await rows('settlePnl', range)).map((row) => ({
    user: row.user,
    market: '0',
    delta: big(row, 'pnl'),
  }));
  const all = [...deposits, ...swaps, ...settled];
  return (user, market) =>
    sum(all.filter((one) => one.user === user && one.market === market).map(({ delta }) => delta));
}

interface Asset {
  readonly marketIndex: number;
  readonly balance: string;
}

const assetOf = (snapshot: object, market: string | undefined): bigint => {
  const { assets } = snapshot as { assets: readonly Asset[] };
  return BigInt(assets.find(({ marketIndex }) => String(marketIndex) === market)?.balance ?? 0);
};

describe('a statement of balances', () => {
  it('adds up: opening balance, rows of the files and interest give the closing balance', async () => {
    const from = NOW - LIFE_DAYS * DAY;
    const moment = fc.integer({ min: from - DAY, max: NOW });
    const run = fc.asyncProperty(fc.nat(), moment, moment, async (seed, one, other) => {
      fc.pre(one !== other);
      await stage.reset();
      const life = new Life(seededRandom(seed), from, NOW);
      for (const table of Object.keys(life.rows)) await stage.store(table, life.shuffled(table));
      const range = { from: Math.min(one, other), to: Math.max(one, other) };
      const moved = await movedIn(range);
      const statement = await rows('balances', range);
      for (const row of statement) {
        const { user = '', marketIndex: market = '' } = row;
        const [opening, closing] = [big(row, 'openingBalance'), big(row, 'closingBalance')];
        const naive = (ts: number) => assetOf(life.earnAt(NAMES[user] ?? '', ts), market);
        expect([row.user, market, opening, closing]).toEqual([user, market, naive(range.from - 1), naive(range.to)]);
        const rest = big(row, 'earlierBalance') + big(row, 'interest');
        expect(opening + moved(user, market) + rest).toBe(closing);
        const named = ['deposits', 'rewards', 'swapsReceived', 'settledPnl', 'liquidations'].map((name) =>
          big(row, name),
        );
        expect(sum(named) - big(row, 'withdrawals') - big(row, 'swapsPaid')).toBe(moved(user, market));
      }
      // Tokens that are left out have neither a balance nor a movement.
      for (const user of USERS) {
        for (const market of ['0', '1']) {
          if (statement.some((row) => row.user === user && row.marketIndex === market)) continue;
          const both = [range.from - 1, range.to].map((ts) => assetOf(life.earnAt(NAMES[user] ?? '', ts), market));
          expect([...both, moved(user, market)]).toEqual([0n, 0n, 0n]);
        }
      }
    });
    await fc.assert(run, { numRuns: 5 });
  });

  it('agrees with the account snapshots, and follows on from the statement before it', async () => {
    const life = new Life(seededRandom(11), NOW - LIFE_DAYS * DAY, NOW);
    for (const table of Object.keys(life.rows)) await stage.store(table, life.shuffled(table));
    const midnight = Math.floor(NOW / DAY) * DAY - DAY;
    const earlier = await rows('balances', { from: NOW - 50 * DAY, to: midnight });
    const later = await rows('balances', { from: midnight + 1, to: NOW });
    expect(later.length).toBeGreaterThan(2);
    for (const user of USERS) {
      const { snapshots } = await stage.list(`/user/${user}/snapshots/earn?days=7`).then((answer) => {
        return answer as unknown as { snapshots: readonly { ts: number }[] };
      });
      for (const row of later.filter((one) => one.user === user)) {
        const at = (ts: number) =>
          assetOf(snapshots.find((one) => one.ts === ts) ?? expect.fail(`${ts}`), row.marketIndex);
        expect([big(row, 'openingBalance'), big(row, 'closingBalance')]).toEqual([at(midnight), at(NOW)]);
        const before = earlier.find((one) => one.user === user && one.marketIndex === row.marketIndex);
        expect(before?.closingBalance ?? '0').toBe(row.openingBalance);
      }
    }
  });

  it('has what liquidations moved, on both sides', async () => {
    const [victim, liquidator] = [key('v'), key('q')];
    await stage.store('deposit', [deposit(1, victim, '1000'), deposit(2, liquidator, '5000')]);
    await stage.store('liquidation', [
      {
        ...event(3, NOW - 10),
        user: victim,
        liquidator,
        liquidation_type: 'liquidateSpot',
        liquidate_spot_asset_market_index: 0,
        liquidate_spot_asset_transfer: '300',
        liquidate_spot_liability_market_index: 1,
        liquidate_spot_liability_transfer: '20',
        liquidate_spot_if_fee: '2',
      },
    ]);
    const users = [victim, liquidator].map(address);
    const found = await rows('balances', { from: NOW - 100, to: NOW }, users);
    const short = found.map((row) => [
      row.user === users[0] ? 'victim' : 'liquidator',
      row.symbol,
      row.openingBalance,
      row.deposits,
      row.liquidations,
      row.interest,
      row.closingBalance,
    ]);
    expect(short).toEqual([
      ['victim', 'USDT', '0', '1000', '-300', '0', '700'],
      ['victim', 'SOL', '0', '0', '18', '0', '18'],
      ['liquidator', 'USDT', '0', '5000', '300', '0', '5300'],
      ['liquidator', 'SOL', '0', '0', '-20', '0', '-20'],
    ]);
  });

  it('names what an account had before the stored history', async () => {
    const older = { ...deposit(1, YOUNG, '1000'), amount: '40' };
    await stage.store('deposit', [older, { ...deposit(2, YOUNG, '1103'), amount: '100' }]);
    const range = { from: NOW - 100, to: NOW };
    const [row] = await rows('balances', range, [address(YOUNG)]);
    expect(row).toMatchObject({ openingBalance: '0', earlierBalance: '960', deposits: '140', interest: '3' });
    const [later] = await rows('balances', { from: NOW - 49, to: NOW }, [address(YOUNG)]);
    expect(later).toMatchObject({ openingBalance: '1103', earlierBalance: '0', closingBalance: '1103' });
  });

  it('of one token has that token alone', async () => {
    await stage.store('deposit', [deposit(1, YOUNG, '1000'), { ...deposit(2, YOUNG, '7'), market_index: 1 }]);
    const text = await csvOfJob(sources, exportJob({ fileType: 'balances', users: [address(YOUNG)], market: 'sol' }));
    expect(parseCsv(text ?? '').map(({ symbol, closingBalance }) => [symbol, closingBalance])).toEqual([['SOL', '7']]);
  });
});

const deposit = (id: number, user: string, after: string) => ({
  ...event(id, NOW - 50),
  user,
  direction: 'deposit',
  explanation: 'none',
  amount: after,
  market_index: 0,
  user_token_amount_after: after,
});
