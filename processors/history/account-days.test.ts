import { setTimeout as sleep } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { type ClickHouseClient, silentLogger } from '../../platform/index.ts';
import {
  type ChainEvent,
  cleanDaysSql,
  DAY_S,
  dayOf,
  FILL_SUMS,
  fillSidesByTime,
  fillSumsSql,
  MONEY_SUMS,
  moneyRows,
  moneySumsSql,
} from '../../schemas/index.ts';
import { eventually } from '../../test/support/platform/eventually.ts';
import { times } from '../../test/support/platform/times.ts';
import { fillEvent, sampleEvent } from '../../test/support/processors/history/events.ts';
import { sinkStage } from '../../test/support/processors/history/sink-stage.ts';
import { AccountDays } from './account-days.ts';
import { sinkMetrics } from './metrics.ts';

const FIRST_DAY = 20_000;
const DAYS = 6;
const KILLS = times(2, 12);
const stage = sinkStage('days');

/** Event number `n` on the day of its number, sometimes at midnight; its order in the log differs. */
function eventOf(n: number): ChainEvent {
  const kinds = ['FundingPaymentRecord', 'SettlePnlRecord', 'LiquidationRecord'];
  const event = n % 5 === 0 ? sampleEvent(kinds[(n / 5) % 3] ?? '', n) : fillEvent(n);
  const ts = BigInt((FIRST_DAY + (n % DAYS)) * DAY_S + ((n * 977) % (DAY_S + 1)));
  return { ...event, data: { ...event.data, ts } };
}

const numbered = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => eventOf(from + index));

const cleanDays = async () => (await stage.rows<{ day: string }>(cleanDaysSql(''))).map(({ day }) => Number(day));
const stored = async () =>
  Number(
    (
      await stage.rows<{ n: string }>(
        ['order_action', 'funding_payment', 'settle_pnl', 'liquidation']
          .map((table) => `(SELECT uniqExact(signature) FROM ${table})`)
          .reduce((sum, next) => `${sum} + ${next}`, 'SELECT 0')
          .concat(' AS n'),
      )
    )[0]?.n,
  );

/** Stored sums of the clean days, and the same sums from the events. */
async function sums(): Promise<{ readonly kept: unknown; readonly computed: unknown }> {
  const days = (await cleanDays()).join(', ');
  const day = `toInt64(ceil(ts / ${DAY_S})) - 1`;
  const [fills, money] = [
    ['user', 'market_type', 'market_index', 'period', ...FILL_SUMS].map((name) => `toString(${name})`).join(', '),
    ['user', 'market_index', 'period', ...MONEY_SUMS].map((name) => `toString(${name})`).join(', '),
  ];
  const digest = (columns: string, from: string) =>
    stage.rows(`SELECT count() AS n, groupBitXor(cityHash64(${columns})) AS hash FROM (${from})`);
  return {
    kept: await Promise.all([
      digest(fills, `SELECT *, day AS period FROM account_day_fills FINAL WHERE day IN (${days})`),
      digest(money, `SELECT *, day AS period FROM account_day_money FINAL WHERE day IN (${days})`),
    ]),
    computed: await Promise.all([
      digest(fills, fillSumsSql(fillSidesByTime('', `${day} IN (${days})`), day)),
      digest(
        money,
        moneySumsSql(
          moneyRows('', () => `${day} IN (${days})`),
          day,
        ),
      ),
    ]),
  };
}

/** Midnight belongs to the day that it ends. */
const allDays = [...new Set(numbered(0, 500).map(({ data }) => dayOf(Number(data.ts))))].sort((a, b) => a - b);
const [newest = 0] = allDays.slice(-1);
const finished = allDays.slice(0, -1);

const allClean = () => eventually(async () => expect(await cleanDays()).toEqual(finished), 100);

