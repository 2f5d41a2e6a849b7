// The fills of the trades role: follows `events`, writes each fill once and numbered to `views.trades`, the newest of each market also to
// `views.trade-heads`. One commit per batch stores outputs, offset, the ids of applied events and the numbers.

import { Counter, type Registry } from 'prom-client';
import type { LogRecord, NewRecord, RoleContext, RunningRole } from '../../platform/index.ts';
import { decodeEvent, encodeMessage, marketKey, TOPICS } from '../../schemas/index.ts';
import { type PartitionReducer, startPartitionRole } from '../follow/partition-role.ts';
import { firstEpoch, newestOfEach } from '../follow/reducer-role.ts';
import { Numbering, TRADE_AGE_SLOTS_MAX } from './numbering.ts';
import { SeenEvents } from './seen.ts';
import { fillOf } from './trade-view.ts';

export const TRADES_GROUP = 'trades';

/** Starts the part of the role that publishes fills. Rejects when the log cannot be read; `done` when the log fails. */
export async function startFills(context: RoleContext): Promise<RunningRole> {
  const metrics = tradesMetrics(context.metrics);
  return startPartitionRole(context, {
    name: 'trades',
    group: TRADES_GROUP,
    reads: TOPICS.events,
    writes: [TOPICS.tradeViews, TOPICS.tradeHeads],
    letter: 'trade-record',
    reducer: async (partition) => new Fills(await firstEpoch(context.log, TOPICS.tradeViews, partition)),
    outputs: (records) => [
      // First, so that whoever sees a fill sees a head that is not older.
      { topic: TOPICS.tradeHeads, records: newestOfEach(records) },
      { topic: TOPICS.tradeViews, records },
    ],
    applied: (published, parked) => {
      metrics.trades.inc(published);
      metrics.parked.inc(parked);
    },
  });
}

/** Numbers the fills of a partition, each once. */
class Fills implements PartitionReducer {
  readonly parts;
  readonly #seen = new SeenEvents();
  readonly #numbering: Numbering;

  constructor(epoch: number) {
    this.#numbering = new Numbering(epoch);
    this.parts = { seen: this.#seen, numbering: this.#numbering };
  }

  *take({ value }: LogRecord): Iterable<NewRecord> {
    const event = decodeEvent(value);
    this.#numbering.see(event.slot);
    // A backfill brings old fills; the trades channel is for new ones.
    if (event.slot < this.#numbering.newestSlot - TRADE_AGE_SLOTS_MAX) return;
    const fill = fillOf(event);
    if (fill === null || !this.#seen.add(event.signature, event.eventIndex)) return;
    const key = marketKey(fill);
    yield { key, value: encodeMessage('TradeView', { ...fill, ...this.#numbering.next(key) }) };
    this.#numbering.take(key); // After the encoding: a fill that cannot be written takes no number.
  }
}

function tradesMetrics(registry: Registry) {
  const registers = [registry];
  return {
    trades: new Counter({ name: 'slotbook_trades_total', help: 'fills published', registers }),
    parked: new Counter({ name: 'slotbook_trades_parked_total', help: 'records put into dead-letters', registers }),
  };
}
