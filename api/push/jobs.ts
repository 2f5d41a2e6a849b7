// Notifications to push: which one goes next, and when. Wallets take turns, so that a slow receiver delays its own wallet
// alone. No clock and no I/O: the caller passes times.

import type { Notification, NotificationDevice } from '../../schemas/index.ts';
import {
  ATTEMPTS_MAX,
  FIRST_WAIT_MS,
  JITTER,
  JOBS_MAX,
  JOBS_OF_WALLET_MAX,
  SENDS_MAX,
  SENDS_OF_WALLET_MAX,
  WAIT_FACTOR,
} from './limits.ts';

export interface Job {
  /** `<notification id>:<wallet>` */
  readonly key: string;
  /** Wallet, base58. */
  readonly authority: string;
  readonly notification: Notification;
}

/** One device of a job. */
export interface Send {
  readonly job: Job;
  readonly device: NotificationDevice;
  attempts: number;
  /** Milliseconds before which it is not sent again. */
  notBefore: number;
}

export interface Outcome {
  readonly job: Job;
  readonly isSent: boolean;
}

interface OpenJob {
  readonly job: Job;
  /** Devices without an outcome. */
  open: number;
  isSent: boolean;
}

interface Wallet {
  readonly waiting: Send[];
  running: number;
  jobs: number;
}

export class PushJobs {
  readonly #jobs = new Map<string, OpenJob>();
  /** In the order of their turns. */
  readonly #wallets = new Map<string, Wallet>();
  readonly #chance: () => number;
  #running = 0;

  /** `chance`: from 0 to 1, for the jitter. */
  constructor(chance: () => number) {
    this.#chance = chance;
  }

  get size(): number {
    return this.#jobs.size;
  }

  get running(): number {
    return this.#running;
  }

  get isFull(): boolean {
    return this.#jobs.size >= JOBS_MAX;
  }

  has(key: string): boolean {
    return this.#jobs.has(key);
  }

  /** Whether the wallet has too many notifications waiting. */
  isFullFor(authority: string): boolean {
    return (this.#wallets.get(authority)?.jobs ?? 0) >= JOBS_OF_WALLET_MAX;
  }

  /** Adds a job with at least one device; a job that is here already stays as it is. */
  add(job: Job, devices: readonly NotificationDevice[]): void {
    if (this.#jobs.has(job.key)) return;
    this.#jobs.set(job.key, { job, open: devices.length, isSent: false });
    let wallet = this.#wallets.get(job.authority);
    if (!wallet) {
      wallet = { waiting: [], running: 0, jobs: 0 };
      this.#wallets.set(job.authority, wallet);
    }
    wallet.jobs += 1;
    wallet.waiting.push(...devices.map((device) => ({ job, device, attempts: 0, notBefore: 0 })));
  }

  /** Takes the next sends that may start now. The caller reports each with `sent` or `failed`. */
  take(nowMs: number): readonly Send[] {
    const taken: Send[] = [];
    for (const [authority, wallet] of [...this.#wallets]) {
      if (this.#running >= SENDS_MAX) break;
      while (this.#running < SENDS_MAX && wallet.running < SENDS_OF_WALLET_MAX) {
        const at = wallet.waiting.findIndex(({ notBefore }) => notBefore <= nowMs);
        if (at < 0) break;
        taken.push(...wallet.waiting.splice(at, 1));
        wallet.running += 1;
        this.#running += 1;
      }
      // To the end: the next wallet has its turn first.
      this.#wallets.delete(authority);
      this.#wallets.set(authority, wallet);
    }
    return taken;
  }

  /** The receiver has it. Returns the outcome of the job when this was its last device. */
  sent(send: Send): Outcome | null {
    return this.#ended(send, true);
  }

  /** An attempt failed. A transient failure is tried again later, up to a number of attempts. */
  failed(send: Send, isTransient: boolean, nowMs: number): Outcome | null {
    send.attempts += 1;
    if (!isTransient || send.attempts >= ATTEMPTS_MAX) return this.#ended(send, false);
    const wait = FIRST_WAIT_MS * WAIT_FACTOR ** (send.attempts - 1);
    send.notBefore = nowMs + wait * (1 - JITTER * this.#chance());
    this.#wallets.get(send.job.authority)?.waiting.push(send);
    this.#release(send.job.authority);
    return null;
  }

  #ended({ job }: Send, isSent: boolean): Outcome | null {
    this.#release(job.authority);
    const open = this.#jobs.get(job.key);
    if (!open) return null;
    open.open -= 1;
    open.isSent ||= isSent;
    if (open.open > 0) return null;
    this.#jobs.delete(job.key);
    const wallet = this.#wallets.get(job.authority);
    if (wallet) {
      wallet.jobs -= 1;
      if (wallet.jobs === 0) this.#wallets.delete(job.authority);
    }
    return { job, isSent: open.isSent };
  }

  #release(authority: string): void {
    this.#running -= 1;
    const wallet = this.#wallets.get(authority);
    if (wallet) wallet.running -= 1;
  }
}
