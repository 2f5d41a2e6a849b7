import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
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
import { fillEvent, sampleEvent } from './testing/events.ts';
import { sinkStage } from './testing/sink-stage.ts';

const FIRST_DAY = 20_000;
const DAYS = 6;
const stage = sinkStage('days');

/** The event number `n` on a day of its number, at midnight now and then; its order in the log is another. */
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

/** Sums of the clean days as they are stored, and as the events have them now. */
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

/** A midnight belongs to the day that it ends. */
const allDays = [...new Set(numbered(0, 500).map(({ data }) => dayOf(Number(data.ts))))].sort((a, b) => a - b);
const [newest = 0] = allDays.slice(-1);
const finished = allDays.slice(0, -1);

const allClean = () =>
  vi.waitFor(async () => expect(await cleanDays()).toEqual(finished), { timeout: 60_000, interval: 100 });

describe('days of accounts', () => {
  it('are reduced when they are over, and equal the events, each counted once', async () => {
    await stage.append([...numbered(0, 500), ...numbered(100, 300)]);
    await stage.startSink();
    await allClean();
    const { kept, computed } = await sums();
    expect(kept).toEqual(computed);
    expect(kept).not.toMatchObject([[{ n: '0' }], [{ n: '0' }]]);
  });

  it('open before a late row is stored, and are reduced again with it', async () => {
    await stage.append(numbered(0, 500));
    await stage.startSink();
    await allClean();
    const before = await sums();
    const [late] = numbered(600, 601);
    if (!late) throw new Error('no event');
    await stage.append([late]);
    const day = dayOf(Number(late.data.ts));
    // Whenever the row is there, the day is open or has been reduced with it.
    for (let isThere = false; !isThere; ) {
      isThere = (await stored()) === 501;
      if (isThere && (await cleanDays()).includes(day)) expect((await sums()).kept).not.toEqual(before.kept);
    }
    await allClean();
    const after = await sums();
    expect(after.kept).toEqual(after.computed);
    expect(after.kept).not.toEqual(before.kept);
  });

  it('stay clean over a restart, and are the same after kills at any moment', async () => {
    const total = 3_000;
    const part = total / 6;
    for (let kill = 0; kill < 6; kill++) {
      const sink = await stage.startSinkProcess(40 + kill * 60);
      await stage.append(numbered(kill * part, (kill + 1) * part));
      // Some while rows are stored, some while days are reduced.
      await sleep(kill % 2 === 0 ? 60 + kill * 90 : 2_000 + kill * 170);
      sink.kill('SIGKILL');
      await new Promise((resolve) => sink.once('exit', resolve));
      const { kept, computed } = (await cleanDays()).length > 0 ? await sums() : { kept: 0, computed: 0 };
      expect(kept).toEqual(computed);
    }
    const { role } = await stage.startSink();
    await vi.waitFor(async () => expect(await stored()).toBe(total), { timeout: 30_000, interval: 100 });
    await allClean();
    const { kept, computed } = await sums();
    expect(kept).toEqual(computed);
    const marks = await stage.rows('SELECT * FROM account_day_mark FINAL ORDER BY day, mark');
    await role.stop();
    await stage.startSink();
    await stage.append([eventOf(total + newest - FIRST_DAY)]);
    await vi.waitFor(async () => expect(await stored()).toBe(total + 1), { timeout: 30_000, interval: 100 });
    await sleep(3_000);
    const isOlder = ({ day }: Record<string, unknown>) => Number(day) < newest;
    const now = await stage.rows('SELECT * FROM account_day_mark FINAL ORDER BY day, mark');
    expect(now.filter(isOlder)).toEqual(marks.filter(isOlder));
  });
});
