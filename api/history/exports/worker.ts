// Takes jobs, one claim each, builds their files and writes the outcomes. Any number of processes may do so: the log's order
// decides who has a job. A claim is renewed while its job is built; a killed process renews nothing, and another one goes on.

import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../../platform/index.ts';
import { EXPORT_FAILURES } from '../../http/errors.ts';
import { type BuildParts, type Built, buildFile } from './build.ts';
import type { JobLog } from './job-log.ts';
import type { ExportJob } from './jobs.ts';
import { CLAIMS_MAX } from './limits.ts';
import type { ExportMetrics } from './metrics.ts';
import { knowsFinality } from './statement.ts';
import { fileNameOf } from './stores/port.ts';

/** How often lapsed claims and the first final block time are looked for; a change of the jobs is seen at once. */
const LOOK_MS = 1_000;
/** How often jobs expire. */
const SWEEP_MS = 30_000;
const RENEWALS_PER_LEASE = 3;
/** Pause before a write that the log refused is repeated. */
const RETRY_MS = 1_000;
const CLAIM_BYTES = 16;
const HOUR_MS = 3_600_000;

export interface WorkerSettings {
  readonly exportLeaseMs: number;
  readonly exportJobsAtOnce: number;
  readonly exportKeepHours: number;
}

export interface WorkerParts extends BuildParts {
  readonly jobs: JobLog;
  readonly settings: WorkerSettings;
  readonly metrics: ExportMetrics;
  readonly logger: Logger;
}

export class ExportWorker {
  readonly #parts: WorkerParts;
  readonly #running = new Map<string, Promise<void>>();
  readonly #stopping = new AbortController();
  readonly #timers: NodeJS.Timeout[] = [];
  #stopListening: () => void = () => {};
  #sweeping: Promise<void> = Promise.resolve();

  constructor(parts: WorkerParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#stopListening = this.#parts.jobs.onChange(() => this.#takeJobs());
    this.#timers.push(setInterval(() => this.#takeJobs(), Math.min(LOOK_MS, this.#parts.settings.exportLeaseMs)));
    this.#timers.push(setInterval(() => this.#sweep(), SWEEP_MS));
    this.#takeJobs();
    this.#sweep();
  }

