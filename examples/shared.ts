// Shared by the examples: flags, REST and SQL requests, and a table on the terminal.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';

export interface Flags {
  /** Value of a flag, or its default. */
  text(name: string, fallback: string): string;
  number(name: string, fallback: number): number;
  readonly json: boolean;
  /** Address of a service: the flag of its name, else endpoints.json in `--data-dir` (default `data`). */
  endpoint(name: string): string;
}

/** Parses the flags of a script. Ends the process with code 2 for an unknown one. */
export function readFlags(names: readonly string[]): Flags {
  const all = [...names, 'data-dir', 'history', 'sql', 'orderbook', 'quotes'];
  const options = Object.fromEntries(all.map((name) => [name, { type: 'string' as const }]));
  let values: Readonly<Record<string, unknown>>;
  try {
    ({ values } = parseArgs({ options: { ...options, json: { type: 'boolean' as const } } }));
  } catch (error) {
    return fail(error instanceof Error ? error.message : String(error));
  }
  const text = (name: string, fallback: string) => String(values[name] ?? fallback);
  return {
    text,
    json: values.json === true,
    number: (name, fallback) => {
      const value = Number(text(name, String(fallback)));
      return Number.isFinite(value) ? value : fail(`--${name} must be a number`);
    },
    endpoint: (name) => {
      if (values[name] !== undefined) return String(values[name]);
      const file = path.join(text('data-dir', 'data'), 'endpoints.json');
      const found = endpoints(file)[name];
      return found ?? fail(`no ${name}: start the pipeline, or give --${name} URL or --data-dir DIR (${file})`);
    },
  };
}

function endpoints(file: string): Readonly<Record<string, string>> {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>;
  } catch {
    return {};
  }
}

/** Prints the message and ends the process with code 2. */
export function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(2);
}

/** JSON of a GET. Throws with the body for any status except 200. */
export async function getJson<T>(url: string): Promise<T> {
  const response = await fetch(url);
  const body = await response.text();
  if (!response.ok) throw new Error(`${url} answers with status ${response.status}: ${body}`);
  return JSON.parse(body) as T;
}

interface Page<T> {
  readonly records: readonly T[];
  readonly meta: { readonly nextPage: string | null };
}

/** Rows of a rolling list, newest first, page by page until `enough` rows or the end. */
export async function getRows<T>(url: string, enough: number, pageRows: number): Promise<readonly T[]> {
  const rows: T[] = [];
  let next: string | null = '';
  while (next !== null && rows.length < enough) {
    const page: Page<T> = await getJson(`${url}?limit=${pageRows}${next && `&page=${encodeURIComponent(next)}`}`);
    rows.push(...page.records);
    next = page.meta.nextPage;
  }
  return rows.slice(0, enough);
}

/** Rows of a query by the read-only user. The query names its parameters as `{name:Type}`. */
export async function queryRows<T>(
  sqlUrl: string,
  sql: string,
  parameters: Readonly<Record<string, string | number>> = {},
): Promise<readonly T[]> {
  const url = new URL(sqlUrl);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(`param_${name}`, String(value));
  const response = await fetch(url, { method: 'POST', body: `${sql}\nFORMAT JSONEachRow` });
  const body = await response.text();
  if (!response.ok) throw new Error(`SQL answers with status ${response.status}: ${body}`);
  return body
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T);
}

/** Prints rows under their titles, numbers to the right. With `--json` prints one line of JSON instead. */
export function printTable(
  flags: Flags,
  titles: readonly string[],
  rows: readonly (readonly (string | number)[])[],
  raw: unknown,
): void {
  if (flags.json) {
    process.stdout.write(`${JSON.stringify(raw)}\n`);
    return;
  }
  const lines = [titles, ...rows].map((row) => row.map(String));
  const widths = titles.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const padded = (cell: string, column: number) => {
    const width = widths[column] ?? 0;
    return column === 0 ? cell.padEnd(width) : cell.padStart(width);
  };
  for (const line of lines) process.stdout.write(`${line.map(padded).join('  ').trimEnd()}\n`);
}

/** A number with a fixed number of decimals; a dash for null. */
export function decimals(value: number | null, digits: number): string {
  return value === null || !Number.isFinite(value) ? '-' : value.toFixed(digits);
}
