// Bounds that every event log keeps, checked in one place so that what works on one adapter works on the other.

import { partitionOf, type Topic } from '../../schemas/index.ts';
import type { Commit, NewRecord } from './port.ts';

/**
 * Most bytes (keys and values) that one call may put into one partition, and that one commit may carry as positions
 * and state. Kafka keeps such a group together as one record batch, and a batch has a largest size.
 */
export const APPEND_BYTES_MAX = 8 * 1024 * 1024;
/** Record keys, group names and state keys, in UTF-8 bytes: they are lmdb keys together, and those end at 1,978. */
export const KEY_BYTES_MAX = 512;
/** What the stores need beside key and value of a record, at most. */
export const RECORD_OVERHEAD_BYTES = 32;

export class LogLimitError extends Error {
  override readonly name = 'LogLimitError';
}

export interface PartitionAppend {
  readonly partition: number;
  readonly records: NewRecord[];
  bytes: number;
}

/**
 * Records of one call by partition, each in the given order.
 * Throws LogLimitError when a partition does not exist, a key is too long or a partition is given too much.
 */
export function byPartition(topic: Topic, records: readonly NewRecord[]): PartitionAppend[] {
  const groups = new Map<number, PartitionAppend>();
  for (const record of records) {
    const partition = record.partition ?? partitionOf(topic, record.key);
    checkPartition(topic, partition);
    let group = groups.get(partition);
    if (group === undefined) {
      group = { partition, records: [], bytes: 0 };
      groups.set(partition, group);
    }
    group.records.push(record);
    group.bytes += checkKey('key', record.key) + record.value.length + RECORD_OVERHEAD_BYTES;
    if (group.bytes > APPEND_BYTES_MAX) {
      throw new LogLimitError(`more than ${APPEND_BYTES_MAX} bytes for ${topic.name}/${partition} in one call`);
    }
  }
  return [...groups.values()];
}

export function checkPartition(topic: Topic, partition: number): void {
  if (!Number.isInteger(partition) || partition < 0 || partition >= topic.partitions) {
    throw new LogLimitError(`${topic.name} has ${topic.partitions} partitions, there is no partition ${partition}`);
  }
}

/** Checks names and size of what a commit stores for its group. */
export function checkCommit(group: string, { positions = [], state = [] }: Commit): void {
  checkGroup(group);
  let bytes = 0;
  for (const { topic, next } of positions) {
    if (next < 0n) throw new LogLimitError(`position ${next} of ${topic}`);
    bytes += topic.length + RECORD_OVERHEAD_BYTES;
  }
  for (const { key, value } of state)
    bytes += checkKey('state key', key) + (value?.length ?? 0) + RECORD_OVERHEAD_BYTES;
  if (bytes > APPEND_BYTES_MAX) throw new LogLimitError(`${bytes} bytes of positions and state in one commit`);
}

export function checkGroup(group: string): void {
  if (group === '' || group.includes('\0')) throw new LogLimitError('a group has a name without NUL');
  checkKey('group', group);
}

function checkKey(what: string, key: string): number {
  const bytes = Buffer.byteLength(key);
  if (bytes > KEY_BYTES_MAX) throw new LogLimitError(`${what} of ${bytes} bytes, the limit is ${KEY_BYTES_MAX}`);
  return bytes;
}
