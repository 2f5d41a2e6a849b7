// A role with a lease: it writes while this process has the lease, and stands by while another process has it. Each term
// starts from the log, like a restart.

import type { LeaseTimes } from '../log/lease/times.ts';
import { type Begun, type Candidate, type MarkWatch, nameOf, WriterLease } from '../log/lease.ts';
import { LogAwayError } from '../log/port.ts';
import type { RoleContext, RunningRole } from './context.ts';
import { TermMetrics } from './term-metrics.ts';

export type RoleState = 'starting' | 'writes' | 'stands by';

export interface LeasedRoleOptions {
  readonly name: string;
  /** Processes with the same lease exclude each other. */
  readonly lease: string;
  readonly start: (context: RoleContext) => Promise<RunningRole>;
  readonly context: RoleContext;
  readonly watch: MarkWatch;
  /** For tests. */
  readonly times?: LeaseTimes;
  readonly self?: Candidate;
}

export class LeasedRole implements RunningRole {
  readonly name: string;
  readonly endpoints = {};
  /** Settles when the role ends by itself; rejects when it fails. */
  readonly done: Promise<void>;
  readonly #options: LeasedRoleOptions;
  readonly #stopping = new AbortController();
  readonly #turn = resolvers();
  readonly #decided = resolvers();
  #state: RoleState = 'starting';
  #writer: bigint | null = null;

  /** Requests the lease at once. The role starts after `begin`, when this process has the lease. */
  constructor(options: LeasedRoleOptions) {
    this.name = options.name;
    this.#options = options;
    this.#decided.promise.catch(() => {});
    this.done = this.#run();
    this.done.catch((error: unknown) => this.#decided.reject(error));
  }

  get state(): RoleState {
    return this.#state;
  }

  /** Resolves when the role runs or stands by. Rejects when it cannot start. */
  begin(): Promise<void> {
    this.#turn.resolve();
    return this.#decided.promise;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#turn.resolve();
    await this.done.catch(() => {});
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    try {
      while (await this.#term(await this.#acquire()));
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      this.#decided.resolve();
    }
  }

  #acquire(): Promise<WriterLease> {
    const { watch, lease, context, times, self } = this.#options;
    const onStandby = (writer: Begun) => this.#standBy(writer);
    const own = { ...(times && { times }), ...(self && { self }) };
    return WriterLease.acquire(watch, lease, {
      logger: context.logger,
      signal: this.#stopping.signal,
      onStandby,
      ...own,
    });
  }

  #standBy({ epoch, by }: Begun): void {
    this.#state = 'stands by';
    this.#decided.resolve();
    if (epoch === this.#writer) return;
    this.#writer = epoch;
    this.#options.context.logger.info(
      { writer: nameOf(by), epoch },
      'standing by: another process writes for this role',
    );
  }

  /** Runs the role until it ends, loses its lease, or the log is away. True when another term follows. */
  async #term(lease: WriterLease): Promise<boolean> {
    const { context, start } = this.#options;
    const { logger } = context;
    const metrics = new TermMetrics(context.metrics);
    const { signal } = this.#stopping;
    let role: RunningRole | null = null;
    try {
      await this.#turn.promise;
      if (signal.aborted) return false;
      role = await start({ ...context, log: lease.log, metrics, mayWrite: () => lease.check() });
      this.#state = 'writes';
      this.#decided.resolve();
      logger.info({ epoch: lease.epoch }, 'writing for this role');
      await Promise.race([role.done, aborted(lease.signal), aborted(signal)]);
      return lease.signal.aborted && !signal.aborted;
    } catch (error) {
      if (signal.aborted) return false;
      if (!lease.signal.aborted && !(error instanceof LogAwayError)) throw error;
      if (!lease.signal.aborted) logger.warn({ err: error }, 'the log is away; the role continues when it answers');
      return true;
    } finally {
      await role?.stop();
      metrics.end();
      if (this.#state === 'writes') this.#state = 'starting';
      if (lease.signal.aborted) logger.warn({ reason: String(lease.signal.reason) }, 'no longer writing for this role');
      await lease.release();
    }
  }
}

function resolvers(): { readonly promise: Promise<void>; resolve(): void; reject(error: unknown): void } {
  let [resolve, reject]: [() => void, (error: unknown) => void] = [() => {}, () => {}];
  const promise = new Promise<void>((one, other) => {
    [resolve, reject] = [one, other];
  });
  return { promise, resolve, reject };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
