// Removes the rows of transactions that the chain dropped: follows `retractions`, waits until the events before it are
// stored, and deletes. The offset is committed after the deletion, and a repeated deletion finds nothing.

import { setTimeout as sleep } from 'node:timers/promises';
import { followTopic, type LogBatch, type LogRecord, offsetKey } from '../../platform/index.ts';
import { readableMessage, type SlotRetraction, TOPICS } from '../../schemas/index.ts';
import { deadLetters, type EventSink, type SinkContext, type SinkTarget } from './event-sink.ts';
import { type Persisting, persist } from './persist.ts';
import { deleteRetracted, EVENT_TABLES, findRetracted, type RetractedRows } from './retracted-rows.ts';

const TOPIC = TOPICS.retractions;
const PARTITION = 0;
const POLL_MS = 100;

export class RetractionSink {
  readonly #context: SinkContext;
  readonly #target: SinkTarget;
  readonly #events: EventSink;

  constructor(context: SinkContext, target: SinkTarget, events: EventSink) {
    this.#context = context;
    this.#target = target;
    this.#events = events;
  }

  /** Removes until the signal aborts. Rejects when the log fails; while ClickHouse is away it waits. */
  async run(signal: AbortSignal): Promise<void> {
    const { log } = this.#context;
    const { offsets } = await log.load(this.#target.group);
    const from = new Map([[PARTITION, offsets.get(offsetKey(TOPIC.name, PARTITION)) ?? ('earliest' as const)]]);
    const take = async ({ records }: LogBatch) => {
      for (const record of records) await this.#take(record, signal);
    };
    await followTopic({ log, topic: TOPIC, from, take }, signal).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
  }

  async #take(record: LogRecord, signal: AbortSignal): Promise<void> {
    const { log, logger, metrics, mayWrite } = this.#context;
    const retraction = readableMessage('SlotRetraction', record.value);
    const parked = retraction ? [] : [{ record, reason: 'invalid-datum' as const, detail: `not of ${TOPIC.name}` }];
    if (retraction) {
      await this.#eventsStored(signal);
      await this.#remove(retraction, { logger, metrics, signal, ...(mayWrite && { mayWrite }) });
    }
    await log.commit(this.#target.group, {
      outputs: deadLetters(TOPIC, parked),
      offsets: [{ topic: TOPIC.name, partition: PARTITION, next: record.offset + 1n }],
    });
  }

  /** Ingest writes a retraction after the events that it names, so these lie before the ends of now. */
  async #eventsStored(signal: AbortSignal): Promise<void> {
    const { log } = this.#context;
    const ends = new Map<number, bigint>();
    for (let partition = 0; partition < TOPICS.events.partitions; partition++) {
      const { earliest, next } = await log.bounds(TOPICS.events, partition);
      if (next > earliest) ends.set(partition, next);
    }
    while (!this.#events.hasStored(ends)) await sleep(POLL_MS, undefined, { signal });
  }

  async #remove(retraction: SlotRetraction, persisting: Persisting): Promise<void> {
    const { logger, metrics } = this.#context;
    const { client } = this.#target;
    const { slot } = retraction;
    let found: readonly RetractedRows[] = [];
    await persist(persisting, { slot, step: 'finding rows of dropped transactions' }, async () => {
      // The answering replica must have every row that another one stored.
      for (const { table } of EVENT_TABLES) await this.#target.settle(table);
      found = await findRetracted(client, retraction);
    });
    const days = [...new Set(found.flatMap((one) => one.days))];
    await this.#events.days.withdrawing(new Set(days), persisting, async () => {
      for (const rows of found) {
        await persist(persisting, { slot, table: rows.table }, () => deleteRetracted(client, rows));
        metrics.retracted.inc({ table: rows.table }, rows.rows);
      }
    });
    logger.warn({ slot, transactions: retraction.signatures.length, rows: found.map(countOf) }, 'dropped rows removed');
  }
}

const countOf = ({ table, rows }: RetractedRows) => ({ table, rows });