  /** Gives unfinished jobs back, so that another process takes them at once. */
  async stop(): Promise<void> {
    this.#stopListening();
    for (const timer of this.#timers) clearInterval(timer);
    this.#stopping.abort();
    await Promise.all([...this.#running.values(), this.#sweeping]);
  }

  #takeJobs(): void {
    if (this.#stopping.signal.aborted || !knowsFinality(this.#parts.sources)) return;
    const nowMs = Date.now();
    for (const job of this.#parts.jobs.jobs.waiting()) {
      if (this.#running.size >= this.#parts.settings.exportJobsAtOnce) return;
      const isFree = job.claim === null || job.claim.untilMs <= nowMs;
      if (!isFree || this.#running.has(job.requestId)) continue;
      const running = this.#run(job).catch((error: unknown) => {
        this.#parts.logger.error({ err: error, requestId: job.requestId }, 'could not finish an export job');
        return sleep(RETRY_MS, undefined, { signal: this.#stopping.signal }).catch(() => {});
      });
      this.#running.set(
        job.requestId,
        running.then(() => {
          this.#running.delete(job.requestId);
          this.#takeJobs();
        }),
      );
    }
  }

  async #run({ requestId }: ExportJob): Promise<void> {
    const startedMs = performance.now();
    const { jobs, metrics } = this.#parts;
    const claim = new JobClaim(jobs, requestId, this.#parts.settings.exportLeaseMs);
    if (!(await claim.take())) return;
    const held = claim.hold(this.#stopping.signal);
    try {
      const job = jobs.jobs.get(requestId);
      if (!job) return;
      const built = await this.#outcomeOf(job, claim, held);
      if (!(await this.#finish(claim, built, held))) return;
      metrics.finished.inc({ outcome: built.outcome });
      metrics.rows.inc(built.rows);
      metrics.seconds.observe((performance.now() - startedMs) / 1000);
    } catch (error) {
      if (!held.aborted) throw error;
      if (!this.#stopping.signal.aborted) metrics.lost.inc();
    } finally {
      await claim.release();
    }
  }

  async #outcomeOf(job: ExportJob, claim: JobClaim, held: AbortSignal): Promise<Built> {
    if (job.claims <= CLAIMS_MAX) return buildFile(this.#parts, job, fileNameOf(job.requestId, claim.id), held);
    return { outcome: 'failed', reason: EXPORT_FAILURES.gaveUp, rows: 0, bytes: 0, file: null };
  }

  /** Writes the outcome, again while the log is away. False when another worker had taken the job. */
  async #finish(claim: JobClaim, built: Built, held: AbortSignal): Promise<boolean> {
    const { jobs, logger } = this.#parts;
    const { requestId } = claim;
    for (;;) {
      held.throwIfAborted();
      try {
        await jobs.append('ExportFinished', { ...built, requestId, claim: claim.id, atMs: Date.now() });
        return claim.isOwn();
      } catch (error) {
        logger.warn({ err: error, requestId }, 'the outcome of an export could not be written, trying again');
        await sleep(RETRY_MS, undefined, { signal: held });
      }
    }
  }

  #sweep(): void {
    this.#sweeping = this.#sweeping
      .then(() => this.#expireOld())
      .catch((error: unknown) => this.#parts.logger.warn({ err: error }, 'old exports could not be removed'));
  }

  /** Removes the files first: a job that is gone names none. */
  async #expireOld(): Promise<void> {
    const { jobs, files, settings, logger } = this.#parts;
    const nowMs = Date.now();
    for (const { requestId, requestedMs } of [...jobs.jobs.all()]) {
      if (this.#stopping.signal.aborted) return;
      if (requestedMs + settings.exportKeepHours * HOUR_MS > nowMs) continue;
      await files.remove(requestId);
      await jobs.append('ExportExpired', { requestId, atMs: Date.now() });
      logger.info({ requestId }, 'export expired');
    }
  }
}

/** One claim of this process on a job. */
class JobClaim {
  readonly id = randomBytes(CLAIM_BYTES).toString('hex');
  readonly requestId: string;
  readonly #jobs: JobLog;
  readonly #claimMs: number;
  readonly #lost = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #untilMs = 0;
  #renewing: Promise<void> = Promise.resolve();

  constructor(jobs: JobLog, requestId: string, claimMs: number) {
    this.#jobs = jobs;
    this.requestId = requestId;
    this.#claimMs = claimMs;
  }

  /** True when this claim has the job, or has finished it. */
  isOwn(): boolean {
    return this.#jobs.jobs.get(this.requestId)?.claim?.id === this.id;
  }

  /** False when another worker was first. */
  async take(): Promise<boolean> {
    await this.#write(this.#claimMs);
    return this.isOwn();
  }

  /** Renews until `release`. The returned signal aborts with `signal`, or when the claim is lost. */
  hold(signal: AbortSignal): AbortSignal {
    this.#timer = setInterval(() => {
      this.#renewing = this.#renewing.then(() => this.#renew());
    }, this.#claimMs / RENEWALS_PER_LEASE);
    return AbortSignal.any([signal, this.#lost.signal]);
  }

  /** Stops renewing, and gives an unfinished job back. */
  async release(): Promise<void> {
    clearInterval(this.#timer);
    await this.#renewing;
    const job = this.#jobs.jobs.get(this.requestId);
    // A log that is away lets the claim lapse.
    if (this.isOwn() && job?.end === null) await this.#write(0).catch(() => {});
  }

  async #renew(): Promise<void> {
    try {
      await this.#write(this.#claimMs);
    } catch {
      // The log is away. Nobody else can claim the job meanwhile, unless only this process cannot reach it.
      if (Date.now() < this.#untilMs) return;
    }
    if (!this.isOwn() || Date.now() >= this.#untilMs) this.#lost.abort(new Error('another worker may have the job'));
  }

  async #write(claimMs: number): Promise<void> {
    const atMs = Date.now();
    const untilMs = atMs + claimMs;
    const own = { host: hostname(), pid: process.pid, atMs, untilMs };
    await this.#jobs.append('ExportClaimed', { requestId: this.requestId, claim: this.id, ...own });
    this.#untilMs = untilMs;
  }
}
