// Statement exports without processes: a log in memory, files in a temporary folder, the service's routes, and workers.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { FastifyInstance, InjectOptions } from 'fastify';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { type AccessSettings, ExportAccess } from '../../../api/history/exports/access.ts';
import { JobLog } from '../../../api/history/exports/job-log.ts';
import { exportMetrics } from '../../../api/history/exports/metrics.ts';
import type { StatementSources } from '../../../api/history/exports/statement.ts';
import { FolderStore } from '../../../api/history/exports/stores/folder.ts';
import type { FileStore } from '../../../api/history/exports/stores/port.ts';
import { ExportWorker } from '../../../api/history/exports/worker.ts';
import { HistoryStore } from '../../../api/history/store.ts';
import type { WalletAuth } from '../../../api/history/wallet/wallets.ts';
import type { EventLog } from '../../../platform/index.ts';
import { FakeLog } from './fake-log.ts';
import { type HistoryStage, makeApp, registry } from './history-stage.ts';

const logger = pino({ level: 'silent' });
const SETTINGS: AccessSettings = {
  exportKeepHours: 168,
  exportUrlMinutes: 480,
  exportSignatures: 'optional',
  exportDownloadOrigin: '',
};
const LEASE_MS = 30_000;

export interface ExportRecord {
  readonly requestId: string;
  readonly status: string;
  readonly downloadUrl: string | null;
  readonly [member: string]: unknown;
}

export interface ExportPage {
  readonly records: readonly ExportRecord[];
  readonly meta: { readonly nextPage: string | null };
}

export class ExportStage {
  readonly log = new FakeLog();
  readonly folder: string;
  readonly files: FolderStore;
  readonly #stage: HistoryStage;
  readonly #ends: (() => Promise<unknown>)[] = [];

  private constructor(stage: HistoryStage, folder: string, files: FolderStore) {
    this.#stage = stage;
    this.folder = folder;
    this.files = files;
  }

  static async open(stage: HistoryStage): Promise<ExportStage> {
    const folder = await mkdtemp(path.join(tmpdir(), 'slotbook-exports-'));
    return new ExportStage(stage, folder, await FolderStore.open(folder));
  }

  async close(): Promise<void> {
    for (const end of this.#ends.reverse()) await end();
    await rm(this.folder, { recursive: true, force: true });
  }

  /** A history service on the log and the files. Its clock is the wall clock, like the workers'. */
  async service({
    settings = {},
    wallets,
    log = this.log,
    timeoutMs,
    now = () => Math.floor(Date.now() / 1000),
  }: {
    readonly settings?: Partial<AccessSettings>;
    readonly wallets?: WalletAuth;
    readonly log?: EventLog;
    readonly timeoutMs?: number;
    readonly now?: () => number;
  } = {}): Promise<FastifyInstance> {
    const access = new ExportAccess({
      log,
      logger,
      files: this.files,
      settings: { ...SETTINGS, ...settings },
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    });
    await access.start();
    const app = await makeApp(this.#stage.clickhouse, registry(), {
      exports: access,
      now,
      ...(wallets && { wallets }),
    });
    this.#ends.push(() => app.close().then(() => access.stop()));
    return app;
  }

  /** A worker of a process of its own, in effect. The returned function stops it. */
  async worker({
    files = this.files,
    sources = {},
    leaseMs = LEASE_MS,
    keepHours = SETTINGS.exportKeepHours,
  }: {
    readonly files?: FileStore;
    readonly sources?: Partial<StatementSources>;
    readonly leaseMs?: number;
    readonly keepHours?: number;
  } = {}): Promise<() => Promise<void>> {
    const jobs = new JobLog({ log: this.log, logger });
    await jobs.start();
    const { client, database } = this.#stage.clickhouse;
    const worker = new ExportWorker({
      jobs,
      files,
      logger,
      sources: {
        store: new HistoryStore(client, database),
        markets: registry(),
        builtParts: { require: async () => {} },
        isLive: false,
        finality: () => null,
        ...sources,
      },
      settings: { exportLeaseMs: leaseMs, exportJobsAtOnce: 2, exportKeepHours: keepHours },
      metrics: exportMetrics(new Registry(), () => jobs.jobs.waitingCount),
    });
    worker.start();
    const stop = async () => {
      await worker.stop();
      await jobs.stop();
    };
    this.#ends.push(stop);
    return stop;
  }
}

/** Asks for a statement. */
export function requestExport(
  app: FastifyInstance,
  authority: string,
  body: object,
  headers: InjectOptions['headers'] = {},
) {
  return app.inject({
    method: 'POST',
    url: `/authority/${authority}/exports`,
    headers: { ...headers, 'content-type': 'application/json' },
    payload: JSON.stringify(body),
  });
}

export async function listExports(app: FastifyInstance, authority: string, page?: string): Promise<ExportPage> {
  const query = page === undefined ? '' : `?page=${encodeURIComponent(page)}`;
  const answer = await app.inject(`/authority/${authority}/exports${query}`);
  if (answer.statusCode !== 200) throw new Error(`${answer.statusCode} ${answer.body}`);
  return answer.json<ExportPage>();
}

/** The answer to a download URL of the service. */
export function download(app: FastifyInstance, url: string) {
  const { pathname, search } = new URL(url);
  return app.inject(`${pathname}${search}`);
}

export async function downloadText(app: FastifyInstance, url: string): Promise<string> {
  const answer = await download(app, url);
  if (answer.statusCode !== 200) throw new Error(`${answer.statusCode} ${answer.body}`);
  return gunzipSync(answer.rawPayload).toString('utf8');
}
