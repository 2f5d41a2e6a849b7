// Compares ClickHouse with what the cluster says it emitted: every event once, every field, by count and hash per table.

import { createHash } from 'node:crypto';
import { createClient } from '@clickhouse/client';
import bs58 from 'bs58';
import type { FaultKind } from '../../../../localnet/faults/kinds.ts';
import { columnsOf, EVENT_NAMES, storedName, tableOf } from '../../../../schemas/index.ts';
import type { Cluster } from '../../../support/processes/processes.ts';

const PAGE_EVENTS = 5_000;
const HEAD = ['signature', 'event_index', 'slot', 'tx_index'];

interface TruthEvent {
  readonly signature: string;
  readonly index: number;
  readonly slot: number;
  readonly name: string;
  readonly data: Record<string, unknown>;
}

export interface TableDigest {
  readonly count: number;
  readonly hash: string;
}
export type Digests = Record<string, TableDigest>;
/** Rows by table, one line each. A line begins with signature (hexadecimal), index and slot. */
export type Lines = ReadonlyMap<string, readonly string[]>;

/** Every confirmed event that a node still has. Execution cut the others from their logs. */
export async function truthLines(cluster: Cluster): Promise<Lines> {
  const lines = new Map<string, string[]>();
  for (let from = 0; ; ) {
    const events = await cluster.rpc<(TruthEvent & { readonly lost: boolean })[]>('localnet_events', {
      from,
      limit: PAGE_EVENTS,
      commitment: 'confirmed',
    });
    if (events.length === 0) break;
    from += events.length;
    for (const event of events) {
      if (event.lost) continue;
      const table = tableOf(event.name);
      const flat = flatten(event.data);
      const fields = dataColumns(event.name).map(({ name, type }) => {
        const value = flat[name] ?? null;
        flat[name] = undefined;
        return type.includes('FixedString') ? bytesAsHex(value) : canonical(value);
      });
      const left = Object.keys(flat).filter((name) => flat[name] !== undefined && !/padding/.test(name));
      if (left.length > 0) throw new Error(`${event.name} has fields without a column: ${left.join(', ')}`);
      const head = [Buffer.from(bs58.decode(event.signature)).toString('hex'), event.index, event.slot];
      push(lines, table, [...head, ...fields].join('|'));
    }
  }
  return lines;
}

/** Every row ClickHouse holds; empty tables are left out. */
export async function storedLines(url: string, database = 'slotbook'): Promise<Lines> {
  const client = createClient({ url, database });
  try {
    const lines = new Map<string, string[]>();
    for (const name of EVENT_NAMES) {
      const table = tableOf(name);
      const columns = dataColumns(name);
      const selected = columns.map(({ name: column, type }) => {
        if (type.includes('Array(FixedString')) return `arrayMap(x -> lower(hex(x)), ${column})`;
        return type.includes('FixedString') ? `lower(hex(${column}))` : column;
      });
      const result = await client.query({
        query: `SELECT lower(hex(signature)), event_index, slot${selected.map((s) => `, ${s}`).join('')} FROM \`${table}\` FINAL`,
        format: 'JSONCompactEachRow',
        clickhouse_settings: { output_format_json_quote_64bit_integers: 1, output_format_json_quote_decimals: 1 },
      });
      for (const row of await result.json<unknown[]>()) push(lines, table, row.map(canonical).join('|'));
    }
    return lines;
  } finally {
    await client.close();
  }
}

/** Reports in an answer of `localnet_did`: more than a run makes of one kind. */
const REPORTS_MAX = 100_000;

interface FaultReport {
  readonly method: string;
  readonly key: string;
  readonly detail: { readonly ms?: number | null };
}

/** Lines of the truth that the history lacks because the node never answers `getTransaction` of them with logs. */
export async function withheldLines(
  cluster: Cluster,
  truth: Lines,
  stored: () => Promise<Lines>,
): Promise<readonly string[]> {
  const reports = async (kind: FaultKind) => {
    const did = await cluster.rpc<{ reports: readonly FaultReport[] }>('localnet_did', { kind, limit: REPORTS_MAX });
    return did.reports.filter(({ method }) => method === 'getTransaction');
  };
  const hidden = (await reports('nullTransaction')).filter(({ detail }) => detail.ms === null);
  const keys = [...hidden, ...(await reports('nullLogs'))].map(({ key }) => key);
  if (keys.length === 0) return [];
  const withheld = new Set(keys.map((key) => Buffer.from(bs58.decode(key)).toString('hex')));
  const known = new Set([...(await stored()).values()].flat().map(signatureOf));
  return [...truth.values()].flat().filter((line) => withheld.has(signatureOf(line)) && !known.has(signatureOf(line)));
}

const signatureOf = (line: string): string => line.slice(0, line.indexOf('|'));
export const slotOf = (line: string): number => Number(line.split('|', 3)[2]);

/** Rows of all tables together, duplicates and all: a cheap look at how far the sink is. */
export async function storedRows(url: string, database = 'slotbook'): Promise<number> {
  const client = createClient({ url, database });
  try {
    const result = await client.query({
      query:
        'SELECT sum(total_rows) AS n FROM system.tables WHERE database = {database:String} AND name IN ({tables:Array(String)})',
      query_params: { database, tables: EVENT_NAMES.map(tableOf) },
      format: 'JSONEachRow',
    });
    return Number((await result.json<{ n: string }>())[0]?.n);
  } finally {
    await client.close();
  }
}

function dataColumns(event: string) {
  return columnsOf(event).filter(({ name }) => !HEAD.includes(name));
}

function push(lines: Map<string, string[]>, table: string, line: string): void {
  const list = lines.get(table);
  if (list) list.push(line);
  else lines.set(table, [line]);
}

/** Digest of every row by table, for short messages. */
export function digestsOf(lines: Lines): Digests {
  const sorted = [...lines].sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(
    sorted.map(([table, list]) => [
      table,
      {
        count: list.length,
        hash: createHash('sha256')
          .update([...list].sort().join('\n'))
          .digest('hex')
          .slice(0, 16),
      },
    ]),
  );
}

/** Nested records become `outer_inner`, lists of records become one list per member. */
function flatten(value: Record<string, unknown>, prefix = ''): Record<string, unknown> {
  const flat: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) {
    const column = prefix === '' ? storedName(name) : prefix + name;
    if (isRecord(member)) Object.assign(flat, flatten(member, `${column}_`));
    else if (Array.isArray(member) && member.length > 0 && isRecord(member[0])) {
      for (const key of Object.keys(member[0])) flat[`${column}_${key}`] = member.map((entry) => entry[key]);
    } else flat[column] = member;
  }
  return flat;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Keys come as base58, other bytes (a name) as a list of numbers. */
function bytesAsHex(value: unknown): string {
  if (typeof value === 'string') return Buffer.from(bs58.decode(value)).toString('hex');
  if (!Array.isArray(value)) return canonical(value);
  const isBytes = value.length > 0 && value.every((byte) => typeof byte === 'number');
  return isBytes ? Buffer.from(value).toString('hex') : `[${value.map(bytesAsHex).join(',')}]`;
}

/** One text per value whatever its spelling: integers as digits, lists joined. */
function canonical(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  return Array.isArray(value) ? `[${value.map(canonical).join(',')}]` : String(value);
}
