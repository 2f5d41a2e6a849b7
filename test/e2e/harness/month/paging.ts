// Pages a list of the history to its end as a client would, reads CSV back, and names the first difference from the truth.

import type { ListCheck } from './lists.ts';
import type { Row } from './rows.ts';
import { utcSpan } from './truth.ts';

const WINDOW_SECONDS = 31 * 86_400;
const PAGES_MAX = 2_000;

export interface Outcome {
  readonly endpoint: string;
  readonly path: string;
  readonly rows: number;
  readonly requests: number;
  /** null when equal. */
  readonly difference: string | null;
}

interface Envelope {
  readonly success?: boolean;
  readonly records: readonly Row[];
  readonly meta: {
    readonly nextPage: string | number | null;
    readonly totalRecords?: number;
    readonly totalPages?: number;
    readonly records?: number;
    readonly currentPage?: number;
    readonly isFinal?: boolean;
  };
}

export async function getJson<T>(url: string): Promise<T> {
  const response = await fetch(url);
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status} for ${url}: ${text.slice(0, 300)}`);
  return JSON.parse(text) as T;
}

function urlOf(base: string, path: string, query: Readonly<Record<string, unknown>>): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  const text = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)])).toString();
  return `${base}${path}${text === '' ? '' : `?${text}`}`;
}

/** Follows `meta.nextPage` until it is null. */
async function allPages(base: string, path: string, query: Readonly<Record<string, unknown>>) {
  const records: Row[] = [];
  let envelope: Envelope | null = null;
  let page: string | number | null = null;
  for (let requests = 1; requests <= PAGES_MAX; requests += 1) {
    const body: Envelope = await getJson<Envelope>(urlOf(base, path, { ...query, ...(page === null ? {} : { page }) }));
    if (body.success !== true) throw new Error(`${path}: success is ${body.success}`);
    envelope = body;
    records.push(...body.records);
    page = body.meta.nextPage;
    if (page === null) return { records, requests, last: envelope };
    if (body.records.length === 0) throw new Error(`${path}: an empty page names a next one`);
  }
  throw new Error(`${path}: more than ${PAGES_MAX} pages`);
}

/** The rolling list: the rows of the last 31 days. Its old end moves while it is read. */
export async function checkRolling(base: string, check: ListCheck, limit?: number): Promise<Outcome> {
  const before = Math.floor(Date.now() / 1000);
  const { records, requests } = await allPages(base, check.path, { ...check.query, limit });
  const after = Math.floor(Date.now() / 1000) + 1;
  const within = (now: number): number => check.rows.filter((row) => Number(row.ts) >= now - WINDOW_SECONDS).length;
  const [most, least] = [within(before), within(after)];
  const counted =
    records.length < least || records.length > most ? `${records.length} rows, expected ${least} to ${most}; ` : '';
  const difference = firstDifference(check.rows.slice(0, records.length), records.slice(0, most));
  return outcome(check, urlOf('', check.path, check.query ?? {}), records.length, requests, counted, difference);
}

/** One slot of an archive whole as CSV, and on request as JSON page by page. Rows from `finalTs` on are left out. */
export async function checkDated(
  base: string,
  check: ListCheck,
  dated: readonly [year: number, month: number, day?: number],
  { finalTs, asJson }: { readonly finalTs: number; readonly asJson: boolean },
): Promise<Outcome> {
  const path = [check.path, ...dated].join('/');
  const { from, to } = utcSpan(...dated);
  const expected = check.rows.filter(({ ts }) => Number(ts) >= from && Number(ts) < Math.min(to, finalTs));
  const json = asJson ? await allPages(base, path, {}) : null;
  const response = await fetch(`${base}${path}?format=csv`);
  const csv = await response.text();
  const wrong = [
    ...(response.status === 200 ? [] : [`CSV answered ${response.status}`]),
    ...(/^text\/csv/.test(response.headers.get('content-type') ?? '') ? [] : ['CSV content type']),
    ...(fileName(response) === `${path.slice(1).replaceAll('/', '-')}.csv` ? [] : [`file ${fileName(response)}`]),
    ...(csv.startsWith('"ts","txSig","txSigIndex","slot",') ? [] : ['no header']),
    ...(json && json.records.length !== expected.length ? [`${json.records.length} of ${expected.length} rows`] : []),
    ...(json && json.last.meta.totalRecords !== expected.length ? [`total ${json.last.meta.totalRecords}`] : []),
    ...finalityFaults(to <= finalTs, response.headers.get('x-final'), json?.last.meta.isFinal),
  ];
  const parsed = response.status === 200 ? parseCsv(csv) : { names: [], rows: [] };
  const difference = firstDifference(expected, json?.records ?? []) ?? csvDifference(expected, parsed);
  const label = wrong.length === 0 ? '' : `${wrong.join(', ')}; `;
  const endpoint = `${check.endpoint}/${check.archive}`;
  return outcome({ ...check, endpoint }, path, parsed.rows.length, (json?.requests ?? 0) + 1, label, difference);
}

function finalityFaults(isFinal: boolean, header: string | null, member: boolean | undefined): readonly string[] {
  return [
    ...(header === String(isFinal) ? [] : [`x-final ${header}`]),
    ...(member === undefined || String(member) === header ? [] : [`isFinal ${member}, x-final ${header}`]),
  ];
}

function fileName({ headers }: Response): string | undefined {
  return /^attachment; filename=(.*)$/.exec(headers.get('content-disposition') ?? '')?.[1];
}

function outcome(
  { endpoint }: ListCheck,
  path: string,
  rows: number,
  requests: number,
  counted: string,
  difference: string | null,
): Outcome {
  const text = `${counted}${difference ?? ''}`;
  return { endpoint, path, rows, requests, difference: text === '' ? null : text };
}

/** The first row and member in which two lists differ, in words; null when the shorter one equals the start of the longer. */
export function firstDifference(expected: readonly Row[], got: readonly Row[]): string | null {
  for (const [index, row] of got.entries()) {
    const wanted = expected[index];
    if (!wanted) return `row ${index} is not expected: ${JSON.stringify(row).slice(0, 300)}`;
    const names = new Set([...Object.keys(wanted), ...Object.keys(row)]);
    for (const name of names) {
      const [left, right] = [JSON.stringify(wanted[name]), JSON.stringify(row[name])];
      if (left !== right) {
        return `row ${index} (${String(wanted.txSig).slice(0, 8)}/${wanted.txSigIndex}) ${name}: expected ${left}, got ${right}`;
      }
    }
  }
  return null;
}

/** A CSV cell of a value: text as it is, lists as JSON, null empty. */
function cellOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  return Array.isArray(value) ? JSON.stringify(value) : String(value);
}

function csvDifference(expected: readonly Row[], { names, rows }: ReturnType<typeof parseCsv>): string | null {
  if (rows.length !== expected.length) return `CSV has ${rows.length} rows, expected ${expected.length}`;
  const wanted = Object.keys(expected[0] ?? {}).filter((name) => !names.includes(name));
  if (wanted.length > 0) return `CSV lacks ${wanted.join(', ')}`;
  for (const [index, row] of rows.entries()) {
    for (const [column, name] of names.entries()) {
      const cell = cellOf(expected[index]?.[name]);
      if (cell !== row[column]) return `CSV row ${index} ${name}: expected ${cell}, got ${row[column]}`;
    }
  }
  return null;
}

/** A small reader of RFC 4180 text. */
function parseCsv(text: string): { readonly names: readonly string[]; readonly rows: readonly string[][] } {
  const lines: string[][] = [];
  let line: string[] = [];
  let cell = '';
  let quoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at] ?? '';
    if (quoted) {
      if (char !== '"') cell += char;
      else if (text[at + 1] === '"') {
        cell += '"';
        at += 1;
      } else quoted = false;
    } else if (char === '"') quoted = true;
    else if (char === ',' || char === '\n') {
      line.push(cell);
      cell = '';
      if (char === '\n') {
        lines.push(line);
        line = [];
      }
    } else cell += char;
  }
  const [names = [], ...rows] = lines;
  return { names, rows };
}
