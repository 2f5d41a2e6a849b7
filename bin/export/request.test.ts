import { describe, expect, it } from 'vitest';
import { failureIn } from './file.ts';
import { readRequest, readTime } from './request.ts';
import { exportQuery, selectItem } from './select.ts';

const flags = { table: 'order_action', from: '2026-01-01', to: '2026-01-02' };

describe('an export request', () => {
  it('takes ISO dates, times with and without zone, and unix seconds', () => {
    const midnight = Date.UTC(2026, 0, 1) / 1000;
    expect(readTime('--from', '2026-01-01')).toBe(midnight);
    expect(readTime('--from', '2026-01-01T00:00')).toBe(midnight);
    expect(readTime('--from', '2026-01-01T00:00:00.900')).toBe(midnight);
    expect(readTime('--from', '2026-01-01T02:00:00+02:00')).toBe(midnight);
    expect(readTime('--from', String(midnight))).toBe(midnight);
  });

  it.each([
    ['yesterday', 'must be an ISO time or unix seconds'],
    ['2026-13-01', 'is not a time'],
    ['2026-02-30T99:00:00Z', 'is not a time'],
    ['-5', 'must be an ISO time'],
    ['1.5', 'must be an ISO time'],
    ['', 'must be an ISO time'],
    ['1767225600000', 'not milliseconds'],
  ])('refuses the time "%s"', (text, words) => {
    expect(() => readTime('--from', text)).toThrow(words);
  });

  it.each([
    [{ ...flags, table: 'order_action; DROP' }, 'is not the name of a table'],
    [{ ...flags, table: undefined }, 'needs --table, --from and --to'],
    [{ ...flags, to: undefined }, 'needs --table, --from and --to'],
    [{ ...flags, to: '2026-01-01' }, '--from must be before --to'],
    [{ ...flags, format: 'xlsx' }, '--format must be one of csv, parquet, arrow'],
  ])('refuses %j', (bad, words) => {
    const given = Object.fromEntries(Object.entries(bad).filter(([, value]) => value !== undefined));
    expect(() => readRequest(given)).toThrow(words);
  });

  it('names a file by table and range, and accepts standard output', () => {
    expect(readRequest({ ...flags, format: 'parquet' }).file).toBe(
      'order_action_20260101T000000_20260102T000000.parquet',
    );
    expect(readRequest({ ...flags, out: '-' }).file).toBeNull();
    expect(readRequest({ ...flags, out: 'x/y.csv' }).file).toBe('x/y.csv');
  });
});

describe('the query of an export', () => {
  it('writes keys as base58, other bytes as hex, padded names as text', () => {
    expect(selectItem({ name: 'taker', type: 'Nullable(FixedString(32))' }, 'csv')).toBe(
      'base58Encode(`taker`) AS `taker`',
    );
    expect(selectItem({ name: 'fills_owner', type: 'Array(FixedString(32))' }, 'csv')).toContain('arrayMap(');
    expect(selectItem({ name: 'discriminator', type: 'FixedString(8)' }, 'arrow')).toContain('hex(');
    expect(selectItem({ name: 'name', type: 'FixedString(32)' }, 'csv')).toContain('toValidUTF8');
  });

  it('keeps 128-bit integers exact in formats without them', () => {
    expect(selectItem({ name: 'pnl', type: 'Int128' }, 'csv')).toBe('`pnl`');
    expect(selectItem({ name: 'pnl', type: 'Nullable(Int128)' }, 'parquet')).toBe('toString(`pnl`) AS `pnl`');
    expect(selectItem({ name: 'fee', type: 'UInt64' }, 'arrow')).toBe('`fee`');
  });

  it('orders by time, then slot, then row identity', () => {
    const columns = ['ts', 'slot', 'user', 'signature'].map((name) => ({ name, type: 'UInt64' }));
    const query = exportQuery({ name: 't', columns, sortingKey: ['user', 'ts', 'slot', 'signature'] }, 'arrow');
    expect(query).toMatch(/ORDER BY stored\.`ts`, stored\.`slot`, stored\.`user`, stored\.`signature` FORMAT Arrow$/);
  });
});

describe('a failed server answer', () => {
  it('is recognized by the tag of its header', () => {
    const text = '1,2\r\n__exception__\r\nTAGTAG\r\nCode: 241. Memory limit exceeded\n32 TAGTAG\r\n__exception__\r\n';
    expect(failureIn(text, 'TAGTAG')).toContain('Code: 241. Memory limit exceeded');
    expect(failureIn(text, 'OTHER')).toBeNull();
  });
});
