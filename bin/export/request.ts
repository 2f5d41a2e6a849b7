// Parses the flags of `slotbook export` before anything is opened.

import { ConfigError } from '../../platform/index.ts';

const FORMATS = ['csv', 'parquet', 'arrow'] as const;
export type Format = (typeof FORMATS)[number];

export interface ExportFlags {
  readonly table?: string;
  readonly from?: string;
  readonly to?: string;
  readonly format?: string;
  readonly out?: string;
}

export interface ExportRequest {
  readonly table: string;
  /** Unix seconds: rows with fromTs <= ts < toTs. */
  readonly fromTs: number;
  readonly toTs: number;
  readonly format: Format;
  /** Path of the file; null for standard output. */
  readonly file: string | null;
}

const TABLE_NAME = /^[a-z][a-z0-9_]*$/;
const ISO = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2})?(\.\d+)?(Z|[+-]\d{2}:?\d{2})?)?$/;
/** The year 3000. A larger number must be milliseconds. */
const TS_MAX = 32_503_680_000;

/** Throws ConfigError for invalid flags. */
export function readRequest({ table, from, to, format = 'csv', out }: ExportFlags): ExportRequest {
  if (table === undefined || from === undefined || to === undefined) {
    throw new ConfigError('export needs --table, --from and --to');
  }
  if (!TABLE_NAME.test(table)) throw new ConfigError(`"${table}" is not the name of a table`);
  const known = FORMATS.find((one) => one === format);
  if (known === undefined) throw new ConfigError(`--format must be one of ${FORMATS.join(', ')}, not "${format}"`);
  const fromTs = readTime('--from', from);
  const toTs = readTime('--to', to);
  if (fromTs >= toTs) throw new ConfigError('--from must be before --to');
  const name = `${table}_${fileTime(fromTs)}_${fileTime(toTs)}.${known}`;
  return { table, fromTs, toTs, format: known, file: out === '-' ? null : (out ?? name) };
}

/** Parses Unix seconds, or an ISO date or time (UTC by default). Drops fractions of a second. */
export function readTime(flag: string, text: string): number {
  const isNumber = /^\d+$/.test(text);
  if (!isNumber && !ISO.test(text)) {
    throw new ConfigError(`${flag} must be an ISO time or unix seconds, not "${text}"`);
  }
  const hasZone = /(Z|[+-]\d{2}:?\d{2})$/.test(text.slice(text.indexOf('T') + 1));
  const zoned = text.includes('T') && !hasZone ? `${text}Z` : text;
  const ts = isNumber ? Number(text) : Math.floor(Date.parse(zoned) / 1000);
  if (!Number.isSafeInteger(ts) || ts < 0) throw new ConfigError(`${flag} is not a time: "${text}"`);
  if (ts > TS_MAX)
    throw new ConfigError(`${flag} lies beyond the year 3000: "${text}" (unix seconds, not milliseconds)`);
  return ts;
}

function fileTime(ts: number): string {
  return new Date(ts * 1000).toISOString().replace(/\.000Z$|[-:]/g, '');
}
