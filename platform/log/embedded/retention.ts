// Removes what the log need not keep: records past their time, and records that a newer one of the same key replaced.
// Works in small steps, so that appends and readers hardly notice.

import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { Environment } from './environment.ts';
import { appendedMsOf, decodeOffset, offsetOf, partitionEnd, partitionKey, recordKey, recordKeyOf } from './layout.ts';

const STEP_RECORDS = 1000;
const STEP_BYTES = 8 * 1024 * 1024;

interface Step {
  readonly keys: Buffer[];
  readonly bytes: number;
}

/** Removes the oldest records appended before `cutoffMs` (wall clock). Returns how many. */
export async function removeOld(
  environment: Environment,
  topicId: number,
  partition: number,
  cutoffMs: number,
): Promise<number> {
  let removed = 0;
  while (true) {
    const { keys, bytes } = environment.read(() => oldKeys(environment, topicId, partition, cutoffMs));
    if (keys.length === 0) return removed;
    await remove(environment, keys, bytes);
    removed += keys.length;
  }
}

function oldKeys(environment: Environment, topicId: number, partition: number, cutoffMs: number): Step {
  const keys: Buffer[] = [];
  let bytes = 0;
  const start = recordKey(topicId, partition, 0n);
  for (const { key, value } of environment.records.getRange({ start, end: partitionEnd(topicId, partition) })) {
    if (appendedMsOf(value) >= cutoffMs || keys.length === STEP_RECORDS || bytes > STEP_BYTES) break;
    keys.push(key);
    bytes += value.length;
  }
  return { keys, bytes };
}

/** Keeps the newest record of each key among those before the current end. Returns how many were removed. */
export async function compact(environment: Environment, topicId: number, partition: number): Promise<number> {
  const newest = new Map<string, bigint>();
  const replaced: Buffer[] = [];
  const end = environment.read(() => decodeOffset(environment.partitions.getBinary(partitionKey(topicId, partition))));
  let from = 0n;
  while (from < end) {
    const next = environment.read(() => scan(environment, topicId, partition, from, newest, replaced));
    if (next === null) break;
    from = next;
    await yieldToOthers();
  }
  for (let at = 0; at < replaced.length; at += STEP_RECORDS) {
    await remove(environment, replaced.slice(at, at + STEP_RECORDS), 0);
  }
  return replaced.length;
}

/** One page of a compaction scan: notes which records are replaced, returns where the next page begins. */
function scan(
  environment: Environment,
  topicId: number,
  partition: number,
  from: bigint,
  newest: Map<string, bigint>,
  replaced: Buffer[],
): bigint | null {
  let bytes = 0;
  let next: bigint | null = null;
  const range = {
    start: recordKey(topicId, partition, from),
    end: partitionEnd(topicId, partition),
    limit: STEP_RECORDS,
  };
  for (const { key, value } of environment.records.getRange(range)) {
    const offset = offsetOf(key);
    const name = recordKeyOf(value);
    const older = newest.get(name);
    if (older !== undefined) replaced.push(recordKey(topicId, partition, older));
    newest.set(name, offset);
    next = offset + 1n;
    bytes += value.length;
    if (bytes > STEP_BYTES) break;
  }
  return next;
}

async function remove(environment: Environment, keys: readonly Buffer[], bytes: number): Promise<void> {
  await environment.write(bytes, () => {
    for (const key of keys) environment.records.removeSync(key);
  });
}
