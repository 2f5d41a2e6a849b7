// Export jobs as the history service uses them: it asks for one, lists them with URLs, and sends files of the data
// directory.

import { randomUUID } from 'node:crypto';
import type { RoleContext } from '../../../platform/index.ts';
import type { ExportRequested } from '../../../schemas/index.ts';
import { HistoryError } from '../../http/errors.ts';
import { MINUTE_S } from '../seconds.ts';
import { JobLog, type JobLogParts } from './job-log.ts';
import type { ExportJob } from './jobs.ts';
import { FolderStore, type OpenFile } from './stores/folder.ts';
import { openFileStore } from './stores/open.ts';
import { type FileStore, requestIdOf } from './stores/port.ts';

export interface AccessSettings {
  readonly exportKeepHours: number;
  readonly exportUrlMinutes: number;
  readonly exportSignatures: 'optional' | 'required';
  readonly exportDownloadOrigin: string;
}

export interface AccessParts extends JobLogParts {
  readonly files: FileStore;
  readonly settings: AccessSettings;
  /** Longest wait for the log; for tests. */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 5_000;
const HOUR_MS = 3_600_000;

export class ExportAccess {
  readonly settings: AccessSettings;
  readonly #log: JobLog;
  readonly #files: FileStore;
  readonly #timeoutMs: number;

  constructor({ files, settings, timeoutMs = TIMEOUT_MS, ...parts }: AccessParts) {
    this.settings = settings;
    this.#log = new JobLog(parts);
    this.#files = files;
    this.#timeoutMs = timeoutMs;
  }

  /** Resolves when all jobs so far are known. */
  start(): Promise<void> {
    return this.#log.start();
  }

  get done(): Promise<void> {
    return this.#log.done;
  }

  async stop(): Promise<void> {
    await this.#log.stop();
    await this.#files.close();
  }

  /**
   * Asks for a statement. Returns the id of the job. Throws HistoryError: exportsFull when the wallet has too many jobs,
   * exportsAway when the log does not answer; then the job may exist nevertheless.
   */
  async request(authority: string, request: Omit<ExportRequested, 'requestId'>): Promise<string> {
    const requestId = randomUUID();
    await this.#inTime(this.#log.readToEnd());
    if (this.#log.jobs.isFull(authority)) throw new HistoryError('exportsFull');
    await this.#inTime(this.#log.append('ExportRequested', { ...request, requestId }));
    // Of requests at the same moment, at several processes, the log's order decides which are too many.
    if (!this.#log.jobs.get(requestId)) throw new HistoryError('exportsFull');
    return requestId;
  }

  /** Jobs of a wallet that have not expired, newest first, at most `limit` of them, after the job at an offset. */
  async list(authority: string, after: bigint | null, limit: number, nowS: number): Promise<readonly ExportJob[]> {
    await this.#inTime(this.#log.readToEnd());
    return this.#log.jobs
      .of(authority)
      .filter((job) => !this.#isExpired(job, nowS) && (after === null || job.offset < after))
      .slice(0, limit);
  }

  /** A new URL of a job's file; null without one. */
  async urlOf(job: ExportJob, origin: string, nowS: number): Promise<string | null> {
    const file = job.end?.file ?? null;
    if (file === null) return null;
    const left = Math.ceil(this.#expiresMs(job) / 1000) - nowS;
    const validS = Math.max(1, Math.min(this.settings.exportUrlMinutes * MINUTE_S, left));
    return this.#files.url(file, { saveAs: saveAs(job), nowS, validS, origin });
  }

  /** The file of a download URL, and the name to save it under. Throws HistoryError: urlUnsigned, urlExpired, exportGone. */
  async read(name: string, expires: number, signature: string, nowS: number): Promise<OpenFile & { saveAs: string }> {
    if (!(this.#files instanceof FolderStore)) throw new HistoryError('urlUnsigned');
    const found = await this.#files.read(name, expires, signature, nowS);
    if (found === 'badSignature') throw new HistoryError('urlUnsigned');
    if (found === 'expired') throw new HistoryError('urlExpired');
    const job = this.#log.jobs.get(requestIdOf(name) ?? '');
    if (found === 'gone' || !job || this.#isExpired(job, nowS)) throw new HistoryError('exportGone');
    return { ...found, saveAs: saveAs(job) };
  }

  #expiresMs({ requestedMs }: ExportJob): number {
    return requestedMs + this.settings.exportKeepHours * HOUR_MS;
  }

  #isExpired(job: ExportJob, nowS: number): boolean {
    return this.#expiresMs(job) <= nowS * 1000;
  }

  async #inTime<T>(work: Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error('the log did not answer')), this.#timeoutMs);
    });
    try {
      return await Promise.race([work, late]);
    } catch (cause) {
      throw new HistoryError('exportsAway', undefined, { cause });
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Name of the saved file: type, market and days. */
function saveAs({ fileType, market, from, to }: ExportJob): string {
  const day = (ts: number) => new Date(ts * 1000).toISOString().slice(0, 'YYYY-MM-DD'.length);
  const parts = [fileType, market, day(from), day(to)].filter((part) => part !== null);
  return `${parts.join('-')}.csv.gz`;
}

/** Rejects when the log cannot be read. */
export async function startExportAccess(ctx: RoleContext): Promise<ExportAccess> {
  const access = new ExportAccess({ ...ctx, files: await openFileStore(ctx.config), settings: ctx.config });
  await access.start();
  return access;
}
