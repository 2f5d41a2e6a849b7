// Reads a partition of the log up to its present end, for state that is complete at its start.

import type { Topic } from '../../schemas/index.ts';
import type { EventLog, LogRecord } from './port.ts';

const PAGE_RECORDS = 1000;

/** Returns the next offset. Rejects when the log cannot be read. */
export async function readToEnd(
  { log, topic, partition }: { readonly log: EventLog; readonly topic: Topic; readonly partition: number },
  take: (record: LogRecord) => void,
): Promise<bigint> {
  const { earliest, next } = await log.bounds(topic, partition);
  let offset = earliest;
  while (offset < next) {
    const records = await log.read(topic, partition, offset, PAGE_RECORDS);
    const last = records.at(-1);
    if (!last) break;
    for (const record of records) take(record);
    offset = last.offset + 1n;
  }
  return offset;
}