/** Marks and sums that a fake client was asked for. */
function fakeDays() {
  const marks: { readonly day: number; readonly mark: string; readonly number: string }[] = [];
  const sums: string[] = [];
  const client = {
    query: async () => ({ json: async () => [] }),
    insert: async ({ values }: { readonly values: typeof marks }) => void marks.push(...values),
    command: async ({ query }: { readonly query: string }) => void sums.push(query),
  } as unknown as ClickHouseClient;
  const metrics = sinkMetrics(new Registry(), async () => new Map());
  const persisting = { logger: silentLogger(), metrics, signal: new AbortController().signal };
  return { days: new AccountDays({ client, settle: async () => {} }, 0), marks, sums, persisting };
}

describe('days of accounts', () => {
  it('stay open when rows come while the process asks whether it may write the last mark', async () => {
    const { days, marks, sums, persisting } = fakeDays();
    const store = async (...some: number[]) => {
      await days.storing(new Set(some), persisting);
      days.stored(new Set(some));
    };
    await store(1, 2);
    let isLate = false;
    const mayWrite = async () => {
      if (sums.length < 2 || isLate) return;
      isLate = true;
      await store(1);
    };
    await sleep(2);
    await days.reduceDue({ ...persisting, mayWrite });
    expect(isLate).toBe(true);
    expect(marks.filter(({ mark }) => mark === 'reduced')).toEqual([]);
    await sleep(2);
    await days.reduceDue(persisting);
    expect(marks.filter(({ mark }) => mark === 'reduced')).toMatchObject([{ day: 1 }]);
  });

  it('are summed when they are over, and equal the distinct events', async () => {
    await stage.append([...numbered(0, 500), ...numbered(100, 300)]);
    await stage.startSink();
    await allClean();
    const { kept, computed } = await sums();
    expect(kept).toEqual(computed);
    expect(kept).not.toMatchObject([[{ n: '0' }], [{ n: '0' }]]);
  });

  it('open before a late row is stored, and are summed again with it', async () => {
    await stage.append(numbered(0, 500));
    await stage.startSink();
    await allClean();
    const before = await sums();
    const [late] = numbered(600, 601);
    if (!late) throw new Error('no event');
    await stage.append([late]);
    const day = dayOf(Number(late.data.ts));
    // Whenever the row is visible, the day is open or its sums contain the row.
    for (let isThere = false; !isThere; ) {
      isThere = (await stored()) === 501;
      if (isThere && (await cleanDays()).includes(day)) expect((await sums()).kept).not.toEqual(before.kept);
    }
    await allClean();
    const after = await sums();
    expect(after.kept).toEqual(after.computed);
    expect(after.kept).not.toEqual(before.kept);
  });

  it('stay clean over a restart, and are equal after kills at any moment', async () => {
    // Whole rounds of days, so that the number of an event after them names its day.
    const part = 84 * DAYS;
    const total = KILLS * part;
    for (let kill = 0; kill < KILLS; kill++) {
      const sink = await stage.startSinkProcess(40 + kill * 60);
      await stage.append(numbered(kill * part, (kill + 1) * part));
      // Some kills hit while rows are stored, some while days are reduced.
      await sleep(kill % 2 === 0 ? 60 + kill * 90 : 2_000 + kill * 170);
      sink.kill('SIGKILL');
      await new Promise((resolve) => sink.once('exit', resolve));
      const { kept, computed } = (await cleanDays()).length > 0 ? await sums() : { kept: 0, computed: 0 };
      expect(kept).toEqual(computed);
    }
    const { role } = await stage.startSink();
    await eventually(async () => expect(await stored()).toBe(total), 100);
    await allClean();
    const { kept, computed } = await sums();
    expect(kept).toEqual(computed);
    const marks = await stage.rows('SELECT * FROM account_day_mark FINAL ORDER BY day, mark');
    await role.stop();
    await stage.startSink();
    await stage.append([eventOf(total + newest - FIRST_DAY)]);
    await eventually(async () => expect(await stored()).toBe(total + 1), 100);
    await sleep(3_000);
    const isOlder = ({ day }: Record<string, unknown>) => Number(day) < newest;
    const now = await stage.rows('SELECT * FROM account_day_mark FINAL ORDER BY day, mark');
    expect(now.filter(isOlder)).toEqual(marks.filter(isOlder));
  });
});
