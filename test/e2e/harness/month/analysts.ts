// Tools for analysts beside the stopped month with its known truth: the SQL user, exports, freshness, worked examples.

import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { createClient } from '@clickhouse/client';
import { beforeAll, describe, expect, it } from 'vitest';
import { columnsOf, tableOf } from '../../../../schemas/index.ts';
import { bundled } from '../../../support/platform/bundled.ts';
import { NODE_FLAGS } from '../../../support/platform/children.ts';
import { eventually } from '../../../support/processes/processes.ts';
import { finalTs } from './log.ts';
import type { Month } from './run.ts';
import type { MonthEvent, MonthTruth } from './truth.ts';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
/** More than the month has. */
const HOURS = '900';
/** Rates within the 31 days of the list. */
const FUNDING_HOURS = 200;
const PATIENCE_MS = 120_000;
/** Reason of the gap that a lost connection makes. A slow notification makes another. */
const LOST = 'not connected';

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface AnalystParts {
  readonly month: Month;
  readonly truth: MonthTruth;
}

export function describeAnalysts(parts: () => AnalystParts): void {
  describe('for analysts', () => analystTests(parts));
}

function analystTests(parts: () => AnalystParts): void {
  let dir = '';
  let truth: readonly MonthEvent[];
  let fromTs = 0;
  let toTs = 0;

  beforeAll(async () => {
    const { month } = parts();
    dir = month.dataDir;
    truth = parts().truth.events;
    const times = truth.flatMap(({ ts }) => (ts === 0 ? [] : [ts]));
    // An export has the rows that are final.
    [fromTs, toTs] = [Math.min(...times), await finalTs(dir)];
  });

  const endpoint = (name: string): string => parts().month.url(name);
  const of = (name: string) =>
    truth.filter(({ name: one, data }) => one === name && Number(data.ts) >= fromTs && Number(data.ts) < toTs);
  const run = (...args: readonly string[]) => runNode(args, dir);
  const exported = (table: string, format: string) =>
    run('bin/cli.ts', 'export', '--table', table, '--from', String(fromTs), '--to', String(toTs), '--format', format);

  it('a read-only SQL user reads what happened and can change nothing', async () => {
    const ask = async (sql: string) => (await fetch(endpoint('sql'), { method: 'POST', body: sql })).text();
    const fills = truth.filter(({ data }) => data.action === 'fill').length;
    expect((await ask("SELECT count() FROM order_action FINAL WHERE action = 'fill'")).trim()).toBe(String(fills));
    expect(await ask('DROP TABLE order_action')).toContain('ACCESS_DENIED');
    expect(await ask("INSERT INTO projection VALUES ('events', 1, '')")).toContain('ACCESS_DENIED');
    expect(await ask('SELECT name FROM system.users')).toContain('ACCESS_DENIED');
  });

  it('an export in CSV holds every event of the range once, in order, with what it can answer for', async () => {
    const file = path.join(dir, 'actions.csv');
    const ended = await run(
      ...['bin/cli.ts', 'export', '--table', 'order_action', '--out', file],
      ...['--from', new Date(fromTs * 1000).toISOString(), '--to', String(toTs)],
    );
    expect(ended).toMatchObject({ code: 0 });
    const text = readFileSync(file, 'utf8');
    const [header = '', ...lines] = text.trimEnd().split('\n');
    const names = header.split(',').map((name) => JSON.parse(name) as string);
    expect(names).toEqual(columnsOf('OrderActionRecord').map(({ name }) => name));
    const expected = of('OrderActionRecord');
    const written = lines.map((line) => cells(line));
    const visible = written.map((row) => truthLine(names, row)).sort();
    const happened = expected.map((event) => truthCells(names, event)).sort();
    expect(visible.length).toBe(happened.length);
    expect(visible.filter((line, at) => line !== happened[at]).slice(0, 3)).toEqual([]);
    const at = (name: string) => written.map((row) => Number(row[names.indexOf(name)]));
    const writtenSlots = at('slot');
    const order = at('ts').map((ts, index) => ts * 1e9 + (writtenSlots[index] ?? 0));
    expect(order.findIndex((place, index) => place < (order[index - 1] ?? 0))).toBe(-1);
    const coverage = JSON.parse(readFileSync(`${file}.coverage.json`, 'utf8'));
    const slots = expected.map(({ slot }) => slot);
    expect(coverage).toMatchObject({
      table: 'order_action',
      format: 'csv',
      range: { fromTs, toTs },
      rows: expected.length,
      first: { slot: Math.min(...slots), ts: Math.min(...expected.map(({ ts }) => ts)) },
      last: { slot: Math.max(...slots) },
      bytes: Buffer.byteLength(text),
      sha256: createHash('sha256').update(text).digest('hex'),
      eventsNotStored: 0,
      complete: true,
    });
    // The coverage names the broken connection with its slots.
    expect(coverage.gaps.length).toBeGreaterThan(0);
    for (const gap of coverage.gaps) expect(gap).toMatchObject({ filled: true, lasting: false });
    const lost = coverage.gaps.find(({ reason }: { reason: string }) => reason === LOST);
    expect(lost.fromSlot).toBeGreaterThan(1_000);
    expect(lost.toSlot).toBeGreaterThanOrEqual(lost.fromSlot);
    expect(existsSync(`${file}.part`)).toBe(false);
  });

  it.each(['parquet', 'arrow'])('an export in %s holds the same, 64 and 128 bits exact', async (format) => {
    expect(await exported('settle_pnl', format)).toMatchObject({ code: 0 });
    const name = (ts: number) => new Date(ts * 1000).toISOString().replace(/\.000Z$|[-:]/g, '');
    const file = path.join(dir, `settle_pnl_${name(fromTs)}_${name(toTs)}.${format}`);
    const client = createClient({ url: endpoint('clickhouse') });
    try {
      // The engine has no file access, so the test sends the file's bytes.
      const columns = 'signature String, event_index UInt32, user String, pnl String, quote_entry_amount Int64';
      await client.command({
        query: `CREATE OR REPLACE TABLE slotbook.exported (${columns}) ENGINE = MergeTree ORDER BY tuple()`,
      });
      await client.exec({
        query: `INSERT INTO slotbook.exported FORMAT ${format === 'arrow' ? 'Arrow' : 'Parquet'}`,
        values: Readable.from([readFileSync(file)], { objectMode: false }),
        clickhouse_settings: { input_format_skip_unknown_fields: 1 },
      });
      const result = await client.query({
        query: 'SELECT signature, event_index, user, pnl, toString(quote_entry_amount) AS entry FROM slotbook.exported',
        format: 'JSONEachRow',
      });
      const stored = await result.json<Record<string, unknown>>();
      const expected = of('SettlePnlRecord').map(({ signature, index, data }) => ({
        signature,
        event_index: index,
        user: data.user,
        pnl: String(data.pnl),
        entry: String(data.quote_entry_amount),
      }));
      const sorted = (rows: readonly object[]) => rows.map((row) => JSON.stringify(row)).sort();
      expect(expected.length).toBeGreaterThan(0);
      expect(sorted(stored)).toEqual(sorted(expected));
    } finally {
      await client.close();
    }
  });

  it('an export that cannot be made says why, with exit code 2, and leaves nothing behind', async () => {
    const refused = [
      [['--table', 'nothing', '--from', '2026-01-01', '--to', '2026-01-02'], 'there is no table nothing'],
      [['--table', 'order_action', '--from', 'monday', '--to', '2026-01-02'], 'must be an ISO time or unix seconds'],
    ] as const;
    for (const [flags, words] of refused) {
      const { code, err } = await run('bin/cli.ts', 'export', ...flags, '--out', path.join(dir, 'none.csv'));
      expect([code, err]).toEqual([2, expect.stringContaining(words)]);
    }
    expect(existsSync(path.join(dir, 'none.csv'))).toBe(false);
  });

  it('/freshness knows the newest event of each stream, that all is stored, and the gap that was filled', async () => {
    const answer = (await (await fetch(`${endpoint('history')}/freshness`)).json()) as {
      eventsNotStored: number;
      streams: { stream: string; lastSlot: number; lastTs: number }[];
      gaps: { reason: string; filled: boolean }[];
    };
    expect(answer.eventsNotStored).toBe(0);
    for (const [stream, event] of [
      ['orderActions', 'OrderActionRecord'],
      ['orders', 'OrderRecord'],
      ['fundingRates', 'FundingRateRecord'],
      ['deposits', 'DepositRecord'],
      ['settlements', 'SettlePnlRecord'],
    ] as const) {
      const events = truth.filter(({ name }) => name === event);
      expect([event, answer.streams.find((one) => one.stream === stream)]).toEqual([
        event,
        expect.objectContaining({
          lastSlot: Math.max(...events.map(({ slot }) => slot)),
          lastTs: Math.max(...events.map(({ data }) => Number(data.ts))),
          table: tableOf(event),
        }),
      ]);
    }
    expect(answer.gaps).toContainEqual(expect.objectContaining({ reason: LOST, filled: true }));
  });

  describe('examples', () => {
    const example = async <T>(name: string, ...args: readonly string[]): Promise<T> => {
      const given = ['history', 'sql', 'orderbook'].flatMap((service) => [`--${service}`, endpoint(service)]);
      const { code, out, err } = await run(`examples/${name}.ts`, ...given, '--json', ...args);
      expect([code, err]).toEqual([0, '']);
      return JSON.parse(out) as T;
    };

    it('funding-carry: hours, rate and funding of the position are those of the records', async () => {
      const rows = await example<
        { symbol: string; hours: number; meanHourlyPercent: number; aprPercent: number; fundingQuote: number }[]
      >('funding-carry', '--symbols', 'SOL-PERP', '--notional', '10000', '--hours', String(FUNDING_HOURS));
      const rates = truth
        .filter(({ name, data }) => name === 'FundingRateRecord' && data.market_index === 0)
        .slice(-FUNDING_HOURS)
        .map(({ data }) => ({
          rate: Number(data.funding_rate_short) / 1e9,
          price: Number(data.oracle_price_twap) / 1e6,
        }));
      expect(rates).toHaveLength(FUNDING_HOURS);
      const base = 10_000 / (rates[0]?.price ?? 0);
      const mean = rates.reduce((sum, { rate, price }) => sum + rate / price, 0) / rates.length;
      expect(rows).toHaveLength(1);
      expect(rows[0]?.hours).toBe(rates.length);
      expect(rows[0]?.meanHourlyPercent).toBeCloseTo(mean * 100, 9);
      expect(rows[0]?.aprPercent).toBeCloseTo(mean * 100 * 24 * 365.25, 6);
      expect(rows[0]?.fundingQuote).toBeCloseTo(
        rates.reduce((sum, { rate }) => sum + rate * base, 0),
        3,
      );
    });

    it('fill-quality: fills, notional, slippage and fees of each cohort are those of the fills', async () => {
      const rows = await example<
        { cohort: string; counterparty: string; fills: string; notional: number; slipBps: number; feeBps: number }[]
      >('fill-quality', '--hours', HOURS);
      const cohorts = new Map<string, { fills: number; notional: number; slip: number; fee: number }>();
      for (const { data } of truth) {
        if (data.action !== 'fill' || data.market_type !== 'perp' || data.market_index !== 0) continue;
        if (data.taker === null || /^(liquidation|transferPerpPosition)$/.test(String(data.action_explanation)))
          continue;
        const quote = Number(data.quote_asset_amount_filled) / 1e6;
        const price = quote / (Number(data.base_asset_amount_filled) / 1e9);
        const slip = (data.taker_order_direction === 'long' ? 1 : -1) * (price / (Number(data.oracle_price) / 1e6) - 1);
        const size = quote < 100 ? '< 100' : quote < 1e3 ? '100 - 1k' : quote < 1e4 ? '1k - 10k' : '> 10k';
        const key = `${size} ${data.maker === null ? 'vAMM' : 'maker'}`;
        const sums = cohorts.get(key) ?? { fills: 0, notional: 0, slip: 0, fee: 0 };
        sums.fills += 1;
        sums.notional += quote;
        sums.slip += slip * quote;
        sums.fee += Number(data.taker_fee) / 1e6;
        cohorts.set(key, sums);
      }
      expect(cohorts.size).toBeGreaterThan(2);
      expect(rows.map(({ cohort, counterparty }) => `${cohort} ${counterparty}`).sort()).toEqual(
        [...cohorts.keys()].sort(),
      );
      for (const row of rows) {
        const sums = cohorts.get(`${row.cohort} ${row.counterparty}`);
        if (!sums) throw new Error(`no fills for ${row.cohort}`);
        expect(Number(row.fills)).toBe(sums.fills);
        expect(row.notional).toBeCloseTo(sums.notional, 5);
        expect(row.slipBps).toBeCloseTo((sums.slip / sums.notional) * 1e4, 6);
        expect(row.feeBps).toBeCloseTo((sums.fee / sums.notional) * 1e4, 6);
      }
    });

    it('book-imbalance: directions are those of the fills, imbalances those of the books before', async () => {
      const { orders, buckets, correlation } = await example<{
        orders: { txSig: string; slot: number; side: number; imbalance: number; quote: number }[];
        buckets: { orders: number; flowQuote: number }[];
        correlation: number | null;
      }>('book-imbalance', '--symbol', 'SOL-PERP', '--orders', '12');
      expect(orders.length).toBeGreaterThan(5);
      for (const order of orders) {
        const fills = truth.filter(({ signature, data }) => signature === order.txSig && data.action === 'fill');
        const directions = new Set<number>(fills.map(({ data }) => (data.taker_order_direction === 'long' ? 1 : -1)));
        expect([fills.length > 0, directions.has(order.side)]).toEqual([true, true]);
      }
      for (const { slot, imbalance } of orders.slice(0, 2)) {
        const url = `${endpoint('orderbook')}/l2?marketIndex=0&marketType=perp&slot=${slot - 1}&depth=1`;
        const book = (await (await fetch(url)).json()) as Record<'bids' | 'asks', { size: string }[]>;
        const [bid, ask] = [Number(book.bids[0]?.size), Number(book.asks[0]?.size)];
        expect(imbalance).toBeCloseTo((bid - ask) / (bid + ask), 12);
      }
      expect(buckets.reduce((sum, bucket) => sum + bucket.orders, 0)).toBe(orders.length);
      const flow = orders.reduce((sum, { side, quote }) => sum + side * quote, 0);
      expect(buckets.reduce((sum, bucket) => sum + bucket.flowQuote, 0)).toBeCloseTo(flow, 6);
      expect(Math.abs(correlation ?? 0)).toBeLessThanOrEqual(1);
    });

    it('quote-maker: the book shows its quotes, and no more when it has withdrawn them', async () => {
      const visible = async () => {
        const url = `${endpoint('orderbook')}/l2?marketIndex=0&marketType=perp&includeIndicative=true`;
        const { bids } = (await (await fetch(url)).json()) as { bids: { sources: { indicative?: string } }[] };
        return bids.flatMap(({ sources: { indicative } }) => indicative ?? []);
      };
      const ended = run('examples/quote-maker.ts', '--data-dir', dir, '--size', '1230000000', '--seconds', '4');
      await eventually('its quotes', async () => (await visible()).join() === '1230000000');
      const { code, out, err } = await ended;
      expect([code, err]).toEqual([0, '']);
      expect(out).toMatch(/^quoting market 0 as \w{32,44}\n$/);
      await eventually('no quotes', async () => (await visible()).length === 0);
    });

    it('say in a line what address is missing or wrong', async () => {
      const missing = await run('examples/quote-maker.ts', '--data-dir', path.join(dir, 'none'));
      expect([missing.code, missing.err]).toEqual([2, expect.stringMatching(/^no quotes: .*\n$/)]);
      const wrong = await run('examples/quote-maker.ts', '--quotes', 'data');
      expect([wrong.code, wrong.err]).toEqual([2, '--quotes must be a WebSocket address, not data\n']);
    });

    it('print a table a quant can read', async () => {
      const { out } = await run('examples/funding-carry.ts', '--history', endpoint('history'), '--symbols', 'SOL-PERP');
      const [title, header, row] = out.split('\n');
      expect(title).toBe('long spot, short perp, 10000 quote a leg');
      expect(header?.trim().split(/ {2,}/)).toContain('APR %');
      expect(row).toMatch(/^SOL-PERP +\d+ +-?\d+\.\d{5} /);
    });
  });
}

