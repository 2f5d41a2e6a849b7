// Builds the file of a job: rows to CSV to gzip to the store, with one slice of rows in memory.

import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { createGzip } from 'node:zlib';
import type { Logger } from '../../../platform/index.ts';
import { EXPORT_FAILURES, type ExportFailureCode, HistoryError } from '../../http/errors.ts';
import type { ExportJob, JobEnd } from './jobs.ts';
import { ExportFailure, type Statement, type StatementSources, statementOfJob } from './statement.ts';
import type { FileStore } from './stores/port.ts';

/** Higher levels take twice the time for a tenth less. */
const GZIP_LEVEL = 4;
/** A store that restarts is back within them: 1, 2, 4, 8, 16 seconds. */
const RETRIES = 5;
const FIRST_PAUSE_MS = 1_000;

export type Built = Omit<JobEnd, 'atMs'>;

export interface BuildParts {
  readonly sources: StatementSources;
  readonly files: FileStore;
  readonly logger: Logger;
}

/** The file store failed. */
class FilesAwayError extends Error {}

/** The outcome of a job, with its file stored under `file`. Rejects only when the signal aborts. */
export async function buildFile(parts: BuildParts, job: ExportJob, file: string, signal: AbortSignal): Promise<Built> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await attemptFile(parts, job, file, signal);
    } catch (error) {
      signal.throwIfAborted();
      const code = codeOf(error);
      const isFinal = error instanceof ExportFailure || attempt === RETRIES;
      const { requestId } = job;
      parts.logger[isFinal ? 'error' : 'warn']({ err: error, requestId, attempt }, 'a statement could not be built');
      if (isFinal) return { outcome: 'failed', reason: EXPORT_FAILURES[code], rows: 0, bytes: 0, file: null };
      await sleep(FIRST_PAUSE_MS * 2 ** attempt, undefined, { signal });
    }
  }
}

function codeOf(error: unknown): ExportFailureCode {
  if (error instanceof ExportFailure) return error.code;
  if (error instanceof FilesAwayError) return 'filesAway';
  if (error instanceof HistoryError && (error.code === 'storeAway' || error.code === 'notBuilt')) return error.code;
  return 'internal';
}

async function attemptFile(parts: BuildParts, job: ExportJob, file: string, signal: AbortSignal): Promise<Built> {
  const statement = await statementOfJob(parts.sources, job);
  signal.throwIfAborted();
  if (statement === null) return { outcome: 'empty', reason: null, rows: 0, bytes: 0, file: null };
  const bytes = await store(parts.files, file, statement, signal);
  return { outcome: 'ready', reason: null, rows: statement.rows(), bytes, file };
}

/** Returns the compressed size. */
async function store(files: FileStore, file: string, statement: Statement, signal: AbortSignal): Promise<number> {
  let bytes = 0;
  const gzip = createGzip({ level: GZIP_LEVEL });
  const compressing = pipeline(Readable.from(statement.chunks), gzip, { signal });
  const body = Readable.from(
    (async function* () {
      for await (const chunk of gzip as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        yield chunk;
      }
    })(),
  );
  const storing = files.put(file, body, signal).catch((cause: unknown) => {
    gzip.destroy();
    throw new FilesAwayError('the file store failed', { cause });
  });
  const [compressed, stored] = await Promise.allSettled([compressing, storing]);
  // A failed store ends the compression early, so its own error explains both; any other error of the rows comes first.
  if (compressed.status === 'rejected' && !isCutOff(compressed.reason)) throw compressed.reason;
  if (stored.status === 'rejected') throw stored.reason;
  if (compressed.status === 'rejected') throw compressed.reason;
  return bytes;
}

const isCutOff = (error: unknown): boolean =>
  (error as NodeJS.ErrnoException | null)?.code === 'ERR_STREAM_PREMATURE_CLOSE';
