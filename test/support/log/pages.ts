// Reads what a log has.

import { type EventLog, type LogRecord, readPages } from '../../../platform/index.ts';
import type { Topic } from '../../../schemas/index.ts';

/** The records of a partition, page by page. */
export async function* pages(log: EventLog, topic: Topic, partition: number): AsyncGenerator<readonly LogRecord[]> {
  const { earliest } = await log.bounds(topic, partition);
  yield* readPages({ log, topic, partition }, earliest);
}
