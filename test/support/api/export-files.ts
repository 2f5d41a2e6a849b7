// Statement files in tests: jobs without a log, and a CSV reader of its own.

import type { ExportJob } from '../../../api/history/exports/jobs.ts';
import { type StatementSources, statementOfJob } from '../../../api/history/exports/statement.ts';
import type { NewRecord } from '../../../platform/index.ts';
import { encodeMessage } from '../../../schemas/index.ts';
import { NOW } from './history-stage.ts';

/** The record that blocks up to this time, unix seconds, are final. */
export function finalTo(ts: number): NewRecord {
  return { key: 'chain', value: encodeMessage('ChainFinality', { slot: 1, ts }) };
}

/** A job of a wallet for the last 100 days. */
export function exportJob(members: Partial<ExportJob> & Pick<ExportJob, 'fileType' | 'users'>): ExportJob {
  return {
    requestId: '01890a5d-ac96-774b-bcce-b302099a8057',
    authority: '11111111111111111111111111111111',
    from: NOW - 100 * 86_400,
    to: NOW,
    market: null,
    offset: 0n,
    requestedMs: NOW * 1000,
    claim: null,
    claims: 0,
    end: null,
    ...members,
  };
}

/** The CSV of a job; null for an empty one. */
export async function csvOfJob(sources: StatementSources, job: ExportJob): Promise<string | null> {
  const statement = await statementOfJob(sources, job);
  if (statement === null) return null;
  const chunks: Buffer[] = [];
  for await (const chunk of statement.chunks) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

export type CsvRow = Readonly<Record<string, string>>;

/** Rows of CSV by column name; quoted and bare cells as text. Throws for a line with another number of cells. */
export function parseCsv(text: string): readonly CsvRow[] {
  const [header = [], ...lines] = cellsOf(text);
  return lines.map((cells) => {
    if (cells.length !== header.length) throw new Error(`${cells.length} cells instead of ${header.length}: ${cells}`);
    return Object.fromEntries(header.map((name, at) => [name, cells[at] ?? '']));
  });
}

/** A CSV reader by characters (RFC 4180), with line feeds inside quotes. */
function cellsOf(text: string): string[][] {
  const lines: string[][] = [];
  let [line, cell, isQuoted]: [string[], string, boolean] = [[], '', false];
  for (let at = 0; at < text.length; at++) {
    const char = text[at] ?? '';
    if (isQuoted) {
      if (char !== '"') cell += char;
      else if (text[at + 1] === '"') cell += text[++at];
      else isQuoted = false;
    } else if (char === '"') isQuoted = true;
    else if (char === ',' || char === '\n') {
      line.push(cell);
      cell = '';
      if (char === '\n') {
        lines.push(line);
        line = [];
      }
    } else cell += char;
  }
  if (cell !== '' || line.length > 0) throw new Error('the last line does not end');
  return lines;
}
