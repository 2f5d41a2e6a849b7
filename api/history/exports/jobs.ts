// Export jobs as a function of the log. Each process applies the same records in the same order, so all of them agree which
// worker has a job and which outcome counts. Times come from the records.

import bs58 from 'bs58';
import type { ExportClaimed, ExportExpired, ExportFinished, ExportRequested, Message } from '../../../schemas/index.ts';
import { ALL_JOBS_MAX, JOBS_MAX, WAITING_MAX } from './limits.ts';

export type ExportOutcome = 'ready' | 'empty' | 'failed';

/** A worker's claim on a job. */
export interface Claim {
  readonly id: string;
  /** Unix milliseconds; from then on another worker may claim the job. */
  readonly untilMs: number;
}

export interface ExportJob {
  readonly requestId: string;
  /** Wallet and sub-accounts, base58. */
  readonly authority: string;
  readonly users: readonly string[];
  readonly fileType: string;
  /** Unix seconds, both inclusive. */
  readonly from: number;
  readonly to: number;
  readonly market: string | null;
  /** Order of the job among all jobs. */
  readonly offset: bigint;
  readonly requestedMs: number;
  readonly claim: Claim | null;
  /** Claims so far, without renewals. */
  readonly claims: number;
  readonly end: JobEnd | null;
}

export interface JobEnd {
  readonly outcome: ExportOutcome;
  readonly reason: string | null;
  readonly rows: number;
  readonly bytes: number;
  /** Name of the file in the store. */
  readonly file: string | null;
  readonly atMs: number;
}

const OUTCOMES: readonly string[] = ['ready', 'empty', 'failed'] satisfies readonly ExportOutcome[];

export class ExportJobs {
  readonly #jobs = new Map<string, ExportJob>();
  /** Request ids of each wallet, oldest first. */
  readonly #byWallet = new Map<string, Set<string>>();
  /** Request ids without an outcome, oldest first. */
  readonly #waiting = new Set<string>();

  /** Applies one record. `offset` is its place in the log. A record that another one preceded or excludes changes nothing. */
  apply(message: Message, offset: bigint): void {
    if (message.name === 'ExportRequested') this.#request(message.value, offset);
    else if (message.name === 'ExportClaimed') this.#claim(message.value);
    else if (message.name === 'ExportFinished') this.#finish(message.value);
    else if (message.name === 'ExportExpired') this.#expire(message.value);
  }

  get(requestId: string): ExportJob | undefined {
    return this.#jobs.get(requestId);
  }

  /** Every job that has not expired. */
  all(): IterableIterator<ExportJob> {
    return this.#jobs.values();
  }

  /** Jobs of a wallet, newest first. */
  of(authority: string): readonly ExportJob[] {
    return [...(this.#byWallet.get(authority) ?? [])].reverse().flatMap((id) => this.#jobs.get(id) ?? []);
  }

  /** Jobs without an outcome, oldest first. */
  *waiting(): Generator<ExportJob> {
    for (const id of this.#waiting) {
      const job = this.#jobs.get(id);
      if (job) yield job;
    }
  }

  get waitingCount(): number {
    return this.#waiting.size;
  }

  /** Whether a wallet, or all together, have as many jobs as they may have: a further request would change nothing. */
  isFull(authority: string): boolean {
    if (this.#jobs.size >= ALL_JOBS_MAX) return true;
    const own = this.#byWallet.get(authority);
    if (own === undefined) return false;
    let waiting = 0;
    for (const id of own) if (this.#waiting.has(id)) waiting += 1;
    return waiting >= WAITING_MAX || own.size >= JOBS_MAX;
  }

  #request(request: ExportRequested, offset: bigint): void {
    const { requestId } = request;
    const authority = bs58.encode(request.authority);
    if (this.#jobs.has(requestId) || this.isFull(authority)) return;
    const own = this.#byWallet.get(authority) ?? new Set();
    this.#byWallet.set(authority, own.add(requestId));
    this.#waiting.add(requestId);
    this.#jobs.set(requestId, {
      requestId,
      authority,
      users: request.users.map((user) => bs58.encode(user)),
      fileType: request.fileType,
      from: request.fromTs,
      to: request.toTs,
      market: request.market,
      offset,
      requestedMs: request.atMs,
      claim: null,
      claims: 0,
      end: null,
    });
  }

  #claim({ requestId, claim: id, atMs, untilMs }: ExportClaimed): void {
    const job = this.#jobs.get(requestId);
    if (!job || job.end) return;
    const isRenewal = job.claim?.id === id;
    if (job.claim && !isRenewal && atMs < job.claim.untilMs) return;
    this.#jobs.set(requestId, { ...job, claim: { id, untilMs }, claims: job.claims + (isRenewal ? 0 : 1) });
  }

  #finish({ requestId, claim, outcome, reason, rows, bytes, file, atMs }: ExportFinished): void {
    const job = this.#jobs.get(requestId);
    if (!job || job.end || job.claim?.id !== claim || !OUTCOMES.includes(outcome)) return;
    this.#waiting.delete(requestId);
    const end = { outcome: outcome as ExportOutcome, reason, rows, bytes, file, atMs };
    this.#jobs.set(requestId, { ...job, end });
  }

  #expire({ requestId }: ExportExpired): void {
    const job = this.#jobs.get(requestId);
    if (!job) return;
    this.#jobs.delete(requestId);
    this.#waiting.delete(requestId);
    const own = this.#byWallet.get(job.authority);
    own?.delete(requestId);
    if (own?.size === 0) this.#byWallet.delete(job.authority);
  }
}

/** Status of a job at a time, Unix milliseconds. */
export function statusOf({ end, claim }: ExportJob, nowMs: number): 'pending' | 'processing' | ExportOutcome {
  if (end) return end.outcome;
  return claim && claim.untilMs > nowMs ? 'processing' : 'pending';
}
