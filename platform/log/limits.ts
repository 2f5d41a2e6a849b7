// Limits of every event log, checked in one place, so that a record that fits one adapter fits the other.

import { partitionOf, type Topic } from '../../schemas/index.ts';
import type { Commit, NewRecord, StateWrite } from './port.ts';

/**
 * Most bytes (keys and values) that one call may append to one partition, and that the offsets and state of one commit may
 * have. Kafka stores such a group as one record batch, whose size is limited.
 */
export const APPEND_BYTES_MAX = 8 * 1024 * 1024;
/** For record keys, group names and state keys, in UTF-8 bytes. Together they form an lmdb key, at most 1,978 bytes. */
export const KEY_BYTES_MAX = 512;
/** Upper bound of the stores' overhead per record. */
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
 * Groups the records of one call by partition, in their order. Throws LogLimitError for a missing partition, a long key, or
 * too many bytes for a partition.
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
    group.bytes += storedBytes(record);
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

/** Checks names and sizes of a commit. Throws LogLimitError. */
export function checkCommit(group: string, step: Commit): void {
  checkGroup(group);
  for (const { topic, next } of step.offsets ?? []) {
    if (next < 0n) throw new LogLimitError(`offset ${next} of ${topic}`);
  }
  const bytes = commitBytes(step);
  if (bytes > APPEND_BYTES_MAX) throw new LogLimitError(`${bytes} bytes of offsets and state in one commit`);
}

/** Bytes of a commit's offsets and state, at most APPEND_BYTES_MAX. Throws LogLimitError for a long key. */
export function commitBytes({ offsets = [], state = [] }: Commit): number {
  let bytes = 0;
  for (const { topic } of offsets) bytes += topic.length + RECORD_OVERHEAD_BYTES;
  for (const write of state) bytes += storedBytes(write, 'state key');
  return bytes;
}

/** Bytes of a record or a state write as the limits count them. Throws LogLimitError for a long key. */
export function storedBytes({ key, value }: StateWrite, what = 'key'): number {
  return checkKey(what, key) + (value?.length ?? 0) + RECORD_OVERHEAD_BYTES;
}

export function checkGroup(group: string): void {
  if (group === '' || group.includes('\0')) throw new LogLimitError('a group needs a name without NUL');
  checkKey('group', group);
}

function checkKey(what: string, key: string): number {
  const bytes = Buffer.byteLength(key);
  if (bytes > KEY_BYTES_MAX) throw new LogLimitError(`${what} of ${bytes} bytes, the limit is ${KEY_BYTES_MAX}`);
  return bytes;
}
