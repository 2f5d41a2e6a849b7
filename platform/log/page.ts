// Builds pages from records, for logs that have records as objects.

import type { LogBatch, LogPage, LogRecord } from './port.ts';

export async function* pagesOf(batches: AsyncIterable<LogBatch>): AsyncGenerator<LogPage> {
  for await (const { partition, records, end } of batches) yield pageOf(partition, records, end);
}

export function pageOf(partition: number, records: readonly LogRecord[], end: bigint): LogPage {
  let size = 0;
  const ends = Uint32Array.from(records, ({ value }) => {
    size += value.length;
    return size;
  });
  const offsets = BigUint64Array.from(records, ({ offset }) => offset);
  return { partition, bytes: Buffer.concat(records.map(({ value }) => value)), ends, offsets, end };
}
