// Follows `events` and `user.orders`, and writes the numbered changes of the orders of every account to `views.account-orders`, their
// open orders to `views.open-orders`. One commit per batch stores outputs, offset and state. The trades role runs it.

import { Counter, type Registry } from 'prom-client';
import type { LogBatch, LogRecord, NewRecord, RoleContext, RunningRole } from '../../platform/index.ts';
import {
  type ChainEvent,
  decodeEvent,
  decodeMessage,
  encodeMessage,
  type Message,
  type OpenOrders,
  type OrderChange,
  TOPICS,
  type Topic,
} from '../../schemas/index.ts';
import { deadLetter } from '../follow/dead-letter.ts';
import { piecesOf } from '../follow/pieces.ts';
import { endOf, firstEpoch, type Step, startReducerRole, stateWrites } from '../follow/reducer-role.ts';
import { AccountOrders } from './account-orders.ts';
import { changeRecord, openOrdersRecord } from './records.ts';

const ACCOUNT_ORDERS_GROUP = 'account-orders';
const BATCH_EVENTS = 4_000;
/** Fewer slots than PATIENCE_SLOTS, so state batches never run that far ahead of events. */
const BATCH_STATES = 100;

interface Part {
  readonly part: number;
  readonly orders: AccountOrders;
}

/** Starts following. Rejects when the log cannot be read; `done` rejects when the log fails. */
export async function startAccountOrders({ log, logger, metrics }: RoleContext): Promise<RunningRole> {
  const counters = accountOrdersMetrics(metrics);
  await log.ensureTopics([TOPICS.orderChanges]);
  const parts: Part[] = [];
  for (let part = 0; part < TOPICS.events.partitions; part += 1) {
    parts.push({
      part,
      orders: new AccountOrders({ part, firstEpoch: await firstEpoch(log, TOPICS.orderChanges, part), encode, decode }),
    });
  }
  const take = (topic: Topic, { part, orders }: Part, batch: LogBatch): Step[] => {
    const changes: NewRecord[] = [];
    const letters: NewRecord[] = [];
    const unknown = orders.unknown;
    for (const record of batch.records) {
      try {
        for (const change of changesOf(topic, orders, record)) {
          changes.push(changeRecord(change));
          if (change.cause === 'reconstructed') counters.reconstructed.inc();
        }
      } catch (error) {
        letters.push(deadLetter('order-record', topic, record, error));
      }
    }
    // Slots alone are not worth a commit: a restart takes them again.
    if (orders.isIdle && letters.length === 0) return [];
    counters.changes.inc(changes.length);
    counters.unknown.inc(orders.unknown - unknown);
    if (letters.length > 0) logger.warn({ records: letters.length, partition: part }, 'order records parked');
    const open = orders.takeChanges();
    const outputs = [
      // First, so that whoever sees a change sees open orders that are not older.
      { topic: TOPICS.openOrders, records: open.map(openOrdersRecord) },
      { topic: TOPICS.orderChanges, records: changes },
      { topic: TOPICS.deadLetters, records: letters },
    ];
    return [{ outputs, state: stateWrites(`${part}:`, orders.takePieces(open)), next: endOf(batch) }];
  };
  return startReducerRole(
    { log },
    {
      name: 'account-orders',
      group: ACCOUNT_ORDERS_GROUP,
      reads: [TOPICS.events, TOPICS.userOrders],
      writes: [TOPICS.orderChanges, TOPICS.openOrders, TOPICS.deadLetters],
      maxRecords: ({ name }) => (name === TOPICS.userOrders.name ? BATCH_STATES : BATCH_EVENTS),
      slotOf: (topic, batch) => firstSlot(topic, batch),
      restore: (state) => {
        for (const { part, orders } of parts) orders.restore(piecesOf(state, `${part}:`));
      },
      take: (topic, batch) => {
        const part = parts[batch.partition];
        return part ? take(topic, part, batch) : [];
      },
    },
  );
}

function changesOf(topic: Topic, orders: AccountOrders, record: LogRecord): OrderChange[] {
  if (topic.name === TOPICS.userOrders.name) return changesOfState(orders, decodeMessage(record.value));
  const event = readable(record);
  return event ? orders.take(event) : [];
}

/** Changes come with the slots, so that they do not depend on the order inside one. */
function changesOfState(orders: AccountOrders, { name, value }: Message): OrderChange[] {
  if (name === 'BookSlot') return orders.reached(value.slot);
  if (name === 'UserOrders') orders.takeState(value);
  else if (name === 'BookSnapshotBegin') orders.bracket('begin', value, value.snapshotSlot);
  else if (name === 'BookSnapshotEnd') orders.bracket('end', value, value.snapshotSlot);
  return [];
}

/** Slot at which a batch begins: states must not run ahead of the events of their slots. */
function firstSlot(topic: Topic, { records }: LogBatch): number {
  for (const record of records) {
    const slot = topic.name === TOPICS.events.name ? readable(record)?.slot : stateSlot(record);
    if (slot !== undefined) return slot;
  }
  return 0;
}

function stateSlot({ value: bytes }: LogRecord): number | undefined {
  try {
    const { value } = decodeMessage(bytes);
    if ('slot' in value && typeof value.slot === 'number') return value.slot;
    return 'snapshotSlot' in value ? value.snapshotSlot : undefined;
  } catch {
    return undefined;
  }
}

/** Null for a record that cannot be read: the part of the role that publishes fills parks it. */
function readable({ value }: LogRecord): ChainEvent | null {
  try {
    return decodeEvent(value);
  } catch {
    return null;
  }
}

function encode(orders: OpenOrders): Uint8Array {
  return encodeMessage('OpenOrders', orders);
}

function decode(bytes: Uint8Array): OpenOrders {
  const message = decodeMessage(bytes);
  if (message.name !== 'OpenOrders') throw new Error(`${message.name} is not the open orders of an account`);
  return message.value;
}

function accountOrdersMetrics(registry: Registry) {
  const registers = [registry];
  return {
    changes: new Counter({
      name: 'slotbook_order_changes_total',
      help: 'order changes of accounts published',
      registers,
    }),
    reconstructed: new Counter({
      name: 'slotbook_order_changes_reconstructed_total',
      help: 'order changes of accounts published from the states of their accounts, because no record came',
      registers,
    }),
    unknown: new Counter({
      name: 'slotbook_order_changes_unknown_total',
      help: 'order actions left out because the log does not have the placing of their order',
      registers,
    }),
  };
}