/** Runs a script of this repository in the data directory of the pipeline. */
function runNode([script = '', ...args]: readonly string[], dataDir: string): Promise<Ended> {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('SLOTBOOK_'));
  const env = { ...Object.fromEntries(inherited), SLOTBOOK_DATA_DIR: dataDir };
  const argv = [...NODE_FLAGS, path.resolve(ROOT, bundled(script)), ...args];
  return new Promise((resolve) => {
    const options = { cwd: dataDir, env, maxBuffer: 2 ** 26, timeout: PATIENCE_MS, killSignal: 'SIGKILL' } as const;
    execFile(process.execPath, argv, options, (error, out, err) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
      resolve({ code, out, err });
    });
  });
}

/** Cells of a CSV line whose texts hold neither commas nor quotes. */
function cells(line: string): readonly string[] {
  return line.split(',').map((cell) => cell.replace(/^"|"$/g, ''));
}

/** The truth does not include the index in the block. */
function truthLine(names: readonly string[], row: readonly string[]): string {
  return row.map((cell, index) => (names[index] === 'tx_index' ? '' : cell)).join('|');
}

function truthCells(names: readonly string[], event: MonthEvent): string {
  return truthLine(
    names,
    names.map((name) => cellOf(event, name)),
  );
}

function cellOf({ signature, index, slot, data }: MonthEvent, name: string): string {
  if (name === 'signature') return signature;
  if (name === 'event_index') return String(index);
  if (name === 'slot') return String(slot);
  return String(data[name] ?? '');
}
