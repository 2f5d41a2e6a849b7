// Follows `events`, writes the numbered changes of the orders of every account to `views.account-orders` and their open orders to
// `views.open-orders`. One commit per batch stores outputs, offset and state. The trades role runs it.

import { Counter, type Registry } from 'prom-client';
import type { EventLog, LogBatch, LogRecord, NewRecord, RoleContext, RunningRole } from '../../platform/index.ts';
import {
  type ChainEvent,
  decodeEvent,
  decodeMessage,
  encodeMessage,
  type OpenOrders,
  TOPICS,
} from '../../schemas/index.ts';
import { deadLetter, endOf, piecesOf, type Step, startReducerRole, stateWrites } from '../follow/reducer-role.ts';
import { AccountOrders } from './account-orders.ts';
import { changeRecord, openOrdersRecord } from './records.ts';

export const ACCOUNT_ORDERS_GROUP = 'account-orders';

/** Starts following. Rejects when the log cannot be read; `done` rejects when the log fails. */
export async function startAccountOrders({ log, logger, metrics }: RoleContext): Promise<RunningRole> {
  const counters = accountOrdersMetrics(metrics);
  await log.ensureTopics([TOPICS.orderChanges]);
  const parts: AccountOrders[] = [];
  for (let part = 0; part < TOPICS.events.partitions; part += 1) {
    parts.push(new AccountOrders({ part, firstEpoch: await firstEpoch(log, part), encode, decode }));
  }
  const take = (part: number, orders: AccountOrders, batch: LogBatch): Step[] => {
    const changes: NewRecord[] = [];
    const letters: NewRecord[] = [];
    const unknown = orders.unknown;
    for (const record of batch.records) {
      const event = readable(record);
      if (event === null) continue;
      try {
        for (const change of orders.take(event)) changes.push(changeRecord(change));
      } catch (error) {
        letters.push(deadLetter('order-record', TOPICS.events, record, error));
      }
    }
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
    return [{ outputs, state: stateWrites(`${part}:`, orders.takeState(open)), next: endOf(batch) }];
  };
  return startReducerRole(
    { log },
    {
      name: 'account-orders',
      group: ACCOUNT_ORDERS_GROUP,
      reads: [TOPICS.events],
      writes: [TOPICS.orderChanges, TOPICS.openOrders, TOPICS.deadLetters],
      restore: (state) => {
        for (const [part, orders] of parts.entries()) orders.restore(piecesOf(state, `${part}:`));
      },
      take: (_, batch) => {
        const orders = parts[batch.partition];
        return orders ? take(batch.partition, orders, batch) : [];
      },
    },
  );
}

/** Null for a record that cannot be read: the part of the role that publishes fills parks it. */
function readable({ value }: LogRecord): ChainEvent | null {
  try {
    return decodeEvent(value);
  } catch {
    return null;
  }
}

/** Larger than every epoch of the partition: each change of an earlier one took an offset there. */
async function firstEpoch(log: EventLog, part: number): Promise<number> {
  return Number((await log.bounds(TOPICS.orderChanges, part)).next) + 1;
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
    unknown: new Counter({
      name: 'slotbook_order_changes_unknown_total',
      help: 'order actions left out because the log does not have the placing of their order',
      registers,
    }),
  };
}
