// The push role: follows `notifications`, sends each one to the devices of its wallet, and writes the outcome to
// `notification-marks`. A job is in the state of the group from the commit that passes its notification until the commit with
// its outcome, so a kill loses none.

import bs58 from 'bs58';
import {
  type LogBatch,
  type NewRecord,
  type NextOffset,
  offsetKey,
  type RoleContext,
  type RunningRole,
  type StateWrite,
  TopicFollower,
} from '../../platform/index.ts';
import { decodeMessage, encodeMessage, type Notification, readableMessage, TOPICS } from '../../schemas/index.ts';
import { WalletSettings } from '../notifications/wallet-settings.ts';
import { MarketFollower } from '../views/market-follower.ts';
import { pushAdapters } from './adapters.ts';
import { type Job, type Outcome, PushJobs, type Send } from './jobs.ts';
import { COMMIT_DELAY_MS, COMMIT_MAX, MAX_AGE_S, RECENT_IDS, STOP_MS } from './limits.ts';
import { pushMetrics } from './metrics.ts';
import type { PushError } from './port.ts';
import { PushSender } from './sender.ts';

export const PUSH_GROUP = 'push';
const TOPIC = TOPICS.notifications;
const JOB = 'job:';
/** Where a notification for every wallet stands, when a commit could not take all of its wallets. */
const BROADCAST = 'broadcast:';
const FULL_MS = 50;

/** Starts the role. Rejects when the log cannot be read; throws ConfigError for settings that cannot send. */
export async function startPush(context: RoleContext): Promise<RunningRole> {
  const role = new PushRole(context);
  await role.start();
  return { name: 'push', endpoints: {}, done: role.done, stop: () => role.stop() };
}

interface Written {
  readonly marks: NewRecord[];
  readonly letters: NewRecord[];
  readonly state: StateWrite[];
}

class PushRole {
  readonly #context: RoleContext;
  readonly #settings: WalletSettings;
  readonly #markets: MarketFollower;
  readonly #jobs = new PushJobs(Math.random);
  readonly #metrics: ReturnType<typeof pushMetrics>;
  readonly #follower = new TopicFollower();
  readonly #sender: PushSender;
  readonly #adapterOf: ReturnType<typeof pushAdapters>;
  /** Newest ids: the log may contain a notification twice. */
  readonly #recent = new Set<string>();
  /** Last wallet of a notification for every wallet, by id. */
  readonly #broadcasts = new Map<string, string>();
  /** Outcomes that wait for their commit. */
  #outcomes: Written = { marks: [], letters: [], state: [] };
  #committing: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | null = null;
  #stopped: Promise<void> | null = null;

