// `slotbook export`: writes a range of a stored table to a file, with a coverage file beside it.

import type { ClickHouseClient } from '@clickhouse/client';
import {
  type Config,
  errorText,
  type HistoryCompleteness,
  historySinkGroup,
  makeClient,
  readCurrent,
  readFinality,
  readHistoryCompleteness,
  silentLogger,
  syncReplicas,
} from '../platform/index.ts';
import {
  gapsOfRange,
  holesOfRange,
  isRangeComplete,
  type RangeCoverage,
  readRangeCoverage,
  readStoredUpTo,
} from './export/coverage.ts';
import { type Written, writeFileFrom, writeStandardOutput, writeText } from './export/file.ts';
import { type ExportFlags, type ExportRequest, readRequest } from './export/request.ts';
import { type ExportTable, exportQuery } from './export/select.ts';
import { connect, describeTable } from './export/store.ts';
import { openLog } from './log.ts';

const EXIT_FAILURE = 1;
/** How long an export waits until the store has all events of the log. */
const STORE_WAIT_MS = 10_000;
const NOTHING_KNOWN: HistoryCompleteness = { gaps: null, coverage: [], accounts: [], eventsNotStored: null };
/** Rows that arrive during an export make it start again, so that file and coverage agree. */
const ATTEMPTS_MAX = 5;

/** Resolves to the exit code. Throws ConfigError (exit code 2) for an invalid request. */
export async function exportTable(config: Config, flags: ExportFlags): Promise<number> {
  const request = readRequest(flags);
  const client = connect(config);
  const log = await openLog(config);
  try {
    const configured = config.clickhouseDatabase;
    const database = log ? (await readCurrent(log, configured)).read : configured;
    const table = await describeTable(client, database, request.table);
    const {
      gaps: known,
      coverage: streams,
      accounts,
      eventsNotStored: notStored,
    } = log ? await readHistoryCompleteness(log, historySinkGroup(database, configured), STORE_WAIT_MS) : NOTHING_KNOWN;
    // A quorum stores each row, and this replica may lag behind it.
    const eventsNotStored = (await caughtUp(config, database, table.name)) ? notStored : null;
    const storedUpTo = await readStoredUpTo(client, database);
    const finalUpTo = log && (await readFinality(log));
    // Leaves out rows that are not final.
    const toFinal = { ...request, toTs: Math.min(request.toTs, finalUpTo?.ts ?? request.toTs) };
    const { covered, written } = await writeRows(client, database, table, toFinal);
    const gaps = known && (await gapsOfRange(client, database, request, known));
    const missing = await holesOfRange(client, database, request, streams);
    const { file, format, fromTs, toTs } = request;
    // A capture never names final slots, and does not change.
    const isFinal = finalUpTo ? finalUpTo.ts >= toTs : config.source === 'capture';
    const coverage = {
      table: table.name,
      database,
      format,
      range: { fromTs, toTs, from: isoOf(fromTs), to: isoOf(toTs) },
      ...covered,
      ...written,
      storedUpTo,
      finalUpTo,
      eventsNotStored,
      complete: isRangeComplete({ toTs, isFinal, storedUpTo, eventsNotStored, gaps, streams, missing }),
      gaps,
      missingRecords: missing,
      accounts: accounts.map(({ slot: _, ...totals }) => totals),
      writtenAt: new Date().toISOString(),
    };
    const text = `${JSON.stringify(coverage, null, 2)}\n`;
    if (file === null) process.stderr.write(text);
    else {
      await writeText(`${file}.coverage.json`, text);
      process.stderr.write(`${covered.rows} rows of ${table.name} in ${file}\n`);
      if (toFinal.toTs < toTs) process.stderr.write(`left out: rows from ${isoOf(toFinal.toTs)} on, not final yet\n`);
    }
    return 0;
  } catch (error) {
    return failed(error);
  } finally {
    await log?.close();
    await client.close();
  }
}

/** False when a replica does not answer: then nobody knows whether this replica has all rows. */
async function caughtUp(config: Config, database: string, table: string): Promise<boolean> {
  const { clickhouseUrl: url, clickhouseUser: user, clickhousePassword: password, clickhouseCluster: cluster } = config;
  if (cluster === '') return true;
  // The export's own user may only read.
  const client = makeClient({ url, user, password, logger: silentLogger() });
  try {
    await syncReplicas(client, { database, cluster }, table);
    return true;
  } catch (error) {
    process.stderr.write(`slotbook: replicas may lack rows: ${errorText(error)}\n`);
    return false;
  } finally {
    await client.close();
  }
}

/** Writes the rows and counts them before and after, until both counts agree: file and coverage are of one state. */
async function writeRows(
  client: ClickHouseClient,
  database: string,
  table: ExportTable,
  request: ExportRequest,
): Promise<{ readonly covered: RangeCoverage; readonly written: Written }> {
  const hasSlot = table.columns.some(({ name }) => name === 'slot');
  const count = () => readRangeCoverage(client, database, request, hasSlot);
  let before = await count();
  for (let attempt = 1; ; attempt++) {
    const { stream, response_headers } = await client.exec({
      query: exportQuery(table, request.format),
      query_params: { db: database, table: table.name, fromTs: request.fromTs, toTs: request.toTs },
    });
    const tag = response_headers['x-clickhouse-exception-tag'];
    const exceptionTag = typeof tag === 'string' ? tag : null;
    const { file } = request;
    const written = await (file === null
      ? writeStandardOutput(stream, exceptionTag)
      : writeFileFrom(stream, file, exceptionTag));
    const after = await count();
    if (JSON.stringify(after) === JSON.stringify(before)) return { covered: after, written };
    if (file === null || attempt === ATTEMPTS_MAX) {
      throw new Error('new rows kept arriving in the range: choose an end in the past');
    }
    before = after;
  }
}

const isoOf = (ts: number) => new Date(ts * 1000).toISOString();

function failed(error: unknown): number {
  if (error instanceof Error && error.name === 'ConfigError') throw error;
  process.stderr.write(`slotbook: ${errorText(error)}\n`);
  return EXIT_FAILURE;
}
