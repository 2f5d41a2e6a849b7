// Offsets and state of consumer groups in Kafka: a compacted topic, one partition per group, one record batch per commit.
// Kafka keeps a batch as a whole or not at all, so offsets and state change together.

import { partitionOf, type Topic } from '../../../schemas/index.ts';
import { RECORD_OVERHEAD_BYTES } from '../limits.ts';
import { type GroupState, type NextOffset, offsetKey, type StateWrite } from '../port.ts';
import type { KafkaReader } from './reader.ts';
import type { KafkaWriter, WriteRecord } from './writer.ts';

export const GROUPS: Topic = {
  name: 'slotbook.groups',
  key: 'reason',
  partitions: 8,
  retention: { kind: 'compact' },
  schemas: [],
  purpose: 'positions and state of consumer groups',
};

const SEPARATOR = '\0';
const POSITION = 'p';
const STATE = 's';

export class KafkaGroups {
  readonly #reader: KafkaReader;
  readonly #writer: KafkaWriter;
  readonly #topic: string;

  /** `topic` is the name of the groups topic on the broker. */
  constructor(reader: KafkaReader, writer: KafkaWriter, topic: string) {
    this.#reader = reader;
    this.#writer = writer;
    this.#topic = topic;
  }

  async store(group: string, offsets: readonly NextOffset[], state: readonly StateWrite[]): Promise<void> {
    const records: WriteRecord[] = offsets.map(({ topic, partition, next }) => ({
      key: keyOf(group, POSITION, offsetKey(topic, partition)),
      value: Buffer.from(next.toString()),
    }));
    for (const { key, value } of state) records.push({ key: keyOf(group, STATE, key), value });
    await this.#write(group, records);
  }

  /** Reads the group's partition to its end. */
  async load(group: string): Promise<GroupState> {
    const offsets = new Map<string, bigint>();
    const state = new Map<string, Uint8Array>();
    for (const [key, value] of await this.#entries(group)) {
      const name = key.slice(group.length + 2);
      if (key[group.length + 1] === POSITION) offsets.set(name, BigInt(value.toString()));
      else state.set(name, value);
    }
    return { offsets, state };
  }

  async forget(group: string): Promise<void> {
    const keys = [...(await this.#entries(group)).keys()];
    await this.#write(
      group,
      keys.map((key) => ({ key, value: null })),
    );
  }

  async #entries(group: string): Promise<Map<string, Buffer>> {
    const partition = partitionOf(GROUPS, group);
    const prefix = group + SEPARATOR;
    const entries = new Map<string, Buffer>();
    const { next: end } = await this.#reader.bounds(this.#topic, partition);
    let cursor = 0n;
    while (cursor < end) {
      const { records, next } = await this.#reader.read(this.#topic, partition, cursor);
      for (const { key, value } of records) {
        if (!key.startsWith(prefix)) continue;
        if (value === null) entries.delete(key);
        else entries.set(key, value);
      }
      if (records.length === 0) break;
      cursor = next;
    }
    return entries;
  }

  async #write(group: string, records: readonly WriteRecord[]): Promise<void> {
    if (records.length === 0) return;
    let bytes = 0;
    for (const { key, value } of records) bytes += key.length + (value?.length ?? 0) + RECORD_OVERHEAD_BYTES;
    await this.#writer.append(this.#topic, [{ partition: partitionOf(GROUPS, group), records, bytes }]);
  }
}

function keyOf(group: string, mark: string, name: string): string {
  return `${group}${SEPARATOR}${mark}${name}`;
}