  constructor(context: RoleContext) {
    const { config, logger, metrics, mayWrite = async () => {} } = context;
    this.#context = context;
    this.#settings = new WalletSettings(context);
    this.#markets = new MarketFollower(context);
    this.#metrics = pushMetrics(metrics, this.#jobs);
    this.#adapterOf = pushAdapters(config, logger, () => Math.floor(Date.now() / 1000));
    this.#sender = new PushSender({
      jobs: this.#jobs,
      adapterOf: this.#adapterOf,
      findMarket: (key) => this.#markets.registry.byKey(key),
      logger,
      mayWrite,
      ended: (outcome) => this.#ended(outcome),
      gaveUp: (send, error) => this.#gaveUp(send, error),
      gone: (device) => {
        const removed = this.#settings.removeGone(device);
        removed.catch((error: unknown) =>
          logger.warn({ error: String(error) }, 'could not remove an unregistered device'),
        );
      },
      attempted: (adapter, result) => this.#metrics.attempts.inc({ adapter, result }),
      failed: (error) => this.#follower.fail(error),
    });
  }

  get done(): Promise<void> {
    return this.#follower.done;
  }

  async start(): Promise<void> {
    const { log } = this.#context;
    await log.ensureTopics([TOPIC, TOPICS.notificationMarks, TOPICS.deadLetters]);
    await Promise.all([this.#settings.start(), this.#markets.start()]);
    const { offsets, state } = await log.load(PUSH_GROUP);
    for (const [key, value] of state) this.#restore(key, value);
    const from = new Map<number, bigint | 'earliest'>();
    for (let partition = 0; partition < TOPIC.partitions; partition++) {
      from.set(partition, offsets.get(offsetKey(TOPIC.name, partition)) ?? 'earliest');
    }
    this.#follower.follow({ log, topic: TOPIC, from, take: (batch) => this.#take(batch) });
    this.#sender.pump();
  }

  stop(): Promise<void> {
    this.#stopped ??= (async () => {
      await this.#follower.stop();
      await this.#sender.stop(STOP_MS);
      // A role that lost its lease cannot commit any more; the next writer sends again.
      await this.#flush().catch(() => {});
      await Promise.all([this.#settings.stop(), this.#markets.stop()]);
    })();
    return this.#stopped;
  }

  #restore(key: string, value: Uint8Array): void {
    const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8');
    if (key.startsWith(BROADCAST)) this.#broadcasts.set(key.slice(BROADCAST.length), text(value));
    if (!key.startsWith(JOB)) return;
    const { name, value: notification } = decodeMessage(value);
    const authority = key.slice(key.lastIndexOf(':') + 1);
    if (name !== 'Notification') return;
    const job = { key: key.slice(JOB.length), authority, notification };
    const devices = this.#targets(authority, notification);
    if (devices.length > 0) this.#jobs.add(job, devices);
    // Its devices are gone, or do not want it any more.
    else this.#ended({ job, isSent: false });
  }

  #targets(authority: string, { type }: Notification) {
    if (this.#settings.optOutTypes(authority).includes(type)) return [];
    return this.#settings.devices(authority).filter((device) => this.#adapterOf(device) !== null);
  }

  async #take({ partition, records }: LogBatch): Promise<void> {
    const written: Written = { marks: [], letters: [], state: [] };
    const jobs: Job[] = [];
    const before = (next: bigint): NextOffset => ({ topic: TOPIC.name, partition, next });
    const oldest = Date.now() / 1000 - MAX_AGE_S;
    for (const { offset, key, value } of records) {
      const notification = readableMessage('Notification', value);
      if (!notification || notification.ts < oldest || !this.#isNew(notification.id)) continue;
      for (const authority of this.#walletsOf(key, notification.id)) {
        const job = { key: `${notification.id}:${authority}`, authority, notification };
        if (this.#queue(job, value, written)) jobs.push(job);
        if (written.state.length < COMMIT_MAX) continue;
        if (key === '') this.#progress(notification.id, authority, written);
        // A job that has ended is not in the state any more: only the offset keeps it from running again.
        await this.#commit(written, jobs, before(key === '' ? offset : offset + 1n));
      }
      if (key === '' && this.#broadcasts.delete(notification.id)) {
        written.state.push({ key: BROADCAST + notification.id, value: null });
      }
    }
    await this.#commit(written, jobs, before((records.at(-1)?.offset ?? -1n) + 1n));
  }

  /** Wallets of a notification, in a fixed order; of one for every wallet, those after the last committed one. */
  #walletsOf(key: string, id: string): readonly string[] {
    if (key !== '') return [key];
    const after = this.#broadcasts.get(id) ?? '';
    return [...this.#settings.walletsWithDevices()].sort().filter((wallet) => wallet > after);
  }

  #progress(id: string, authority: string, { state }: Written): void {
    this.#broadcasts.set(id, authority);
    state.push({ key: BROADCAST + id, value: Buffer.from(authority) });
  }

  /** Adds the records of a job; false when there is none to run. */
  #queue(job: Job, value: Uint8Array, { marks, state }: Written): boolean {
    if (this.#jobs.has(job.key) || this.#targets(job.authority, job.notification).length === 0) return false;
    if (this.#jobs.isFullFor(job.authority)) {
      marks.push(markOf(job, 'FAILED'));
      this.#metrics.outcomes.inc({ status: 'FAILED' });
      return false;
    }
    marks.push(markOf(job, 'PENDING'));
    state.push({ key: JOB + job.key, value });
    return true;
  }

  #isNew(id: string): boolean {
    if (this.#recent.has(id)) return false;
    this.#recent.add(id);
    for (const first of this.#recent) {
      if (this.#recent.size <= RECENT_IDS) break;
      this.#recent.delete(first);
    }
    return true;
  }

  /** Stores jobs, then lets them run. Empties both lists. Waits while too many jobs are open. */
  async #commit({ marks, letters, state }: Written, jobs: Job[], next: NextOffset): Promise<void> {
    const { signal } = this.#follower;
    while (this.#jobs.isFull && !signal.aborted) await new Promise((resolve) => setTimeout(resolve, FULL_MS));
    if (signal.aborted) throw new Error('stopped');
    await this.#store({ marks: marks.splice(0), letters: letters.splice(0), state: state.splice(0) }, next);
    for (const job of jobs.splice(0)) {
      const devices = this.#targets(job.authority, job.notification);
      if (devices.length > 0) this.#jobs.add(job, devices);
      else this.#ended({ job, isSent: false });
    }
    this.#sender.pump();
  }

  /** One commit at a time. */
  #store({ marks, letters, state }: Written, next?: NextOffset): Promise<void> {
    const { log } = this.#context;
    const outputs = [
      { topic: TOPICS.notificationMarks, records: marks },
      { topic: TOPICS.deadLetters, records: letters },
    ].filter(({ records }) => records.length > 0);
    const own = this.#committing.then(() => log.commit(PUSH_GROUP, { outputs, state, offsets: next ? [next] : [] }));
    this.#committing = own.catch(() => {});
    return own;
  }

  #ended({ job, isSent }: Outcome): void {
    const status = isSent ? 'SENT' : 'FAILED';
    this.#metrics.outcomes.inc({ status });
    this.#outcomes.marks.push(markOf(job, status));
    this.#outcomes.state.push({ key: JOB + job.key, value: null });
    if (this.#outcomes.state.length >= COMMIT_MAX) this.#flushSoon(0);
    else this.#flushSoon(COMMIT_DELAY_MS);
  }

  #gaveUp({ job, device }: Send, error: PushError): void {
    const bytes = encodeMessage('Notification', job.notification);
    const origin = `${job.key}:${device.deviceId}`;
    const letter = { reason: 'push-failed', detail: error.message, slot: job.notification.slot, origin, bytes };
    this.#outcomes.letters.push({ key: letter.reason, value: encodeMessage('DeadLetter', letter) });
    this.#flushSoon(COMMIT_DELAY_MS);
  }

  #flushSoon(afterMs: number): void {
    if (this.#timer !== null && afterMs > 0) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#flush().catch((error: unknown) => this.#follower.fail(error));
    }, afterMs);
  }

  async #flush(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const outcomes = this.#outcomes;
    if (outcomes.marks.length + outcomes.letters.length === 0) return;
    this.#outcomes = { marks: [], letters: [], state: [] };
    await this.#store(outcomes);
  }
}

function markOf({ authority, notification }: Job, status: 'PENDING' | 'SENT' | 'FAILED'): NewRecord {
  const version = status === 'PENDING' ? 0 : 1;
  const mark = { id: notification.id, authority: bs58.decode(authority), status, version, atMs: Date.now() };
  return { key: authority, value: encodeMessage('NotificationDelivery', mark) };
}
