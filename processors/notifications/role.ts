// The notifications role: follows `events` and `margin`, and writes each notification once to `notifications`. One commit per
// batch stores outputs, offset and state.

import bs58 from 'bs58';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { LogBatch, Logger, LogRecord, NewRecord, RoleContext, RunningRole } from '../../platform/index.ts';
import { encodeMessage, type Notification, TOPICS, type Topic } from '../../schemas/index.ts';
import { deadLetter } from '../follow/dead-letter.ts';
import { endOf, type ReducerRole, type Step, startReducerRole } from '../follow/reducer-role.ts';
import { NotificationReducer } from './reducer.ts';

export const NOTIFICATIONS_GROUP = 'notifications';
const QUOTE_SCALE = 10n ** 6n;
/** Batches of margins go first: they name the wallets of the events. */
const FIRST = 0;
const LATER = 1;

/** Starts the role. Rejects when the log cannot be read; `done` rejects when the log fails. */
export function startNotifications(context: RoleContext): Promise<RunningRole> {
  return startReducerRole(context, new Notifications(context));
}

class Notifications implements ReducerRole {
  readonly name = 'notifications';
  readonly group = NOTIFICATIONS_GROUP;
  readonly reads = [TOPICS.events, TOPICS.margin];
  readonly writes = [TOPICS.notifications, TOPICS.deadLetters];
  readonly #logger: Logger;
  readonly #metrics: ReturnType<typeof notificationMetrics>;
  readonly #reducer: NotificationReducer;

  constructor({ config, logger, metrics }: Pick<RoleContext, 'config' | 'logger' | 'metrics'>) {
    this.#logger = logger;
    this.#metrics = notificationMetrics(metrics);
    this.#reducer = new NotificationReducer({
      fundingMin: BigInt(config.notifyFundingMin) * QUOTE_SCALE,
      partitions: TOPICS.events.partitions,
    });
  }

  slotOf(topic: Topic): number {
    return topic === TOPICS.margin ? FIRST : LATER;
  }

  restore(state: ReadonlyMap<string, Uint8Array>): void {
    this.#reducer.restore(state);
  }

  take(topic: Topic, batch: LogBatch): Step[] {
    const dropped = this.#reducer.dropped;
    const found: NewRecord[] = [];
    const letters: NewRecord[] = [];
    for (const record of batch.records) {
      try {
        for (const notification of this.#apply(topic, record)) {
          found.push(encoded(notification));
          this.#metrics.notifications.inc({ type: notification.type });
        }
      } catch (error) {
        letters.push(deadLetter('notification-record', topic, record, error));
      }
    }
    if (letters.length > 0) this.#logger.warn({ records: letters.length, topic: topic.name }, 'records parked');
    if (this.#reducer.dropped > dropped) this.#logger.warn('too many events wait for the wallet of their account');
    this.#metrics.parked.inc(letters.length);
    this.#metrics.dropped.inc(this.#reducer.dropped - dropped);
    this.#metrics.waiting.set(this.#reducer.waiting);
    this.#metrics.accounts.set(this.#reducer.accounts.size);
    this.#metrics.lag.set({ topic: topic.name, partition: batch.partition }, Number(batch.end - endOf(batch)));
    const outputs = [
      { topic: TOPICS.notifications, records: found },
      { topic: TOPICS.deadLetters, records: letters },
    ];
    const state = this.#reducer.takeChanges().map(({ name, bytes }) => ({ key: name, value: bytes }));
    return [{ outputs, state, next: endOf(batch) }];
  }

  #apply(topic: Topic, { partition, value }: LogRecord): readonly Notification[] {
    return topic === TOPICS.margin ? this.#reducer.margin(value) : this.#reducer.event(partition, value);
  }
}

function encoded(notification: Notification): NewRecord {
  return { key: bs58.encode(notification.authority), value: encodeMessage('Notification', notification) };
}

function notificationMetrics(registry: Registry) {
  const registers = [registry];
  return {
    notifications: new Counter({
      name: 'slotbook_notifications_total',
      help: 'notifications written',
      labelNames: ['type'] as const,
      registers,
    }),
    parked: new Counter({
      name: 'slotbook_notifications_parked_total',
      help: 'records put into dead-letters',
      registers,
    }),
    waiting: new Gauge({
      name: 'slotbook_notifications_waiting_events',
      help: 'events that wait for the wallet of their account',
      registers,
    }),
    dropped: new Counter({
      name: 'slotbook_notifications_dropped_events_total',
      help: 'events given up because too many wait for the wallet of their account',
      registers,
    }),
    accounts: new Gauge({
      name: 'slotbook_notifications_accounts',
      help: 'accounts whose wallet is known',
      registers,
    }),
    lag: new Gauge({
      name: 'slotbook_notifications_lag_records',
      help: 'records not yet applied',
      labelNames: ['topic', 'partition'] as const,
      registers,
    }),
  };
}
