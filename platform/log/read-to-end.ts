// Reads a partition of the log up to its present end.

import type { Topic } from '../../schemas/index.ts';
import type { EventLog, LogRecord } from './port.ts';

const PAGE_RECORDS = 1000;

export interface ReadPartition {
  readonly log: Pick<EventLog, 'bounds' | 'read'>;
  readonly topic: Topic;
  readonly partition: number;
  /** Records of one call at most. */
  readonly pageRecords?: number;
}

/** The records from an offset on, page by page, until there are none. Rejects when the log cannot be read. */
export async function* readPages(
  { log, topic, partition, pageRecords = PAGE_RECORDS }: ReadPartition,
  from: bigint,
): AsyncGenerator<readonly LogRecord[]> {
  for (let next = from; ; ) {
    const page = await log.read(topic, partition, next, pageRecords);
    const last = page.at(-1);
    if (!last) return;
    yield page;
    next = last.offset + 1n;
  }
}

/**
 * For state that is complete at its start: takes all records that the log has now. Returns the next offset. Rejects when the
 * log cannot be read.
 */
export async function readToEnd(part: ReadPartition, take: (record: LogRecord) => void): Promise<bigint> {
  const { earliest, next } = await part.log.bounds(part.topic, part.partition);
  let offset = earliest;
  if (offset >= next) return offset;
  for await (const page of readPages(part, earliest)) {
    for (const record of page) {
      take(record);
      offset = record.offset + 1n;
    }
    if (offset >= next) break;
  }
  return offset;
}
