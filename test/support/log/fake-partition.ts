// A compacted partition in memory, in place of the reader and the writer of Kafka.

import type { Fetched, RawRecord } from '../../../platform/log/kafka/reader.ts';
import type { PartitionWrite } from '../../../platform/log/kafka/writer.ts';
import type { Appended } from '../../../platform/log/port.ts';

const PAGE_RECORDS = 3;

export class FakePartition {
  records: RawRecord[] = [];
  /** Records that reads have returned. */
  readRecords = 0;
  #next = 0n;

  async bounds(): Promise<{ earliest: bigint; next: bigint }> {
    return { earliest: this.records[0]?.offset ?? this.#next, next: this.#next };
  }

  async read(_topic: string, partition: number, from: bigint): Promise<Fetched> {
    const records = this.records.filter(({ offset }) => offset >= from).slice(0, PAGE_RECORDS);
    this.readRecords += records.length;
    return { partition, records, next: (records.at(-1)?.offset ?? from - 1n) + 1n, end: this.#next };
  }

  async append(_topic: string, parts: readonly PartitionWrite[]): Promise<readonly Appended[]> {
    return parts.map(({ partition, records }) => {
      const first = this.#next;
      for (const { key, value, headers = {} } of records) {
        this.records.push({ offset: this.#next, key, value: value === null ? null : Buffer.from(value), headers });
        this.#next += 1n;
      }
      return { partition, first, last: this.#next - 1n };
    });
  }

  /** Like a topic that was deleted and created again. */
  empty(): void {
    this.records = [];
    this.#next = 0n;
  }

  /** Keeps the newest record of each key. */
  compact(): void {
    const newest = new Map(this.records.map(({ key, offset }) => [key, offset]));
    this.records = this.records.filter(({ key, offset }) => newest.get(key) === offset);
  }
}
